"""A release that was held: nothing is public before `publish`, then all of it, verified again."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from distanon import job
from distanon.errors import OutputExistsError, PromiseBrokenError, ResumeError, StorageError
from distanon.spec import parse
from distanon.storage.leftovers import clean

SPEC = """
spec: 1
name: held
seed: 7
input:
  table: {path: builtin:forest-fires, columns: {area: sensitive}, default_role: quasi_identifier}
method: {name: dptpe, k: 10}
measure: {draws: 1, budget_s: 0.001}
"""


@pytest.fixture
def spec(tmp_path):
    places = f"output: {tmp_path / 'out'}\nprivate: {tmp_path / 'private'}\n"
    return parse(SPEC + places)


@pytest.fixture
def held(spec):
    return job.run_job(spec, hold=True, serial=True)


def released(folder):
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name not in ("_SUCCESS", "report-public.html")
    }


def test_a_held_run_touches_no_output_and_keeps_report_and_figures(held, spec, tmp_path):
    assert held.held
    assert not (tmp_path / "out").exists() or not any((tmp_path / "out").iterdir())
    report = tmp_path / "private" / "report.html"
    before = report.read_bytes()
    assert job.rewrite_report(str(tmp_path / "private")) == str(report)
    assert report.read_bytes() == before
    assert not (tmp_path / "private" / "staging").exists()
    assert all(verdict.kept for verdict in held.verdicts)
    assert job.resume(spec, serial=True).held


def test_what_is_published_later_are_the_bytes_of_a_run_that_published_at_once(
    held, spec, tmp_path
):
    assert not job.publish(str(tmp_path / "private")).held
    assert (tmp_path / "out" / "_SUCCESS").exists()
    assert (tmp_path / "out" / "report-public.html").exists()
    assert not (tmp_path / "private" / "held").exists()
    other = spec.model_copy(
        update={"output": str(tmp_path / "out2"), "private": str(tmp_path / "private2")}
    )
    job.run_job(other, serial=True)
    assert released(tmp_path / "out") == released(tmp_path / "out2")


def test_a_release_that_is_there_is_not_replaced_unless_asked(held, spec, tmp_path):
    job.publish(str(tmp_path / "private"))
    second = spec.model_copy(update={"private": str(tmp_path / "private2")})
    assert job.run_job(second, hold=True, serial=True).held
    with pytest.raises(OutputExistsError):
        job.publish(str(tmp_path / "private2"))
    assert not job.publish(str(tmp_path / "private2"), overwrite=True).held


def test_only_a_held_run_can_be_published(spec, tmp_path):
    job.run_job(spec, serial=True)
    with pytest.raises(ResumeError, match="holds no release; its status is 'done'"):
        job.publish(str(tmp_path / "private"))


def test_held_files_that_were_changed_are_not_published(held, tmp_path):
    (part,) = list((tmp_path / "private" / "held" / "data").iterdir())
    table = pq.read_table(part)
    pq.write_table(table.slice(1), part)
    with pytest.raises((StorageError, PromiseBrokenError)):
        job.publish(str(tmp_path / "private"))
    assert not (tmp_path / "out" / "_SUCCESS").exists()


def test_cleaning_leaves_what_is_held(held, tmp_path):
    clean(str(tmp_path / "private"))
    assert not job.publish(str(tmp_path / "private")).held


def test_a_run_anew_forgets_what_was_held(held, spec, tmp_path):
    job.run_job(spec, serial=True)
    assert not (tmp_path / "private" / "held").exists()
    status = json.loads((tmp_path / "private" / "run.json").read_text())["status"]
    assert status == "done"
