"""How often each value occurs in each class of records, and ratios of such integers.

Counts are kept as sorted (class, value, count) triplets, so that many classes times many values
cost what occurs and no more. Against a limit that a user typed, such as t = 0.3, ratios of
integers are compared exactly: a class at the very limit keeps it.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[Any]
"""int64, or Python integers (object) where products could overflow."""

_LARGEST = 2**62


def exact(number: float) -> Fraction:
    """The decimal that a user typed: 0.3 is 3/10, not the nearest binary fraction."""
    return Fraction(Decimal(str(number)))


@dataclass(frozen=True, slots=True)
class Counts:
    """How often each value occurs in each class.

    Attributes:
        classes: int64, shape (m,), ascending.
        values: int64, shape (m,), ascending within a class.
        counts: int64, shape (m,), each at least 1.
        starts: int64, shape (c + 1,): the triplets of class i are starts[i] … starts[i+1] − 1.
        totals: int64, shape (c,): the records of each class.
        n_values: values are numbered 0 … n_values − 1.
    """

    classes: NDArray[np.int64]
    values: NDArray[np.int64]
    counts: NDArray[np.int64]
    starts: NDArray[np.int64]
    totals: NDArray[np.int64]
    n_values: int

    @staticmethod
    def of(
        class_of: NDArray[np.int64], value_of: NDArray[np.int64], n_classes: int, n_values: int
    ) -> Counts:
        """Counts the records.

        Args:
            class_of: shape (n,), each in 0 … n_classes − 1.
            value_of: shape (n,), each in 0 … n_values − 1.
            n_classes: some may be empty.
            n_values: some may not occur. n_classes · n_values below 2⁶³.
        """
        width = max(n_values, 1)
        keys, counts = np.unique(class_of * np.int64(width) + value_of, return_counts=True)
        return from_triplets(
            keys // width, keys % width, counts.astype(np.int64), n_classes, n_values
        )

    def __len__(self) -> int:
        return len(self.totals)

    @property
    def value_totals(self) -> NDArray[np.int64]:
        """int64, shape (n_values,): how often each value occurs in all classes."""
        totals = np.zeros(self.n_values, np.int64)
        np.add.at(totals, self.values, self.counts)
        return totals

    def without(self, is_left_out: NDArray[np.bool_]) -> Counts:
        """The counts of the other values alone; classes keep their numbers.

        Args:
            is_left_out: shape (n_values,), such as the missing and suppressed ones.
        """
        kept = ~is_left_out[self.values]
        parts = (self.classes[kept], self.values[kept], self.counts[kept])
        return from_triplets(*parts, len(self), self.n_values)

    def renumbered(self, number_of: NDArray[np.int64]) -> Counts:
        """The same counts with value i called number_of[i], a permutation, shape (n_values,)."""
        values = number_of[self.values]
        order = np.lexsort((values, self.classes))
        parts = (self.classes, values[order], self.counts[order])
        return from_triplets(*parts, len(self), self.n_values)


@dataclass(frozen=True, slots=True)
class Ratios:
    """One ratio of integers for each class.

    Attributes:
        numerators: shape (c,).
        denominators: shape (c,), each at least 1.
    """

    numerators: Integers
    denominators: Integers

    def at_most(self, limit: Fraction) -> NDArray[np.bool_]:
        """Shape (c,): whether each ratio is at most the limit, exactly."""
        return at_most(self.numerators, self.denominators, limit)

    def floats(self) -> NDArray[np.float64]:
        """The ratios, each rounded once, shape (c,)."""
        return np.asarray(self.numerators / self.denominators, dtype=np.float64)


def at_most(numerators: Integers, denominators: Integers, limit: Fraction) -> NDArray[np.bool_]:
    """Whether numerators / denominators ≤ limit, without rounding; denominators above 0."""
    ratios = np.asarray(numerators / denominators, dtype=np.float64)
    bound = float(limit)
    below = ratios <= bound
    # Floats decide what is clear; what lies within their error is decided on integers.
    for place in np.flatnonzero(np.abs(ratios - bound) <= 1e-9 * (abs(bound) + 1e-300)):
        left = int(numerators[place]) * limit.denominator
        below[place] = left <= limit.numerator * int(denominators[place])
    return below


def from_triplets(
    classes: NDArray[np.int64],
    values: NDArray[np.int64],
    counts: NDArray[np.int64],
    n_classes: int,
    n_values: int,
) -> Counts:
    """Counts from sorted triplets."""
    starts = np.searchsorted(classes, np.arange(n_classes + 1)).astype(np.int64)
    return Counts(classes, values, counts, starts, segment_sums(counts, starts), n_values)


def segment_sums(terms: Integers, starts: NDArray[np.int64]) -> Integers:
    """The sum of each segment, empty ones included; int64 may wrap between, not in a segment."""
    running = np.concatenate((np.zeros(1, terms.dtype), np.cumsum(terms)))
    sums: Integers = running[starts[1:]] - running[starts[:-1]]
    return sums


def excess(
    counts: Counts,
    reference: NDArray[np.int64],
    whole: int | None = None,
    totals: NDArray[np.int64] | None = None,
) -> Integers:
    """N·count − n·reference of each triplet: how much more than its share, times N·n."""
    whole = int(reference.sum()) if whole is None else whole
    totals = counts.totals if totals is None else totals
    largest = int(totals.max(initial=0))
    own = wide(counts.counts, whole, largest)
    share = totals[counts.classes] * wide(reference[counts.values], whole, largest)
    surplus: Integers = whole * own - share
    return surplus


def wide(terms: NDArray[np.int64], *factors: int) -> Integers:
    """The terms as Python integers where a product of the factors would overflow int64."""
    product = 1
    for factor in factors:
        product *= max(factor, 1)
    return terms.astype(object) if product > _LARGEST else terms
