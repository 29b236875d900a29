import datetime as dt
import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.classes import equal_rows
from distanon.data.schema import Attribute, Role, Schema, infer_type
from distanon.data.table import Dataset, cut
from distanon.runtime.crew import SerialCrew
from distanon.sharded import source_rows
from distanon.sharded.source_rows import rows_like_their_sources


def dataset(table, pieces):
    attributes = tuple(
        Attribute(f.name, Role.QUASI_IDENTIFIER, infer_type(f.type), f.type) for f in table.schema
    )
    return Dataset(Schema(attributes), cut(table, pieces))


def found(release, original, sources, pieces=(1, 1)):
    tables = dataset(release, pieces[0]), dataset(original, pieces[1])
    return rows_like_their_sources(SerialCrew(), *tables, sources, release.column_names).tolist()


def expected(release, original, sources):
    same = equal_rows(release, original.take(pa.array(sources)), release.column_names)
    return np.flatnonzero(same).tolist()


def mixed(draw, n):
    return pa.table(
        {
            "a": pa.array(draw.integers(0, 3, n), mask=draw.random(n) < 0.2),
            "b": pa.array(draw.choice([0.0, -0.0, 0.1, math.nan], n), from_pandas=False),
            "c": pa.array(draw.choice(["x", "y", ""], n), mask=draw.random(n) < 0.2),
        }
    )


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_they_are_those_of_whole_tables_for_any_partitions(seed, ours, theirs):
    draw = np.random.default_rng(seed)
    original, release = mixed(draw, 60), mixed(draw, 45)
    sources = draw.permutation(60)[:45]
    release = pa.concat_tables([release.slice(0, 30), original.take(pa.array(sources[30:]))])
    assert found(release, original, sources, (ours, theirs)) == expected(release, original, sources)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (pa.array([1, 2, None, 4], pa.int16()), pa.array([1.0, 2.5, None, 4.0])),
        (pa.array(["1", "2.50", "x", None]), pa.array([1.0, 2.5, 3.0, math.nan])),
        (pa.array(["a", "b", None, ""]).dictionary_encode(), pa.array(["a", "c", None, None])),
        (pa.array([True, False, None, True]), pa.array([1, 1, None, 1])),
        (pa.array([2**63, 5, 7, 1], pa.uint64()), pa.array([2**63, 5, 8, None], pa.uint64())),
        (
            pa.array([Decimal("1.50"), Decimal("2.00"), None, Decimal("0.01")]),
            pa.array([Decimal("1.50"), Decimal("2.01"), None, Decimal("0.01")]),
        ),
        (
            pa.array([dt.date(2024, 2, day) for day in (1, 2, 3, 4)]),
            pa.array([dt.date(2024, 2, day) for day in (1, 9, 3, 4)]),
        ),
        (
            pa.array([1, 2, 3, 4], pa.timestamp("s")),
            pa.array([1000, 2000, 3001, 4000], pa.timestamp("ms")),
        ),
        (pa.array([1.0, 2.0, 3.0, 4.0], pa.float32()), pa.array([1.0, 2.0, 3.5, 4.0])),
        (pa.nulls(4), pa.array([1, None, 2, None])),
    ],
)
def test_types_are_compared_as_in_whole_tables(ours, theirs):
    release, original = pa.table({"x": ours}), pa.table({"x": theirs})
    sources = np.arange(4)
    assert found(release, original, sources, (2, 3)) == expected(release, original, sources)


def test_rows_whose_fingerprints_collide_are_looked_at(monkeypatch):
    monkeypatch.setattr(source_rows, "_words", lambda column: np.zeros(len(column), np.uint64))
    monkeypatch.setattr(source_rows, "_TOGETHER", 6)
    draw = np.random.default_rng(2)
    original, release, sources = mixed(draw, 40), mixed(draw, 40), draw.permutation(40)
    assert found(release, original, sources, (3, 2)) == expected(release, original, sources)


def test_without_columns_all_rows_are_equal():
    table = pa.table({"x": [1, 2]})
    tables = dataset(table, 2), dataset(table, 1)
    assert rows_like_their_sources(SerialCrew(), *tables, np.arange(2), []).tolist() == [0, 1]
