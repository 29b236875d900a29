"""Candidates for neighborhoods: one traversal of a k-d tree serves 32 queries that lie together.

For each query those points are proposed that can't be ruled out: all that may be among the k
nearest records or tied with the last of them, and the nearest beyond. Exact distances decide
afterwards. While a group goes down the tree each of its queries keeps the nearest points in a
short sorted list; where ties overflow the list, the query goes down once more by itself.

One file, although long: numba compiles again what stands in a changed file, not its callers in
other files. Who changes `kd_descent` by hand touches this file and `kd_reach` too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from distanon.kernels.kd_descent import MOST, descent_room, expand, fill, group_room
from distanon.kernels.lane_boxes import near_box, near_box_gapped
from distanon.kernels.lanes import LANES, greatest, near, near_gapped, within
from distanon.kernels.sorted_keys import insert, lowest, packed, place_of, square_of

_PAD = 4  # zeros before each list, which `insert` looks at
_UNUSED = 1e306  # above all keys


@njit(cache=True, nogil=True)
def placed(tree: Any, queries: Any, one: float) -> Any:
    """The leaf where each query belongs.

    Args:
        tree: a KdTree.
        queries: coordinates, shape (m, D).
        one: how far a value is from a missing one.

    Returns:
        int64, shape (m,): the leaf that is nearest, wide node by wide node.
    """
    leaves = np.empty(len(queries), np.int64)
    inner_of, number = tree.wide.number, tree.leaves.dtype.type
    gapped = tree.gaps[0].any() or np.isnan(queries).any()
    alone, box = group_room(tree)
    work = descent_room(tree)
    top, unit = number(MOST), number(one)
    for i in range(len(queries)):
        fill(queries, i, 1, alone, box)
        node = 0
        while inner_of[node] >= 0:
            end = expand(tree.wide, inner_of[node], box, unit, top, work, 0, gapped)
            node = work[0][end - 1]
        leaves[i] = tree.leaf[node]
    return leaves


@njit(cache=True, nogil=True)
def coordinates_at(tree: Any, places: Any) -> Any:
    """The coordinates of the points at some places, which ascend, and the leaf of each."""
    width = tree.boxes.shape[2]
    rows = np.empty((len(places), width), tree.leaves.dtype)
    leaves = np.empty(len(places), np.int64)
    leaf = 0
    for i in range(len(places)):
        while tree.borders[leaf + 1] <= places[i]:
            leaf += 1
        leaves[i] = leaf
        for c in range(width):
            at = (leaf * width + c) * LANES + places[i] - tree.borders[leaf]
            rows[i, c] = tree.leaves[at]
    return rows, leaves


@njit(cache=True, nogil=True)
def groups(leaves: Any) -> Any:
    """Where each group of at most 32 queries begins, and the end; whole leaves where they fit.

    Args:
        leaves: int64, shape (m,): the leaf of each query, ascending.
    """
    begins = np.empty(len(leaves) + 1, np.int64)
    count, opened, leaf_start = 0, 0, 0
    for i in range(len(leaves)):
        if i > 0 and leaves[i] != leaves[i - 1]:
            leaf_start = i
        if i - opened >= LANES:
            begins[count] = opened
            count += 1
            opened = leaf_start if leaf_start > opened else i
    if len(leaves) > opened:
        begins[count] = opened
        count += 1
        if len(leaves) - opened > LANES:
            begins[count] = opened + LANES
            count += 1
    begins[count] = len(leaves)
    return begins[: count + 1].copy()


@njit(cache=True, nogil=True)
def propose(
    tree: Any, weights: Any, queries: Any, own: Any, begins: Any, k: int, size: int, limits: Any
) -> Any:
    """The candidates of each query.

    Args:
        tree: a KdTree over u points.
        weights: int64, shape (u,): records of the point at each place; empty where all are 1.
        queries: coordinates, shape (m, D).
        own: int64, shape (m,): the place of the point that the query is, one record of which is
            left out; -1 where the query is none of the points.
        begins: int64, shape (G + 1,): each group's first query.
        k: how many records; there must be as many.
        size: length of the lists, a multiple of 4, more than k or at least u.
        limits: a, b and growth of `Coordinates.widening`, and how far a value is from a
            missing one.

    Returns:
        starts, int64, shape (m + 1,), and the points proposed for each query, nearest first in
        the main; how often 32 distances were computed.
    """
    m = len(queries)
    gapped = tree.gaps[0].any() or np.isnan(queries).any()
    group, box = group_room(tree)
    bounds = np.empty(LANES, tree.leaves.dtype)
    keys = np.empty(LANES * (size + _PAD))
    work = descent_room(tree)
    starts = np.zeros(m + 1, np.int64)
    points = np.empty(m * (min(k + 1, len(tree.order)) + 2) + size, np.int64)
    filled, evaluated = 0, 0
    for g in range(len(begins) - 1):
        begin, count = begins[g], begins[g + 1] - begins[g]
        longest = fill(queries, begin, count, group, box)
        widening = (limits[0], limits[1] + limits[2] * longest, 0.0)
        open_lists(keys, size, bounds)
        bounds[count:] = -1.0
        lists = (keys, size, k)
        asking = (group, box, gapped, limits[3])
        evaluated += _join(
            tree, weights, asking, own[begin : begin + count], lists, widening, bounds, work
        )
        for i in range(count):
            base = i * (size + _PAD) + _PAD
            question = (group, i, own[begin + i], gapped, limits[3])
            listed = (keys, base, size, k, bounds[i])
            points, filled = _emit(tree, weights, listed, question, widening, work, points, filled)
            starts[begin + i + 1] = filled
    return starts, points[:filled].copy(), evaluated


@njit(cache=True, nogil=True)
def open_lists(keys: Any, size: int, bounds: Any) -> None:
    """Empties lists, and takes all bounds away."""
    for i in range(len(bounds)):
        bounds[i] = MOST
        base = i * (size + _PAD)
        keys[base : base + _PAD] = 0.0
        keys[base + _PAD : base + _PAD + size] = _UNUSED


@njit(cache=True, nogil=True)
def scan(
    products: Any,
    leaf: int,
    tree: Any,
    weights: Any,
    own: Any,
    lists: Any,
    widening: Any,
    bounds: Any,
) -> None:
    """Takes squared distances, computed elsewhere, into the lists of queries.

    Args:
        products: shape (m, 32 * leaves): from each query to the points of some leaves.
        leaf: the first of these leaves.
        tree: a KdTree.
        weights: as for `propose`.
        own: int64, shape (m,): as for `propose`.
        lists: keys, as `open_lists` leaves them; size; k.
        widening: a, b, and by how much a square may be wrong.
        bounds: shape (m,): the greatest square that each query still needs; is lowered.
    """
    keys, size, k = lists
    borders = tree.borders
    flat = products.reshape(-1)
    number = bounds.dtype.type
    columns = products.shape[1]
    for i in range(len(products)):
        base = i * (size + _PAD) + _PAD
        mine = own[i]
        for block in range(columns // LANES):
            at = i * columns + block * LANES
            hits = within(flat, at, bounds[i])
            if hits == 0:
                continue
            lo = borders[leaf + block]
            hits &= (1 << (borders[leaf + block + 1] - lo)) - 1
            own_is_here = mine >= lo and mine < borders[leaf + block + 1]
            if own_is_here and (len(weights) == 0 or weights[mine] == 1):
                hits &= ~(1 << (mine - lo))
            if hits == 0:
                continue
            while hits != 0:
                j = lowest(hits)
                hits &= hits - 1
                square = max(np.float32(flat[at + j]), np.float32(0.0))
                insert(keys, base, size, packed(square, lo + j))
            bounds[i] = number(_bound(keys, base, size, weights, mine, k, widening))


@njit(cache=True, nogil=True)
def emit(
    tree: Any, weights: Any, queries: Any, own: Any, lists: Any, widening: Any, bounds: Any
) -> Any:
    """The candidates of queries whose lists are full.

    Args:
        tree: a KdTree without missing values.
        weights: as for `propose`.
        queries: as for `propose`; no value is missing.
        own: as for `propose`.
        lists: as for `scan`.
        widening: as for `scan`.
        bounds: as for `scan`.

    Returns:
        As `propose`, but for the last.
    """
    keys, size, k = lists
    m = len(queries)
    group, box = group_room(tree)
    work = descent_room(tree)
    starts = np.zeros(m + 1, np.int64)
    points = np.empty(m * (min(k + 1, len(tree.order)) + 2) + size, np.int64)
    filled = 0
    for i in range(m):
        base = i * (size + _PAD) + _PAD
        fill(queries, i, 1, group, box)
        question = (group, 0, own[i], False, 1.0)
        listed = (keys, base, size, k, bounds[i])
        points, filled = _emit(tree, weights, listed, question, widening, work, points, filled)
        starts[i + 1] = filled
    return starts, points[:filled].copy()


@njit(cache=True, nogil=True)
def _emit(
    tree: Any,
    weights: Any,
    listed: Any,
    question: Any,
    widening: Any,
    work: Any,
    points: Any,
    filled: int,
) -> Any:
    """Adds one query's candidates to `points`, which is replaced where it is too short."""
    keys, base, size, k, bound = listed
    if square_of(keys[base + size - 1]) <= bound:
        kth = keys[base + _kth(keys, base, weights, question[2], k)]
        tied = _widened(square_of(kth), widening)
        more = _collect(tree, weights, question, (tied, bound), widening, work)
        while filled + len(more) > len(points):
            points = _doubled(points)
        points[filled : filled + len(more)] = more
        return points, filled + len(more)
    if filled + size > len(points):
        points = _doubled(points)
    j = 0
    while square_of(keys[base + j]) <= bound:
        points[filled] = tree.order[place_of(keys[base + j])]
        filled += 1
        j += 1
    return points, filled


