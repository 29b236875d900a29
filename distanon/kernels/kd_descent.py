"""The way down a k-d tree, from wide node to wide node: what all its traversals share.

Squares to boxes are summed as those to points are (`kernels.lanes`), so that no box is farther
than a point inside.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from distanon.kernels.lane_boxes import near_boxes, near_boxes_gapped
from distanon.kernels.lanes import LANES
from distanon.kernels.sorted_keys import lowest, number_of, rank

MOST = 3.0e38  # above all squares of coordinates, below infinity in float32


@njit(cache=True, nogil=True)
def group_room(tree: Any) -> Any:
    """Room for a group of queries, and for their box: least, greatest, whether some are missing."""
    width, number = tree.boxes.shape[2], tree.leaves.dtype
    box = np.empty(width, number), np.empty(width, number), np.empty(width, np.bool_)
    return np.zeros(width * LANES, number), box


@njit(cache=True, nogil=True)
def descent_room(tree: Any) -> Any:
    """Room for a traversal: stack, squares to its nodes, and 32 squares."""
    most, number = tree.wide.height * LANES + 1, tree.leaves.dtype
    return np.empty(most, np.int64), np.empty(most, number), np.empty(LANES, number)


@njit(cache=True, nogil=True)
def fill(queries: Any, begin: int, count: int, group: Any, box: Any) -> float:
    """Stores a group's queries 32 to a column, and their box; returns the greatest length."""
    low, high, missing = box
    longest = 0.0
    for c in range(queries.shape[1]):
        low[c], high[c], missing[c] = np.inf, -np.inf, False
    for i in range(count):
        length = 0.0
        for c in range(queries.shape[1]):
            v = queries[begin + i, c]
            group[c * LANES + i] = v
            if np.isnan(v):
                missing[c] = True
            else:
                low[c] = min(low[c], v)
                high[c] = max(high[c], v)
                length += float(v) * float(v)
        longest = max(longest, length)
    return np.sqrt(longest) if longest < MOST * 1e-8 else np.inf


@njit(cache=True, nogil=True)
def expand(
    wide: Any, inner: int, box: Any, unit: float, top: float, work: Any, to: int, gapped: bool
) -> Any:
    """Puts those nodes below a wide one that are near enough on a stack, the nearest on top.

    Args:
        wide: WideNodes.
        inner: which wide node.
        box: of those who ask, as `fill` leaves it.
        unit: how far a value is from a missing one, of the coordinates' type.
        top: the greatest square that is near enough, likewise.
        work: as `descent_room` made it; the stack's squares are negative for 0.
        to: where the stack ends.
        gapped: whether values may be missing.

    Returns:
        Where the stack ends now.
    """
    low, high, missing = box
    stack, far, keys = work
    width = len(low)
    flags = inner * width * LANES
    if gapped:
        close = near_boxes_gapped(
            *(wide.boxes, 2 * flags, low, high, width, top, keys),
            *(wide.gaps, flags, missing, unit),
        )
    else:
        close = near_boxes(wide.boxes, 2 * flags, low, high, width, top, keys)
    close &= (1 << wide.sizes[inner]) - 1
    todo = close
    while todo != 0:
        lane = lowest(todo)
        todo &= todo - 1
        at = to + rank(keys, lane, close)
        stack[at], far[at] = wide.below[inner, lane], keys[lane]
    return to + number_of(close)
