"""A release that a run has held back, verified once more and published."""

from __future__ import annotations

from distanon import auditing
from distanon.data.ports import Progress, Silent
from distanon.data.streams import Streams
from distanon.errors import PromiseBrokenError, ResumeError
from distanon.job.inputs import Inputs, open_inputs
from distanon.job.journal import HELD, Journal, by_prefix_alone
from distanon.job.run import RunResult, evidence_of, result_of
from distanon.promises.wording import refusal
from distanon.runtime.crew import SerialCrew
from distanon.spec import JobSpec, parse
from distanon.storage.publishing import Attempt, check_output, is_out
from distanon.storage.store import StorageSettings, Store


def publish(
    private: str, *, overwrite: bool = False, progress: Progress | None = None
) -> RunResult:
    """Publishes what a run has verified and held: one of a sweep, or one that was looked at first.

    The held files are read back and every promise is checked again, beside the original. One that
    was broken off is finished.

    Args:
        private: the run's private prefix.
        overwrite: replace a release that is already at the run's output.
        progress: where to say how far it is; None: nowhere.

    Raises:
        ResumeError: there is no run, or it holds no release.
        PromiseBrokenError: what is held does not keep its promises.
        DistanonError: the output, the input or the storage can't be used.
    """
    watcher = progress or Silent()
    with by_prefix_alone(private):
        journal = Journal(Store(private, StorageSettings(), private=True))
        known, spec = journal.read_run(), parse(journal.read_spec())
    is_broken_off = known["status"] == "published" and bool(known.get("hold"))
    if known["status"] != HELD and not is_broken_off:
        raise ResumeError(
            f"{private}: this run holds no release; its status is {known['status']!r} "
            "(`distanon run --hold` verifies and measures, and publishes nothing)"
        )
    journal = Journal(Store(private, spec.storage, running=True, private=True))
    is_done = is_broken_off or is_out(spec.output, private, spec.storage)
    if not is_done:
        check_output(spec.output, private, spec.storage, overwrite=overwrite)
    inputs = open_inputs(spec, Streams(known["seed"]))
    with Attempt.begin(spec.output, private, spec.storage) as attempt:
        watcher.start("verify and publish", 1)
        if not is_broken_off or attempt.has_held:
            document = attempt.take_held()
            _verify(spec, inputs, attempt, journal)
            if not is_done:
                attempt.publish(document, overwrite=overwrite)
            journal.update_run(status="published")
            if spec.keep_mapping:
                attempt.keep_mapping()
        attempt.publish_report(journal.public_report())
        attempt.cleanup()
        attempt.drop_held()
        journal.write_report()
        journal.update_run(status="done")
        watcher.advance()
    return result_of(journal)


def _verify(spec: JobSpec, inputs: Inputs, attempt: Attempt, journal: Journal) -> None:
    """Checks every promise on the held files.

    Raises:
        PromiseBrokenError: one is broken.
    """
    promises, removed = spec.effective_promises()
    verdicts = auditing.verify(promises, evidence_of(inputs, spec, attempt), SerialCrew())
    journal.write_audit(verdicts, removed)
    told = refusal(promises, verdicts)
    if told:
        raise PromiseBrokenError(
            f"nothing was published: the release, read back from its files, breaks\n{told}"
        )
