"""Bad tables and impossible promises: refused with file, column and fix, or taken as they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from distanon import job as jobs
from distanon.errors import DistanonError, InfeasibleError, InputError, SpecError
from distanon.spec import parse

ROLES = "{a: quasi_identifier, b: quasi_identifier, s: sensitive}"


@pytest.fixture
def run(tmp_path):
    """Runs a job on an input; a refusal before the release is made has written nothing."""

    def go(path: str | Path, *settings: str, columns: str = ROLES, method: str = "mondrian, k: 3"):
        text = f"""
spec: 1
name: bad
seed: 3
input: {{table: {{path: "{path}", columns: {columns}}}}}
method: {{name: {method}}}
measure: {{draws: 1, budget_s: 0.01}}
output: {tmp_path / "out"}
private: {tmp_path / "private"}
"""
        try:
            return jobs.run_job(parse(text, settings), serial=True)
        except DistanonError:
            assert not (tmp_path / "out").exists(), "something was published"
            raise

    return go


def rows(count=40):
    """Numbers a and b, text s."""
    at = np.arange(count)
    return pa.table({"a": at % 7, "b": at % 5 * 1.5, "s": np.array(list("uvw"))[at % 3]})


def parts(folder: Path, *tables: pa.Table) -> Path:
    folder = folder / "parts"
    folder.mkdir()
    for place, table in enumerate(tables):
        pq.write_table(table, folder / f"part-{place}.parquet")
    return folder


def released(result) -> pa.Table:
    return pq.read_table(Path(result.output) / "data")


def refused(error, kind, *words):
    assert error.type is kind, error.value
    for word in words:
        assert word in str(error.value), str(error.value)


METHODS = [
    "mondrian, k: 3",
    "mdav, k: 3",
    "reconstruction, k: 3, generations: 2, individuals: 4",
]


@pytest.mark.parametrize("method", METHODS)
def test_an_empty_part_among_full_ones_changes_no_byte(run, tmp_path, method):
    whole = rows()
    pq.write_table(whole, tmp_path / "whole.parquet")
    one = released(run(tmp_path / "whole.parquet", method=method))
    some = parts(tmp_path, whole[:0], whole[:11], whole[:0], whole[11:], whole[:0])
    places = f"output={tmp_path / 'again'}", f"private={tmp_path / 'other'}"
    again = run(some, *places, method=method)
    assert released(again).equals(one)


def test_an_empty_part_whose_columns_have_no_type_is_taken(run, tmp_path):
    bare = pa.table({name: pa.nulls(0) for name in ("a", "b", "s")})
    assert released(run(parts(tmp_path, bare, rows()))).num_rows == 40


def test_parts_whose_types_differ_are_named_with_column_and_types(run, tmp_path):
    other = rows().set_column(0, "a", rows().column("a").cast(pa.string()))
    with pytest.raises(InputError) as error:
        run(parts(tmp_path, rows(), other))
    refused(error, InputError, "part-0.parquet", "part-1.parquet", "column a", "int64", "string")


def test_columns_may_stand_in_any_order_in_the_parts(run, tmp_path):
    assert released(run(parts(tmp_path, rows(), rows().select(["s", "b", "a"])))).num_rows == 80


def test_a_column_that_no_file_has_is_named_with_a_near_one(run, tmp_path):
    pq.write_table(rows().rename_columns(["a", "b", "salary"]), tmp_path / "t.parquet")
    with pytest.raises(SpecError) as error:
        run(
            tmp_path / "t.parquet",
            columns="{a: quasi_identifier, b: quasi_identifier, salry: sensitive}",
        )
    refused(error, SpecError, "salry", "salary")


def test_columns_without_a_role_are_all_listed(run, tmp_path):
    pq.write_table(rows(), tmp_path / "t.parquet")
    with pytest.raises(SpecError) as error:
        run(tmp_path / "t.parquet", columns="{a: quasi_identifier}")
    refused(error, SpecError, "b", "s", "default_role")


@pytest.mark.parametrize("k", ["-3", "0", "1", "2.5", "many"])
def test_a_k_that_promises_nothing_is_refused(run, tmp_path, k):
    pq.write_table(rows(), tmp_path / "t.parquet")
    with pytest.raises(SpecError) as error:
        run(tmp_path / "t.parquet", method=f"mondrian, k: {k}")
    refused(error, SpecError, "method.k")
    assert error.value.exit_code == 2


def test_a_k_beyond_the_records_can_not_be_met(run, tmp_path):
    pq.write_table(rows(), tmp_path / "t.parquet")
    with pytest.raises(InfeasibleError) as error:
        run(tmp_path / "t.parquet", method="mondrian, k: 41")
    refused(error, InfeasibleError, "40")
    assert error.value.exit_code == 3


def test_one_value_for_all_can_not_be_diverse(run, tmp_path):
    table = rows().set_column(2, "s", pa.array(["u"] * 40))
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(DistanonError) as error:
        run(tmp_path / "t.parquet", method="mondrian, k: 3, l: 2")
    assert error.value.exit_code == 3
    assert "'s'" in str(error.value) or "column s" in str(error.value)


def test_a_corner_of_one_value_is_joined_with_others(run, tmp_path):
    # who has a = 6 has s = w: a class of them alone would not be diverse
    table = rows(210)
    same = np.where(np.arange(210) % 7 == 6, "w", np.array(table.column("s")))
    pq.write_table(table.set_column(2, "s", pa.array(same)), tmp_path / "t.parquet")
    result = run(tmp_path / "t.parquet", method="mondrian, k: 3, l: 2")
    verdict = {one.promise: one for one in result.verdicts}["l_diversity"]
    assert verdict.kept
    assert verdict.measured["l"] >= 2


def test_numbers_stored_as_text_with_one_bad_cell_name_its_row(run, tmp_path):
    text = rows().column("a").cast(pa.string()).to_pylist()
    text[28] = "hidden"
    pq.write_table(rows().set_column(0, "a", pa.array(text)), tmp_path / "t.parquet")
    with pytest.raises(InputError) as error:
        run(
            tmp_path / "t.parquet",
            columns="{a: {role: quasi_identifier, type: numeric}, b: quasi_identifier,"
            " s: sensitive}",
        )
    refused(error, InputError, "t.parquet", "'a'", "row 29", "text, expected")
    assert "hidden" not in str(error.value)


def test_numbers_stored_as_text_are_numbers_where_the_spec_says_so(run, tmp_path):
    text = rows().column("a").cast(pa.string())
    pq.write_table(rows().set_column(0, "a", text), tmp_path / "t.parquet")
    numeric = "{a: {role: quasi_identifier, type: numeric}, b: quasi_identifier, s: sensitive}"
    assert released(run(tmp_path / "t.parquet", columns=numeric)).num_rows == 40


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_column_names_that_are_not_unique_are_refused(run, tmp_path, kind):
    path = tmp_path / f"t.{kind}"
    if kind == "csv":
        path.write_text("a,b,b,s\n" + "1,2,3,u\n" * 9)
    else:
        columns = rows().columns
        twice = pa.Table.from_arrays([*columns, columns[1]], names=["a", "b", "s", "b"])
        pq.write_table(twice, path)
    with pytest.raises(InputError) as error:
        run(path)
    refused(error, InputError, f"t.{kind}", "found twice: b")


@pytest.mark.parametrize("kind", [pa.null(), pa.string(), pa.float64()])
def test_a_quasi_identifier_that_is_all_missing_stays_missing(run, tmp_path, kind):
    table = rows().set_column(1, "b", pa.nulls(40, kind))
    pq.write_table(table, tmp_path / "t.parquet")
    result = run(tmp_path / "t.parquet")
    assert released(result).column("b").null_count == 40
    assert all(verdict.kept for verdict in result.verdicts)


@pytest.mark.parametrize("method", METHODS)
def test_a_quasi_identifier_that_is_unique_for_each_row_is_generalized(run, tmp_path, method):
    table = rows().set_column(0, "a", pa.array([f"person {one}" for one in range(40)]))
    pq.write_table(table, tmp_path / "t.parquet")
    result = run(tmp_path / "t.parquet", method=method)
    assert {one.promise: one.measured["k"] for one in result.verdicts}["k_anonymity"] >= 3


def test_one_record_is_too_few(run, tmp_path):
    pq.write_table(rows(1), tmp_path / "t.parquet")
    with pytest.raises(InfeasibleError) as error:
        run(tmp_path / "t.parquet")
    assert error.value.exit_code == 3


def test_two_hundred_columns_are_released(run, tmp_path):
    table = rows()
    for place in range(197):
        table = table.append_column(f"more {place}", pa.array(np.arange(40) % (2 + place % 5)))
    pq.write_table(table, tmp_path / "t.parquet")
    result = run(tmp_path / "t.parquet", "input.table.default_role=quasi_identifier")
    assert released(result).num_columns == 200
    assert all(verdict.kept for verdict in result.verdicts)
