import numpy as np
import pyarrow as pa
import pytest

from distanon.data.domain import scan
from distanon.data.finishing import finishing
from distanon.data.space import AttributeSpace, zscore_spreads
from distanon.data.streams import Streams
from distanon.data.table import MemoryScratch
from distanon.errors import InfeasibleError
from distanon.methods.base import Context
from distanon.methods.dptpe import DPTPE
from distanon.methods.dptpe.extremes import deviations, ends_of, extremes_of
from distanon.promises.unchanged import Unchanged
from distanon.runtime.crew import SerialCrew


def released(data, pieces, scratch=None, promises=None, **options):
    """The written pieces and all that is told of them."""
    crew, scratch = SerialCrew(), scratch or MemoryScratch()
    context = Context(crew, scratch, Streams(7), pieces=pieces)
    made = DPTPE(**options).release(data, promises or {}, context)
    tables = [piece.read() for piece in made.pieces]
    return tables, made.schema, made.counts, made.private


def lattice(n=500):
    columns = np.random.default_rng(2).integers(0, 5, (3, n))
    return pa.table({name: pa.array(column) for name, column in zip("abc", columns, strict=True)})


@pytest.mark.parametrize("pieces", [2, 7, 64])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ties": "truncate", "rsn": "paper", "rule": "krad", "k": 4},
        {"rule": "random", "scale": "zscore", "min_displacement": 0.1},
        {"on_unchanged": "keep", "scale": "none", "sigma": 0.3, "domain": "free"},
    ],
    ids=["default", "truncate", "displacement", "keep"],
)
@pytest.mark.parametrize("table", ["mixed", "lattice"])
def test_a_table_in_pieces_gives_the_same_bytes(make, table, options, pieces):
    data = make.dataset(make.mixed(300) if table == "mixed" else lattice(), 3)
    whole = released(data, 1, **options)
    assert released(data, pieces, **options) == whole


@pytest.mark.parametrize("partitions", [1, 5])
def test_partitions_change_no_record(make, partitions):
    table = make.mixed(200)
    whole, *_ = released(make.dataset(table, 3), 1)
    cut, *_ = released(make.dataset(table, partitions), 6)
    assert len(cut) == partitions
    assert pa.concat_tables(cut).equals(pa.concat_tables(whole))


def test_records_that_nothing_can_change_are_refused_alike(make):
    data = make.dataset({"x": [0] * 60 + [1]}, 2)
    for pieces in (1, 4):
        with pytest.raises(InfeasibleError, match="60 of 61 records can't be changed"):
            released(data, pieces, promises={"unchanged": Unchanged(at_most=0)}, k=3)


def test_equal_records_are_refused_alike(make):
    data = make.dataset({"x": [3] * 30}, 2)
    for pieces in (1, 4):
        with pytest.raises(InfeasibleError, match="the same quasi-identifiers"):
            released(data, pieces, promises={"unchanged": Unchanged(at_most=0)}, k=3)


def test_a_release_that_was_broken_off_ends_with_the_same_bytes(make):
    data, scratch = make.dataset(make.mixed(200), 4), MemoryScratch()
    whole = released(data, 5)
    write, left = scratch.write, [25]

    def breaks(name, table):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        return write(name, table)

    scratch.write = breaks
    with pytest.raises(KeyboardInterrupt):
        released(data, 5, scratch)
    scratch.write = write
    assert released(data, 5, scratch) == whole


@pytest.mark.parametrize("n", [9, 39, 40, 41, 400])
@pytest.mark.parametrize("partitions", [1, 3, 30])
def test_bounds_are_those_of_all_values(make, n, partitions):
    data = make.dataset(make.mixed(n), partitions)
    space = AttributeSpace.of(data.schema.quasi_identifiers, scan(data))
    every = space.encode(data.read())
    told = [ends_of(space.encode(part.read()), 10) for part in data.partitions]
    ends = extremes_of(told, 10)
    bounds = [
        finishing(space.attributes, space.domains, values, 10, "clip", "grid")
        for values in (every, ends)
    ]
    assert bounds[0].lower.tolist() == bounds[1].lower.tolist()
    assert bounds[0].upper.tolist() == bounds[1].upper.tolist()


def test_deviations_are_those_of_all_values(make):
    data = make.dataset(make.mixed(200), 7)
    space = AttributeSpace.of(data.schema.quasi_identifiers, scan(data))
    expected = zscore_spreads(space.encode(data.read()))
    assert deviations(SerialCrew(), data, space).tolist() == expected.tolist()
