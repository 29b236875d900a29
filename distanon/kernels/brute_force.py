"""Candidates by matrix products: all squared distances of a block of queries and of points.

Where a tree can rule little out (isotropic data of many columns) it computes nearly all
distances too, and a matrix product does so faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from distanon.kernels import kd_join
from distanon.kernels.lanes import LANES

if TYPE_CHECKING:
    from distanon.kernels.kd_tree import KdTree

_QUERIES = 256  # at a time
_LEAVES = 64  # at a time: the products of both fit into a core's cache


def propose(
    tree: KdTree,
    weights: NDArray[np.int64],
    queries: NDArray[Any],
    own: NDArray[np.int64],
    leaves: NDArray[np.int64],
    k: int,
    size: int,
    limits: tuple[float, ...],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The candidates of each query, without missing values.

    Args:
        tree: a KdTree; its leaves are the blocks of points.
        weights: as for `kd_join.propose`.
        queries: as for `kd_join.propose`.
        own: as for `kd_join.propose`.
        leaves: int64, shape (m,): the leaf of each query: it is looked at first.
        k: as for `kd_join.propose`.
        size: as for `kd_join.propose`.
        limits: as for `kd_join.propose`.

    Returns:
        As `kd_join.propose`, but for the last.
    """
    factors = _factors(tree)
    keys = np.empty(_QUERIES * (size + 4))
    room = np.empty(_QUERIES * _LEAVES * LANES, dtype=queries.dtype)
    starts, points = [np.zeros(1, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    count = len(tree.borders) - 1
    blocks = np.arange(0, count, _LEAVES)
    for start in range(0, len(queries), _QUERIES):
        part = slice(start, start + _QUERIES)
        asked, mine = queries[part], own[part]
        longest = float(np.sqrt((asked.astype(np.float64) ** 2).sum(axis=1).max(initial=0.0)))
        wide = (limits[0], limits[1] + limits[2] * longest, _wrong(queries, longest))
        bounds = np.empty(len(asked), dtype=queries.dtype)
        kd_join.open_lists(keys, size, bounds)
        first = int(leaves[start]) // _LEAVES
        lengths = np.einsum("ij,ij->i", asked, asked)[:, None]
        extended = np.hstack((asked, np.ones_like(lengths), lengths))
        for block in np.roll(blocks, -first):
            columns = factors[:, block * LANES : (block + _LEAVES) * LANES]
            products = room[: len(asked) * columns.shape[1]].reshape(len(asked), -1)
            np.matmul(extended, columns, out=products)
            lists = (keys, size, k)
            kd_join.scan(products, int(block), tree, weights, mine, lists, wide, bounds)
        found = kd_join.emit(tree, weights, asked, mine, (keys, size, k), wide, bounds)
        starts.append(found[0][1:] + starts[-1][-1])
        points.append(found[1])
    return np.concatenate(starts), np.concatenate(points)


def _factors(tree: KdTree) -> NDArray[Any]:
    """-2 y, |y|² and 1 of all points in columns: times (x, 1, |x|²) that is |x - y|²."""
    count, width = len(tree.borders) - 1, tree.boxes.shape[2]
    blocks = tree.leaves.reshape(count, width, LANES)
    factors = np.empty((width + 2, count, LANES), dtype=tree.leaves.dtype)
    np.multiply(blocks.transpose(1, 0, 2), -2.0, out=factors[:width])
    np.einsum("ijk,ijk->ik", blocks, blocks, out=factors[width])
    factors[width + 1] = 1.0
    return factors.reshape(width + 2, -1)


def _wrong(queries: NDArray[Any], longest: float) -> float:
    """By how much a squared distance from a product can be wrong."""
    width = queries.shape[1]
    return float((width + 8) * np.finfo(queries.dtype).eps * (1.0 + longest) ** 2)
