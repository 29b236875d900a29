"""Hierarchies of a spec: ARX's and anjana's files as they are, and rules."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from distanon.data.streams import Streams
from distanon.errors import InputError
from distanon.job.inputs import open_inputs
from distanon.spec import parse

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
