"""(alpha, k)-anonymity: k-anonymity in which no sensitive value fills a class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field

from distanon.data.evidence import Evidence
from distanon.kernels.counts import Counts, at_most, exact
from distanon.promises.base import Verdict
from distanon.promises.k_anonymity import KAnonymity
from distanon.promises.sensitive import Counted, Judgement, Override, SensitivePromise, rounded
from distanon.runtime.crew import Crew


class ColumnShare(Override):
    """Shares allowed for one sensitive column."""

    alpha: float | None = Field(default=None, gt=0, le=1)
    values: tuple[str, ...] | None = Field(
        default=None, description="The values to protect, as text; null: all of them."
    )


class AlphaK(SensitivePromise):
    """Every class has at least k records, and no value has a larger share of it than α.

    Missing and suppressed cells belong to the class but are no value.

    Source: Wong, Li, Fu & Wang, KDD 2006; there for one or several chosen
        values, here for all unless `columns` chooses.
    """

    name: ClassVar[str] = "alpha_k"

    alpha: float = Field(gt=0, le=1)
    k: int = Field(ge=2)
    columns: dict[str, ColumnShare] = Field(default_factory=dict)
    values: tuple[str, ...] | None = Field(
        default=None, description="The values to protect, as text; null: all of them."
    )

    def overrides(self) -> Mapping[str, ColumnShare]:
        """Shares allowed for single columns."""
        return self.columns

    def verify_with(self, crew: Crew, evidence: Evidence) -> Verdict:
        """Judges the size of every class, then the share of every value in it."""
        shares = super().verify_with(crew, evidence)
        if shares.verified_from == "asserted":
            return shares
        sizes = KAnonymity(k=self.k).verify_with(crew, evidence)
        private: dict[str, Any] = dict(shares.private)
        if sizes.private:
            private["k_anonymity"] = sizes.private
        return replace(
            shares,
            measured={**shares.measured, "k": sizes.measured["k"]},
            kept=shares.kept and sizes.kept,
            verified_from=sizes.verified_from,
            reason="; ".join(filter(None, (sizes.reason, shares.reason))),
            private=private,
        )

    def judge(self, counted: Counted) -> Judgement:
        """Judges the shares of one attribute."""
        protected = self.protected(counted.values, counted.is_marker)
        counts = counted.counts.without(~protected)
        sizes = counted.classes.sizes[counts.classes]
        is_failing = self.fails(counted.counts, protected)
        if len(counted.classes) == 0:
            highest = None
        else:
            highest = rounded(float((counts.counts / sizes).max(initial=0.0)))
        lack = f"give a value a share above {self.alpha:g}"
        return Judgement(is_failing, lack, {"alpha": highest})

    def protected(self, values: pa.Array, is_marker: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which values may not fill a class, shape (V,).

        Args:
            values: all values of one attribute.
            is_marker: bool, shape (V,): missing or suppressed.
        """
        if self.values is None:
            return ~is_marker
        texts = values.cast(pa.string()).to_pylist()
        return ~is_marker & np.array([text in self.values for text in texts], np.bool_)

    def fails(self, counts: Counts, protected: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether a protected value fills each class, shape (c,); the size is not looked at."""
        own = counts.without(~protected)
        breaks = ~at_most(own.counts, counts.totals[own.classes], exact(self.alpha))
        is_failing = np.zeros(len(counts), np.bool_)
        is_failing[own.classes[breaks]] = True
        return is_failing
