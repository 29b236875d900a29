"""A k-d tree over distinct points, cut between distinct values.

Median cuts through equal values ruin k-d trees on tables of integers; here equal values always
stay on one side. Boxes are tight. Leaves are stored attribute by attribute. A missing value
(NaN) is one more value to cut at, and each box knows whether it holds some.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from distanon.kernels import wide_nodes
from distanon.kernels.column_ends import column_bounds
from distanon.kernels.threads import in_threads, shares_of
from distanon.kernels.wide_nodes import WideNodes

LEAF = 32  # points; measured best among 16, 32, 48 and 64 on continuous data and on lattices
_BALANCE = 0.5  # a cut that leaves less of the ideal on one side tries another column first
_TRIES = 16  # columns tried: a nominal attribute has one for each of its categories
_EXACT = 8192  # points above which a sample says where to cut
_WHOLE = 65_536  # points up to which one thread grows the tree
_SUBTREES = 16  # about so many grow apart from one another below the top of a larger tree
_DRAWN = 1024  # values of that sample
_LOPSIDED = 0.125  # a share of the ideal below which those columns are cut together


class KdTree(NamedTuple):
    """A tree of N nodes and L leaves over u points; a node is a leaf where `child` is 0.

    Attributes:
        order: int64, shape (u,): point numbers, leaf by leaf; a point's *place* is where it
            stands here.
        child: int64, shape (N,): the left child; the right one is the next node.
        first: int64, shape (N,): the first place of the node's points.
        last: int64, shape (N,): where they end.
        leaf: int64, shape (N,): the leaf's number, in the sequence of places; -1 for others.
        borders: int64, shape (L + 1,): leaf l has the places borders[l] … borders[l + 1] - 1.
        boxes: of the coordinates' type, shape (N, 2, D): least and greatest present value of
            each column.
        gaps: bool, shape (N, D): whether the column has missing values in this node.
        leaves: of the coordinates' type, shape (L * D * 32,): each leaf's values, 32 to a
            column; zeros where a leaf has fewer points.
        wide: over the nodes.
    """

    order: NDArray[np.int64]
    child: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    leaf: NDArray[np.int64]
    borders: NDArray[np.int64]
    boxes: NDArray[Any]
    gaps: NDArray[np.bool_]
    leaves: NDArray[Any]
    wide: WideNodes


def build(rows: NDArray[Any], threads: int = 1) -> KdTree:
    """The tree over some coordinates, in O(u D log u).

    Args:
        rows: float64 or float32, shape (u, D), u at least 1; NaN is missing.
        threads: how many work; says nothing about the tree.

    Returns:
        The tree; all arrays are read-only, so that compiled code sees the same types in this
        process and in a worker that maps them from shared memory.
    """
    rows = np.ascontiguousarray(rows)
    lifted = _lifted(rows)
    moved, order, child, first, last = _grown(lifted, threads)
    if lifted is not rows:
        moved = rows[order]
    leaf = np.full(len(child), -1, dtype=np.int64)
    ends = np.flatnonzero(child == 0)
    ends = ends[np.argsort(first[ends])]
    leaf[ends] = np.arange(len(ends))
    borders = np.append(first[ends], len(order))
    leaves, boxes, gaps = _filled(moved, child, ends, borders, threads)
    wide = wide_nodes.over(child, boxes, gaps)
    for array in (order, child, first, last, leaf, borders, boxes, gaps, leaves, *wide[:-1]):
        array.flags.writeable = False
    return KdTree(order, child, first, last, leaf, borders, boxes, gaps, leaves, wide)


def _grown(rows: NDArray[Any], threads: int) -> tuple[Any, ...]:
    """Moved rows, order, child, first and last: a top, then what grows below it.

    Where the top ends depends on the number of points alone, so that nodes have the same numbers
    whoever made them.
    """
    moved, order = rows.copy(), np.arange(len(rows))
    spares = np.empty_like(moved), np.empty_like(order)
    with ThreadPoolExecutor(threads) as pool:
        child, first, last = _top(pool, (moved, order, *spares))

        def below(node: int) -> tuple[Any, ...]:
            part = slice(first[node], last[node])
            own, numbers, room, spare = (array[part] for array in (moved, order, *spares))
            grown: tuple[Any, ...] = _grow(own, numbers, room, spare, LEAF)
            return grown

        open_nodes = np.flatnonzero((child == 0) & (last - first > LEAF)).tolist()
        parts = list(pool.map(below, open_nodes))
    size = len(child)
    children, firsts, lasts = [child], [first], [last]
    for node, (its, begins, ends) in zip(open_nodes, parts, strict=True):
        # Its root is the node itself; the others get the numbers from `size` on.
        shifted = np.where(its > 0, its + size - 1, 0)
        child[node] = shifted[0]
        children.append(shifted[1:])
        firsts.append(begins[1:] + first[node])
        lasts.append(ends[1:] + first[node])
        size += len(its) - 1
    joined = (np.concatenate(arrays) for arrays in (children, firsts, lasts))
    return moved, order, *joined


def _top(pool: ThreadPoolExecutor, arrays: tuple[NDArray[Any], ...]) -> tuple[Any, ...]:
    """Child, first and last of the nodes above the subtrees; the root where all are few.

    Args:
        pool: cuts the nodes of a level beside one another.
        arrays: rows and order, which are moved, and as much room for each.
    """

    def cut(node: int) -> int:
        lo, hi = firsts[node], lasts[node]
        rows, order, spare_rows, spare_order = (array[lo:hi] for array in arrays)
        return lo + int(_partition(rows, order, spare_rows, spare_order, LEAF))

    points = len(arrays[0])
    stop = max(LEAF, -(-points // _SUBTREES)) if points > _WHOLE else points
    children, firsts, lasts = [0], [0], [points]
    largest = [0] if points > stop else []
    while largest:
        middles = list(pool.map(cut, largest))
        found = []
        for node, middle in zip(largest, middles, strict=True):
            children[node] = len(children)
            for lo, hi in ((firsts[node], middle), (middle, lasts[node])):
                if hi - lo > stop:
                    found.append(len(children))
                children.append(0)
                firsts.append(lo)
                lasts.append(hi)
        largest = found
    return tuple(np.array(told, np.int64) for told in (children, firsts, lasts))


def _filled(
    moved: NDArray[Any],
    child: NDArray[np.int64],
    ends: NDArray[np.int64],
    borders: NDArray[np.int64],
    threads: int,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    """The values of the leaves, and the boxes and gaps of all nodes.

    Args:
        moved: the rows in the order of the tree.
        child: of the tree.
        ends: int64, shape (L,): the nodes that are leaves, by leaf.
        borders: of the tree.
        threads: how many work.
    """
    width = moved.shape[1]
    leaves = np.zeros(len(ends) * width * LEAF, moved.dtype)
    boxes = np.empty((len(child), 2, width), moved.dtype)
    gaps = np.zeros((len(child), width), np.bool_)

    def fill(part: slice) -> None:
        _fill(moved, ends, borders, part.start, part.stop, leaves, boxes, gaps)

    in_threads(fill, shares_of(len(ends), threads), threads)
    _enclose(child, boxes, gaps)
    return leaves, boxes, gaps


def _lifted(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rows with missing values above all others, for cutting alone."""
    gaps = np.isnan(rows)
    if not gaps.any():
        return rows
    tops = np.where(gaps, -np.inf, rows).max(axis=0)
    tops = np.where(np.isfinite(tops), tops, 0.0)
    return np.where(gaps, tops + np.maximum(1.0, np.abs(tops)), rows)


