"""Which clusters lose least when two of them become one, and joins until each keeps a rule.

Source: the losses of Campan and Truta 2008 (SaNGreeA), section 4, between clusters instead of a
    node and a cluster: α · NGIL of the union + β · the mean over pairs of members of the share of
    the n − 2 others whom one of two nodes knows and the other does not.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from distanon.kernels.greedy_clusters import Qualities

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

_LOOKED_AT = 24
"""Nearest clusters among which one is sought that makes the union keep the rule."""


class JoinCosts:
    """What each join of two clusters costs, for one partition.

    Args:
        starts: int64, shape (n + 1,): adjacency of a simple undirected graph.
        neighbors: int32, shape (2m,).
        qualities: of the nodes.
        labels: int64, shape (n,): clusters from 0 without gaps.
        alpha: weight of NGIL.
        beta: weight of the structural distance.
    """

    def __init__(
        self,
        starts: Integers,
        neighbors: NDArray[np.int32],
        qualities: Qualities,
        labels: Integers,
        alpha: float,
        beta: float,
    ) -> None:
        from scipy.sparse import csr_array

        n, count = len(labels), int(labels.max(initial=-1)) + 1
        self._alpha, self._unit = alpha, beta / max(1, n - 2)
        self._sizes = np.bincount(labels, minlength=count)
        self._degrees = np.bincount(labels, weights=np.diff(starts), minlength=count)
        graph = csr_array((np.ones(len(neighbors)), neighbors, starts), shape=(n, n))
        member = csr_array((np.ones(n), (labels, np.arange(n))), shape=(count, n))
        self._known = csr_array(member @ graph)  # (c, n): how many members know each node
        # A neighbor in the other cluster counts as shared, as where nodes join a cluster.
        self._columns = csr_array((self._known + member).T)
        self._measure(qualities, labels, count)

    def with_each(self, cluster: int) -> Floats:
        """The cost of joining a cluster with each one, shape (c,); inf with itself."""
        row = self._known[[cluster], :]
        shared = np.asarray((row @ self._columns).todense()).ravel()
        means = self._degrees / self._sizes
        apart = means + means[cluster] - 2.0 * shared / (self._sizes * self._sizes[cluster])
        cost: Floats = self._unit * apart + self._alpha * self._covered(cluster)
        cost[cluster] = np.inf
        return cost

    def _measure(self, qualities: Qualities, labels: Integers, count: int) -> None:
        """What each cluster covers: extents, missing values, common ancestors."""
        order = np.argsort(labels, kind="stable")
        starts = np.searchsorted(labels[order], np.arange(count))
        lines = qualities.lines[order]
        missing = np.isnan(lines)
        self._low = np.minimum.reduceat(np.where(missing, np.inf, lines), starts, axis=0)
        self._high = np.maximum.reduceat(np.where(missing, -np.inf, lines), starts, axis=0)
        self._lacks = np.logical_or.reduceat(missing, starts, axis=0)
        self._heights = qualities.heights
        trees = qualities.trees[order]
        self._ways = trees[starts]
        self._common = np.zeros((count, len(qualities.heights)), np.int64)
        spread = np.repeat(np.arange(count), np.bincount(labels, minlength=count))
        for height in range(trees.shape[2]):
            differs = trees[:, :, height] != self._ways[spread, :, height]
            apart = np.logical_or.reduceat(differs, starts, axis=0)
            self._common = np.where(apart, height + 1, self._common)
        self._common = np.minimum(self._common, self._heights)

    def _covered(self, cluster: int) -> Floats:
        """NGIL of each union: the mean over attributes of what it covers."""
        low = np.minimum(self._low, self._low[cluster])
        high = np.maximum(self._high, self._high[cluster])
        lacks = self._lacks | self._lacks[cluster]
        extent = np.where(high >= low, np.where(lacks, 1.0, high - low), 0.0)
        total = extent.sum(axis=1)
        common = np.maximum(self._common, self._common[cluster])
        for height in range(self._ways.shape[2]):
            differs = self._ways[:, :, height] != self._ways[cluster, :, height]
            common = np.where(differs & (common <= height), height + 1, common)
        parts = max(1, self._low.shape[1] + len(self._heights))
        total = total + (np.minimum(common, self._heights) / self._heights).sum(axis=1)
        covered: Floats = total / parts
        return covered


def joined(
    labels: Integers,
    failing: Callable[[Integers, Integers, int], Booleans],
    costs: Callable[[Integers], JoinCosts],
) -> Integers:
    """Joins clusters that break a rule with others until none does, or one is left.

    In each round every cluster that breaks the rule is joined, in the order of their numbers,
    with the cheapest of its nearest clusters with which it keeps the rule; where none of these
    makes it do so, with the nearest. A cluster takes part in one join of a round.

    Args:
        labels: int64, shape (n,): clusters from 0 without gaps.
        failing: given nodes, shape (m,), the set of each, and the number of sets: which sets
            break the rule. A union of sets that keep it keeps it.
        costs: of a partition.

    Returns:
        int64, shape (n,): clusters from 0 without gaps, each a union of the given ones.
    """
    labels = labels.copy()
    while (count := int(labels.max(initial=-1)) + 1) > 1:
        broken = np.flatnonzero(failing(np.arange(len(labels)), labels, count))
        if not len(broken):
            break
        members = np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])
        price = costs(labels)
        free = np.ones(count, np.bool_)
        into = np.arange(count)
        for cluster in broken.tolist():
            if not free[cluster] or free.sum() < 2:
                continue
            cost = np.where(free, price.with_each(cluster), np.inf)
            nearest = np.argsort(cost, kind="stable")[: min(_LOOKED_AT, int(free.sum()) - 1)]
            sets = [np.concatenate([members[cluster], members[other]]) for other in nearest]
            numbers = np.repeat(np.arange(len(sets)), [len(one) for one in sets])
            keeps = ~failing(np.concatenate(sets), numbers, len(sets))
            partner = int(nearest[np.argmax(keeps)])
            free[[cluster, partner]] = False
            into[max(cluster, partner)] = min(cluster, partner)
        labels = np.unique(into[labels], return_inverse=True)[1].ravel().astype(np.int64)
    return labels
