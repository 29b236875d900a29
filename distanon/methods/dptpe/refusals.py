"""What can't be released with a promise that records are changed."""

from __future__ import annotations

from collections.abc import Mapping

from distanon.errors import InfeasibleError
from distanon.methods.dptpe.publication import Counts
from distanon.promises.base import Promise


def at_most(promises: Mapping[str, Promise]) -> float | None:
    """The share of records that may stay unchanged; None where nothing is promised."""
    from distanon.promises.unchanged import Unchanged

    promise = promises.get("unchanged")
    return float(promise.at_most) if isinstance(promise, Unchanged) else None


def refuse_equal(promises: Mapping[str, Promise], *, all_equal: bool) -> None:
    """Refuses a table of equal records when some of them must change."""
    share = at_most(promises)
    if all_equal and share is not None and share < 1:
        raise InfeasibleError(
            "promises.unchanged: all records have the same quasi-identifiers, so there is "
            "nothing that one could be changed into; remove the promise with "
            "`promises: {unchanged: null}`, or give more columns the role quasi_identifier"
        )


def refuse_unchanged(
    counts: Counts, promises: Mapping[str, Promise], records: int, *, can_keep: bool
) -> None:
    """Refuses records that nothing inside the domain could change."""
    share = at_most(promises)
    if can_keep or share is None or counts.unchanged <= share * records:
        return
    raise InfeasibleError(
        f"promises.unchanged: {counts.unchanged} of {records} records can't be changed, since no "
        "other value is left inside the domain; widen `domain_bounds`, set `method.domain: free`, "
        "or remove the promise with `promises: {unchanged: null}`"
    )
