"""The gate: all promises are checked on the written release before anybody may read it."""

from __future__ import annotations

from collections.abc import Mapping

from distanon.data.evidence import Evidence
from distanon.promises.base import Promise, Verdict
from distanon.runtime.crew import Crew, SerialCrew


def verify(
    promises: Mapping[str, Promise], evidence: Evidence, crew: Crew | None = None
) -> list[Verdict]:
    """One verdict for each promise, in their order; the release may go out if all are kept.

    Args:
        promises: by name.
        evidence: the files read back.
        crew: workers for what is heavy; None: this process. No verdict depends on them.

    Raises:
        SpecError: a promise can't be asked of these columns.
    """
    workers = crew or SerialCrew()
    return [promise.verify_with(workers, evidence) for promise in promises.values()]
