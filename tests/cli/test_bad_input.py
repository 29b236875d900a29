"""What a user gets wrong, through the real command and the real job, before anything starts."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from distanon.cli import app

SPEC = """
spec: 1
name: bad
seed: 340282366920938463463374607431768211455
input:
  table:
    path: {path}
    columns: {{age: quasi_identifier, zip: quasi_identifier, job: sensitive}}
method: {{name: dptpe, k: 3}}
output: {folder}/out/
private: {folder}/private/
"""
GOOD = "age,zip,job\n" + "".join(f"{20 + n},{1000 + n},j{n % 3}\n" for n in range(12))


@pytest.fixture
def refused(tmp_path):
    """Runs a spec on a table; returns the exit code and what stands on stderr."""

    def run(content=GOOD, *changes, name="t.csv", command="run"):
        path = tmp_path / name
        if content is not None:
            path.write_text(content)
        spec = tmp_path / "spec.yaml"
        spec.write_text(SPEC.format(path=path, folder=tmp_path))
        arguments = [command, str(spec)]
        for change in changes:
            arguments += ["--set", change]
        answer = CliRunner(env={"DISTANON_DEBUG": ""}).invoke(app, arguments)
        assert not (tmp_path / "out").exists()
        assert not (tmp_path / "private").exists()
        return answer.exit_code, answer.stderr

    return run


def test_the_table_is_good_as_it_is(refused):
    assert refused(command="validate") == (0, "")


def test_an_unknown_key(refused):
    code, message = refused(GOOD, "method.kk=3")
    assert code == 2
    assert "method.kk: no such setting; did you mean 'k'?" in message


def test_k_larger_than_the_table(refused):
    code, message = refused(GOOD, "method.k=30")
    assert code == 3
    assert "the largest k that works is 10" in message


def test_text_in_a_numeric_column_names_its_row(refused):
    content = GOOD.replace("31,1011", "Meier,1011")
    code, message = refused(
        content, "input.table.columns.age={role: quasi_identifier, type: numeric}"
    )
    assert code == 2
    assert "age" in message
    assert "row 12" in message
    assert "Meier" not in message


def test_zero_rows(refused):
    code, message = refused("age,zip,job\n")
    assert code == 2
    assert "t.csv" in message


def test_a_table_without_a_header_is_not_quoted(refused):
    code, message = refused("\n".join(GOOD.splitlines()[1:]))
    assert code == 2
    assert "header" in message
    assert "1000" not in message


def test_a_column_that_is_not_there(refused):
    code, message = refused(GOOD, "input.table.columns.agee=quasi_identifier")
    assert code == 2
    assert "input.table.columns.agee" in message
    assert "did you mean 'age'?" in message


def test_a_file_that_is_not_there(refused):
    code, message = refused(None)
    assert code == 2
    assert "t.csv" in message


def test_parts_with_different_schemas(refused, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    pq.write_table(pa.table({"age": [1], "zip": [2], "job": ["a"]}), folder / "a.parquet")
    pq.write_table(pa.table({"age": [1], "plz": [2], "job": ["a"]}), folder / "b.parquet")
    code, message = refused(None, name="parts")
    assert code == 2
    assert "b.parquet" in message


def test_an_output_inside_the_private_prefix(refused, tmp_path):
    code, message = refused(GOOD, f"output={tmp_path}/private/out/")
    assert code == 2
    assert "lies inside the private prefix" in message


def test_an_input_inside_the_output(refused, tmp_path):
    code, message = refused(GOOD, f"output={tmp_path}")
    assert code == 2
    assert "an output is public" in message


def test_a_remote_output_without_a_private_prefix(refused):
    code, message = refused(GOOD, "output=s3://bucket/x/", "private=null")
    assert code == 2
    assert "private: missing" in message


def test_marks_of_missing_values_are_named_and_can_be_listed(refused):
    content = GOOD.replace("23,", "NA,").replace("25,", "NA,")
    code, message = refused(content)
    assert code == 2
    assert "column 'age', 2 rows, the first of them row 4" in message
    assert "csv.missing: [NA]" in message
    assert refused(content, "input.table.csv={missing: [NA]}", command="validate") == (0, "")


def test_a_nul_byte_has_words_of_its_own(refused):
    code, message = refused(GOOD.replace("j2", "j\0"))
    assert code == 2
    assert "a NUL byte in row 3" in message