@njit(cache=True, nogil=True)
def _grow(rows: Any, order: Any, spare_rows: Any, spare_order: Any, leaf: int) -> Any:
    """Cuts until no node has more points than a leaf; children get higher numbers.

    One side is finished before the other, so that small nodes are in the cache when it comes to
    them; rows move with their numbers, so that each node is read in one run.

    Args:
        rows: the points, shape (n, D), reordered in place.
        order: int64, shape (n,), likewise.
        spare_rows: room for as many.
        spare_order: likewise.
        leaf: points of a full leaf.

    Returns:
        child, first and last of each node.
    """
    n = rows.shape[0]
    child = np.zeros(2 * n, np.int64)
    first = np.zeros(2 * n, np.int64)
    last = np.zeros(2 * n, np.int64)
    stack = np.zeros(n + 1, np.int64)
    last[0] = n
    nodes, waiting = 1, 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        lo, hi = first[node], last[node]
        if hi - lo <= leaf:
            continue
        middle = lo + _partition(rows[lo:hi], order[lo:hi], spare_rows, spare_order, leaf)
        child[node] = nodes
        first[nodes], last[nodes] = lo, middle
        first[nodes + 1], last[nodes + 1] = middle, hi
        stack[waiting], stack[waiting + 1] = nodes + 1, nodes
        waiting += 2
        nodes += 2
    return child[:nodes].copy(), first[:nodes].copy(), last[:nodes].copy()


