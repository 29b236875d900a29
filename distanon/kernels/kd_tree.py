"""A k-d tree over distinct points, cut between distinct values.

Median cuts through equal values ruin k-d trees on tables of integers; here equal values always
stay on one side. Boxes are tight. Leaves are stored attribute by attribute. A missing value
(NaN) is one more value to cut at, and each box knows whether it holds some.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

LEAF = 32  # points; measured best among 16, 32, 48 and 64 on continuous data and on lattices
_BALANCE = 0.25  # a cut that leaves less than this share on one side tries another column first
_TRIES = 16  # columns tried: a nominal attribute has one for each of its categories
_LOPSIDED = 0.0625  # a share below which those columns are cut together


class KdTree(NamedTuple):
    """A tree of N nodes over u points; a node is a leaf where `child` is 0.

    Attributes:
        order: int64, shape (u,): point numbers, leaf by leaf.
        child: int64, shape (N,): the left child; the right one is the next node.
        first: int64, shape (N,): where the node's points start in `order`.
        last: int64, shape (N,): where they end.
        boxes: float64, shape (N, 2, D): least and greatest present value of each column.
        gaps: bool, shape (N, D): whether the column has missing values in this node.
        leaves: float64, shape (u * D,): a leaf of m points starts at first * D and holds
            m values for each column in turn.
        depth: the greatest number of edges between the root and a leaf.
    """

    order: NDArray[np.int64]
    child: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    boxes: NDArray[np.float64]
    gaps: NDArray[np.bool_]
    leaves: NDArray[np.float64]
    depth: int


def build(rows: NDArray[np.float64]) -> KdTree:
    """The tree over distinct rows, in O(u D log u).

    Args:
        rows: float64, shape (u, D), u at least 1; NaN is missing.

    Returns:
        The tree; all arrays are read-only, so that compiled code sees the same types in this
        process and in a worker that maps them from shared memory.
    """
    rows = np.ascontiguousarray(rows)
    order, child, first, last, depth = _grow(_lifted(rows), LEAF)
    boxes, gaps = _boxes(rows, order, child, first, last)
    leaves = _leaves(rows, order, child, first, last)
    for array in (order, child, first, last, boxes, gaps, leaves):
        array.flags.writeable = False
    return KdTree(order, child, first, last, boxes, gaps, leaves, int(depth))


def _lifted(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rows with missing values above all others, for cutting alone."""
    gaps = np.isnan(rows)
    if not gaps.any():
        return rows
    tops = np.where(gaps, -np.inf, rows).max(axis=0)
    tops = np.where(np.isfinite(tops), tops, 0.0)
    return np.where(gaps, tops + np.maximum(1.0, np.abs(tops)), rows)


@njit(cache=True, nogil=True)
def _grow(rows: Any, leaf: int) -> Any:
    """Cuts until no node has more than `leaf` points; children get higher numbers."""
    n = rows.shape[0]
    order = np.arange(n)
    child = np.zeros(2 * n, np.int64)
    first = np.zeros(2 * n, np.int64)
    last = np.zeros(2 * n, np.int64)
    level = np.zeros(2 * n, np.int64)
    last[0] = n
    nodes = 1
    node = 0
    depth = 0
    while node < nodes:
        lo, hi = first[node], last[node]
        if hi - lo > leaf:
            middle = lo + _partition(rows, order[lo:hi])
            child[node] = nodes
            first[nodes], last[nodes] = lo, middle
            first[nodes + 1], last[nodes + 1] = middle, hi
            level[nodes] = level[nodes + 1] = level[node] + 1
            depth = max(depth, level[nodes])
            nodes += 2
        node += 1
    return order, child[:nodes].copy(), first[:nodes].copy(), last[:nodes].copy(), depth


@njit(cache=True, nogil=True)
def _partition(rows: Any, part: Any) -> Any:
    """Reorders `part` (point numbers) around the best cut; returns how many are left of it."""
    m = len(part)
    column, bound, left = _best_cut(rows, part)
    if left == 0:  # no column tells these points apart in the lifted rows: any halves will do
        return m // 2
    keys = np.empty(m)
    for i in range(m):
        keys[i] = rows[part[i], column]
    if min(left, m - left) < _LOPSIDED * m:
        firsts = _first_high(rows, part)
        value, below = _cut(firsts)
        if min(below, m - below) > min(left, m - left):
            keys, bound, left = firsts, value, below
    moved = np.empty(m, np.int64)
    i, j = 0, left
    for place in range(m):
        if keys[place] <= bound:
            moved[i] = part[place]
            i += 1
        else:
            moved[j] = part[place]
            j += 1
    part[:] = moved
    return left


