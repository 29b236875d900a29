"""k-anonymity: every released tuple of quasi-identifiers is shared by k records, or k people."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from distanon.data.classes import Classes, class_sizes, equivalence_classes
from distanon.data.evidence import Evidence
from distanon.data.schema import Role
from distanon.kernels.counts import Counts
from distanon.kernels.distributions import distinct_values
from distanon.promises import failures
from distanon.promises.base import Promise, Verdict, unverified


class KAnonymity(Promise):
    """Every class over the quasi-identifiers has at least k records.

    Where the people behind the rows are known, by a subject column or by the source of each row,
    a class must show at least k different ones: k copies of one record are one person.

    Source: Samarati, IEEE TKDE 13 (2001) 1010-1027; Sweeney 2002. A missing or suppressed cell is
        a value like any other.
    """

    name: ClassVar[str] = "k_anonymity"
    remedy: ClassVar[str] = (
        "a method that makes records equal (`distanon methods` says which can promise it); a "
        "smaller k; fewer or coarser quasi-identifiers"
    )

    k: int = Field(ge=2, description="Records, or people where they are known, of each class.")
    distinct_sources: bool | None = Field(
        default=None,
        description="Count different people: true demands it, false counts rows, null counts "
        "people where they are known.",
    )

    def verify(self, evidence: Evidence) -> Verdict:
        """Counts the rows, or people, of every class."""
        if evidence.classes_from == "asserted":
            return unverified(self, "the classes, which are private")
        classes = evidence.classes
        people, verified_from = self._people(evidence)
        counts = classes.sizes if people is None else _people_of(classes, people)
        too_small = counts < self.k
        sizes = class_sizes(classes)
        measured: dict[str, Any] = {
            "k": int(counts.min()) if len(counts) else None,
            "counted": "rows" if people is None else "people",
            "records": sizes.records,
            "classes": sizes.classes,
            "smallest": sizes.smallest,
            "median": sizes.median,
            "largest": sizes.largest,
        }
        what = "records" if people is None else "different people"
        reasons = [failures.reason(classes, too_small, f"have fewer than {self.k} {what}")]
        kept = not too_small.any()
        if people is None and self.distinct_sources:
            kept = False
            reasons.append("the people behind the rows are not known, so they can't be counted")
        if people is None and evidence.original is None and copies_suspected(evidence):
            measured["copies_suspected"] = True
            reasons.append(
                "copies suspected: each class holds one row over and over, in all its columns; "
                "its rows may be copies of one person's"
            )
        listed = failures.tuples(
            classes, too_small, evidence.release_table, evidence.quasi_identifiers
        )
        return Verdict(
            promise=self.name,
            asked=self.asked(),
            measured=measured,
            kept=bool(kept),
            verified_from=verified_from,
            reason="; ".join(filter(None, reasons)),
            private={"classes": listed} if listed else {},
        )

    def _people(
        self, evidence: Evidence
    ) -> tuple[NDArray[np.int64] | None, Literal["release", "release+private"]]:
        """A number for the person behind each row, and what it was learnt from; None: unknown."""
        verified_from: Literal["release", "release+private"] = "release"
        if evidence.classes_from == "release+private":
            verified_from = "release+private"
        if self.distinct_sources is False:
            return None, verified_from
        released = set(evidence.release_table.column_names)
        subjects = [
            column.name
            for column in evidence.release.schema.with_role(Role.SUBJECT)
            if column.name in released
        ]
        if subjects:
            return equivalence_classes(evidence.release_table, subjects).class_of, verified_from
        if evidence.sources is None:
            return None, verified_from
        subjects = (
            []
            if evidence.original is None
            else [column.name for column in evidence.original.schema.with_role(Role.SUBJECT)]
        )
        if not subjects:
            return evidence.sources, "release+private"
        person_of = equivalence_classes(evidence.original_table, subjects).class_of
        return person_of[evidence.sources], "release+private"


def copies_suspected(evidence: Evidence) -> bool:
    """Whether every class repeats one row, where chance would have made rows differ.

    That is: all rows of a class agree in the other published columns too, these columns do vary
    over the table, and there are classes of more than one row.
    """
    classes = evidence.classes
    known = set(evidence.quasi_identifiers)
    others = [column.name for column in evidence.release.schema.published]
    others = [name for name in others if name not in known]
    if not others or len(classes) == 0 or classes.sizes.max() < 2:
        return False
    table = evidence.release_table
    varies = len(equivalence_classes(table, others)) > 1
    rows = equivalence_classes(table, [*evidence.quasi_identifiers, *others])
    return varies and len(rows) == len(classes)


def _people_of(classes: Classes, person_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many different people each class shows, int64, shape (c,)."""
    n_people = int(person_of.max(initial=-1)) + 1
    return distinct_values(Counts.of(classes.class_of, person_of, len(classes), n_people))
