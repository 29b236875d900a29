from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from distanon.data.schema import SOURCE, Role
from distanon.methods.baselines.nends import NeNDS
from distanon.methods.baselines.noise import Noise
from distanon.methods.baselines.rbt import RBT
from distanon.methods.baselines.whole_table import WholeTable

METHODS = [RBT(), NeNDS(), NeNDS(variant="tuple"), Noise(rms=0.1)]


@pytest.fixture
def people(make):
    generator = np.random.default_rng(0)
    return make.dataset(
        {
            "name": [f"person {i}" for i in range(30)],
            "age": pa.array(generator.integers(18, 90, 30), pa.int8()),
            "income": np.round(generator.lognormal(10, 1, 30), 2),
            "town": pa.array([f"town {i % 3}" for i in range(30)]),
            "illness": [f"illness {i % 4}" for i in range(30)],
            "remark": [None if i % 5 else "yes" for i in range(30)],
        },
        pieces=4,
        name={"role": Role.IDENTIFIER},
        illness={"role": Role.SENSITIVE},
        remark={"role": Role.INSENSITIVE},
    )


@pytest.mark.parametrize("method", METHODS, ids=lambda method: repr(method)[:40])
def test_only_quasi_identifiers_change_and_identifiers_go(make, people, method):
    table, release = make.released(method, people)
    assert table.column_names == ["age", "income", "town", "illness", "remark"]
    original = people.read()
    for name in ("illness", "remark"):
        assert table.column(name).to_pylist() == original.column(name).to_pylist()
    assert not table.column("income").equals(original.column("income"))
    for field in table.schema:
        assert release.schema[field.name].arrow_type == field.type


@pytest.mark.parametrize("method", METHODS, ids=lambda method: repr(method)[:40])
def test_pieces_stand_for_the_partitions(make, people, method):
    release = method.release(people, {}, make.context())
    borders = [(piece.start, piece.stop) for piece in release.pieces]
    assert borders == [(part.start, part.stop) for part in people.partitions]
    for piece in release.pieces:
        assert piece.read().column_names[-1] == SOURCE
        assert piece.read().schema.field(SOURCE).type == pa.int64()
    assert release.counts["records"] == 30


def test_pieces_are_named_by_their_records(make, people):
    context = make.context()
    Noise(rms=0.1).release(people, {}, context)
    assert sorted(context.scratch.tables) == sorted(
        f"noise-{part.start}-{part.stop}" for part in people.partitions
    )


def test_missing_cells_are_counted_in_all_kinds_of_columns(make):
    dataset = make.dataset(
        {"a": pa.array([1.0, None, 3.0]), "t": ["x", None, None], "f": [True, False, None]}
    )
    table = WholeTable.read(dataset)
    assert table.missing == 4
    assert table.ordered.tolist() == [True, False, False]
    assert table.unchanged(table.values) == 3
