"""Candidates of every release group, and the tuples that nobody should be recognised by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distanon.kernels.points import distinct

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Different candidates of each group, one group after the other.

    Attributes:
        tuples: float64, shape (c, q), in codes.
        group_of: int64, shape (c,), ascending.
        firsts: int64, shape (g,): the first candidate of each group: its average, where that may
            be released.
        is_exact: bool, shape (c,): equals an original tuple that one record alone has.
    """

    tuples: Floats
    group_of: Integers
    firsts: Integers
    is_exact: Booleans

    @property
    def options(self) -> Integers:
        """How many candidates each group has, int64 (g,)."""
        return np.bincount(self.group_of, minlength=len(self.firsts)).astype(np.int64)

    @staticmethod
    def of(averages: Floats, masked: Floats, labels: Integers, originals: Floats) -> Pool:
        """Each group's average and its members' masked tuples, equal ones once.

        A candidate that equals a unique original tuple is left out where its group has another.

        Args:
            averages: float64, shape (g, q), finished.
            masked: float64, shape (n, q), finished.
            labels: int64, shape (n,): group of each record, each of 0 … g − 1 at least once.
            originals: float64, shape (n, q).
        """
        tuples = np.concatenate([averages, masked])
        groups = np.concatenate([np.arange(len(averages)), labels])
        points = distinct(np.column_stack([groups, tuples]))
        lowest = points.records[points.starts[:-1]]
        lowest = lowest[np.argsort(groups[lowest], kind="stable")]
        exact = equals_unique(tuples[lowest], originals)
        spared = np.bincount(groups[lowest], ~exact, minlength=len(averages)) > 0
        kept = lowest[~exact | ~spared[groups[lowest]]]
        group_of = groups[kept].astype(np.int64)
        firsts = np.searchsorted(group_of, np.arange(len(averages))).astype(np.int64)
        return Pool(tuples[kept], group_of, firsts, exact[~exact | ~spared[groups[lowest]]])


def equals_unique(tuples: Floats, originals: Floats) -> Booleans:
    """Which tuples equal an original one that exactly one record has, bool (c,).

    Args:
        tuples: float64, shape (c, q); NaN equals NaN.
        originals: float64, shape (n, q).
    """
    n = len(originals)
    point_of = distinct(np.concatenate([originals, tuples])).point_of
    counts = np.bincount(point_of[:n], minlength=int(point_of.max(initial=-1)) + 1)
    unique: Booleans = counts[point_of[n:]] == 1
    return unique