@njit(cache=True, nogil=True)
def _join(  # noqa: C901, PLR0912, PLR0915 (calls would pass 20 arguments)
    tree: Any,
    weights: Any,
    group_asks: Any,
    own: Any,
    lists: Any,
    widening: Any,
    bounds: Any,
    work: Any,
) -> int:
    """Takes a group down the tree; fills its lists and lowers its bounds."""
    # Out of their tuples once: in the loops each look inside would count references.
    stack, far, squares = work
    keys, size, k = lists
    group, box, gapped, one = group_asks
    first, last, leaf = tree.first, tree.last, tree.leaf
    wide, inner_of = tree.wide, tree.wide.number
    flat, flat_gaps, leaves = tree.boxes.reshape(-1), tree.gaps.reshape(-1), tree.leaves
    width = tree.boxes.shape[2]
    number = leaves.dtype.type
    unit = number(one)
    top = number(MOST)
    evaluated = 0
    heavy = 0  # bit i: the list of query i holds a point of several records
    depth = 1
    stack[0], far[0] = 0, number(-1.0)
    while depth > 0:
        depth -= 1
        if far[depth] > top:
            continue
        node = stack[depth]
        if gapped:
            asking = near_box_gapped(
                flat, node * 2 * width, group, width, bounds, flat_gaps, node * width, unit
            )
        else:
            asking = near_box(flat, node * 2 * width, group, width, bounds)
        if asking == 0:
            continue
        if inner_of[node] >= 0:
            depth = expand(wide, inner_of[node], box, unit, top, work, depth, gapped)
            continue
        lo = first[node]
        valid = (1 << (last[node] - lo)) - 1
        at = leaf[node] * width * LANES
        lowered = False
        while asking != 0:
            i = lowest(asking)
            asking &= asking - 1
            evaluated += 1
            if gapped:
                hits = near_gapped(leaves, at, group, i, width, bounds[i], squares, unit)
            else:
                hits = near(leaves, at, group, i, width, bounds[i], squares)
            hits &= valid
            mine = own[i]
            if mine >= lo and mine < last[node] and (len(weights) == 0 or weights[mine] == 1):
                hits &= ~(1 << (mine - lo))
            if hits == 0:
                continue
            base = i * (size + _PAD) + _PAD
            while hits != 0:
                j = lowest(hits)
                hits &= hits - 1
                insert(keys, base, size, packed(np.float32(squares[j]), lo + j))
                if len(weights) != 0 and weights[lo + j] != 1:
                    heavy |= 1 << i
            some = weights if heavy & (1 << i) else weights[:0]
            bounds[i] = number(_bound(keys, base, size, some, mine, k, widening))
            lowered = True
        if lowered:
            top = greatest(bounds)
    return evaluated


