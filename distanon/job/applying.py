"""New records, released with the transformation that a finished run has fitted."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from distanon import auditing
from distanon.data.evidence import Evidence
from distanon.data.measurement import Measurement
from distanon.data.ports import Progress, Silent
from distanon.data.release import Release
from distanon.data.streams import Streams
from distanon.data.table import Dataset, MemoryScratch
from distanon.errors import InputError, ResumeError, SpecError
from distanon.job.comparison import measure_release
from distanon.job.facts import public_document, release_facts, versions
from distanon.job.journal import REFUSED, REPORT, Journal, by_prefix_alone, refused_run
from distanon.job.new_evidence import as_measured, control_beside
from distanon.job.new_records import OnBreach, fitting, open_new, released
from distanon.job.run import refuse_broken
from distanon.methods.base import Context
from distanon.methods.fitted import Fitted
from distanon.promises.base import Promise, Verdict
from distanon.runtime.crew import SerialCrew
from distanon.spec import JobSpec, parse
from distanon.spec.places import contains
from distanon.storage.fitted import read_fitted
from distanon.storage.places import check_disjoint
from distanon.storage.publishing import Attempt, check_output
from distanon.storage.store import StorageSettings, Store

_SEED = 0
"""Samples of what is measured hide nothing: the same records give the same figures."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What applying a fitted transformation leaves.

    Attributes:
        run_id: of the application.
        output: where the release is.
        private: its private prefix, below that of the run.
        verdicts: the certificate.
        counts: records released, suppressed, of these with values that the fit has never seen,
            and released beyond the published region of their group.
        seconds: from the start to `_SUCCESS`.
        measurements: attacks and utility, as of any release.
        report: the private report.
    """

    run_id: str
    output: str
    private: str
    verdicts: Sequence[Verdict]
    counts: Mapping[str, int]
    seconds: float
    measurements: Sequence[Measurement] = ()
    report: str = ""


@dataclass(frozen=True, slots=True)
class _Run:
    """A finished run: its private prefix, spec, and what it fitted."""

    store: Store
    run_id: str
    output: str
    spec: JobSpec
    tables: Mapping[str, pa.Table]

    @property
    def promises(self) -> Mapping[str, Promise]:
        """What its release promised, and this one does."""
        return self.spec.effective_promises()[0]


def apply(
    run: str | os.PathLike[str],
    new_data: Any,
    *,
    output: str | None = None,
    on_breach: OnBreach = "refuse",
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Applied:
    """Releases new records with a fitted transformation: the same groups, the same cells.

    Args:
        run: the private prefix of a run that kept what it fitted.
        new_data: a path as in a job's input; or a pandas or Arrow table.
        output: where the release goes; None: beside the run's own, "…-applied".
        on_breach: what becomes of records whose release would break a promise, and of those with
            a value that the fit has never seen: refuse all, or suppress and count these.
        overwrite: replace a release that is already there.
        progress: where to say how far it is.

    Raises:
        ResumeError: there is no finished run.
        SpecError: the places or the choice can't be used.
        InputError: the run fitted nothing, or the data have other columns, types or categories.
        PromiseBrokenError: some records would break a promise, and are not to be suppressed.
        InfeasibleError: no record can be released.
        OutputExistsError: a release is there.
    """
    started, watcher = time.monotonic(), progress or Silent()
    if on_breach not in ("refuse", "suppress"):
        raise SpecError(f"on_breach: expected refuse or suppress, got {on_breach!r}")
    done = _finished(os.fspath(run))
    target = output or f"{done.output.rstrip('/')}-applied/"
    digest = hashlib.sha256(target.rstrip("/").encode()).hexdigest()[:12]
    private = done.store.place(f"applied/{digest}")
    _check_places(done, target)
    check_output(target, private, done.spec.storage, overwrite=overwrite)
    watcher.start("read new records", 1)
    opened = open_new(new_data, done.spec)
    dataset, fitted = fitting(done.spec, done.tables, opened)
    for note in opened.notes:
        watcher.note(note)
    release = released(done.spec, dataset, fitted, on_breach)
    watcher.advance()
    journal = Journal(Store(private, done.spec.storage, running=True, private=True))
    with Attempt.begin(target, private, done.spec.storage) as attempt:
        _begin(journal, done, f"{done.run_id}-applied-{digest}", target)
        watcher.start("verify and publish", 1)
        verdicts, evidence = _publish(done, attempt, journal, release, dataset, overwrite=overwrite)
        seconds = round(time.monotonic() - started, 3)
        journal.update_run(status="published", seconds_to_success=seconds)
        watcher.advance()
        if release.counts["suppressed"]:
            watcher.note(
                f"{release.counts['suppressed']} of {len(dataset)} records were suppressed"
            )
        figures = _measure(done, evidence, fitted, journal, watcher)
        _finish(done, attempt, journal)
    return Applied(
        journal.read_run()["run_id"],
        target,
        private,
        verdicts,
        dict(release.counts),
        seconds,
        figures,
        journal.store.place(REPORT),
    )


def _measure(
    run: _Run, evidence: Evidence, fitted: Fitted, journal: Journal, watcher: Progress
) -> list[Measurement]:
    """Attacks and utility, measured beside the new records."""
    beside = as_measured(evidence, fitted)
    if beside.original is not None:
        beside = replace(beside, control=control_beside(run.spec, beside.original, watcher))
    context = Context(SerialCrew(watcher), MemoryScratch(), Streams(_SEED), watcher)
    return measure_release(run.spec, beside, context, journal, journal.read_run()["run_id"])


def _finish(run: _Run, attempt: Attempt, journal: Journal) -> None:
    """Reports, and the end of what nobody needs any more."""
    journal.write_report()
    attempt.publish_report(journal.public_report())
    if run.spec.keep_mapping:
        attempt.keep_mapping()
    attempt.cleanup()
    journal.update_run(status="done")


def _finished(run: str) -> _Run:
    """The run at a private prefix.

    Raises:
        ResumeError: there is none, or it has not published.
        InputError: it fitted nothing that can be applied.
    """
    with by_prefix_alone(run):
        journal = Journal(Store(run, StorageSettings(), private=True))
        known = journal.read_run()
        spec = parse(journal.read_spec())
    if known["status"] == REFUSED:
        raise refused_run(run)
    if known["status"] not in ("published", "done"):
        raise ResumeError(
            f"{run}: this run has published nothing (its status is {known['status']}); finish it "
            "first with `distanon resume` or `distanon publish`"
        )
    store = Store(run, spec.storage, private=True)
    tables = read_fitted(store)
    if spec.input.graph is not None or not tables:
        raise InputError(
            f"{run}: keeps no fitted transformation (fitted/ is missing): {spec.method.name} "
            "masks each record by itself, or an older version made it; runs of mondrian, mdav, "
            "decision_tree_leaves and reconstruction (strict) keep one"
        )
    return _Run(store, known["run_id"], known["output"], spec, tables)


def _check_places(run: _Run, output: str) -> None:
    """Refuses an output inside the run's private prefix, and the run's own release.

    Raises:
        SpecError: it is one of these.
    """
    check_disjoint(output, run.store.url)
    if contains(run.output, output) or contains(output, run.output):
        raise SpecError(
            f"output: {output} is where the run's own release is; choose a place beside it"
        )


def _begin(journal: Journal, run: _Run, run_id: str, output: str) -> None:
    journal.forget()
    journal.write_spec(run.spec.to_yaml())
    journal.update_run(
        run_id=run_id,
        name=run.spec.name,
        status="begun",
        made_by="apply",
        fitted_by=run.run_id,
        output=output,
        versions=versions(),
    )


def _publish(
    run: _Run,
    attempt: Attempt,
    journal: Journal,
    release: Release,
    dataset: Dataset,
    *,
    overwrite: bool,
) -> tuple[list[Verdict], Evidence]:
    """Stages, reads back, checks every promise and publishes, as any release."""
    spec, promises = run.spec, run.promises
    manifest = attempt.stage(release, spec.output_format)
    staged, sources = attempt.read_back(release.schema)
    evidence = Evidence(staged, dataset, sources)
    verdicts = auditing.verify(promises, evidence, SerialCrew())
    journal.write_audit(verdicts, spec.effective_promises()[1])
    journal.update_run(release=release_facts(spec, release, dataset.schema, manifest.records))
    refuse_broken(promises, verdicts, journal, attempt)
    document = public_document(spec, release, manifest, verdicts)
    attempt.publish({**document, "made_by": "apply"}, overwrite=overwrite)
    return verdicts, evidence
