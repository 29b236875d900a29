"""The private files of a run."""

from __future__ import annotations

import json
import math

import pytest

from distanon import job
from distanon.data.measurement import Measurement
from distanon.errors import ResumeError
from distanon.job.journal import Journal, certificate_line, subject_of
from distanon.promises.base import Verdict
from distanon.spec import parse
from distanon.storage.store import Store


@pytest.fixture
def journal(tmp_path):
    return Journal(Store(str(tmp_path / "private"), private=True))


def test_facts_of_a_run_are_added_and_replaced(journal):
    journal.update_run(run_id="a", status="begun", seed=2**127 + 1)
    journal.update_run(status="done")
    assert journal.read_run() == {"run_id": "a", "status": "done", "seed": 2**127 + 1}


def test_without_a_run_there_is_nothing_to_resume(journal):
    with pytest.raises(ResumeError, match="no run was begun"):
        journal.read_run()


def test_figures_come_back_as_they_were_and_what_was_not_measured_as_nan(journal):
    figures = [
        Measurement("a.b", 0.1 + 0.2, 0.2, 0.4, goal="lower", n=7, note="x"),
        Measurement("a.c", math.nan, note="no", is_public=False),
    ]
    journal.write_metrics([subject_of("dptpe", figures)], "run-1")
    first, second = journal.read_metrics()[0].measurements.values()
    assert first == figures[0]
    assert math.isnan(second.value)
    assert not second.is_public
    json.loads(journal.store.read("metrics.json"), parse_constant=pytest.fail)


def test_a_certificate_line_has_no_private_details(journal):
    verdict = Verdict("k", {"k": 3}, {"k": 2}, False, "release", "class 1", {"tuple": ["secret"]})
    journal.write_audit([verdict], ["unchanged"])
    assert journal.read_audit() == ([verdict], ["unchanged"])
    assert "secret" not in str(certificate_line(verdict))


def test_a_new_run_forgets_the_old_one(journal):
    journal.update_run(run_id="a", status="begun")
    journal.store.write("checkpoint/x.parquet", b"x")
    journal.forget()
    assert journal.store.list() == []


def test_a_run_that_is_interrupted_says_so_and_a_finished_one_does_not(tmp_path, monkeypatch):
    spec = parse(
        "spec: 1\nname: a\nseed: 7\n"
        "input: {table: {path: 'builtin:forest-fires', default_role: quasi_identifier}}\n"
        "method: {name: dptpe, k: 5}\nmeasure: {draws: 1, budget_s: 0.001}\n"
        f"output: {tmp_path}/out\nprivate: {tmp_path}/private\n"
    )
    with monkeypatch.context() as broken:
        broken.setattr("distanon.job.run.make", interrupted)
        with pytest.raises(KeyboardInterrupt):
            job.run_job(spec, serial=True)
    private = str(tmp_path / "private")
    assert job.standing(private) == {"status": "begun", "reason": "interrupted"}
    job.resume(private, serial=True)
    assert job.standing(private) == {"status": "done", "reason": ""}


def interrupted(*_):
    raise KeyboardInterrupt