@njit(cache=True, nogil=True)
def _bound(keys: Any, base: int, size: int, weights: Any, own: int, k: int, widening: Any) -> float:
    """The greatest square that a needed point can still have.

    That of the nearest point that is surely beyond the ties of the k-th record; where the list
    ends before, that of those ties (then the list overflows).
    """
    j = _kth(keys, base, weights, own, k)
    if j >= size or keys[base + j] >= _UNUSED:
        return MOST
    tied = _widened(square_of(keys[base + j]), widening)
    j += 1
    while j < size and square_of(keys[base + j]) <= tied:
        j += 1
    if j == size:
        return tied
    if keys[base + j] >= _UNUSED:
        return MOST
    return _widened(square_of(keys[base + j]), widening)


@njit(cache=True, nogil=True)
def _kth(keys: Any, base: int, weights: Any, own: int, k: int) -> int:
    """Which entry of a list is the k-th record's; may be one that is unused or beyond."""
    if len(weights) == 0:
        return k - 1
    total = 0
    j = 0
    while keys[base + j] < _UNUSED:
        place = place_of(keys[base + j])
        total += weights[place] - (1 if place == own else 0)
        if total >= k:
            return j
        j += 1
    return j


@njit(cache=True, nogil=True)
def _widened(square: float, widening: Any) -> float:
    """Beyond this square no point is tied with, or nearer than, one at this square."""
    root = np.sqrt(float(square) + widening[2]) * widening[0] + widening[1]
    widened: float = min(root * root * (1.0 + 2.0**-22) + widening[2], MOST)
    return widened


