"""Communities of a graph by modularity, and how far two partitions agree."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def louvain(
    starts: Integers, neighbors: NDArray[np.int32], generator: np.random.Generator
) -> Integers:
    """Communities found by moving nodes and merging communities while modularity grows.

    Args:
        starts: int64, shape (n + 1,).
        neighbors: int32, shape (2m,).
        generator: draws the order in which nodes are looked at.

    Returns:
        int64, shape (n,), numbered from 0 in the order of their lowest nodes.

    Source: Blondel et al., Journal of Statistical Mechanics (2008) P10008.
    Deviation: gains are compared as integers, so that they are exact; edges inside a merged
        community count in its weight alone.
    """
    nodes = len(starts) - 1
    labels = np.arange(nodes, dtype=np.int64)
    ends, weights = neighbors.astype(np.int64), np.ones(len(neighbors), np.int64)
    strengths: Integers = np.diff(starts)
    while True:
        order = generator.permutation(len(strengths))
        moved = _moved(starts, ends, weights, strengths, order)
        found = _numbered(moved)
        count = int(found.max(initial=-1)) + 1
        labels = found[labels]
        if count == len(strengths):
            return _numbered(labels)
        starts, ends, weights, strengths = _merged(starts, ends, weights, strengths, found, count)


def modularity(starts: Integers, neighbors: NDArray[np.int32], labels: Integers) -> float:
    """Share of edges inside communities, less what random ends of the same degrees would give.

    Args:
        starts: int64, shape (n + 1,).
        neighbors: int32, shape (2m,).
        labels: int64, shape (n,), from 0.

    Returns:
        In [−1/2, 1); NaN without edges.

    Source: Newman & Girvan, Physical Review E 69 (2004) 026113.
    """
    twice = len(neighbors)
    if not twice:
        return math.nan
    degrees = np.diff(starts)
    inside = int((np.repeat(labels, degrees) == labels[neighbors]).sum())
    totals = np.zeros(int(labels.max()) + 1, np.int64)
    np.add.at(totals, labels, degrees)
    return inside / twice - sum(int(total) ** 2 for total in totals) / twice**2


def mutual_information(one: Integers, other: Integers) -> float:
    """Normalized mutual information of two partitions of the same nodes, in [0, 1].

    Divided by the mean of both entropies; 1 where both are a single community.

    Args:
        one: int64, shape (n,), from 0.
        other: int64, shape (n,), from 0.

    Source: Danon et al., Journal of Statistical Mechanics (2005) P09008.
    """
    nodes = len(one)
    if not nodes:
        return math.nan
    width = int(other.max()) + 1
    keys, both = np.unique(one * width + other, return_counts=True)
    left, right = np.bincount(one), np.bincount(other)
    expected = left[keys // width] * right[keys % width] / nodes
    shared = math.fsum((both / nodes * np.log(both / expected)).tolist())
    mean = (_entropy(left) + _entropy(right)) / 2.0
    return min(1.0, max(0.0, shared / mean)) if mean > 0.0 else 1.0


def _entropy(sizes: Integers) -> float:
    shares = sizes[sizes > 0] / sizes.sum()
    return -math.fsum((shares * np.log(shares)).tolist())


@njit(cache=True, nogil=True)
def _moved(
    starts: Integers, ends: Integers, weights: Integers, strengths: Integers, order: Integers
) -> Integers:
    """Each node in the community where modularity gains most, until none wants to move.

    With w edges from a node of strength s to a community of strength t, of 2m ends in all, the
    gain is w · 2m − s · t up to a constant: integers below 2⁶³ for fewer than 10⁹ edges.
    """
    n = len(strengths)
    twice = strengths.sum()
    label = np.arange(n)
    totals = strengths.copy()
    towards = np.zeros(n, np.int64)
    touched = np.empty(n, np.int64)
    moving = True
    while moving:
        moving = False
        for node in order:
            own = label[node]
            found = 0
            for place in range(starts[node], starts[node + 1]):
                other = label[ends[place]]
                if towards[other] == 0:
                    touched[found] = other
                    found += 1
                towards[other] += weights[place]
            totals[own] -= strengths[node]
            best, most = own, towards[own] * twice - strengths[node] * totals[own]
            for place in range(found):
                other = touched[place]
                gain = towards[other] * twice - strengths[node] * totals[other]
                if gain > most or (gain == most and best != own and other < best):
                    best, most = other, gain
            for place in range(found):
                towards[touched[place]] = 0
            totals[best] += strengths[node]
            if best != own:
                label[node] = best
                moving = True
    return label


def _merged(
    starts: Integers,
    ends: Integers,
    weights: Integers,
    strengths: Integers,
    found: Integers,
    count: int,
) -> tuple[Integers, Integers, Integers, Integers]:
    """The graph whose nodes are the communities; edges inside one are left out."""
    one, other = np.repeat(found, np.diff(starts)), found[ends]
    between = one != other
    keys, place = np.unique(one[between] * count + other[between], return_inverse=True)
    summed = np.zeros(len(keys), np.int64)
    np.add.at(summed, place, weights[between])
    begins = np.searchsorted(keys // count, np.arange(count + 1)).astype(np.int64)
    totals = np.zeros(count, np.int64)
    np.add.at(totals, found, strengths)
    return begins, keys % count, summed, totals


def _numbered(labels: Integers) -> Integers:
    """Numbered from 0 in the order of first appearance."""
    _, first, place = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    numbered: Integers = rank[place]
    return numbered
