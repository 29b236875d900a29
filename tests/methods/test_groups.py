"""How groups are published: regions, tuples, suppressed records."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from distanon.data.domain import scan
from distanon.data.schema import SOURCE, Attribute, AttributeType, Role, Schema
from distanon.data.streams import Streams
from distanon.data.table import Dataset, MemoryScratch, cut
from distanon.methods.base import Context
from distanon.methods.baselines.whole_table import WholeTable
from distanon.methods.groups import publish_cells, range_cells, value_cells
from distanon.runtime.crew import SerialCrew


def table_of(columns, pieces=2, **settings):
    table = pa.table(columns)
    schema = Schema(
        tuple(
            Attribute(
                field.name,
                Role.INSENSITIVE if field.name == "kept" else Role.QUASI_IDENTIFIER,
                AttributeType.NUMERIC if field.type == pa.int64() else AttributeType.NOMINAL,
                field.type,
                **(settings if field.name == "age" else {}),
            )
            for field in table.schema
        )
    )
    dataset = Dataset(schema, cut(table, pieces))
    return WholeTable.read(Dataset(schema, dataset.partitions, domain=scan(dataset)))


def context():
    return Context(SerialCrew(), MemoryScratch(), Streams(0))


def rows(release):
    return pa.concat_tables([piece.read() for piece in release.pieces])


def publish_ranges(table, labels, kept, context, *facts, k):
    return publish_cells(table, labels, range_cells(table, labels, kept, k), kept, context, *facts)


AGES = [20, 21, 22, 30, 31, 32, 33]
JOBS = ["a", "b", "a", "c", "c", "c", None]
COLUMNS = {"age": AGES, "job": JOBS, "kept": [*range(7)]}
LABELS = np.array([0, 0, 0, 1, 1, 1, 1])


def test_regions_replace_the_quasi_identifiers_and_nothing_else():
    table = table_of(COLUMNS, domain_bounds=(0.0, 99.0))
    release = publish_ranges(table, LABELS, np.ones(7, np.bool_), context(), "m", {}, {}, k=2)
    found = rows(release)
    assert found.column("age").to_pylist() == ["[0, 22]"] * 3 + ["[30, 99]"] * 4
    assert found.column("job").to_pylist() == ["{a, b}"] * 3 + ["{c} or missing"] * 4
    assert found.column("kept").to_pylist() == [*range(7)]
    assert found.column(SOURCE).to_pylist() == [*range(7)]
    assert {f.name: str(f.type) for f in found.schema}["age"] == "string"
    assert (release.counts["records"], release.counts["groups"]) == (7, 2)


def test_suppressed_records_are_left_out_and_counted():
    kept = np.array([True, True, True, False, True, True, False])
    table = table_of(COLUMNS, domain_bounds=(0.0, 99.0))
    release = publish_ranges(table, LABELS, kept, context(), "m", {"more": 1}, {"x": 2}, k=1)
    found = rows(release)
    assert found.column(SOURCE).to_pylist() == [0, 1, 2, 4, 5]
    assert found.column("job").to_pylist()[3:] == ["c", "c"]
    assert found.column("age").to_pylist()[3] == "[31, 32]"  # the ends of all records are not its
    assert release.counts["suppressed"] == 2
    assert release.counts["more"] == 1
    assert release.private == {"x": 2}


def test_tuples_keep_the_types_of_the_columns():
    table = table_of(COLUMNS)
    tuples = np.array([[21.0, 0.0], [np.nan, 3.0]])  # job 3: missing
    cells = value_cells(table.space, tuples)
    release = publish_cells(table, LABELS, cells, np.ones(7, np.bool_), context(), "m", {}, {})
    found = rows(release)
    assert found.column("age").to_pylist() == [21] * 3 + [None] * 4
    assert found.column("job").to_pylist() == ["a"] * 3 + [None] * 4
    assert found.schema.field("age").type == pa.int64()


def test_a_piece_that_is_written_is_not_written_again():
    table, own = table_of(COLUMNS), context()
    everybody = np.ones(7, np.bool_)
    publish_ranges(table, LABELS, everybody, own, "m", {}, {}, k=2)
    again = publish_ranges(table, LABELS * 0, everybody, own, "m", {}, {}, k=2)
    assert set(rows(again).column("job").to_pylist()) == {"{a, b}", "{c} or missing"}


def test_ends_beyond_the_kth_value_are_rounded_outwards_or_withheld():
    ages = [*range(100, 140), 999]
    table = table_of({"age": ages, "kept": ages})
    labels = np.repeat([0, 1], [20, 21])
    release = publish_ranges(table, labels, np.ones(41, np.bool_), context(), "m", {}, {}, k=3)
    # Third lowest 102, outwards 100; third highest 138, outwards 140, which 999 exceeds.
    assert sorted(set(rows(release).column("age").to_pylist())) == ["[100, 119]", "[120, *]"]
