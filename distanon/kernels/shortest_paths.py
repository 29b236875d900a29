"""Lengths of shortest paths, from 64 nodes at a time."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

LANES = 64
"""Sources that one pass over the graph serves: one bit each."""


@njit(cache=True, nogil=True)
def distance_sums(
    starts: Integers, neighbors: NDArray[np.int32], sources: Integers
) -> tuple[Integers, Integers]:
    """For each source the sum of its distances to all nodes that it reaches, and their number.

    Breadth first from 64 sources at once, a bit of a word each: O(nodes · sources / 64) words a
    level, O(n) memory. Integers throughout, so no sum depends on how sources were cut.

    Args:
        starts: int64, shape (n + 1,).
        neighbors: int32, shape (2m,).
        sources: int64, shape (s,).

    Returns:
        int64, shape (s,), twice; a source does not count itself.
    """
    n = len(starts) - 1
    sums = np.zeros(len(sources), np.int64)
    reached = np.zeros(len(sources), np.int64)
    front, following = np.empty(n, np.uint64), np.empty(n, np.uint64)
    zero, one = np.uint64(0), np.uint64(1)
    for start in range(0, len(sources), 64):
        lanes = min(64, len(sources) - start)
        front[:] = zero
        for lane in range(lanes):
            front[sources[start + lane]] |= one << np.uint64(lane)
        seen = front.copy()
        every = ~zero if lanes == 64 else (one << np.uint64(lanes)) - one
        level = 0
        while _step(starts, neighbors, front, following, every & ~seen):
            level += 1
            front, following = following, front
            seen |= front
            for node in np.flatnonzero(front):
                for lane in range(lanes):
                    if (front[node] >> np.uint64(lane)) & one:
                        sums[start + lane] += level
                        reached[start + lane] += 1
    return sums, reached


@njit(cache=True, nogil=True)
def _step(
    starts: Integers, neighbors: NDArray[np.int32], front: Words, following: Words, missing: Words
) -> bool:
    """The bits that each node gets from the front and misses; whether there are any."""
    moving = False
    for node in range(len(front)):
        wanted = missing[node]
        fresh = np.uint64(0)
        if wanted != fresh:
            for place in range(starts[node], starts[node + 1]):
                fresh |= front[neighbors[place]]
                if fresh & wanted == wanted:
                    break
            fresh &= wanted
            moving |= fresh != np.uint64(0)
        following[node] = fresh
    return moving
