"""The judge runs all it can, and names what it could not."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from distanon import auditing
from distanon.attacks import nearest_in_parts
from distanon.auditing import Thoroughness
from distanon.data.evidence import Evidence
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.streams import Streams
from distanon.data.table import Dataset, MemoryPartition, cut
from distanon.errors import InputChangedError
from distanon.runtime.crew import SerialCrew
from distanon.sharded import large


def dataset(table: pa.Table) -> Dataset:
    kinds = [
        Attribute(
            field.name,
            Role.QUASI_IDENTIFIER,
            AttributeType.NOMINAL if pa.types.is_string(field.type) else AttributeType.NUMERIC,
            field.type,
        )
        for field in table.schema
    ]
    return Dataset(Schema(tuple(kinds)), (MemoryPartition(table),))


@pytest.fixture
def table():
    draw = np.random.default_rng(3)
    return pa.table({"a": draw.normal(size=120), "b": draw.normal(size=120)})


def measured(evidence: Evidence, **settings) -> dict[str, float]:
    figures = auditing.measure(
        evidence, Thoroughness(k=5, draws=2, **settings), SerialCrew(), Streams(1), 3
    )
    return {figure.name: figure for figure in figures}


def test_the_original_as_its_own_release_loses_nothing_and_hides_nothing(table):
    same = dataset(table)
    figures = measured(Evidence(same, same, np.arange(120)))
    assert figures["neighborhoods.stability_owner"].value == 1.0
    assert figures["identity.release_to_original"].value == 1.0
    assert figures["change.rms"].value == 0.0
    assert figures["clustering.kmeans_f"].value == 1.0


def test_what_ran_out_of_time_is_named(table):
    same = dataset(table)
    figures = measured(Evidence(same, same, np.arange(120)), budget_s=-1.0)
    assert all(name.endswith(".not_measured") for name in figures)
    assert all("budget_s" in figure.note for figure in figures.values())


def test_of_large_tables_only_a_sample_is_held_and_named(monkeypatch):
    draw = np.random.default_rng(3)
    table = pa.table({"a": draw.normal(size=900), "b": draw.normal(size=900)})
    parts = dataset(table)
    parts = Dataset(parts.schema, cut(table, 7))
    monkeypatch.setattr(large, "SAMPLE", 300)
    for module in (large, auditing, nearest_in_parts):
        monkeypatch.setattr(module, "is_large", lambda evidence: True)
    figures = measured(Evidence(parts, parts, np.arange(900)), assignment_records=0)
    told = "on a seeded sample of 300 rows"
    assert told in figures["neighborhoods.stability_owner"].note
    assert figures["neighborhoods.stability_owner"].value == 1.0
    assert told not in figures["identity.release_to_original"].note
    assert figures["identity.release_to_original"].value == 1.0
    assert figures["class_sizes.discernibility"].n == 900


class Changed(MemoryPartition):
    def read(self, columns=None):
        raise InputChangedError("people.parquet: the file has changed since the run began")


def test_an_input_that_changes_while_it_is_measured_ends_the_job(table):
    same = dataset(table)
    changed = Dataset(same.schema, (Changed(table),), domain=same.domain)
    with pytest.raises(InputChangedError):
        measured(Evidence(same, changed, np.arange(120)))


def test_generalized_columns_are_attacked_and_measured_like_others(table):
    low = np.floor(table["a"].to_numpy())
    ranges = pa.table({"a": [f"[{one:g}, {one + 1:g}]" for one in low], "b": table["b"]})
    figures = measured(Evidence(dataset(ranges), dataset(table), np.arange(120)))
    assert not [name for name in figures if name.endswith("not_measured")]
    assert figures["identity.original_to_release"].value == 1.0  # b is left as it is
    assert 0.0 < figures["generalization.ncp"].value < 0.5
    assert figures["change.unchanged"].value == 0.0


def test_cells_that_are_no_regions_leave_only_what_needs_no_distance(table):
    odd = pa.table({"a": ["many"] * 120, "b": table["b"]})
    figures = measured(Evidence(dataset(odd), dataset(table), np.arange(120)))
    left_out = [figure for name, figure in figures.items() if name.endswith("not_measured")]
    assert left_out
    assert all("'a'" in figure.note for figure in left_out)
    assert not any("many" in figure.note for figure in left_out)
    assert not any(figure.is_public for figure in left_out)  # the words may count rows
    assert "classes.k" in figures


def test_the_k_l_and_t_that_a_release_has_are_measured_without_being_asked():
    table = pa.table(
        {"age": [30, 30, 30, 40, 40, 40], "job": list("abcaab"), "pay": [3, 4, 5, 6, 8, 11]}
    )
    schema = Schema(
        (
            Attribute("age", Role.QUASI_IDENTIFIER, AttributeType.NUMERIC, pa.int64()),
            Attribute("job", Role.SENSITIVE, AttributeType.NOMINAL, pa.string()),
            Attribute("pay", Role.SENSITIVE, AttributeType.NUMERIC, pa.int64()),
        )
    )
    found = measured(Evidence(Dataset(schema, (MemoryPartition(table),))))
    value = {name: figure.value for name, figure in found.items()}
    assert value["classes.k"] == 3
    assert value["classes.l_distinct.job"] == 2
    # the second class holds a, a, b: its entropy is that of 2/3 and 1/3
    assert value["classes.l_entropy.job"] == pytest.approx(3 / 2 ** (2 / 3))
    assert value["classes.l_distinct.pay"] == 3
    # by hand: shares 1/3 each in the class, 1/2, 1/3 and 1/6 in the whole
    assert value["classes.t.job"] == pytest.approx(1 / 6)
    # the lower three of six values: each moves half its mass three places of five
    assert value["classes.t.pay"] == pytest.approx(0.3)
    assert all(one.is_public for name, one in found.items() if name.startswith("classes."))


def test_without_sensitive_columns_there_is_k_alone(table):
    found = measured(Evidence(dataset(table)))
    assert [name for name in found if name.startswith("classes.")] == [
        "classes.k",
        "classes.unique_rows",
    ]
    assert found["classes.k"].value == 1


def test_what_looks_like_copies_and_what_is_suppressed_is_told():
    table = pa.table({"age": ["30", "30", "*", "*"], "job": ["a", "a", "b", "b"]})
    schema = Schema(
        (
            Attribute("age", Role.QUASI_IDENTIFIER, AttributeType.NOMINAL, pa.string()),
            Attribute("job", Role.SENSITIVE, AttributeType.NOMINAL, pa.string()),
        )
    )
    found = measured(Evidence(Dataset(schema, (MemoryPartition(table),))))
    assert found["classes.copies_suspected"].value == 1
    assert found["classes.suppressed_rows"].value == 0.5


def test_kept_columns_count_for_what_makes_a_row_unique():
    table = pa.table({"age": [30, 30, 30, 40], "note": ["a", "b", "b", "c"]})
    schema = Schema(
        (
            Attribute("age", Role.QUASI_IDENTIFIER, AttributeType.NUMERIC, pa.int64()),
            Attribute("note", Role.INSENSITIVE, AttributeType.NOMINAL, pa.string()),
        )
    )
    found = measured(Evidence(Dataset(schema, (MemoryPartition(table),))))
    assert found["classes.unique_rows"].value == 0.25
    assert found["classes.unique_rows_with_kept"].value == 0.5
