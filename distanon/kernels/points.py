"""The distinct rows of a matrix: equal records are one point with a count.

Masses, sums, means and neighborhood sizes use the counts, so that memory stays O(distinct)
on tables of few values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_MANY = 4096  # records for which compiled code is worth its loading
_LINE = 64  # bytes that the memory hands over at once


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


def empty_rows(count: int, width: int) -> NDArray[np.float64]:
    """Room for rows, shape (count, width), that begins at a line of the memory.

    Rows of 64 bytes then lie in one line each, and are read at random in half the time.
    """
    room = np.empty(count * width + _LINE // 8)
    start = -room.ctypes.data % _LINE // 8
    return room[start : start + count * width].reshape(count, width)


def take_rows(rows: NDArray[np.float64], numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """Some of the rows, as `empty_rows` lays them."""
    taken = empty_rows(len(numbers), rows.shape[1])
    return np.take(rows, numbers, axis=0, out=taken, mode="clip")


def distinct(
    matrix: NDArray[np.float64],
    threads: int = 1,
    *,
    is_given: bool = False,
) -> Points:
    """The distinct rows of a matrix, NaN being equal to NaN and -0.0 to 0.0.

    Args:
        matrix: float64, shape (n, D); any n and D, zero included.
        threads: how many work; says nothing about the points.
        is_given: the matrix, row-major, may become the points' rows: nothing is copied then
            that need not be, and the caller writes to it no more.

    Returns:
        The points; all arrays are read-only.
    """
    rows = matrix
    if not is_given:
        rows = empty_rows(*np.atleast_2d(matrix).shape)
        rows[:] = matrix
    if len(rows) >= _MANY:
        from distanon.kernels.row_numbers import number_rows

        point_of, firsts = number_rows(rows.view(np.uint64), threads)
    else:
        _make_canonical(rows)
        point_of, firsts = _sorted(rows)
    counts, starts, records = _grouped(point_of, len(firsts))
    if len(firsts) < len(rows):
        rows = take_rows(rows, firsts)
    points = Points(rows, counts, point_of, records, starts)
    for array in (points.rows, counts, point_of, records, starts):
        array.flags.writeable = False
    return points


def _make_canonical(rows: NDArray[np.float64]) -> None:
    """Rows that count as equal get equal bytes."""
    rows += 0.0
    rows[np.isnan(rows)] = np.nan


def _sorted(rows: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The point of each row, and the first row of each point; points by their first rows."""
    n, width = rows.shape
    words = rows.view(np.uint64)
    sequence = np.lexsort(words.T) if width else np.arange(n)
    opens = np.ones(n, dtype=np.bool_)
    ordered = words[sequence]
    opens[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    lowest = sequence[np.flatnonzero(opens)]
    by_lowest = np.argsort(lowest, kind="stable")
    number = np.empty_like(by_lowest)
    number[by_lowest] = np.arange(len(by_lowest))
    point_of = np.empty(n, dtype=np.int64)
    point_of[sequence] = number[np.cumsum(opens) - 1]
    return point_of, lowest[by_lowest].astype(np.int64)


def _grouped(
    point_of: NDArray[np.int64], points: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """How many records each point has, where they start, and their numbers."""
    if len(point_of) >= _MANY:
        from distanon.kernels.row_numbers import grouped

        counts, starts, records = grouped(point_of, points)
        return counts, starts, records
    counts = np.bincount(point_of, minlength=points).astype(np.int64)
    starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))
    return counts, starts, np.argsort(point_of, kind="stable").astype(np.int64)
