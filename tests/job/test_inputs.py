"""From the input of a spec to records that can be used."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from distanon.data.streams import Streams
from distanon.errors import InputError
from distanon.job.inputs import open_inputs
from distanon.spec import parse


@pytest.fixture
def opened(tmp_path):
    def make(*settings: str, rows: int = 200):
        table = pa.table({"a": np.arange(rows) % 17, "b": np.arange(rows) * 0.5})
        path = tmp_path / "table.parquet"
        pq.write_table(table, path)
        spec = parse(
            f"""
spec: 1
name: x
input: {{table: {{path: {path}, default_role: quasi_identifier}}}}
method: {{name: dptpe, k: 3}}
output: {tmp_path / "out"}
private: {tmp_path / "private"}
""",
            settings,
        )
        return open_inputs(spec, Streams(5))

    return make


def test_no_record_is_lost_between_release_and_control(opened):
    inputs = opened("input.control.fraction=0.2")
    released = inputs.dataset.read()["b"].to_pylist()
    held = inputs.control.read()["b"].to_pylist()
    assert sorted(released + held) == [row * 0.5 for row in range(200)]
    assert 20 <= len(held) <= 60
    assert any("held out" in note for note in inputs.notes)
    assert inputs.dataset.domain.records == len(released)


def test_who_is_held_out_does_not_depend_on_partitions(opened):
    one = opened("input.control.fraction=0.2")
    many = opened("input.control.fraction=0.2", "runtime.partitions=9")
    assert one.control.read()["b"].equals(many.control.read()["b"])


def test_a_control_file_must_have_the_same_columns(opened, tmp_path):
    other = tmp_path / "other.parquet"
    pq.write_table(pa.table({"a": [1, 2], "b": [0.5, 1.5]}), other)
    assert len(opened(f"input.control={other}").control) == 2
    pq.write_table(pa.table({"a": [1, 2], "c": [0.5, 1.5]}), other)
    with pytest.raises(InputError, match=r"other.parquet: the columns are not those"):
        opened(f"input.control={other}")


def test_a_control_file_is_checked_as_the_input_is(opened, tmp_path):
    other = tmp_path / "other.csv"
    # More digits, other values and a blank are no fault.
    other.write_text("a,b\n1,0.25\n99,\n")
    assert opened(f"input.control={other}").control.domain["a"].maximum == 99
    with pytest.raises(InputError, match=r"other.csv: column 'b': 1 missing values, .* row 2"):
        opened(f"input.control={other}", "input.table.missing=error")
    other.write_text("a,b\n1,0.25\n2,planted\n3,9\n")
    with pytest.raises(InputError, match=r"other.csv: column 'b', row 2: text, expected") as caught:
        opened(f"input.control={other}")
    assert "planted" not in str(caught.value)
    other.write_text("a,b\n1,2001-01-01\n")
    with pytest.raises(InputError, match=r"types are not those .*'b' is date32.*, there double"):
        opened(f"input.control={other}")


def test_a_fraction_that_leaves_nobody_is_refused(opened):
    with pytest.raises(InputError, match="one side empty"):
        opened("input.control.fraction=0.0001", rows=10)


def test_a_fault_in_one_of_several_parts_names_the_part_and_its_row(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "1.csv").write_text("a,b\n1,2\n3,4\n5,6\n")
    (folder / "2.csv").write_text("a,b\n1,2\n3,x\n5,y\n")
    spec = parse(
        f"""
spec: 1
name: x
input:
  table:
    path: {folder}
    default_role: quasi_identifier
    columns: {{b: {{role: quasi_identifier, type: numeric}}}}
method: {{name: dptpe, k: 1}}
output: {tmp_path / "out"}
"""
    )
    with pytest.raises(
        InputError, match=r"'b', 2 rows, the first of them row 2 of \S*2\.csv: text"
    ):
        open_inputs(spec, Streams(5))


def test_a_population_needs_the_quasi_identifiers_alone(opened, tmp_path):
    assert opened().population is None
    other = tmp_path / "everybody.parquet"
    pq.write_table(pa.table({"a": [1, 2, 7], "b": [0.5, 1.5, 2.0], "more": ["x"] * 3}), other)
    found = opened(f"input.population={other}").population
    assert [one.name for one in found.schema] == [
        one.name for one in found.schema.quasi_identifiers
    ]
    assert len(found) == 3
    pq.write_table(pa.table({"b": [0.5]}), other)
    with pytest.raises(InputError, match=r"everybody.parquet: a population needs .* 'a'"):
        opened(f"input.population={other}")
    pq.write_table(pa.table({"a": ["planted"], "b": [1.0]}), other)
    with pytest.raises(InputError, match=r"'a', row 1: text, expected") as caught:
        opened(f"input.population={other}")
    assert "planted" not in str(caught.value)
