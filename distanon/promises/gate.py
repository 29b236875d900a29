"""The gate: all promises are checked on the written release before anybody may read it."""

from __future__ import annotations

from collections.abc import Mapping

from distanon.data.evidence import Evidence
from distanon.promises.base import Promise, Verdict


def verify(promises: Mapping[str, Promise], evidence: Evidence) -> list[Verdict]:
    """One verdict for each promise, in their order; the release may go out if all are kept.

    Raises:
        SpecError: a promise can't be asked of these columns.
    """
    return [promise.verify(evidence) for promise in promises.values()]
