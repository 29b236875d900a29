"""Delta-disclosure privacy: in every class every value is nearly as likely as in the release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from distanon.kernels.counts import Counts
from distanon.kernels.distributions import disclosures
from distanon.promises.sensitive import Counted, Judgement, Override, SensitivePromise, rounded


class ColumnDisclosure(Override):
    """Disclosure allowed for one sensitive column."""

    delta: float | None = Field(default=None, gt=0)


class DeltaDisclosure(SensitivePromise):
    """For every value, with share p in the release and q in a class, |ln(q / p)| < δ.

    So every class must show every value. Missing and suppressed cells are values like any other.

    Source: Brickell & Shmatikov, KDD 2008 (δ-disclosure privacy).
    Deviation: the logarithm is the natural one; the paper leaves its base open.
    """

    name: ClassVar[str] = "delta_disclosure"

    delta: float = Field(gt=0)
    columns: dict[str, ColumnDisclosure] = Field(default_factory=dict)

    def overrides(self) -> Mapping[str, ColumnDisclosure]:
        """Disclosure allowed for single columns."""
        return self.columns

    def judge(self, counted: Counted) -> Judgement:
        """Judges one attribute; a logarithm of a share is no decimal, so floats decide."""
        found = disclosures(counted.counts, counted.counts.value_totals)
        highest = rounded(float(found.max())) if len(found) else None
        lack = f"show a value less or more often than δ = {self.delta:g} allows"
        return Judgement(~(found < self.delta), lack, {"delta": highest})

    def fails(self, counts: Counts, reference: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each class discloses too much, shape (c,); as `BetaLikeness.fails`."""
        return np.asarray(~(disclosures(counts, reference) < self.delta), dtype=np.bool_)
