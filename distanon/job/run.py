"""One run, from its spec to a verified, published, measured release: one straight line."""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from distanon import auditing
from distanon.data.evidence import Evidence
from distanon.data.graph import GraphDataset
from distanon.data.measurement import Measurement
from distanon.data.ports import Progress, Silent
from distanon.data.release import Release
from distanon.data.streams import Streams
from distanon.errors import OutputExistsError, PromiseBrokenError, ResumeError
from distanon.job.comparison import check_all, measure_all
from distanon.job.facts import public_document, release_facts, versions
from distanon.job.graphs import make, published_form, staged_evidence
from distanon.job.inputs import Inputs, open_inputs
from distanon.job.journal import AUDIT, HELD, REFUSED, REPORT, Journal, by_prefix_alone, refused_run
from distanon.job.logbook import Logbook
from distanon.methods.base import Context, blocks_for
from distanon.promises.base import Promise, Verdict
from distanon.promises.wording import refusal
from distanon.runtime import crew as open_crew
from distanon.runtime.crew import Crew, SerialCrew
from distanon.runtime.metering import Metered
from distanon.spec import JobSpec, parse
from distanon.storage.fitted import forget_fitted, write_fitted
from distanon.storage.publishing import Attempt, check_output
from distanon.storage.scratch import StoreScratch
from distanon.storage.store import StorageSettings, Store


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a finished run leaves.

    Attributes:
        run_id: its id.
        output: where the release is.
        private: where everything else is.
        verdicts: the certificate.
        measurements: figures of the release.
        compared: figures of the methods that were measured beside it, by label.
        report: the private report.
        seconds: from the start to `_SUCCESS`, or to the end of a run that holds its release.
        held: whether the release waits in the private prefix for `publish`.
    """

    run_id: str
    output: str
    private: str
    verdicts: Sequence[Verdict]
    measurements: Sequence[Measurement]
    compared: Mapping[str, Sequence[Measurement]]
    report: str
    seconds: float
    held: bool = False


@dataclass(frozen=True, slots=True)
class _Order:
    """What is to be run, and how."""

    spec: JobSpec
    run_id: str
    seed: int
    overwrite: bool
    serial: bool
    is_resumed: bool = False
    hold: bool = False

    def __repr__(self) -> str:
        """Without the seed, which must never reach a log."""
        return f"_Order({self.run_id})"


@dataclass(frozen=True, slots=True)
class _Begun:
    """A run that may write: everything that could be refused beforehand was checked."""

    order: _Order
    streams: Streams
    inputs: Inputs
    journal: Journal
    logbook: Logbook
    started: float


def run_job(
    spec: JobSpec,
    *,
    run_id: str | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    serial: bool = False,
    hold: bool = False,
) -> RunResult:
    """Runs a job from its beginning.

    Args:
        spec: what to do.
        run_id: instead of the spec's name and digest.
        overwrite: replace a release that is already there.
        progress: where to say how far it is; None: nowhere.
        serial: work in this process, without Ray; the release has the same bytes.
        hold: verify and measure the release and keep it in the private prefix, for
            `job.publish`; the output is not touched.

    Raises:
        DistanonError: its class says why the run could not be done.
    """
    spec.require_single_run()
    order = _Order(spec, run_id or spec.run_id, spec.resolve_seed(), overwrite, serial, hold=hold)
    return _run(order, progress)


def resume(
    target: JobSpec | str,
    *,
    run_id: str | None = None,
    address: str | None = None,
    progress: Progress | None = None,
    serial: bool = False,
) -> RunResult:
    """Goes on with a run that was interrupted; a finished run is left as it is.

    Args:
        target: its spec, or its private prefix.
        run_id: of a run that was begun with one, where `target` is a spec.
        address: of the cluster to go on with.
        progress: as in `run_job`.
        serial: as in `run_job`.

    Raises:
        ResumeError: there is no such run, or it was begun with another spec, input or version.
    """
    if isinstance(target, str):
        private, storage = target, StorageSettings()
    else:
        private, storage = target.private_prefix(run_id), target.storage
    journal = Journal(Store(private, storage, private=True))
    with by_prefix_alone(private) if isinstance(target, str) else contextlib.nullcontext():
        known = journal.read_run()
        text = journal.read_spec()
    spec = parse(text) if isinstance(target, str) else target
    if spec.run_id != parse(text).run_id:
        raise ResumeError(
            f"{private}: the run was begun with another spec; resume it by its private prefix, "
            "or run the new spec from its beginning"
        )
    if address is not None:
        spec = parse(spec.to_yaml(), [f"runtime.address={json.dumps(address)}"])
    if known["status"] in ("done", HELD):
        return result_of(journal)
    if known["status"] == REFUSED:
        raise refused_run(private)
    if known.get("made_by") == "apply":
        raise ResumeError(f"{private}: broken off while applying; apply it again, nothing is lost")
    if known["status"] == "published" and known["hold"]:
        raise ResumeError(
            f"{private}: broken off while publishing what it held; `distanon publish {private}` "
            "finishes it"
        )
    if "seed" not in known:  # submitted, and refused before it began
        order = _Order(
            spec, known["run_id"], spec.resolve_seed(), False, serial, hold=known["hold"]
        )
        return _run(order, progress)
    order = _Order(
        spec,
        known["run_id"],
        known["seed"],
        known["overwrite"],
        serial,
        is_resumed=True,
        hold=known["hold"],
    )
    return _run(order, progress)


def _run(order: _Order, progress: Progress | None) -> RunResult:
    private = order.spec.private_prefix(order.run_id)
    journal = Journal(Store(private, order.spec.storage, private=True))
    metered = Metered(progress or Silent(), order.spec.name, order.spec.method.name)
    with (
        journal.failures_of(order.run_id, hold=order.hold, is_resumed=order.is_resumed),
        contextlib.closing(metered),
    ):
        return _straight(order, private, Logbook(metered))


def _straight(order: _Order, private: str, logbook: Logbook) -> RunResult:
    spec, started = order.spec, time.monotonic()
    published = Attempt.resume(spec.output, private, spec.storage) if order.is_resumed else None
    if published is None:
        with _named_if_unfinished(order, private):
            may_be_there = order.overwrite or order.hold
            check_output(spec.output, private, spec.storage, overwrite=may_be_there)
    streams = Streams(order.seed)
    inputs = open_inputs(spec, streams)
    check_all(spec, inputs.dataset)
    for note in (*inputs.notes, spec.seed_warning(order.seed)):
        if note:
            logbook.note(note)
    journal = Journal(Store(private, spec.storage, running=True, private=True))
    begun = _Begun(order, streams, inputs, journal, logbook, started)
    with published or Attempt.begin(spec.output, private, spec.storage) as attempt:
        if not order.is_resumed:
            _begin(begun)
        with _crew(order, logbook) as crew:
            context = _context(begun, crew)
            evidence: Evidence | None = None
            document: dict[str, Any] = {}
            if published is None:
                evidence, document = _verified(begun, attempt, context)
            if not order.hold:
                if published is None:
                    attempt.publish(document, overwrite=order.overwrite)
                _mark_published(begun)
            _measure(begun, attempt, context, evidence)
        if order.hold:
            _hold(begun, attempt, document)
        else:
            _finish(begun, attempt)
    return result_of(journal)


@contextlib.contextmanager
def _named_if_unfinished(order: _Order, private: str) -> Iterator[None]:
    """Says of an output that is taken where this very run has published and died measuring.

    Raises:
        OutputExistsError: as it was, or with the way to finish the run.
    """
    try:
        yield
    except OutputExistsError:
        journal = Journal(Store(private, order.spec.storage, private=True))
        status = journal.read_run()["status"] if journal.has_run else ""
        if order.is_resumed or status != "published":
            raise
        raise OutputExistsError(
            f"{order.spec.output}: this very run has published its release here and was broken "
            f"off while measuring; `distanon resume {private}` finishes it (or pass --overwrite "
            "to begin anew)"
        ) from None


def _begin(begun: _Begun) -> None:
    """A run from its beginning forgets what an earlier one with this prefix left."""
    order, spec, journal = begun.order, begun.order.spec, begun.journal
    journal.forget()
    forget_fitted(journal.store)
    journal.write_spec(spec.to_yaml())
    journal.update_run(
        run_id=order.run_id,
        name=spec.name,
        status="begun",
        seed=order.seed,
        overwrite=order.overwrite,
        hold=order.hold,
        output=spec.output,
        spec=spec.private_dict(),
        versions=versions(),
    )


def _verified(begun: _Begun, attempt: Attempt, context: Context) -> tuple[Evidence, dict[str, Any]]:
    """Makes the release, stages it, reads it back, checks every promise.

    Returns:
        The staged files beside the originals; and release.json.
    """
    spec, dataset = begun.order.spec, begun.inputs.dataset
    promises, removed = spec.effective_promises()
    release = make(spec.method, dataset, promises, context)
    context.progress.start("verify", 1)
    manifest = attempt.stage(
        published_form(release, dataset, begun.streams),
        spec.output_format,
        each=partial(context.crew.map, phase="verify"),
    )
    evidence = evidence_of(begun.inputs, spec, attempt)
    verdicts = auditing.verify(promises, evidence, context.crew)
    begun.journal.write_audit(verdicts, removed)
    begun.journal.update_run(release=release_facts(spec, release, dataset.schema, manifest.records))
    refuse_broken(promises, verdicts, begun.journal, attempt)
    if isinstance(release, Release):
        kept = begun.inputs.fitted_counts(spec) if release.fitted else {}
        write_fitted(begun.journal.store, {**release.fitted, **kept})
    context.progress.advance()
    return evidence, public_document(spec, release, manifest, verdicts)


def _mark_published(begun: _Begun) -> None:
    """Notes the time of `_SUCCESS`; after a crash between the two, the time of its discovery."""
    if "seconds_to_success" not in begun.journal.read_run():
        spent = round(time.monotonic() - begun.started, 3)
        begun.journal.update_run(status="published", seconds_to_success=spent)


def _measure(begun: _Begun, attempt: Attempt, context: Context, evidence: Evidence | None) -> None:
    """Attacks and utility of the release, then of what it is compared with."""
    if attempt.has_sources:
        evidence = evidence or evidence_of(begun.inputs, begun.order.spec, attempt)
        measure_all(begun.order.spec, begun.inputs.dataset, evidence, context, begun.journal)
    losses = context.crew.losses
    begun.logbook.end()
    begun.journal.update_run(
        seconds=begun.logbook.seconds,
        work_seconds={phase: round(spent, 3) for phase, spent in begun.logbook.work.items()},
        survived=asdict(losses),
        notes=begun.logbook.notes,
    )


def _hold(begun: _Begun, attempt: Attempt, document: Mapping[str, Any]) -> None:
    """Keeps what is staged, until somebody publishes it."""
    attempt.hold(document)
    begun.journal.write_report()
    attempt.cleanup()
    spent = round(time.monotonic() - begun.started, 3)
    begun.journal.update_run(status=HELD, seconds_to_success=spent)


def _finish(begun: _Begun, attempt: Attempt) -> None:
    """Reports, and the end of what nobody needs after `_SUCCESS`."""
    begun.journal.write_report()
    attempt.publish_report(begun.journal.public_report())
    if begun.order.spec.keep_mapping and attempt.has_sources:
        attempt.keep_mapping()
    attempt.cleanup()
    begun.journal.update_run(status="done")


def refuse_broken(
    promises: Mapping[str, Promise], verdicts: Sequence[Verdict], journal: Journal, attempt: Attempt
) -> None:
    """Ends a run whose staged release does not keep its promises.

    Raises:
        PromiseBrokenError: one is broken; the run is marked, what was staged is gone.
    """
    told = refusal(promises, verdicts)
    if told:
        journal.update_run(status=REFUSED)
        attempt.cleanup()  # it holds data, and nobody needs it: the same spec would fail again
        raise PromiseBrokenError(
            f"nothing was published: the release, read back from its files, breaks\n{told}\n"
            f"{journal.store.place(AUDIT)} has the details (private)"
        )


def evidence_of(inputs: Inputs, spec: JobSpec, attempt: Attempt) -> Evidence:
    """The staged files, read back, beside the originals."""
    if isinstance(inputs.dataset, GraphDataset):
        return staged_evidence(attempt, inputs.dataset, spec.method)
    staged, sources = attempt.read_back(inputs.dataset.schema)
    return Evidence(
        staged,
        inputs.dataset,
        sources,
        inputs.control,
        replicates=spec.method.replicates,
        population=inputs.population,
    )


@contextlib.contextmanager
def _crew(order: _Order, logbook: Logbook) -> Iterator[Crew]:
    if order.serial:
        yield SerialCrew(logbook)
        return
    logbook.start("workers", 1)
    with open_crew(order.spec.runtime, logbook, order.spec.method.loads()) as crew:
        logbook.advance()
        yield crew


def _context(begun: _Begun, crew: Crew) -> Context:
    spec, records = begun.order.spec, len(begun.inputs.dataset)
    wanted = spec.runtime.partitions
    blocks = blocks_for(records, crew.workers) if wanted == "auto" else wanted
    digests = {
        "spec": spec.run_id,
        "input": begun.inputs.fingerprint,
        "version": _digest(versions()),
        "seed": _digest(begun.streams.seed),
    }
    scratch = StoreScratch.open(begun.journal.store, digests)
    every = spec.runtime.checkpoint_every
    return Context(crew, scratch, begun.streams, begun.logbook, blocks, every)


def result_of(journal: Journal) -> RunResult:
    """What the private files say of a finished run."""
    run = journal.read_run()
    subjects = journal.read_metrics()
    figures = [list(subject.measurements.values()) for subject in subjects]
    return RunResult(
        run_id=run["run_id"],
        output=run["output"],
        private=journal.store.url,
        verdicts=journal.read_audit()[0],
        measurements=figures[0] if figures else [],
        compared={one.label: rows for one, rows in zip(subjects[1:], figures[1:], strict=True)},
        report=journal.store.place(REPORT),
        seconds=run["seconds_to_success"],
        held=run["status"] == HELD,
    )


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
