"""The straight line of a run, and where it can be broken off."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from distanon import auditing
from distanon import job as jobs
from distanon.data.ports import Silent
from distanon.data.streams import Streams
from distanon.errors import (
    InputChangedError,
    OutputExistsError,
    PromiseBrokenError,
    ResumeError,
    SpecError,
)
from distanon.job import comparison
from distanon.job.comparison import check_all
from distanon.job.inputs import open_inputs
from distanon.spec import parse


@pytest.fixture
def spec_of(tmp_path):
    def make(*settings: str):
        rows = np.random.default_rng(3).normal(size=(60, 3)).round(2)
        pq.write_table(pa.table(dict(zip("abc", rows.T, strict=True))), tmp_path / "t.parquet")
        return parse(
            f"""
spec: 1
name: x
seed: 20240229000000000000000000000000000001
input: {{table: {{path: {tmp_path / "t.parquet"}, default_role: quasi_identifier}}}}
method: {{name: dptpe, k: 3, sigma: 0.23671}}
measure: {{draws: 2}}
output: {tmp_path / "out"}
private: {tmp_path / "private"}
""",
            settings,
        )

    return make


def test_a_run_that_died_right_after_publishing_is_resumed_with_all_its_facts(spec_of):
    spec = spec_of()
    jobs.run_job(spec, serial=True)
    place = Path(spec.private_prefix()) / "run.json"
    facts = json.loads(place.read_text())
    del facts["seconds_to_success"]
    place.write_text(json.dumps(facts | {"status": "begun"}))
    resumed = jobs.resume(spec, serial=True)
    assert resumed.seconds > 0.0
    assert json.loads(place.read_text())["status"] == "done"


def test_a_run_that_died_measuring_is_named_by_the_next_on_the_same_spec(spec_of):
    spec = spec_of()
    jobs.run_job(spec, serial=True)
    place = Path(spec.private_prefix()) / "run.json"
    with pytest.raises(OutputExistsError, match="holds a release"):
        jobs.run_job(spec, serial=True)
    place.write_text(json.dumps(json.loads(place.read_text()) | {"status": "published"}))
    with pytest.raises(OutputExistsError, match=f"`distanon resume {place.parent}` finishes it"):
        jobs.run_job(spec, serial=True)


def test_a_compared_method_is_named_before_its_phases_and_notes(spec_of):
    class Seen(Silent):
        phases: ClassVar[list[str]] = []

        def start(self, phase: str, total: int) -> None:
            self.phases.append(phase)

    result = jobs.run_job(spec_of("compare=[rbt]"), serial=True, progress=Seen())
    assert "rbt: Rotation" in Seen.phases
    assert any(not phase.startswith("rbt: ") for phase in Seen.phases)
    facts = json.loads((Path(result.private) / "run.json").read_text())
    assert "rbt: Rotation" in facts["seconds"]


def test_an_input_that_changes_after_publication_ends_the_run_as_bad_input(
    spec_of, tmp_path, monkeypatch
):
    def change(begun):
        pq.write_table(pa.table({name: [1.0] for name in "abc"}), tmp_path / "t.parquet")

    monkeypatch.setattr("distanon.job.run._mark_published", change)
    with pytest.raises(InputChangedError) as told:
        jobs.run_job(spec_of("compare=[noise]"), serial=True)
    assert told.value.exit_code == 2


def test_the_public_files_do_not_tell_sigma(spec_of):
    spec = spec_of("compare=[noise]")
    result = jobs.run_job(spec, serial=True)
    public = [path for path in Path(result.output).rglob("*") if path.is_file()]
    assert {"release.json", "report-public.html"} <= {path.name for path in public}
    assert not [path.name for path in public if b"0.2367" in path.read_bytes()]
    assert "0.23671" in Path(result.report).read_text()
    assert list(result.compared) == ["noise"]


def test_a_promise_that_these_columns_can_not_keep_is_refused_before_the_run(spec_of, monkeypatch):
    spec = spec_of()
    promise = type(next(iter(spec.effective_promises()[0].values())))
    monkeypatch.setattr(promise, "faults", lambda self, schema: ["promises.unchanged: can't be"])
    with pytest.raises(SpecError, match=r"promises\.unchanged: can.t be"):
        check_all(spec, open_inputs(spec, Streams(1)).dataset)


def test_records_that_are_held_out_measure_membership(spec_of, tmp_path):
    result = jobs.run_job(spec_of("input.control.fraction=0.3", "compare=[noise]"), serial=True)
    for figures in (result.measurements, result.compared["noise"]):
        (found,) = [each for each in figures if each.name == "membership.auc"]
        assert 0.5 < found.value <= 1.0  # 60 records, moved a little
    others = np.random.default_rng(4).normal(size=(30, 3)).round(2)
    table = pa.table(dict(zip("abc", others.T, strict=True)))
    pq.write_table(table, tmp_path / "control.parquet")
    spec = spec_of(f"input.control={tmp_path / 'control.parquet'}")
    result = jobs.run_job(spec, serial=True, overwrite=True)
    (found,) = [each for each in result.measurements if each.name == "membership.auc"]
    assert found.n == 90


def test_compared_methods_are_assigned_all_at_once_only_while_that_is_quick(spec_of, monkeypatch):
    monkeypatch.setattr(comparison, "_COMPARED_ASSIGNMENT", 59)  # there are 60 records
    for attacks, is_measured in (("standard", False), ("full", True)):
        spec = spec_of("compare=[rbt]", f"measure.attacks={attacks}")
        result = jobs.run_job(spec, serial=True, overwrite=True)
        for figures, expected in (
            (result.measurements, True),
            (result.compared["rbt"], is_measured),
        ):
            (found,) = [each for each in figures if each.name == "identity.assignment"]
            assert np.isfinite(found.value) == expected


def test_one_budget_bounds_the_release_and_all_that_it_is_compared_with(spec_of, monkeypatch):
    clock = iter(range(0, 10**6, 4))  # every look at the clock costs 4 s
    monkeypatch.setattr(auditing, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    monkeypatch.setattr(comparison, "time", auditing.time)
    spec = spec_of("compare=[noise, rbt]", "measure.budget_s=21")
    result = jobs.run_job(spec, serial=True)
    names = [figure.name for figure in result.measurements]
    assert "identity.highest" in names
    assert "inversion.not_measured" in names
    for figures in result.compared.values():
        assert [figure.name for figure in figures] == ["release.not_made"]
        assert "measure.budget_s (21 s)" in figures[0].note


def test_a_refused_run_says_why_keeps_no_data_and_can_not_be_resumed(spec_of):
    spec = spec_of("promises.linkage.at_most=0.01")
    with pytest.raises(PromiseBrokenError) as refused:
        jobs.run_job(spec, serial=True)
    private = Path(spec.private_prefix())
    told = str(refused.value)
    assert "promises.linkage: asked at_most 0.01; measured rate" in told
    assert "what would help" in told
    assert str(private / "audit.json") in told
    assert sorted(path.name for path in private.rglob("*") if path.is_file()) == [
        "audit.json", "run.json", "spec.yaml",
    ]  # fmt: skip
    for again in (lambda: jobs.resume(spec), lambda: jobs.rewrite_report(str(private))):
        with pytest.raises(ResumeError, match="refused, its release broke a promise"):
            again()
    assert jobs.run_job(spec_of("promises.linkage.at_most=1.0"), serial=True).output
