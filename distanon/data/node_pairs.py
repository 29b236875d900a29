"""Pairs of nodes as numbers: pair (i, j), i < j, has the number j (j − 1) / 2 + i."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def pairs_of(numbers: Integers) -> Integers:
    """The pairs of these numbers, smaller node first: int64, shape (p, 2).

    Args:
        numbers: int64, shape (p,), at least 0 and below 2⁶¹.
    """
    high = ((1 + np.sqrt(1.0 + 8.0 * numbers)) / 2).astype(np.int64)
    high -= high * (high - 1) // 2 > numbers
    high += high * (high + 1) // 2 <= numbers
    return np.stack([numbers - high * (high - 1) // 2, high], axis=1)


def numbers_of(pairs: Integers) -> Integers:
    """The numbers of pairs of different nodes, given in either order: int64, shape (p,)."""
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    numbers: Integers = high * (high - 1) // 2 + low
    return numbers


def others(taken: Integers, ranks: Integers) -> Integers:
    """The pairs that are not among these, by their rank: int64, shape (p, 2).

    Args:
        taken: int64, shape (m, 2): different pairs of different nodes, each once.
        ranks: int64, shape (p,): 0 is the pair of the lowest number that is not taken.
    """
    numbers = np.sort(numbers_of(taken))
    free_before = numbers - np.arange(len(numbers))
    return pairs_of(ranks + np.searchsorted(free_before, ranks, side="right"))
