"""Greedy clusters of k nodes that look alike in their attributes and in whom they know.

Source: Campan and Truta 2008, Data and structural k-anonymity in social networks (SaNGreeA),
    section 4: a cluster starts at the unclustered node of the highest degree and takes, until it
    has k, the node for which α · NGIL + β · dist is least; fewer than k nodes that are left join
    their nearest clusters one by one.
Deviation: the structural distances of all nodes to the growing cluster are kept up to date from
    the members' two-hop neighbors, instead of being computed again from rows of the matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_TIE = 1e-9
"""Of a loss: far above what rounding does to it, far below what tells two nodes apart."""


class Qualities(NamedTuple):
    """The attributes of n nodes, as what a cluster's loss is computed from.

    Attributes:
        lines: float64, shape (n, a): numbers and ranks in 0 … 1 of their ranges, NaN missing.
        trees: int64, shape (n, b, h + 1): for each nominal attribute the numbers of the tree
            nodes on the way from the value up to the top; lower trees repeat their top.
        heights: int64, shape (b,): the height of each tree; 1: no hierarchy.
    """

    lines: Floats
    trees: Integers
    heights: Integers


def greedy_clusters(
    starts: Integers,
    neighbors: NDArray[np.int32],
    qualities: Qualities,
    k: int,
    alpha: float,
    beta: float,
) -> Integers:
    """The cluster of each node.

    Args:
        starts: int64, shape (n + 1,): adjacency of a simple undirected graph.
        neighbors: int32, shape (2m,).
        qualities: of the nodes.
        k: nodes of a cluster, at least; 1 … n.
        alpha: weight of the normalized generalization loss (NGIL) of a cluster.
        beta: weight of the structural distance: the mean over a cluster's members of the share
            of the n − 2 others whom one of two nodes knows and the other does not.

    Returns:
        int64, shape (n,), clusters from 0 without gaps. Ties go to the lowest number; losses
        that are apart by no more than their rounding are ties. O(n²) for a scan of all nodes at
        each step, and the sum of the squared degrees; O(n) memory.
    """
    labels = np.full(len(starts) - 1, -1, np.int64)
    _grown(starts, neighbors, qualities, k, alpha, beta, labels)
    _dispersed(starts, neighbors, qualities, alpha, beta, labels)
    return labels


class _Extent(NamedTuple):
    """What a growing cluster covers.

    Attributes:
        line: float64, shape (3, a): least, greatest, and whether values are missing.
        tree: int64, shape (2, b): a member, and the height of all members' common ancestor.
    """

    line: Floats
    tree: Integers


@njit(cache=True, nogil=True)
def _extent(qualities: Qualities) -> _Extent:
    """Room for what a cluster covers."""
    line = np.empty((3, qualities.lines.shape[1]))
    return _Extent(line, np.empty((2, qualities.trees.shape[1]), np.int64))


@njit(cache=True, nogil=True)
def _start(qualities: Qualities, extent: _Extent, node: int) -> None:
    for a in range(qualities.lines.shape[1]):
        value = qualities.lines[node, a]
        extent.line[0, a] = np.inf if np.isnan(value) else value
        extent.line[1, a] = -np.inf if np.isnan(value) else value
        extent.line[2, a] = 1.0 if np.isnan(value) else 0.0
    for b in range(qualities.trees.shape[1]):
        extent.tree[0, b] = node
        extent.tree[1, b] = 0


@njit(cache=True, nogil=True)
def _take(qualities: Qualities, extent: _Extent, node: int) -> None:
    for a in range(qualities.lines.shape[1]):
        value = qualities.lines[node, a]
        if np.isnan(value):
            extent.line[2, a] = 1.0
        else:
            extent.line[0, a] = min(extent.line[0, a], value)
            extent.line[1, a] = max(extent.line[1, a], value)
    for b in range(qualities.trees.shape[1]):
        extent.tree[1, b] = _height(qualities, extent, node, b)


@njit(cache=True, nogil=True)
def _height(qualities: Qualities, extent: _Extent, node: int, b: int) -> int:
    """The height of the lowest tree node above all members and one more."""
    height = extent.tree[1, b]
    member = extent.tree[0, b]
    while (
        height < qualities.heights[b]
        and qualities.trees[node, b, height] != qualities.trees[member, b, height]
    ):
        height += 1
    return int(height)


@njit(cache=True, nogil=True)
def _loss(qualities: Qualities, extent: _Extent, node: int) -> float:
    """NGIL of the cluster with one more node: the mean over attributes of what it covers."""
    total = 0.0
    for a in range(qualities.lines.shape[1]):
        value = qualities.lines[node, a]
        low, high, missing = extent.line[0, a], extent.line[1, a], extent.line[2, a] > 0
        if np.isnan(value):
            missing = True
        else:
            low, high = min(low, value), max(high, value)
        if high >= low:
            total += 1.0 if missing else high - low
    for b in range(qualities.trees.shape[1]):
        total += _height(qualities, extent, node, b) / qualities.heights[b]
    parts = qualities.lines.shape[1] + qualities.trees.shape[1]
    return float(total / max(1, parts))


@njit(cache=True, nogil=True)
def _is_less(cost: float, best: float, unit: float) -> bool:
    """Whether a cost is below the best so far by more than rounding can make it.

    Args:
        cost: of a node.
        best: of an earlier one.
        unit: what one neighbor that is not shared costs: rounding is small beside this, too.
    """
    return best == np.inf or cost < best - _TIE * (best + unit)


@njit(cache=True, nogil=True)
def _meet(
    starts: Integers, neighbors: NDArray[np.int32], node: int, shared: Integers, sign: int
) -> None:
    """Counts (sign 1) or forgets (−1) whom a new member shares neighbors with, or knows."""
    for i in range(starts[node], starts[node + 1]):
        middle = neighbors[i]
        shared[middle] += sign
        for j in range(starts[middle], starts[middle + 1]):
            shared[neighbors[j]] += sign


@njit(cache=True, nogil=True)
def _grown(
    starts: Integers,
    neighbors: NDArray[np.int32],
    qualities: Qualities,
    k: int,
    alpha: float,
    beta: float,
    labels: Integers,
) -> None:
    """Clusters of k, as long as k nodes are left."""
    n = len(labels)
    degrees = np.diff(starts)
    seeds = np.argsort(-degrees, kind="mergesort")
    left = np.arange(n)
    shared = np.zeros(n, np.int64)
    extent = _extent(qualities)
    members = np.empty(k, np.int64)
    unit = beta / max(1, n - 2)
    place, count = 0, 0
    while len(left) >= k:
        while labels[seeds[place]] >= 0:
            place += 1
        node = int(seeds[place])
        _start(qualities, extent, node)
        total = 0
        for size in range(1, k + 1):
            members[size - 1] = node
            labels[node] = count
            total += degrees[node]
            _meet(starts, neighbors, node, shared, 1)
            if size == k:
                break
            best, node = np.inf, -1
            for other in left:
                if labels[other] >= 0:
                    continue
                apart = total + size * degrees[other] - 2 * shared[other]
                cost = unit * (apart / size)
                if not _is_less(cost, best, unit):
                    continue
                cost += alpha * _loss(qualities, extent, int(other))
                if _is_less(cost, best, unit):
                    best, node = cost, int(other)
            _take(qualities, extent, node)
        for member in members:
            _meet(starts, neighbors, int(member), shared, -1)
        left = left[labels[left] < 0]
        count += 1


@njit(cache=True, nogil=True)
def _dispersed(
    starts: Integers,
    neighbors: NDArray[np.int32],
    qualities: Qualities,
    alpha: float,
    beta: float,
    labels: Integers,
) -> None:
    """Nodes that are left join their nearest clusters, in the order of their numbers."""
    n = len(labels)
    degrees = np.diff(starts)
    extent = _extent(qualities)
    shared = np.zeros(n, np.int64)
    unit = beta / max(1, n - 2)
    for left in np.flatnonzero(labels < 0):
        node = int(left)
        _meet(starts, neighbors, node, shared, 1)
        best, label = np.inf, -1
        order = np.argsort(labels, kind="mergesort")
        start = int(np.searchsorted(labels[order], 0))
        while start < n:
            stop = start
            apart = 0.0
            while stop < n and labels[order[stop]] == labels[order[start]]:
                member = int(order[stop])
                if stop == start:
                    _start(qualities, extent, member)
                else:
                    _take(qualities, extent, member)
                apart += degrees[member] + degrees[node] - 2.0 * shared[member]
                stop += 1
            cost = unit * apart / (stop - start) + alpha * _loss(qualities, extent, node)
            if _is_less(cost, best, unit):
                best, label = cost, labels[order[start]]
            start = stop
        labels[node] = label
        _meet(starts, neighbors, node, shared, -1)
