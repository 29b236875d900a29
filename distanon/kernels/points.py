"""The distinct rows of a matrix: equal records are one point with a count.

Masses, sums, means and neighborhood sizes use the counts, so that memory stays O(distinct)
on tables of few values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Points:
    """The u distinct rows of n records; a point's number follows its lowest record number.

    Attributes:
        rows: float64, shape (u, D); NaN is missing, zero is never negative.
        counts: int64, shape (u,), at least 1: how many records are this point.
        point_of: int64, shape (n,): the point of each record.
        records: int64, shape (n,): record numbers grouped by point, ascending inside a group.
        starts: int64, shape (u + 1,): point p has records[starts[p]:starts[p + 1]].
    """

    rows: NDArray[np.float64]
    counts: NDArray[np.int64]
    point_of: NDArray[np.int64]
    records: NDArray[np.int64]
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        """The number of distinct points."""
        return len(self.rows)

    def records_of(self, point: int) -> NDArray[np.int64]:
        """The record numbers of one point, ascending."""
        return self.records[self.starts[point] : self.starts[point + 1]]


def distinct(matrix: NDArray[np.float64]) -> Points:
    """The distinct rows of a matrix, NaN being equal to NaN and -0.0 to 0.0.

    Args:
        matrix: float64, shape (n, D); any n and D, zero included.

    Returns:
        The points; all arrays are read-only.
    """
    rows = _canonical(matrix)
    n = len(rows)
    sequence, opens = _grouped(rows)
    firsts = np.flatnonzero(opens)
    group_of = np.cumsum(opens) - 1
    lowest = sequence[firsts]
    by_lowest = np.argsort(lowest, kind="stable")
    number = np.empty_like(by_lowest)
    number[by_lowest] = np.arange(len(by_lowest))
    point_of = np.empty(n, dtype=np.int64)
    point_of[sequence] = number[group_of]
    counts = np.bincount(point_of, minlength=len(firsts)).astype(np.int64)
    starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))
    records = np.argsort(point_of, kind="stable").astype(np.int64)
    points = Points(rows[lowest[by_lowest]], counts, point_of, records, starts)
    for array in (points.rows, counts, point_of, records, starts):
        array.flags.writeable = False
    return points


def _canonical(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """A copy in which rows that count as equal have equal bytes."""
    rows = np.array(matrix, dtype=np.float64, order="C", ndmin=2)
    rows += 0.0
    rows[np.isnan(rows)] = np.nan
    return rows


def _grouped(rows: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Record numbers with equal rows side by side, ascending, and where each group opens."""
    n, width = rows.shape
    words = rows.view(np.uint64)
    sequence = np.lexsort(words.T) if width else np.arange(n)
    opens = np.ones(n, dtype=np.bool_)
    ordered = words[sequence]
    opens[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return sequence.astype(np.int64), opens