@njit(cache=True, nogil=True)
def _partition(rows: Any, order: Any, spare_rows: Any, spare_order: Any, leaf: int) -> Any:
    """Reorders some points around the best cut; returns how many are left of it."""
    m, width = rows.shape
    leaves = (m + leaf - 1) // leaf
    half = (leaves + 1) // 2 * leaf  # full leaves on the left
    ideal = min(half, m - half)
    column, bound, left = _best_cut(rows, half)
    if left == 0:  # no column tells these points apart in the lifted rows: any halves will do
        return half
    keys = rows[:, column].astype(np.float64)
    if min(left, m - left) < _LOPSIDED * ideal:
        firsts = _first_high(rows)
        value, below = _cut(firsts, half)
        if min(below, m - below) > min(left, m - left):
            keys, bound, left = firsts, value, below
    i, j = 0, 0
    for place in range(m):
        # What stays on the left never overtakes what is still to be read.
        if keys[place] <= bound:
            for c in range(width):
                rows[i, c] = rows[place, c]
            order[i] = order[place]
            i += 1
        else:
            for c in range(width):
                spare_rows[j, c] = rows[place, c]
            spare_order[j] = order[place]
            j += 1
    rows[left:] = spare_rows[:j]
    order[left:] = spare_order[:j]
    return left


@njit(cache=True, nogil=True)
def _first_high(rows: Any) -> Any:
    """For each point the first wide column in which it lies in the upper half.

    The columns of a nominal attribute each tell one category from the others, so that cutting
    one after the other would make the tree as deep as there are categories; these keys order
    the points by category.
    """
    low, high = column_bounds(rows)
    widest = (high - low).max()
    keys = np.empty(len(rows))
    for i in range(len(rows)):
        keys[i] = rows.shape[1]
        for c in range(rows.shape[1]):
            wide = high[c] - low[c] >= 0.5 * widest
            if wide and rows[i, c] - low[c] > 0.5 * (high[c] - low[c]):
                keys[i] = c
                break
    return keys


@njit(cache=True, nogil=True)
def _best_cut(rows: Any, half: int) -> Any:
    """The column, the greatest value left of the cut, and how many points that leaves left.

    The widest column, unless its ties make the cut lopsided: then the best balanced among
    the first columns that are at least half as wide.
    """
    low, high = column_bounds(rows)
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
        values = rows[:, c].astype(np.float64)
        value, below = _cut(values, half)
        share = min(below, len(rows) - below) / min(half, len(rows) - half)
        if share > balance:
            best, balance = (c, value, below), share
    return best


@njit(cache=True, nogil=True)
def _cut(values: Any, half: int) -> Any:
    """The cut between two distinct values that leaves about `half` of them on the left.

    Returns:
        The greatest value left of the cut, and how many values that leaves left.
    """
    m = len(values)
    if m > _EXACT:
        middle = _ranked(_sampled(values), _DRAWN * half // m)
    else:
        middle = _ranked(values.copy(), half)
    below, equal, before = 0, 0, -np.inf
    for v in values:
        if v < middle:
            below += 1
            before = max(before, v)
        elif v == middle:
            equal += 1
    after = below + equal
    if below > 0 and (after >= m or half - below <= after - half):
        return before, below
    return middle, after


@njit(cache=True, nogil=True)
def _sampled(values: Any) -> Any:
    """Some of the values, from all over."""
    sample = np.empty(_DRAWN)
    number = 1
    for i in range(_DRAWN):
        number = (1_103_515_245 * number + 12_345) % 2**31
        sample[i] = values[number * len(values) >> 31]
    return sample


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
def _fill(
    moved: Any, ends: Any, borders: Any, start: int, stop: int, leaves: Any, boxes: Any, gaps: Any
) -> None:
    """Writes values, boxes and gaps of the leaves start … stop - 1."""
    width = moved.shape[1]
    lanes = len(leaves) // (width * len(ends)) if width else 0
    for leaf in range(start, stop):
        node = ends[leaf]
        first, last = borders[leaf], borders[leaf + 1]
        boxes[node, 0] = np.inf
        boxes[node, 1] = -np.inf
        for i in range(first, last):
            for c in range(width):
                v = moved[i, c]
                leaves[(leaf * width + c) * lanes + i - first] = v
                if np.isnan(v):
                    gaps[node, c] = True
                else:
                    boxes[node, 0, c] = min(boxes[node, 0, c], v)
                    boxes[node, 1, c] = max(boxes[node, 1, c], v)


@njit(cache=True, nogil=True)
def _enclose(child: Any, boxes: Any, gaps: Any) -> None:
    """Writes tight boxes of present values and gaps of the nodes above the leaves."""
    for node in range(len(child) - 1, -1, -1):
        left = child[node]
        if not left:
            continue
        for c in range(gaps.shape[1]):
            boxes[node, 0, c] = min(boxes[left, 0, c], boxes[left + 1, 0, c])
            boxes[node, 1, c] = max(boxes[left, 1, c], boxes[left + 1, 1, c])
            gaps[node, c] = gaps[left, c] or gaps[left + 1, c]
