"""How much of a graph's structure is lost when clusters become supernodes.

Source: Campan and Truta 2008, Data and structural k-anonymity in social networks (SaNGreeA),
Definitions of intra-cluster, inter-cluster and normalized structural information loss.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def structural_loss(
    starts: Integers, neighbors: NDArray[np.int32], labels: Integers
) -> tuple[float, float]:
    """Structural information loss inside and between clusters.

    A pair of nodes is thought to be joined with the share of joined pairs in its cluster (pair
    of clusters); the loss is the expected number of pairs that are thought wrong: for e edges on
    p pairs 2 e (1 − e / p).

    Args:
        starts: int64, shape (n + 1,): adjacency of a simple undirected graph.
        neighbors: int32, shape (2m,).
        labels: int64, shape (n,): cluster of each node, from 0.

    Returns:
        The loss inside clusters and the loss between them, in pairs of nodes, at least 0.
    """
    sizes = np.bincount(labels, minlength=1)
    one = np.repeat(labels, np.diff(starts))
    other = labels[neighbors]
    low, high = np.minimum(one, other), np.maximum(one, other)
    keys, counts = np.unique(low * len(sizes) + high, return_counts=True)
    ends = np.stack([keys // len(sizes), keys % len(sizes)], axis=1)
    # Each edge was met from both of its ends.
    return loss_of_counts(sizes, ends, counts // 2)


def loss_of_counts(sizes: Integers, ends: Integers, edges: Integers) -> tuple[float, float]:
    """The same from counts alone.

    Args:
        sizes: int64, shape (c,): nodes of each cluster.
        ends: int64, shape (p, 2): pairs of clusters, or one cluster twice.
        edges: int64, shape (p,): edges between these, or within it.
    """
    low, high = ends[:, 0], ends[:, 1]
    inside = low == high
    pairs = np.where(inside, sizes[low] * (sizes[low] - 1) / 2.0, sizes[low] * sizes[high])
    losses = 2.0 * edges * (1.0 - edges / np.maximum(pairs, 1.0))
    return float(losses[inside].sum()), float(losses[~inside].sum())


def normalized_structural_loss(
    starts: Integers, neighbors: NDArray[np.int32], labels: Integers
) -> float:
    """NSIL: the structural information loss as a share of n (n − 1) / 4, in [0, 1].

    That is the loss of one cluster in which half of all pairs are joined. 0 for fewer than two
    nodes.
    """
    return normalized(structural_loss(starts, neighbors, labels), len(labels))


def normalized(losses: tuple[float, float], nodes: int) -> float:
    """Losses inside and between clusters of so many nodes as NSIL."""
    return 0.0 if nodes < 2 else sum(losses) / (nodes * (nodes - 1) / 4.0)
