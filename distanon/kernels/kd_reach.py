"""What lies within a given distance of queries: points of a k-d tree, and boxes.

A query that comes from another piece of the table brings the distance up to which it still needs
points, so that it sees few leaves, however large the tree is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from distanon.kernels.kd_descent import MOST, descent_room, expand, fill, group_room
from distanon.kernels.lanes import LANES, near, near_gapped
from distanon.kernels.sorted_keys import lowest

__all__ = ["box_distances", "reach"]


@njit(cache=True, nogil=True)
def reach(tree: Any, queries: Any, squares: Any, one: float) -> Any:
    """The points of a tree that may be within some distance of each query.

    Args:
        tree: a KdTree.
        queries: coordinates, shape (m, D), of the tree's type; NaN is missing.
        squares: float64, shape (m,): the greatest square in these coordinates, rounding
            included; infinite: all points.
        one: how far a value is from a missing one.

    Returns:
        starts, int64, shape (m + 1,), and point numbers; how often 32 distances were computed.
    """
    m, width = queries.shape
    wide, inner_of = tree.wide, tree.wide.number
    first, last, leaf, leaves, order = tree.first, tree.last, tree.leaf, tree.leaves, tree.order
    gapped = tree.gaps[0].any() or np.isnan(queries).any()
    number = leaves.dtype.type
    unit = number(one)
    alone, box = group_room(tree)
    work = descent_room(tree)
    stack, _, away = work
    starts = np.zeros(m + 1, np.int64)
    points = np.empty(16 * m + LANES, np.int64)
    filled, evaluated = 0, 0
    for i in range(m):
        fill(queries, i, 1, alone, box)
        most = number(min(squares[i], MOST))
        depth = 1
        stack[0] = 0
        while depth > 0:
            depth -= 1
            node = stack[depth]
            if inner_of[node] >= 0:
                depth = expand(wide, inner_of[node], box, unit, most, work, depth, gapped)
                continue
            evaluated += 1
            lo, at = first[node], leaf[node] * width * LANES
            if gapped:
                hits = near_gapped(leaves, at, alone, 0, width, most, away, unit)
            else:
                hits = near(leaves, at, alone, 0, width, most, away)
            hits &= (1 << (last[node] - lo)) - 1
            if filled + LANES > len(points):
                longer = np.empty(2 * len(points), np.int64)
                longer[:filled] = points[:filled]
                points = longer
            while hits != 0:
                j = lowest(hits)
                hits &= hits - 1
                points[filled] = order[lo + j]
                filled += 1
        starts[i + 1] = filled
    return starts, points[:filled].copy(), evaluated


@njit(cache=True, nogil=True)
def box_distances(boxes: Any, gaps: Any, rows: Any) -> Any:
    """The least distance between each row and anything that a box may hold.

    Args:
        boxes: float64, shape (b, 2, D): least and greatest present value of each column.
        gaps: bool, shape (b, D): whether the column has missing values in this box.
        rows: float64, shape (m, D); NaN is missing.

    Returns:
        float64, shape (m, b).
    """
    found = np.empty((len(rows), len(boxes)))
    for i in range(len(rows)):
        for b in range(len(boxes)):
            found[i, b] = np.sqrt(_square_to(boxes, gaps, b, rows, i, 1.0))
    return found


@njit(cache=True, nogil=True)
def _square_to(boxes: Any, gaps: Any, node: int, rows: Any, i: int, one: float) -> float:
    """The least square between a row and what is in a box."""
    total = 0.0
    for c in range(rows.shape[1]):
        v = rows[i, c]
        low, high = boxes[node, 0, c], boxes[node, 1, c]
        if np.isnan(v):
            # An empty column has its least value above its greatest.
            if not gaps[node, c]:
                total += one * one
            continue
        if low > high:
            away = one
        else:
            away = float(max(low - v, v - high, 0.0))
            if gaps[node, c]:
                away = min(away, one)
        total += away * away
    return total
