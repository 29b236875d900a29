"""PageRank and the leading eigenvalue of an undirected graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_DENSE = 16  # Lanczos wants more nodes than vectors


@njit(cache=True, nogil=True)
def pagerank(
    starts: Integers,
    neighbors: NDArray[np.int32],
    damping: float = 0.85,
    tolerance: float = 1e-12,
    steps: int = 200,
) -> Floats:
    """How often a random walk that starts anew with 1 − damping is at each node, shape (n,).

    Args:
        starts: int64, shape (n + 1,).
        neighbors: int32, shape (2m,).
        damping: chance of following an edge; from an isolated node the walk starts anew.
        tolerance: of the sum of changes, at which the iteration ends.
        steps: at most.

    Source: Page et al. 1998. Sums run in the order of the neighbors.
    """
    n = len(starts) - 1
    rank = np.full(n, 1.0 / max(n, 1))
    share = np.empty(n)
    for _ in range(steps):
        lost = 0.0
        for node in range(n):
            degree = starts[node + 1] - starts[node]
            if degree == 0:
                lost += rank[node]
                share[node] = 0.0
            else:
                share[node] = rank[node] / degree
        change = 0.0
        base = (1.0 - damping + damping * lost) / n
        for node in range(n):
            total = 0.0
            for place in range(starts[node], starts[node + 1]):
                total += share[neighbors[place]]
            fresh = base + damping * total
            change += abs(fresh - rank[node])
            rank[node] = fresh
        if change <= tolerance:
            break
    return rank


def leading_eigenvalue(starts: Integers, neighbors: NDArray[np.int32]) -> float:
    """The largest eigenvalue of the adjacency matrix; 0 without edges.

    Args:
        starts: int64, shape (n + 1,).
        neighbors: int32, shape (2m,).
    """
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import eigsh

    nodes = len(starts) - 1
    if not len(neighbors):
        return 0.0
    ones = np.ones(len(neighbors))
    matrix: Any = csr_array((ones, neighbors, starts), shape=(nodes, nodes))
    if nodes <= _DENSE:
        return float(np.linalg.eigvalsh(matrix.toarray())[-1])
    # A fixed start gives the same bits each time; it is never orthogonal to what is sought,
    # whose entries have one sign.
    found = eigsh(matrix, k=1, which="LA", v0=np.ones(nodes), return_eigenvectors=False)
    return float(found[0])
