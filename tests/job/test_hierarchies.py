"""Hierarchies of a spec: ARX's and anjana's files as they are, and rules."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.streams import Streams
from distanon.data.table import MemoryPartition
from distanon.errors import InputError
from distanon.job.hierarchies import counts_of_fit, fitted_counts, hierarchies_of
from distanon.job.inputs import open_inputs
from distanon.spec import parse
from distanon.spec.table_input import Column, TableInput
from distanon.storage.fitted import read_fitted, write_fitted
from distanon.storage.store import StorageSettings, Store

ARX = "nurse;care;*\ndoctor;care;*\nclerk;office;*\n"
ANJANA = '17,"[15, 20)","[10, 20)",*\n18,"[15, 20)","[10, 20)",*\n31,"[30, 35)","[30, 40)",*\n'


@pytest.fixture
def opened(tmp_path):
    def make(hierarchies, control=None):
        people = {"age": [17, 18, 31, None], "job": ["nurse", "clerk", "doctor", "nurse"]}
        pq.write_table(pa.table(people), tmp_path / "people.parquet")
        columns = "".join(
            f"\n      {name}: {{role: quasi_identifier, hierarchy: {hierarchy}}}"
            for name, hierarchy in hierarchies.items()
        )
        if control is not None:
            pq.write_table(pa.table(control), tmp_path / "control.parquet")
        spec = parse(
            f"""
spec: 1
name: x
input:
  table:
    path: {tmp_path / "people.parquet"}
    default_role: quasi_identifier
    columns: {columns}
  control: {tmp_path / "control.parquet" if control is not None else "none"}
method: {{name: dptpe, k: 1}}
output: {tmp_path / "out"}
private: {tmp_path / "private"}
"""
        )
        return open_inputs(spec, Streams(5))

    return make


def hierarchy(inputs, column):
    return {row[0]: row[1:] for row in inputs.dataset.schema[column].hierarchy.levels}


def test_the_files_of_arx_and_of_anjana_are_read_unchanged(opened, tmp_path):
    (tmp_path / "job.csv").write_text(ARX)
    (tmp_path / "age.csv").write_text(ANJANA)
    inputs = opened({"age": tmp_path / "age.csv", "job": tmp_path / "job.csv"})
    assert hierarchy(inputs, "job")["doctor"] == ("care", "*")
    assert hierarchy(inputs, "age")["31"] == ("[30, 35)", "[30, 40)", "*")


def test_a_value_that_the_file_lacks_is_an_error_with_column_and_count(opened, tmp_path):
    (tmp_path / "job.csv").write_text(ARX.replace("nurse", "midwife"))
    with pytest.raises(InputError, match=r"column 'job'.*2") as caught:
        opened({"job": tmp_path / "job.csv"})
    assert "nurse" not in str(caught.value)


def test_a_rule_builds_the_hierarchy_of_the_data(opened):
    inputs = opened({"age": "{build: intervals, widths: [10, 20]}"})
    assert hierarchy(inputs, "age")["31"] == ("[30, 40)", "[20, 40)", "*")


def test_a_rule_also_places_the_values_of_the_control_file_and_counts_them_for_nothing(opened):
    control = {"age": [70, None], "job": ["clerk", "driver"]}
    inputs = opened({"job": "{build: frequency, at_least: [2]}"}, control)
    assert hierarchy(inputs, "job") == {
        "nurse": ("nurse", "*"),
        "clerk": ("(rare)", "*"),
        "doctor": ("(rare)", "*"),
        "driver": ("(rare)", "*"),
    }


def test_a_rule_that_cannot_read_a_column_says_so_before_anything_starts(opened):
    with pytest.raises(InputError, match=r"people\.parquet, column 'job': 4 records are not numb"):
        opened({"job": "{build: quantiles, groups: [2]}"})


RULES = (
    "{build: frequency, at_least: [2]}",
    "{build: quantiles, groups: [2]}",
)


@pytest.mark.parametrize("rule", RULES)
def test_a_fit_keeps_what_its_rules_built_from_and_new_values_count_for_nothing(rule, tmp_path):
    column = Column(role="sensitive", hierarchy=yaml.safe_load(rule))
    settings = TableInput(path="a.csv", columns={"a": column})
    schema = Schema((Attribute("a", Role.SENSITIVE, AttributeType.NOMINAL, pa.string()),))
    old = MemoryPartition(pa.table({"a": ["1", "1", "2", "5", "5", "9"]}))
    new = MemoryPartition(pa.table({"a": ["9", "9", "9", "7", "5"]}))
    fit = hierarchies_of(settings, ["a"], [old], "old", StorageSettings())["a"]
    write_fitted(Store(str(tmp_path)), fitted_counts(settings, schema, [old]))
    kept = counts_of_fit(settings, read_fitted(Store(str(tmp_path))), "the run")
    again = hierarchies_of(settings, ["a"], [new], "new", StorageSettings(), fitted=kept)["a"]
    assert {row for row in again.levels if row[0] != "7"} == set(fit.levels)
    alone = hierarchies_of(settings, ["a"], [new], "new", StorageSettings())["a"]
    assert not set(alone.levels) <= set(again.levels)


def test_a_fit_of_an_older_version_is_not_guessed_at():
    column = Column(role="sensitive", hierarchy={"build": "dates"})
    with pytest.raises(InputError, match="run the job again"):
        counts_of_fit(TableInput(path="a.csv", columns={"a": column}), {}, "the run")


def test_a_value_of_the_control_file_that_a_rule_cannot_read_is_said_to_be_there(opened):
    with pytest.raises(InputError, match="held out as control, column 'job': 1 records"):
        opened({"job": "{build: frequency, at_least: [2]}"}, {"age": [1], "job": ["(rare)"]})
