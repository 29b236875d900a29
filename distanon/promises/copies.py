"""copies: every released tuple of quasi-identifiers stands in k rows, whoever is behind them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from distanon.data.classes import class_sizes
from distanon.data.evidence import Evidence
from distanon.promises import failures
from distanon.promises.base import Promise, Verdict, unverified
from distanon.promises.k_anonymity import KAnonymity
from distanon.promises.tables import tables_over
from distanon.runtime.crew import Crew, SerialCrew


class Copies(Promise):
    """Every class over the quasi-identifiers has at least k rows, which may be one person's.

    This is no k-anonymity: that counts people. How many there are is measured beside it.

    Source: Zhu, Li & Wu, Decision Support Systems 48 (2009) 133-140 (replication of the chosen
        records so that the constraint holds).
    """

    name: ClassVar[str] = "copies"
    remedy: ClassVar[str] = "a smaller k; for reconstruction mode: strict, which has k people"

    k: int = Field(ge=2, description="Rows of each class, copies of one record counted apart.")

    def verify(self, evidence: Evidence) -> Verdict:
        """Counts the rows of every class, and the people behind them where they are known."""
        return self.verify_with(SerialCrew(), evidence)

    def verify_with(self, crew: Crew, evidence: Evidence) -> Verdict:
        """As `verify`, the same verdict whoever works."""
        if evidence.classes_from == "asserted":
            return unverified(self, "the classes, which are private")
        classes = tables_over(crew, evidence, evidence.quasi_identifiers)
        too_few = classes.sizes < self.k
        people = KAnonymity(k=self.k).verify_with(crew, evidence)
        is_known = people.measured["counted"] == "people"
        sizes = class_sizes(classes.sizes)
        measured: dict[str, Any] = {
            "copies": int(classes.sizes.min()) if len(classes) else None,
            "source_people": _people(evidence) if is_known else None,
            "distinct_source_k": people.measured["k"] if is_known else None,
            "records": sizes.records,
            "classes": sizes.classes,
        }
        listed = failures.tuples(classes, too_few, evidence.release, evidence.quasi_identifiers)
        return Verdict(
            promise=self.name,
            asked=self.asked(),
            measured=measured,
            kept=not too_few.any(),
            verified_from=people.verified_from,
            reason=failures.reason(classes, too_few, f"have fewer than {self.k} rows"),
            private={"classes": listed} if listed else {},
        )


def _people(evidence: Evidence) -> int | None:
    """How many records are behind the rows; None: not known."""
    return None if evidence.sources is None else len(np.unique(evidence.sources))
