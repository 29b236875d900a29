"""What the promises about sensitive attributes share: one judgement for each attribute."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from distanon.data.classes import are_markers
from distanon.data.evidence import Evidence
from distanon.data.schema import Attribute, Schema
from distanon.errors import SpecError
from distanon.kernels.counts import Counts
from distanon.promises import failures
from distanon.promises.base import Promise, Verdict, unverified
from distanon.promises.tables import tables_over
from distanon.runtime.crew import Crew, SerialCrew
from distanon.sharded.classes import ClassTables


@dataclass(frozen=True, slots=True)
class Counted:
    """A sensitive attribute in classes of the release.

    Attributes:
        attribute: the sensitive one.
        classes: the classes an intruder can place a person in.
        values: its distinct released values by number; a missing one is null.
        counts: classes × values, markers (missing, suppressed) included.
        evidence: what is judged.
        crew: who works, where more is to be counted.
    """

    attribute: Attribute
    classes: ClassTables
    values: pa.Array
    counts: Counts
    evidence: Evidence
    crew: Crew

    @property
    def is_marker(self) -> NDArray[np.bool_]:
        """Shape (number of values,): whether it says nothing: missing, NaN or suppressed."""
        return are_markers(self.values)

    @property
    def informative(self) -> Counts:
        """The counts without missing and suppressed cells, which say nothing."""
        return self.counts.without(self.is_marker)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a promise finds for one sensitive attribute.

    Attributes:
        is_failing: shape (c,): the classes that break it.
        lack: what those do: "have fewer than 3 values".
        measured: figures that may be published; None for one that is infinite or has no class.
        private: figures that may not.
    """

    is_failing: NDArray[np.bool_]
    lack: str
    measured: Mapping[str, Any]
    private: Mapping[str, Any] = field(default_factory=dict)


class Override(BaseModel):
    """Settings of one column; what is left out is as for all columns."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SensitivePromise(Promise):
    """A promise that every sensitive attribute has to keep in every class."""

    smallest: ClassVar[frozenset[str]] = frozenset()
    """Measured figures of which the smallest, not the largest, over all columns is the worst."""

    @abstractmethod
    def judge(self, counted: Counted) -> Judgement:
        """Judges one attribute; the settings are this object's own."""

    def overrides(self) -> Mapping[str, Override]:
        """Settings of single columns."""
        return {}

    def known_beside(self, attribute: Attribute, evidence: Evidence) -> list[str]:
        """Columns that the intruder knows beside the quasi-identifiers."""
        del attribute, evidence
        return []

    def faults_of(self, attribute: Attribute) -> list[str]:
        """What can't be asked of this attribute, with these settings."""
        del attribute
        return []

    def settings_for(self, column: str) -> Self:
        """The promise as it stands for one column."""
        override = self.overrides().get(column)
        if override is None:
            return self
        settings = self.model_dump(exclude={"columns"}) | override.model_dump(exclude_none=True)
        return type(self)(**settings)

    def faults(self, schema: Schema) -> list[str]:
        """No sensitive column, a setting for a column that is none, or what it can't be asked."""
        names = [attribute.name for attribute in schema.sensitive]
        if not names:
            return [f"promises.{self.name}: the table has no sensitive column to protect"]
        result = []
        for column in self.overrides():
            if column not in names:
                near = get_close_matches(column, names, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"expected one of {names}"
                result.append(
                    f"promises.{self.name}.columns.{column}: no such sensitive column; {hint}"
                )
        for attribute in schema.sensitive:
            result += self.settings_for(attribute.name).faults_of(attribute)
        return result

    def asked(self) -> dict[str, Any]:
        """The parameters as they stand in the certificate."""
        return {name: value for name, value in super().asked().items() if value != {}}

    def verify(self, evidence: Evidence) -> Verdict:
        """Judges every sensitive attribute of the release in every class."""
        return self.verify_with(SerialCrew(), evidence)

    def verify_with(self, crew: Crew, evidence: Evidence) -> Verdict:
        """As `verify`, the same verdict whoever works.

        Raises:
            SpecError: it can't be asked of these columns.
        """
        faults = self.faults(evidence.release.schema)
        if faults:
            raise SpecError(*faults)
        if evidence.classes_from == "asserted":
            return unverified(self, "the classes, which are private")
        measured: dict[str, Mapping[str, Any]] = {}
        private: dict[str, Any] = {}
        reasons = []
        for attribute in evidence.release.schema.sensitive:
            columns = [
                *evidence.quasi_identifiers,
                *self.known_beside(attribute, evidence),
            ]
            counted = count(evidence, attribute, columns, crew)
            judgement = self.settings_for(attribute.name).judge(counted)
            measured[attribute.name] = judgement.measured
            reason = failures.reason(counted.classes, judgement.is_failing, judgement.lack)
            listed = failures.tuples(
                counted.classes, judgement.is_failing, evidence.release, columns
            )
            if reason:
                reasons.append(f"column {attribute.name!r}: {reason}")
            details = dict(judgement.private) | ({"classes": listed} if listed else {})
            if details:
                private[attribute.name] = details
        return Verdict(
            promise=self.name,
            asked=self.asked(),
            measured=self._joined(measured),
            kept=not reasons,
            verified_from=evidence.classes_from,
            reason="; ".join(reasons),
            private=private,
        )

    def _joined(self, measured: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """The worst figure over all columns, and each column's own where there are several."""
        parts = list(measured.values())
        if len(parts) == 1:
            return dict(parts[0])
        worst = {
            name: self._worst(name, [part[name] for part in parts])
            for name in parts[0]
            if all(name in part for part in parts) and not isinstance(parts[0][name], str)
        }
        return worst | {"columns": {name: dict(part) for name, part in measured.items()}}

    def _worst(self, name: str, figures: Sequence[float | None]) -> float | None:
        present = [figure for figure in figures if figure is not None]
        if len(present) < len(figures):
            return None
        return min(present) if name in self.smallest else max(present)


def count(evidence: Evidence, attribute: Attribute, columns: Sequence[str], crew: Crew) -> Counted:
    """Counts a sensitive attribute in the classes over some columns."""
    classes = tables_over(crew, evidence, columns, attribute.name)
    found = classes.occurrences[attribute.name]
    return Counted(attribute, classes, found.values, found.counts, evidence, crew)


def rounded(figure: float) -> float | None:
    """A measured figure to 12 digits, so that an entropy of ln 3 shows as l = 3; None: infinite."""
    return float(f"{figure:.12g}") if np.isfinite(figure) else None
