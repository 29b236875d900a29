"""Wide nodes over a k-d tree: up to 32 boxes side by side, so that one look tells which are near.

Going down two by two, a group of queries would compare itself with each box alone; that took a
quarter of the time of a join on lattices. Here every wide node stands for some levels of the
binary tree below one of its nodes, with the boxes of all its descendants at the lower end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from distanon.kernels.lanes import LANES


class WideNodes(NamedTuple):
    """W wide nodes over a tree of N nodes.

    Attributes:
        number: int64, shape (N,): a node's wide node; -1 where it has none (leaves, and nodes
            inside a wide one).
        below: int64, shape (W, 32): the nodes at the lower end, in the sequence of places.
        sizes: int64, shape (W,): how many these are.
        boxes: of the coordinates' type, shape (W * 2 * D * 32,): for each wide node the least
            present values of its boxes, 32 to a column, then the greatest.
        gaps: bool, shape (W * D * 32,): whether the box has missing values in that column.
        height: how many levels of wide nodes there are.
    """

    number: NDArray[np.int64]
    below: NDArray[np.int64]
    sizes: NDArray[np.int64]
    boxes: NDArray[Any]
    gaps: NDArray[np.bool_]
    height: int


def over(child: NDArray[np.int64], boxes: NDArray[Any], gaps: NDArray[np.bool_]) -> WideNodes:
    """The wide nodes of a tree, built from its leaves upwards so that all are well filled.

    Args:
        child: as in `KdTree`; children have higher numbers than their parent.
        boxes: likewise.
        gaps: likewise.
    """
    number, below, sizes, height = _gathered(child)
    abreast, missing = _abreast(below, sizes, boxes, gaps)
    return WideNodes(number, below, sizes, abreast, missing, int(height))


@njit(cache=True, nogil=True)
def _gathered(child: Any) -> Any:
    """Number, below, sizes and height.

    From the leaves upwards each node counts its units: leaves, and nodes that became wide.
    Where two siblings have more than 32, both become wide.
    """
    nodes = len(child)
    number = np.full(nodes, -1, np.int64)
    below = np.zeros((nodes // 2 + 1, LANES), np.int64)
    sizes = np.zeros(nodes // 2 + 1, np.int64)
    units = np.ones(nodes, np.int64)
    height = np.zeros(nodes, np.int64)
    made = 0
    for node in range(nodes - 1, -1, -1):
        left = child[node]
        if left == 0:
            continue
        if units[left] + units[left + 1] > LANES:
            for lower in (left, left + 1):
                if units[lower] > 1:
                    made = _widen(child, lower, made, number, below, sizes)
                    units[lower], height[lower] = 1, height[lower] + 1
        units[node] = units[left] + units[left + 1]
        height[node] = max(height[left], height[left + 1])
    if units[0] > 1:
        made = _widen(child, 0, made, number, below, sizes)
    return number, below[:made].copy(), sizes[:made].copy(), height[0] + 1


@njit(cache=True, nogil=True)
def _widen(child: Any, node: int, made: int, number: Any, below: Any, sizes: Any) -> int:
    """Makes a node a wide one over the units below it; returns how many wide nodes there are."""
    waiting = np.empty(LANES + 1, np.int64)
    waiting[0], waiting[1], left = child[node] + 1, child[node], 2
    while left > 0:
        left -= 1
        lower = waiting[left]
        if child[lower] == 0 or number[lower] >= 0:
            below[made, sizes[made]] = lower
            sizes[made] += 1
        else:
            waiting[left], waiting[left + 1] = child[lower] + 1, child[lower]
            left += 2
    number[node] = made
    return made + 1


@njit(cache=True, nogil=True)
def _abreast(below: Any, sizes: Any, boxes: Any, gaps: Any) -> Any:
    """The boxes of wide nodes, and their gaps, 32 to a column."""
    width = boxes.shape[2]
    abreast = np.zeros((len(below), 2, width, LANES), boxes.dtype)
    missing = np.zeros((len(below), width, LANES), np.bool_)
    for wide in range(len(below)):
        for lane in range(sizes[wide]):
            node = below[wide, lane]
            for c in range(width):
                abreast[wide, 0, c, lane] = boxes[node, 0, c]
                abreast[wide, 1, c, lane] = boxes[node, 1, c]
                missing[wide, c, lane] = gaps[node, c]
    return abreast.reshape(-1), missing.reshape(-1)
