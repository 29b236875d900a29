"""How many neighbors two nodes share, and with whom a node shares most; never all pairs at once."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@njit(cache=True, nogil=True)
def shared_counts(
    starts: Integers, neighbors: NDArray[np.int32], a: Integers, b: Integers
) -> Integers:
    """How many neighbors a[i] and b[i] share, int64, shape (p,); rows are merged, O(degrees)."""
    result = np.zeros(len(a), np.int64)
    for place in range(len(a)):
        left, left_stop = starts[a[place]], starts[a[place] + 1]
        right, right_stop = starts[b[place]], starts[b[place] + 1]
        count = 0
        while left < left_stop and right < right_stop:
            x, y = neighbors[left], neighbors[right]
            if x == y:
                count += 1
                left += 1
                right += 1
            elif x < y:
                left += 1
            else:
                right += 1
        result[place] = count
    return result


@njit(cache=True, nogil=True)
def links_into(
    starts: Integers,
    neighbors: NDArray[np.int32],
    labels: Integers,
    nodes: Integers,
    wanted: Integers,
) -> Integers:
    """How many neighbors of nodes[i] have the label wanted[i], int64, shape (p,)."""
    result = np.zeros(len(nodes), np.int64)
    for place in range(len(nodes)):
        node = nodes[place]
        for i in range(starts[node], starts[node + 1]):
            if labels[neighbors[i]] == wanted[place]:
                result[place] += 1
    return result


@njit(cache=True, nogil=True)
def partners(
    starts: Integers,
    neighbors: NDArray[np.int32],
    hop_starts: Integers,
    hops: NDArray[np.int32],
    nodes: Integers,
    keep: Integers,
    is_wanted: NDArray[np.bool_],
) -> tuple[Integers, Integers]:
    """The strangers that each node meets most often through others.

    With the graph's own rows as hops these are the nodes at distance two, by shared neighbors;
    with each node's cluster mates as hops, those to which an edge of a mate could be moved.

    Args:
        starts: int64, shape (n + 1,): of the graph's rows.
        neighbors: int32, ascending within a row.
        hop_starts: int64, shape (n + 1,): of the hops' rows.
        hops: int32: through whom a node meets others.
        nodes: int64, shape (m,): whose partners are sought.
        keep: int64, shape (m,): how many partners of each.
        is_wanted: bool, shape (n,): partners that count alone.

    Returns:
        int64, shape (p,) twice: node and partner, no neighbors; a node's partners by (meetings
        descending, number). O(Σ degrees of the hops) time, O(n) memory beside the result.
    """
    n = len(starts) - 1
    counts = np.zeros(n, np.int64)
    touched = np.empty(n, np.int64)
    firsts = np.empty(keep.sum(), np.int64)
    seconds = np.empty(keep.sum(), np.int64)
    total = 0
    for place in range(len(nodes)):
        node = nodes[place]
        found = 0
        for i in range(hop_starts[node], hop_starts[node + 1]):
            middle = hops[i]
            for j in range(starts[middle], starts[middle + 1]):
                other = neighbors[j]
                if counts[other] == 0:
                    touched[found] = other
                    found += 1
                counts[other] += 1
        for i in range(starts[node], starts[node + 1]):
            counts[neighbors[i]] = 0
        counts[node] = 0
        kept = 0
        keys = np.empty(found, np.int64)
        for i in range(found):
            other = touched[i]
            if counts[other] > 0 and is_wanted[other]:
                keys[kept] = (n - counts[other]) * n + other
                kept += 1
            counts[other] = 0
        keys = keys[:kept]
        if kept > keep[place]:
            keys = np.partition(keys, keep[place])[: keep[place]]
        keys.sort()
        for key in keys:
            firsts[total] = node
            seconds[total] = key % n
            total += 1
    return firsts[:total].copy(), seconds[:total].copy()
