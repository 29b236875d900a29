"""linkage: how many records an intruder links to their originals, at the most."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from distanon.data.evidence import Evidence
from distanon.data.streams import Streams
from distanon.promises.base import Promise, Verdict, unverified
from distanon.promises.unchanged import told
from distanon.runtime.crew import Crew, SerialCrew

_SAMPLE = Streams(0)
"""Draws the targets where there are many: any fixed sample does, and none is secret."""

_BLOCKS_PER_WORKER = 4


class Linkage(Promise):
    """The identity attack links at most this share, by the upper end of its 95 % interval.

    The worst of its variants counts: either direction, the optimal assignment, few attributes.

    Source: methods.md, section D (promises, identity).
    """

    name: ClassVar[str] = "linkage"
    remedy: ClassVar[str] = (
        "a higher at_most, if so much may be found; a method that moves records farther (see "
        "`compare:`); fewer or coarser quasi-identifiers"
    )

    at_most: float = Field(gt=0, le=1, description="Share of the records.")

    def verify(self, evidence: Evidence) -> Verdict:
        """Attacks the release; without originals and sources it can't be kept."""
        return self.verify_with(SerialCrew(), evidence)

    def verify_with(self, crew: Crew, evidence: Evidence) -> Verdict:
        """As `verify`, the same verdict whoever works."""
        if evidence.original is None or evidence.sources is None:
            return unverified(self, "the originals and the source of each row")
        from distanon.attacks import identity

        blocks = _BLOCKS_PER_WORKER * crew.workers
        found = identity.measure(evidence, crew=crew, streams=_SAMPLE, blocks=blocks)
        rates = [rate for rate in found if rate.ci_high is not None]
        worst = max(rates, key=lambda rate: rate.ci_high or 0.0, default=None)
        upper = 0.0 if worst is None or worst.ci_high is None else worst.ci_high
        kept = upper <= self.at_most
        shown = told(upper, self.at_most, kept=kept)
        rate, n = (worst.value, worst.n) if worst is not None else (0.0, 0)
        return Verdict(
            promise=self.name,
            asked=self.asked(),
            measured={"rate": round(rate, 2), "upper_limit": shown, "records": n},
            kept=kept,
            verified_from="release+private",
            reason=""
            if kept
            else f"the identity attack links {rate:.2f}, with 95 % confidence at most {shown:g}",
        )
