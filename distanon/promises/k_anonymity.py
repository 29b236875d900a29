"""k-anonymity: every released tuple of quasi-identifiers is shared by k records, or k people."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from distanon.data.classes import class_sizes, equivalence_classes
from distanon.data.evidence import Evidence
from distanon.data.schema import Role
from distanon.data.table import Dataset
from distanon.promises import failures
from distanon.promises.base import Promise, Verdict, unverified
from distanon.promises.tables import people_over_quasi_identifiers, tables_over
from distanon.runtime.crew import Crew, SerialCrew
from distanon.sharded.classes import ClassTables


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
        return self.verify_with(SerialCrew(), evidence)

    def verify_with(self, crew: Crew, evidence: Evidence) -> Verdict:
        """As `verify`, the same verdict whoever works."""
        if evidence.classes_from == "asserted":
            return unverified(self, "the classes, which are private")
        classes = tables_over(crew, evidence, evidence.quasi_identifiers)
        people, verified_from = self._people(crew, evidence, classes)
        counts = classes.sizes if people is None else people
        too_small = counts < self.k
        sizes = class_sizes(classes.sizes)
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
        if classes.suppressed is not None:
            measured["suppressed"] = int(classes.sizes[classes.suppressed])
            if too_small[classes.suppressed]:
                reasons.append(
                    f"class {classes.suppressed + 1} is of the rows whose quasi-identifiers are "
                    "all suppressed: leave them out"
                )
        kept = not too_small.any()
        if people is None and self.distinct_sources:
            kept = False
            reasons.append("the people behind the rows are not known, so they can't be counted")
        if people is None and evidence.sources is None and copies_suspected(crew, evidence):
            measured["copies_suspected"] = True
            reasons.append(
                "copies suspected: each class holds one row over and over, in all its columns; "
                "its rows may be copies of one person's"
            )
        listed = failures.tuples(classes, too_small, evidence.release, evidence.quasi_identifiers)
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
        self, crew: Crew, evidence: Evidence, classes: ClassTables
    ) -> tuple[NDArray[np.int64] | None, Literal["release", "release+private"]]:
        """Different people of each class, and what they were learnt from; None: unknown."""
        verified_from: Literal["release", "release+private"] = "release"
        if evidence.classes_from == "release+private":
            verified_from = "release+private"
        if self.distinct_sources is False:
            return None, verified_from
        subjects = _subjects(evidence.release)
        if subjects:
            person_of = _person_of(evidence.release, subjects)
            return people_over_quasi_identifiers(crew, evidence, person_of), verified_from
        if evidence.sources is None:
            return None, verified_from
        subjects = [] if evidence.original is None else _subjects(evidence.original)
        if subjects and evidence.original is not None:
            person_of = _person_of(evidence.original, subjects)[evidence.sources]
        elif evidence.replicates:
            person_of = evidence.sources
        else:  # each row has a source of its own
            return classes.sizes, "release+private"
        return people_over_quasi_identifiers(crew, evidence, person_of), "release+private"


def copies_suspected(crew: Crew, evidence: Evidence) -> bool:
    """Whether every class repeats one row, where chance would have made rows differ.

    That is: all rows of a class agree in the other published columns too, these columns do vary
    over the table, and there are classes of more than one row.
    """
    known = evidence.quasi_identifiers
    others = [column.name for column in evidence.release.schema.published]
    others = [name for name in others if name not in known]
    classes = tables_over(crew, evidence, known)
    if not others or len(classes) == 0 or classes.sizes.max() < 2:
        return False
    # Where rows of a class differ, the first partition mostly shows it.
    first = evidence.release.partitions[0].read([*known, *others])
    if len(equivalence_classes(first, known)) < len(equivalence_classes(first, [*known, *others])):
        return False
    rows = tables_over(crew, evidence, [*known, *others])
    return len(rows) == len(classes) and len(tables_over(crew, evidence, others)) > 1


def _subjects(dataset: Dataset) -> list[str]:
    return [column.name for column in dataset.schema.with_role(Role.SUBJECT)]


def _person_of(dataset: Dataset, subjects: list[str]) -> NDArray[np.int64]:
    """A number for the person behind each record, shape (n,)."""
    return equivalence_classes(dataset.read(subjects), subjects).class_of
