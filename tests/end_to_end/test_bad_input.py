"""Bad input: a clear error that names file, column and fix, before anything is written."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from distanon import job as jobs
from distanon.errors import (
    AccessError,
    DistanonError,
    InfeasibleError,
    InputError,
    OutputExistsError,
    PromiseBrokenError,
    SpecError,
)
from distanon.spec import parse


@pytest.fixture
def run(tmp_path):
    """Runs a job on an input, and checks that a refusal has written nothing."""

    def go(path: str | Path, *settings: str, columns: str = "{}"):
        text = f"""
spec: 1
name: bad
seed: 3
input: {{table: {{path: "{path}", default_role: quasi_identifier, columns: {columns}}}}}
method: {{name: dptpe, k: 3}}
output: {tmp_path / "out"}
private: {tmp_path / "private"}
"""
        try:
            return jobs.run_job(parse(text, settings), serial=True)
        except DistanonError:
            assert not (tmp_path / "out").exists(), "something was written"
            assert not (tmp_path / "private").exists(), "something was written"
            raise

    return go


def csv(folder: Path, text: str, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


ROWS = "a,b\n" + "".join(f"{row % 7},{row * 1.5}\n" for row in range(40))


def refused(error, kind, *words):
    assert error.type is kind, error.value
    for word in words:
        assert word in str(error.value), str(error.value)


def test_an_unknown_key_is_named_with_its_near_match(run, tmp_path):
    with pytest.raises(SpecError) as error:
        run(csv(tmp_path, ROWS), "method.kk=4")
    refused(error, SpecError, "method.kk", "did you mean 'k'")


def test_k_larger_than_the_table_names_the_largest_that_works(run, tmp_path):
    with pytest.raises(InfeasibleError) as error:
        run(csv(tmp_path, ROWS), "method.k=39")
    refused(error, InfeasibleError, "38")
    assert error.value.exit_code == 3


def test_text_in_a_numeric_column_names_column_and_row(run, tmp_path):
    rows = ROWS.splitlines()
    rows[29] = "5,hidden"
    path = csv(tmp_path, "\n".join(rows))
    with pytest.raises(InputError) as error:
        run(path, columns="{b: {role: quasi_identifier, type: numeric}}")
    refused(error, InputError, "table.csv", "'b'", "row 29", "text, expected")
    assert "hidden" not in str(error.value)


def test_an_undeclared_column_of_numbers_with_one_text_is_refused_too(run, tmp_path):
    rows = ROWS.splitlines()
    rows[29] = "5,hidden"
    with pytest.raises(InputError) as error:
        run(csv(tmp_path, "\n".join(rows)))
    refused(error, InputError, "'b'", "row 29", "nominal")


def test_a_column_that_is_all_missing_is_kept_and_still_missing(run, tmp_path):
    rows = "a,b,c\n" + "".join(f"{row % 7},{row * 1.5},\n" for row in range(40))
    result = run(csv(tmp_path, rows))
    table = pq.read_table(Path(result.output) / "data")
    assert table.num_rows == 40
    assert table["c"].null_count == 40


@pytest.mark.parametrize("text", ["", "a,b\n"])
def test_a_file_without_rows_is_refused(run, tmp_path, text):
    with pytest.raises(InputError) as error:
        run(csv(tmp_path, text))
    refused(error, InputError, "table.csv")


def test_parts_with_different_columns_name_both_parts(run, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    pq.write_table(pa.table({"a": [1, 2], "b": [1.0, 2.0]}), folder / "one.parquet")
    pq.write_table(pa.table({"a": [1, 2], "c": [1.0, 2.0]}), folder / "two.parquet")
    with pytest.raises(InputError) as error:
        run(folder)
    refused(error, InputError, "one.parquet", "two.parquet", "b", "c")


def test_a_file_that_is_not_there_is_named(run, tmp_path):
    with pytest.raises(AccessError) as error:
        run(tmp_path / "nowhere.csv")
    refused(error, AccessError, "nowhere.csv")
    assert error.value.exit_code == 2


def test_an_output_that_exists_is_left_alone_unless_told(run, tmp_path):
    path = csv(tmp_path, ROWS)
    first = run(path)
    before = (Path(first.output) / "release.json").read_bytes()
    text = f"""
spec: 1
name: bad
input: {{table: {{path: "{path}", default_role: quasi_identifier}}}}
method: {{name: dptpe, k: 4}}
output: {tmp_path / "out"}
private: {tmp_path / "other"}
"""
    with pytest.raises(OutputExistsError, match="--overwrite"):
        jobs.run_job(parse(text), serial=True)
    assert (Path(first.output) / "release.json").read_bytes() == before
    jobs.run_job(parse(text), serial=True, overwrite=True)
    assert (Path(first.output) / "release.json").read_bytes() != before


def test_an_output_inside_the_private_prefix_is_refused(run, tmp_path):
    with pytest.raises(SpecError) as error:
        run(csv(tmp_path, ROWS), f"output={tmp_path / 'private' / 'out'}")
    refused(error, SpecError, "private")


def test_a_table_of_equal_rows_can_not_be_changed_and_says_so(run, tmp_path):
    with pytest.raises((InfeasibleError, PromiseBrokenError)) as error:
        run(csv(tmp_path, "a,b\n" + "1,2\n" * 30))
    assert error.value.exit_code == 3
    assert "unchanged" in str(error.value)


def test_an_insensitive_column_that_names_people_is_refused(run, tmp_path):
    rows = "a,b,c\n" + "".join(f"{row % 7},{row * 1.5},id{row}\n" for row in range(40))
    path = csv(tmp_path, rows)
    with pytest.raises(InputError) as error:
        run(path, columns="{c: insensitive}")
    refused(error, InputError, "'c'", "confirm_unique")
    run(path, "input.table.confirm_unique=[c]", columns="{c: insensitive}")


def test_missing_values_are_an_error_where_the_spec_says_so(run, tmp_path):
    rows = ROWS.splitlines()
    rows[12] = ",3.5"
    with pytest.raises(InputError) as error:
        run(csv(tmp_path, "\n".join(rows)), "input.table.missing=error")
    refused(error, InputError, "table.csv", "'a'", "row 12", "own_category")


@pytest.mark.s3
def test_a_bucket_that_does_not_exist_is_named(run, tmp_path, s3_environment):
    with pytest.raises(AccessError) as error:
        run("s3://no-such-bucket/table.csv")
    refused(error, AccessError, "no-such-bucket")


@pytest.mark.s3
def test_wrong_credentials_are_refused_without_showing_them(run, s3_environment, monkeypatch):
    bucket = s3_environment.bucket()
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong-secret-Ruritania")
    with pytest.raises(AccessError) as error:
        run(f"s3://{bucket}/table.csv")
    assert "wrong-secret" not in str(error.value)
    assert "credentials" in str(error.value)
