"""Beta-likeness: no class makes a sensitive value much more likely than the whole release does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from distanon.kernels.counts import Counts, exact
from distanon.kernels.distributions import likeness_gains
from distanon.promises.sensitive import Counted, Judgement, Override, SensitivePromise, rounded


class ColumnLikeness(Override):
    """Likeness asked of one sensitive column."""

    beta: float | None = Field(default=None, gt=0)
    kind: Literal["basic", "enhanced"] | None = None


class BetaLikeness(SensitivePromise):
    """For every value whose share rises from p to q in a class, (q − p) / p ≤ β.

    Enhanced: ≤ min(β, −ln p), so that frequent values gain less too. Missing and suppressed cells
    are values like any other.

    Source: Cao & Karras, PVLDB 5 (2012) 1388-1399 (basic and enhanced β-likeness).
    """

    name: ClassVar[str] = "beta_likeness"

    beta: float = Field(gt=0)
    kind: Literal["basic", "enhanced"] = "enhanced"
    columns: dict[str, ColumnLikeness] = Field(default_factory=dict)

    def overrides(self) -> Mapping[str, ColumnLikeness]:
        """Likeness asked of single columns."""
        return self.columns

    def judge(self, counted: Counted) -> Judgement:
        """Judges one attribute."""
        counts, reference = counted.counts, counted.counts.value_totals
        floats = likeness_gains(counts, reference).floats()
        is_failing = self.fails(counts, reference)
        highest = rounded(float(floats.max())) if len(floats) else None
        lack = f"make a value more likely than {self.kind} {self.beta:g}-likeness allows"
        return Judgement(is_failing, lack, {"beta": highest})

    def fails(self, counts: Counts, reference: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each class makes a value too likely, shape (c,).

        Args:
            counts: of the values of one attribute.
            reference: int64, shape (V,): how many records of the whole release have each.
        """
        gains = likeness_gains(counts, reference)
        breaks = ~gains.at_most(exact(self.beta))
        if self.kind == "enhanced":
            floats = gains.floats()
            shares = reference[counts.values] / reference.sum()
            # A logarithm of a share is no decimal: the slack of entropies.
            breaks |= (floats > 0.0) & (floats > -np.log(shares) + 1e-12)
        is_failing = np.zeros(len(counts), np.bool_)
        is_failing[counts.classes[breaks]] = True
        return is_failing
