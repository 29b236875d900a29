"""The way down a k-d tree, from wide node to wide node: what all its traversals share.

Squares to boxes are summed as those to points are (`kernels.lanes`), so that no box is farther
than a point inside.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from distanon.kernels.lanes import LANES, lowest, near_boxes, number_of, rank
from distanon.kernels.wide_nodes import OUTSIDE

MOST = 3.0e38  # above all squares of coordinates, below infinity in float32


@njit(cache=True, nogil=True)
def group_room(tree: Any) -> Any:
    """Room for a group of queries and for their box."""
    width, number = tree.boxes.shape[2], tree.leaves.dtype
    return np.zeros(width * LANES, number), np.empty(width, number), np.empty(width, number)


@njit(cache=True, nogil=True)
def descent_room(tree: Any) -> Any:
    """Room for a traversal: stack, squares to its nodes, and 32 squares."""
    most, number = tree.wide.height * LANES + 1, tree.leaves.dtype
    return np.empty(most, np.int64), np.empty(most, number), np.empty(LANES, number)


@njit(cache=True, nogil=True)
def fill(queries: Any, begin: int, count: int, group: Any, low: Any, high: Any) -> float:
    """Stores a group's queries 32 to a column, with their box; returns the greatest length.

    In a column with missing values the box reaches all that there is.
    """
    longest = 0.0
    for c in range(queries.shape[1]):
        low[c], high[c] = np.inf, -np.inf
    for i in range(count):
        length = 0.0
        for c in range(queries.shape[1]):
            v = queries[begin + i, c]
            group[c * LANES + i] = v
            if np.isnan(v):
                low[c], high[c] = -OUTSIDE, OUTSIDE
            else:
                low[c] = min(low[c], v)
                high[c] = max(high[c], v)
                length += float(v) * float(v)
        longest = max(longest, length)
    return np.sqrt(longest) if longest < MOST * 1e-8 else np.inf


@njit(cache=True, nogil=True)
def expand(
    wide: Any, inner: int, low: Any, high: Any, top: float, keys: Any, stack: Any, far: Any, to: int
) -> Any:
    """Puts those nodes below a wide one that are near enough on a stack, the nearest on top.

    Args:
        wide: WideNodes.
        inner: which wide node.
        low: the least values of the box that asks, shape (D,).
        high: its greatest values.
        top: the greatest square, of the coordinates' type, that is near enough.
        keys: room for 32 numbers.
        stack: nodes; room for 32 more.
        far: for each the square to it; negative for 0.
        to: where the stack ends.

    Returns:
        Where the stack ends now.
    """
    width = len(low)
    close = near_boxes(wide.boxes, inner * 2 * width * LANES, low, high, width, top, keys)
    close &= (1 << wide.sizes[inner]) - 1
    todo = close
    while todo != 0:
        lane = lowest(todo)
        todo &= todo - 1
        at = to + rank(keys, lane, close)
        stack[at], far[at] = wide.below[inner, lane], keys[lane]
    return to + number_of(close)
