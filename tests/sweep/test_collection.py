"""The figures of many runs: one tidy row a figure, one row for a run without any."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from distanon import job
from distanon.errors import AccessError, InfeasibleError, ResumeError, SpecError
from distanon.spec import parse
from distanon.storage.store import Store
from distanon.sweep import collect
from distanon.sweep.records import RunRecord, SweepRecord

SPEC = """
spec: 1
name: few
input:
  table: {path: builtin:forest-fires, columns: {area: sensitive}, default_role: quasi_identifier}
method: {name: dptpe, k: 10}
compare: [{name: noise, rms: 0.1}]
measure: {draws: 1, budget_s: 0.001}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for k in (5, 20):
        places = f"output: {folder}/out\nprivate: {folder}/private/{k}\n"
        job.run_job(parse(SPEC + places, [f"method.k={k}", f"seed={k}"]), hold=True, serial=True)
    runs = (
        RunRecord("few-5", f"{folder}/private/5"),
        RunRecord("few-900", f"{folder}/private/900", {"method.k": 900}, "failed", 3, "too few"),
    )
    SweepRecord("few", runs).write(Store(str(folder / "private"), private=True))
    return folder / "private"


def test_every_figure_is_a_row_and_a_failed_run_is_one_row_without_a_metric(folder):
    table = collect([str(folder)]).table
    rows = table.to_pylist()
    assert table.column_names[:4] == ["run", "method", "parameters", "seed"]
    assert {row["seed"] for row in rows} == {"5", "20", None}
    assert {row["method"] for row in rows if row["metric"]} == {"dptpe", "noise (rms: 0.1)"}
    (failed,) = [row for row in rows if row["run"] == "few-900"]
    assert (failed["status"], failed["reason"], failed["metric"]) == ("failed", "too few", None)


def test_runs_are_compared_side_by_side_with_what_was_measured_beside_them(folder):
    found = collect([str(folder)])
    assert sorted(found.runs.values()) == ["failed", "held", "held", "waiting"]
    names, values = found.compared()
    assert all(len(row) == len(names) for row in values.values())
    assert found.reasons() == {"few-900": "too few"}


def test_the_table_is_written_as_parquet_and_read_back(folder, tmp_path):
    found = collect([str(folder)])
    found.write(str(tmp_path / "metrics.parquet"))
    assert pq.read_table(tmp_path / "metrics.parquet").equals(found.table)
    with pytest.raises(SpecError, match=r"\.parquet"):
        found.write(str(tmp_path / "metrics.csv"))


def test_a_submitted_run_that_was_refused_before_it_began_tells_its_reason(tmp_path):
    places = f"output: {tmp_path}/out\nprivate: {tmp_path}/private\n"
    spec = parse(SPEC + places, ["method.k=600"])
    store = Store(str(tmp_path / "private"), private=True)
    store.make_parent()
    store.write("spec.yaml", spec.to_yaml().encode())
    with pytest.raises(InfeasibleError):
        job.run_job(spec, serial=True)
    (row,) = collect([str(tmp_path)]).table.to_pylist()
    assert row["status"] == "failed"
    assert "515" in row["reason"]
    assert job.standing(str(tmp_path / "private"))["status"] == "failed"


@pytest.mark.s3
def test_where_s3_is_is_asked_of_the_environment(s3_environment, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    with pytest.raises(AccessError, match="set AWS_ENDPOINT_URL_S3"):
        collect(["s3://somewhere/private/"])


def test_a_folder_without_runs_is_refused(tmp_path):
    with pytest.raises(ResumeError, match="no run of distanon"):
        collect([str(tmp_path)])