@njit(cache=True, nogil=True)
def _first_high(rows: Any, part: Any) -> Any:
    """For each point the first wide column in which it lies in the upper half.

    The columns of a nominal attribute each tell one category from the others, so that cutting
    one after the other would make the tree as deep as there are categories; these keys order
    the points by category.
    """
    low, high = _bounds(rows, part)
    widest = (high - low).max()
    keys = np.empty(len(part))
    for i in range(len(part)):
        keys[i] = rows.shape[1]
        for c in range(rows.shape[1]):
            wide = high[c] - low[c] >= 0.5 * widest
            if wide and rows[part[i], c] - low[c] > 0.5 * (high[c] - low[c]):
                keys[i] = c
                break
    return keys


@njit(cache=True, nogil=True)
def _best_cut(rows: Any, part: Any) -> Any:
    """The column, the greatest value left of the cut, and how many points that leaves left.

    The widest column, unless its ties make the cut lopsided: then the best balanced among
    the first columns that are at least half as wide.
    """
    low, high = _bounds(rows, part)
    spreads = high - low
    widest = spreads.max() if len(spreads) else 0.0
    best: Any = (-1, 0.0, 0)
    balance = 0.0
    tries = 0
    while balance < _BALANCE and tries < _TRIES:
        tries += 1
        c = spreads.argmax() if widest > 0.0 else 0
        if widest <= 0.0 or spreads[c] < 0.5 * widest:
            break
        spreads[c] = -1.0
        values = np.empty(len(part))
        for i in range(len(part)):
            values[i] = rows[part[i], c]
        value, below = _cut(values)
        share = min(below, len(part) - below) / len(part)
        if share > balance:
            best, balance = (c, value, below), share
    return best


@njit(cache=True, nogil=True)
def _bounds(rows: Any, part: Any) -> Any:
    """The least and the greatest value of each column over some points."""
    width = rows.shape[1]
    low = np.full(width, np.inf)
    high = np.full(width, -np.inf)
    for p in part:
        for c in range(width):
            low[c] = min(low[c], rows[p, c])
            high[c] = max(high[c], rows[p, c])
    return low, high


@njit(cache=True, nogil=True)
def _cut(values: Any) -> Any:
    """The cut between two distinct values that is nearest to the median.

    Returns:
        The greatest value left of the cut, and how many values that leaves left.
    """
    m = len(values)
    median = _ranked(values.copy(), m // 2)
    below, equal, before = 0, 0, -np.inf
    for v in values:
        if v < median:
            below += 1
            before = max(before, v)
        elif v == median:
            equal += 1
    after = below + equal
    if below > 0 and (after >= m or m // 2 - below <= after - m // 2):
        return before, below
    return median, after


@njit(cache=True, nogil=True)
def _ranked(values: Any, rank: int) -> float:
    """The value of this rank (0 is the least), by quickselect; reorders `values`.

    Pivots are taken all over: from the middle, values that rise and fall again would take
    quadratic time. Which one is taken changes nothing but the time.
    """
    lo, hi = 0, len(values) - 1
    shuffled = 1
    while lo < hi:
        shuffled = (1_103_515_245 * shuffled + 12_345) % 2**31
        pivot = values[lo + shuffled % (hi - lo + 1)]
        i, j = lo, hi
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if rank <= j:
            hi = j
        elif rank >= i:
            lo = i
        else:
            break
    result: float = values[rank]
    return result


@njit(cache=True, nogil=True)
def _boxes(rows: Any, order: Any, child: Any, first: Any, last: Any) -> Any:
    """Tight boxes of present values, and where columns have missing ones; leaves first."""
    nodes, width = len(child), rows.shape[1]
    boxes = np.empty((nodes, 2, width))
    boxes[:, 0] = np.inf
    boxes[:, 1] = -np.inf
    gaps = np.zeros((nodes, width), np.bool_)
    for node in range(nodes - 1, -1, -1):
        left = child[node]
        for c in range(width):
            if left:
                boxes[node, 0, c] = min(boxes[left, 0, c], boxes[left + 1, 0, c])
                boxes[node, 1, c] = max(boxes[left, 1, c], boxes[left + 1, 1, c])
                gaps[node, c] = gaps[left, c] or gaps[left + 1, c]
                continue
            for i in range(first[node], last[node]):
                v = rows[order[i], c]
                if np.isnan(v):
                    gaps[node, c] = True
                else:
                    boxes[node, 0, c] = min(boxes[node, 0, c], v)
                    boxes[node, 1, c] = max(boxes[node, 1, c], v)
    return boxes, gaps


@njit(cache=True, nogil=True)
def _leaves(rows: Any, order: Any, child: Any, first: Any, last: Any) -> Any:
    """The values of each leaf, attribute by attribute."""
    width = rows.shape[1]
    leaves = np.empty(rows.size)
    for node in range(len(child)):
        if child[node]:
            continue
        lo, m = first[node], last[node] - first[node]
        for c in range(width):
            for j in range(m):
                leaves[lo * width + c * m + j] = rows[order[lo + j], c]
    return leaves
