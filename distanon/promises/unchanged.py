"""unchanged: how many records kept all their quasi-identifiers."""

from __future__ import annotations

import math
from typing import ClassVar

from pydantic import Field

from distanon.data.evidence import Evidence
from distanon.kernels.counts import exact
from distanon.promises.base import Promise, Verdict, unverified
from distanon.runtime.crew import Crew, SerialCrew
from distanon.sharded.source_rows import rows_like_their_sources


class Unchanged(Promise):
    """At most this share of the released rows has exactly its source's quasi-identifiers.

    A missing cell that stays missing is unchanged; so is a number that only changed its type.

    Source: methods.md, section D (promises).
    """

    name: ClassVar[str] = "unchanged"
    remedy: ClassVar[str] = (
        "a higher at_most, if so many may stay as they are; for dptpe on_unchanged: neighbors_mean "
        "or a min_displacement; columns with more than a few values"
    )

    at_most: float = Field(default=0.0, ge=0, le=1, description="Share of the released rows.")

    def verify(self, evidence: Evidence) -> Verdict:
        """Compares every row with its source; without originals and sources it can't be kept."""
        return self.verify_with(SerialCrew(), evidence)

    def verify_with(self, crew: Crew, evidence: Evidence) -> Verdict:
        """As `verify`, partition by partition: no process holds the tables."""
        if evidence.original is None or evidence.sources is None:
            return unverified(self, "the originals and the source of each row")
        columns = evidence.quasi_identifiers
        same = rows_like_their_sources(
            crew, evidence.release, evidence.original, evidence.sources, columns
        )
        rows, count = len(evidence.release), len(same)
        limit = exact(self.at_most)
        kept = count * limit.denominator <= limit.numerator * rows
        listed = same[:100] + 1
        share = count / rows if rows else 0.0
        return Verdict(
            promise=self.name,
            asked=self.asked(),
            measured={"share": told(share, self.at_most, kept=kept), "records": rows},
            kept=kept,
            verified_from="release+private",
            reason="" if kept else f"{count} of {rows} records kept all their quasi-identifiers",
            private={"unchanged": count, "rows": listed.tolist()} if count else {},
        )


def told(share: float, limit: float, *, kept: bool) -> float:
    """A share as a certificate shows it: 2 digits, rounded up, not beyond a limit that is kept.

    All digits of it would tell the number of records, however few they are.
    """
    shown = math.ceil(round(share * 100, 9)) / 100
    return min(shown, limit) if kept else shown
