"""What is done to runs from outside: a check before, a report again, the end of the dead."""

from __future__ import annotations

from distanon.data.streams import Streams
from distanon.errors import OutputExistsError, ResumeError
from distanon.job.comparison import check_all
from distanon.job.inputs import open_inputs
from distanon.job.journal import HELD, REFUSED, SPEC, Journal, by_prefix_alone, refused_run
from distanon.spec import JobSpec, parse
from distanon.storage import leftovers
from distanon.storage.leftovers import Removed
from distanon.storage.publishing import check_output
from distanon.storage.store import StorageSettings, Store

_ANY_SEED = 0
"""Nobody is held out for good by a check."""


def validate(spec: JobSpec) -> list[str]:
    """Checks a spec against its data, as a run would before it starts.

    Returns:
        What was detected or inferred.

    Raises:
        DistanonError: what the run would be refused for.
    """
    spec.resolve_seed()
    taken = []
    try:
        check_output(spec.output, spec.private_prefix(), spec.storage, probing=False)
    except OutputExistsError as error:
        taken.append(f"a run would be refused now: {error}")
    inputs = open_inputs(spec, Streams(_ANY_SEED))
    check_all(spec, inputs.dataset)
    records = f"{len(inputs.dataset):,} records, {len(inputs.dataset.schema.attributes)} columns"
    return [records, *inputs.notes, *taken]


def standing(private: str) -> dict[str, str]:
    """How far a run is by its own files: status, and the reason of a failure.

    A run whose process was killed says "begun" still.
    """
    with by_prefix_alone(private):
        journal = Journal(Store(private, StorageSettings(), private=True))
        if not journal.has_run:
            return {"status": "not begun"}
        run = journal.read_run()
    reason = run.get("reason", "") if run["status"] in ("begun", "failed", REFUSED) else ""
    return {"status": run["status"], "reason": reason}


def run_id_of(private: str) -> str:
    """The id of the run, or of the sweep, at a private prefix.

    Raises:
        ResumeError: there is none.
    """
    with by_prefix_alone(private):
        journal = Journal(Store(private, StorageSettings(), private=True))
        if not journal.has_run and journal.store.exists(SPEC):
            return parse(journal.read_spec()).run_id
        return str(journal.read_run()["run_id"])


def rewrite_report(private: str) -> str:
    """Writes a run's private report again from its private files.

    Returns:
        Where it is.

    Raises:
        ResumeError: there is no run, or it has no release yet.
    """
    with by_prefix_alone(private):
        journal = Journal(Store(private, StorageSettings(), private=True))
        status = journal.read_run()["status"]
        # Encrypted as the run's other files are; the endpoint is the one that was reached.
        settings = StorageSettings(sse=parse(journal.read_spec()).storage.sse)
    if status == REFUSED:
        raise refused_run(private)
    if status not in ("published", "done", HELD):
        raise ResumeError(f"{private}: this run has published nothing yet; `distanon resume` it")
    return Journal(Store(private, settings, private=True)).write_report()


def clean(private: str) -> list[Removed]:
    """Removes what abandoned attempts left below a private prefix.

    Returns:
        Each folder or claim that went, with the number of its files.

    Raises:
        ResumeError: no run of distanon has worked there.
    """
    with by_prefix_alone(private):
        return leftovers.clean(private)
