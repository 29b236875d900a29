"""Clusters of at least K members each: Algorithm 1 with a guard, and the split of large ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from distanon.kernels import fuzzy
from distanon.kernels.fuzzy import Rows

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def fill(rows: Rows, labels: Integers, centroids: Floats, k: int) -> tuple[Integers, int]:
    """Fills clusters of fewer than K members from those of more than 1.1 K.

    Each of the former (UL) takes members of the latter (OL): from the OL cluster with the
    nearest centroid first, from each its nearest members first, until it has K. Sets are updated
    after each taking: a cluster that has come down to 1.1 K is no donor any more.

    A donor keeps ⌊1.1 K⌋ ≥ K members, and there always is one: with C clusters, C ≤ 0.9 N / K,
    the members above 1.1 K exceed those that are lacking below K by at least N - 1.1 K C ≥
    0.01 N. One cluster alone has all N ≥ K.

    Args:
        rows: of n nodes.
        labels: int64, shape (n,), from 0 to C - 1.
        centroids: float64, shape (width + D, C).
        k: K, with C ≤ 0.9 n / K, or C = 1 and n ≥ K.

    Returns:
        int64, shape (n,): labels of C clusters with at least K members each; and how many nodes
        changed clusters.

    Raises:
        ValueError: there are more clusters than K allows.

    Source: KMFC-GWO, Algorithm 1.
    Deviation: the guard. Paper: nothing keeps a donor at K. UL clusters come in the order of
    their numbers.
    """
    labels, clusters = labels.copy(), centroids.shape[1]
    moved = fuzzy.fill_up(rows, labels, centroids, k, k + k // 10)  # ⌊1.1 K⌋ exactly
    if np.bincount(labels, minlength=clusters).min() < k:
        raise ValueError(f"{len(labels)} nodes do not fill {clusters} clusters of {k} members")
    return labels, moved


def split(labels: Integers, line: Floats, k: int) -> Integers:
    """Cuts clusters of 2 K members or more into parts of K … 2 K - 1.

    Args:
        labels: int64, shape (n,), from 0 to C - 1; each cluster has at least K members.
        line: float64, shape (n, d): one column, or, where it has more, each cluster's widest
            counts: what the members of a part should agree on.
        k: K.

    Returns:
        int64, shape (n,): parts are neighbors on the line, cut so that the sum of all members'
        distances from their part's median is least. If the line is the degree, that is twice
        the least number of edges by which the degrees can be made equal.

    Source: Hansen and Mukherjee 2003, optimal univariate microaggregation, with medians.
    O(size · K) for each cluster.
    """
    labels = labels.copy()
    sizes = np.bincount(labels)
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    following = len(sizes)
    for cluster in np.flatnonzero(sizes >= 2 * k).tolist():
        values = line[members[cluster]]
        if values.shape[1] > 1:
            values = values[:, [int(np.argmax(values.var(axis=0)))]]
        values = values[:, 0] if values.shape[1] else np.zeros(len(values))
        order = np.argsort(values, kind="stable")
        for first, last in cuts(values[order], k)[1:]:
            labels[members[cluster][order[first:last]]] = following
            following += 1
    return labels


def cuts(values: Floats, k: int) -> list[tuple[int, int]]:
    """The best cut of ascending values into parts of K … 2 K - 1.

    Args:
        values: float64, shape (s,), ascending, s ≥ K.
        k: K.

    Returns:
        (first, last) of each part, in order; the sum of distances from the parts' medians is
        least.
    """
    size = len(values)
    sums = np.concatenate((np.zeros(1), np.cumsum(values - values[0])))
    best, before = np.full(size + 1, np.inf), np.zeros(size + 1, dtype=np.int64)
    best[0] = 0.0
    for last in range(k, size + 1):
        first = np.arange(max(0, last - 2 * k + 1), last - k + 1)
        half = (last - first) // 2
        # From the median: what the upper half has more than the lower one.
        costs = sums[last] - sums[last - half] - sums[first + half] + sums[first]
        totals = best[first] + costs
        choice = int(np.argmin(totals))
        best[last], before[last] = totals[choice], first[choice]
    parts, last = [], size
    while last > 0:
        parts.append((int(before[last]), last))
        last = int(before[last])
    return parts[::-1]


def numbered(labels: Integers) -> Integers:
    """The same clusters, numbered by their lowest nodes."""
    _, first, places = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[places]
