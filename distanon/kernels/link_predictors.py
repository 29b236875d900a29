"""How likely two nodes are joined, judged by the neighbors that they share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Predictors(NamedTuple):
    """Scores of p pairs of nodes; higher: more likely joined.

    Attributes:
        common_neighbors: float64, shape (p,): how many neighbors both have.
        adamic_adar: float64, shape (p,): these, each weighted by 1 / ln(its degree).
        jaccard: float64, shape (p,), in [0, 1]: these by all neighbors of either.
    """

    common_neighbors: Floats
    adamic_adar: Floats
    jaccard: Floats


def predictors(starts: Integers, neighbors: NDArray[np.int32], pairs: Integers) -> Predictors:
    """Scores of pairs of nodes, blind to whether the two are joined.

    Args:
        starts: int64, shape (n + 1,).
        neighbors: int32, shape (2m,), ascending within a node.
        pairs: int64, shape (p, 2), no loops. O(Σ degrees of the ends).

    Source: Liben-Nowell & Kleinberg, JASIST 58 (2007) 1019-1031; Adamic & Adar, Social Networks
        25 (2003) 211-230.
    Deviation: an edge between the two is taken out before Jaccard's union is counted, so that
        edges and other pairs are scored alike.
    """
    degrees = np.diff(starts)
    # A shared neighbor has a degree of at least 2; the weight of others is never asked for.
    weights = 1.0 / np.log(np.maximum(degrees, 2).astype(np.float64))
    ends = np.ascontiguousarray(pairs, dtype=np.int64)
    shared, weighted, joined = _shared(starts, neighbors, weights, ends)
    union = degrees[ends[:, 0]] + degrees[ends[:, 1]] - 2 * joined - shared
    return Predictors(shared.astype(np.float64), weighted, shared / np.maximum(union, 1))


@njit(cache=True, nogil=True)
def _shared(
    starts: Integers, neighbors: NDArray[np.int32], weights: Floats, pairs: Integers
) -> tuple[Integers, Floats, Integers]:
    """Shared neighbors, their weights' sum in ascending order, and whether the two are joined."""
    count = np.zeros(len(pairs), np.int64)
    weighted = np.zeros(len(pairs))
    joined = np.zeros(len(pairs), np.int64)
    for place in range(len(pairs)):
        a, b = pairs[place]
        left, left_stop = starts[a], starts[a + 1]
        right, right_stop = starts[b], starts[b + 1]
        while left < left_stop and right < right_stop:
            x, y = neighbors[left], neighbors[right]
            if x == y:
                count[place] += 1
                weighted[place] += weights[x]
            if x == b or y == a:
                joined[place] = 1
            left += x <= y
            right += y <= x
        while left < left_stop:
            joined[place] |= neighbors[left] == b
            left += 1
        while right < right_stop:
            joined[place] |= neighbors[right] == a
            right += 1
    return count, weighted, joined
