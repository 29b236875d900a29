"""Equal rows of a matrix, found by a hash table of row numbers.

The table keeps 32 bits of each row's hash beside the number of its point, so that rows are
compared only where these agree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from distanon.kernels.threads import in_threads, shares_of

__all__ = ["grouped", "number_rows"]

_LOW = np.uint64(0xFFFFFFFF)
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S24, _S27, _S30 = np.uint64(24), np.uint64(27), np.uint64(30)
_S31, _S32 = np.uint64(31), np.uint64(32)
# Bits of float64: -0.0, infinity, and the missing value that all others become.
_SIGN, _INFINITE = np.uint64(1 << 63), np.uint64(0x7FF << 52)
_MISSING = np.float64(np.nan).view(np.uint64)


def number_rows(words: Any, threads: int = 1) -> Any:
    """The number of each row's point; points are numbered as they first occur.

    Args:
        words: uint64, shape (n, D), n below 2³²: the bits of each row; what counts as equal is
            given equal bits in place.
        threads: how many work; says nothing about the result.

    Returns:
        point_of, int64, shape (n,), and the first row of each point, int64, shape (u,).
    """
    n = len(words)
    keys, first_of = np.empty(n, np.uint64), np.empty(n, np.int64)
    in_threads(lambda part: _hash(words[part], keys[part]), shares_of(n, threads), threads)
    # Equal rows have equal hashes, so that each thread finds all copies of its rows.
    groups = range(threads)
    in_threads(lambda one: _find(words, keys, one, threads, first_of), groups, threads)
    return _numbered(first_of)


@njit(cache=True, nogil=True)
def _hash(words: Any, keys: Any) -> None:
    """Writes the hash of each row; zero loses its sign, and missing values their payload."""
    for i in range(words.shape[0]):
        key = _STEP
        for c in range(words.shape[1]):
            word = words[i, c]
            if word == _SIGN:
                word = np.uint64(0)
                words[i, c] = word
            elif word & ~_SIGN > _INFINITE:
                word = _MISSING
                words[i, c] = word
            key = _mixed(key ^ word) + _STEP
        keys[i] = _mixed(key)


@njit(cache=True, nogil=True)
def _find(words: Any, keys: Any, group: int, groups: int, first_of: Any) -> None:
    """Writes for each row of a group of hashes the first row that equals it."""
    n = len(keys)
    its = np.uint64(group)
    mine = 0
    for key in keys:
        mine += (key >> _S24) % np.uint64(groups) == its
    slots = 1024
    while slots < 2 * mine:
        slots *= 2
    table = np.zeros(slots, np.uint64)  # 0: free; else the hash's upper half, the row + 1
    mask = np.uint64(slots - 1)
    for i in range(n):
        key = keys[i]
        if (key >> _S24) % np.uint64(groups) != its:
            continue
        at = key & mask
        while True:
            held = table[at]
            if held == 0:
                table[at] = (key >> _S32 << _S32) | np.uint64(i + 1)
                first_of[i] = i
                break
            row: Any = np.int64(held & _LOW) - 1
            if held >> _S32 == key >> _S32 and _are_equal(words, row, i):
                first_of[i] = row
                break
            at = (at + np.uint64(1)) & mask


@njit(cache=True, nogil=True)
def _numbered(first_of: Any) -> Any:
    """The number of each row's point, and the first row of each point."""
    n = len(first_of)
    point_of, firsts = np.empty(n, np.int64), np.empty(n, np.int64)
    points = 0
    for i in range(n):
        first = first_of[i]
        if first == i:
            firsts[points], point_of[i] = i, points
            points += 1
        else:
            point_of[i] = point_of[first]
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