@njit(cache=True, nogil=True)
def _collect(tree: Any, weights: Any, question: Any, reach: Any, widening: Any, work: Any) -> Any:
    """The candidates of one query whose list overflowed.

    Args:
        tree: a KdTree.
        weights: as for `propose`.
        question: the group, the query's lane, its own place, whether values may be missing, how
            far a value is from a missing one.
        reach: the square up to which points may be tied; the square up to which points are
            needed, where the nearest beyond the ties was already seen, else the former.
        widening: as for `scan`.
        work: stack, squares to its nodes, room for 32 squares.
    """
    stack, far, squares = work
    group, lane, own, gapped, one = question
    tied, bound = reach
    number = tree.leaves.dtype.type
    if bound <= number(tied):
        bound = MOST
    wide, inner_of, leaves = tree.wide, tree.wide.number, tree.leaves
    width = tree.boxes.shape[2]
    alone, box = group_room(tree)
    fill(group.reshape(width, LANES)[:, lane].copy().reshape(1, width), 0, 1, alone, box)
    unit = number(one)
    found = np.empty(64, np.int64)
    held = np.empty(64)
    size = 0
    depth = 1
    stack[0], far[0] = 0, number(-1.0)
    while depth > 0:
        depth -= 1
        if far[depth] > bound:
            continue
        node = stack[depth]
        if inner_of[node] >= 0:
            top = number(bound)
            depth = expand(wide, inner_of[node], box, unit, top, work, depth, gapped)
            continue
        lo, at = tree.first[node], tree.leaf[node] * width * LANES
        if gapped:
            hits = near_gapped(leaves, at, alone, 0, width, number(bound), squares, unit)
        else:
            hits = near(leaves, at, alone, 0, width, number(bound), squares)
        hits &= (1 << (tree.last[node] - lo)) - 1
        while hits != 0:
            j = lowest(hits)
            hits &= hits - 1
            if lo + j == own and (len(weights) == 0 or weights[own] == 1):
                continue
            if size == len(found):
                found, held = _doubled(found), _doubled(held)
            found[size], held[size] = tree.order[lo + j], squares[j]
            size += 1
            if squares[j] > tied:
                bound = min(bound, _widened(squares[j], widening))
    return found[:size][held[:size] <= bound].copy()


@njit(cache=True, nogil=True)
def _doubled(array: Any) -> Any:
    """The array with as much room again."""
    longer = np.empty(2 * len(array), array.dtype)
    longer[: len(array)] = array
    return longer
