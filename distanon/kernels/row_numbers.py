"""Equal rows of a matrix, found in one pass over a hash table of row numbers.

The table keeps 32 bits of each row's hash beside the number of its point, so that rows are
compared only where these agree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = ["grouped", "number_rows"]

_LOW = np.uint64(0xFFFFFFFF)
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@njit(cache=True, nogil=True)
def number_rows(words: Any) -> Any:
    """The number of each row's point; points are numbered as they first occur.

    Args:
        words: uint64, shape (n, D), n below 2³²: the bits of each row.

    Returns:
        point_of, int64, shape (n,), and the first row of each point, int64, shape (u,).
    """
    n, width = words.shape
    slots = 1024
    while slots < 2 * n:
        slots *= 2
    table = np.zeros(slots, np.uint64)  # 0: free; else the hash's upper half, the point + 1
    point_of = np.empty(n, np.int64)
    firsts = np.empty(n, np.int64)
    points = 0
    mask = np.uint64(slots - 1)
    for i in range(n):
        key = _STEP
        for c in range(width):
            key = _mixed(key ^ words[i, c]) + _STEP
        key = _mixed(key)
        at = key & mask
        while True:
            held = table[at]
            if held == 0:
                table[at] = (key >> _S32 << _S32) | np.uint64(points + 1)
                firsts[points], point_of[i] = i, points
                points += 1
                break
            point = np.int64(held & _LOW) - 1
            if held >> _S32 == key >> _S32 and _are_equal(words, firsts[point], i):
                point_of[i] = point
                break
            at = (at + np.uint64(1)) & mask
    return point_of, firsts[:points].copy()


@njit(cache=True, nogil=True)
def grouped(point_of: Any, points: int) -> Any:
    """The rows of each point.

    Args:
        point_of: int64, shape (n,).
        points: how many there are.

    Returns:
        How many rows each point has, int64, shape (u,); where they start, int64, shape (u + 1,);
        and the row numbers, int64, shape (n,), ascending for each point.
    """
    counts = np.zeros(points, np.int64)
    for p in point_of:
        counts[p] += 1
    starts = np.zeros(points + 1, np.int64)
    for p in range(points):
        starts[p + 1] = starts[p] + counts[p]
    filled = starts[:-1].copy()
    rows = np.empty(len(point_of), np.int64)
    for i in range(len(point_of)):
        p = point_of[i]
        rows[filled[p]] = i
        filled[p] += 1
    return counts, starts, rows


@njit(cache=True, nogil=True)
def _mixed(key: Any) -> Any:
    """All bits of a number spread over all of the result (SplitMix64's last steps)."""
    key = (key ^ (key >> _S30)) * _MIX_1
    key = (key ^ (key >> _S27)) * _MIX_2
    return key ^ (key >> _S31)


@njit(cache=True, nogil=True)
def _are_equal(words: Any, one: int, other: int) -> bool:
    for c in range(words.shape[1]):  # noqa: SIM110 (compiled)
        if words[one, c] != words[other, c]:
            return False
    return True
