"""l-diversity: every class shows at least l well-represented sensitive values."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from distanon.data.evidence import Evidence
from distanon.data.schema import Attribute
from distanon.kernels.counts import exact
from distanon.kernels.distributions import (
    distinct_values,
    entropies,
    entropy_diverse,
    recursive_diverse,
    recursive_ratios,
)
from distanon.promises.sensitive import Counted, Judgement, Override, SensitivePromise, rounded

Kind = Literal["distinct", "entropy", "recursive"]


class ColumnDiversity(Override):
    """Diversity asked of one sensitive column."""

    l: int | float | None = Field(default=None, gt=1)  # noqa: E741
    kind: Kind | None = None
    c: float | None = Field(default=None, gt=0)


class LDiversity(SensitivePromise):
    """Every class is l-diverse in every sensitive attribute; missing and suppressed don't count.

    Distinct: at least l values. Entropy: H ≥ ln l. Recursive: r₁ < c·(r_l + … + r_m), where r are
    the counts of the values, largest first.

    Source: Machanavajjhala et al., ACM TKDD 1 (2007) 3, sections 4.1 and 4.2.
    """

    name: ClassVar[str] = "l_diversity"
    smallest: ClassVar[frozenset[str]] = frozenset({"l"})

    l: int | float = Field(  # noqa: E741
        gt=1, description="A whole number of at least 2; with kind entropy any number above 1."
    )
    kind: Kind = "distinct"
    c: float | None = Field(default=None, gt=0, description="With kind recursive.")
    others: Literal["unknown", "known"] = Field(
        default="unknown",
        description="Whether the intruder knows a target's other sensitive values.",
    )
    columns: dict[str, ColumnDiversity] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _settings_fit(self) -> Self:
        fault = _fault(self.l, self.kind, self.c)
        if fault:
            raise ValueError(fault)
        for column, override in self.columns.items():
            fault = _fault(**self._merged(override))
            if fault:
                raise ValueError(f"columns.{column}: {fault}")
        return self

    def overrides(self) -> dict[str, ColumnDiversity]:
        """Diversity asked of single columns."""
        return self.columns

    def settings_for(self, column: str) -> Self:
        """The promise as it stands for one column."""
        override = self.columns.get(column)
        if override is None:
            return self
        return type(self)(**self._merged(override), others=self.others)

    def _merged(self, override: ColumnDiversity) -> dict[str, Any]:
        """The settings with those of one column; a c of all columns goes where it means nothing."""
        settings = {"l": self.l, "kind": self.kind, "c": self.c}
        settings |= override.model_dump(exclude_none=True)
        if settings["kind"] != "recursive" and override.c is None:
            settings["c"] = None
        return settings

    def known_beside(self, attribute: Attribute, evidence: Evidence) -> list[str]:
        """The other sensitive columns, where the intruder knows them."""
        if self.others == "unknown":
            return []
        sensitive = evidence.release.schema.sensitive
        return [other.name for other in sensitive if other.name != attribute.name]

    def judge(self, counted: Counted) -> Judgement:
        """Judges one attribute."""
        counts = counted.informative
        measured: dict[str, Any]
        if self.kind == "distinct":
            found = distinct_values(counts)
            measured = {"l": int(found.min()) if len(found) else None}
            return Judgement(found < self.l, f"have fewer than {self.l:g} values", measured)
        if self.kind == "entropy":
            found = np.exp(entropies(counts))
            measured = {"l": rounded(float(found.min())) if len(found) else None}
            is_failing = ~entropy_diverse(counts, self.l)
            return Judgement(is_failing, f"have an entropy below ln {self.l:g}", measured)
        least, c = int(self.l), self.c or 1.0
        tails = recursive_ratios(counts, least).floats()
        lowest = float(tails.min()) if len(tails) else 0.0
        measured = {"c_above": rounded(1.0 / lowest) if lowest > 0.0 else None}
        is_failing = ~recursive_diverse(counts, exact(c), least)
        return Judgement(is_failing, f"are not recursive ({c:g}, {least})-diverse", measured)


def _fault(l: float, kind: Kind, c: float | None) -> str | None:  # noqa: E741
    """What is wrong with these settings together."""
    if kind != "entropy" and l != int(l):
        return f"l must be a whole number with kind {kind}, got {l}"
    if kind == "recursive" and c is None:
        return "kind recursive needs c, as in {l: 3, kind: recursive, c: 2}"
    if kind != "recursive" and c is not None:
        return f"c has no meaning with kind {kind}; leave it out"
    return None
