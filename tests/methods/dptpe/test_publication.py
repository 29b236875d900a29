import numpy as np
import pyarrow as pa

from distanon.data.schema import SOURCE, Role
from distanon.methods.dptpe.publication import Counts

SEEN = {"role": Role.INSENSITIVE}


def test_other_columns_are_kept_and_identifiers_dropped(make):
    columns = {
        "name": [f"p{i}" for i in range(12)],
        "x": list(range(12)),
        "note": list("abcdef" * 2),
    }
    data = make.dataset(columns, 4, name={"role": Role.IDENTIFIER}, note=SEEN)
    case = make.release(data, k=3)
    assert case.table.column_names == ["x", "note", SOURCE]
    assert case.table.column("note").to_pylist() == columns["note"]


def test_a_piece_stands_for_each_partition_with_its_source_numbers(make):
    case = make.release(make.dataset({"x": list(range(20))}, 3), k=3)
    numbers = [piece.read().column(SOURCE).to_pylist() for piece in case.made.pieces]
    assert [number for piece in numbers for number in piece] == list(range(20))
    assert len(numbers) == 3


def test_compact_records_without_anything_that_moves_take_their_neighbors_mode(make):
    columns = {"a": list("xxxxxxxy"), "x": pa.nulls(8, pa.float64())}
    case = make.release(
        make.dataset(columns), k=5, rsn_nominal=0, rule="random", on_unchanged="keep", t=1e9
    )
    assert case.counts["compact"] == 8
    assert case.table.column("a").to_pylist() == ["x"] * 8


def test_a_missing_number_stays_missing_in_compact_records_and_is_filled_by_the_mean(make):
    x = [float(i) for i in range(12)]
    columns = {"x": x, "y": [None, *x[1:]]}
    compact = make.release(make.dataset(columns), k=3, t=1e9, on_unchanged="keep", sigma=1.0)
    assert np.isnan(compact.released[0, 1])
    mean = make.release(make.dataset(columns), k=3, t=1e-9, sigma=1.0)
    assert mean.counts["dispersed"] == 12
    assert not np.isnan(mean.released).any()


def test_counts_add_up_and_survive_the_scratch():
    one, other = Counts(1, 2, 3, 4, 5, 6), Counts(10, 20, 30, 40, 50, 60)
    assert Counts.total([one, other]) == Counts(11, 22, 33, 44, 55, 66)
    (row,) = one.as_table().to_pylist()
    assert Counts(**row) == one
    assert one.as_mapping()["unchanged"] == 4
