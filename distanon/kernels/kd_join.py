"""Candidates for neighborhoods: one traversal of a k-d tree serves 32 queries that lie together.

For each query those points are proposed that can't be ruled out: all that may be among the k
nearest records or tied with the last of them, and the nearest beyond. Exact distances decide
afterwards. While a group goes down the tree each of its queries keeps the nearest points in a
short sorted list; where ties overflow the list, the query goes down once more by itself.

One file, although long: numba compiles again what stands in a changed file, not its callers
in other files.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from distanon.kernels.lanes import (
    LANES,
    insert,
    lowest,
    near,
    near_box,
    near_box_gapped,
    near_gapped,
    packed,
    place_of,
    square_of,
    within,
)

_PAD = 4  # zeros before each list, which `insert` looks at
_MOST = 3.0e38  # above all squares of coordinates, below infinity in float32
_UNUSED = 1e306  # above all keys


@njit(cache=True, nogil=True)
def placed(tree: Any, queries: Any, one: float) -> Any:
    """The leaf where each query belongs.

    Args:
        tree: a KdTree.
        queries: coordinates, shape (m, D).
        one: how far a value is from a missing one.

    Returns:
        int64, shape (m,): the leaf that is nearest cut by cut.
    """
    leaves = np.empty(len(queries), np.int64)
    boxes, gaps = tree.boxes, tree.gaps
    gapped = tree.gaps[0].any() or np.isnan(queries).any()
    for i in range(len(queries)):
        node = 0
        while tree.child[node] != 0:
            node = tree.child[node]
            x, none = queries[i], np.isnan(queries[i])
            here = _gap(boxes, gaps, node, x, x, none, gapped, one)
            if here > _gap(boxes, gaps, node + 1, x, x, none, gapped, one):
                node += 1
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
    width = tree.boxes.shape[2]
    gapped = tree.gaps[0].any() or np.isnan(queries).any()
    group = np.zeros(width * LANES, tree.leaves.dtype)
    low, high = np.empty(width, tree.leaves.dtype), np.empty(width, tree.leaves.dtype)
    missing = np.zeros(width, np.bool_)
    bounds = np.empty(LANES, tree.leaves.dtype)
    keys = np.empty(LANES * (size + _PAD))
    work = (np.empty(tree.depth + 2, np.int64), np.empty(tree.depth + 2), bounds.copy())
    starts = np.zeros(m + 1, np.int64)
    points = np.empty(m * (min(k + 1, len(tree.order)) + 2) + size, np.int64)
    filled, evaluated = 0, 0
    for g in range(len(begins) - 1):
        begin, count = begins[g], begins[g + 1] - begins[g]
        longest = _fill(queries, begin, count, group, low, high, missing)
        wide = (limits[0], limits[1] + limits[2] * longest, 0.0)
        open_lists(keys, size, bounds)
        bounds[count:] = -1.0
        lists = (keys, size, k)
        box = (low, high, missing, gapped, limits[3])
        evaluated += _join(
            tree, weights, group, count, own[begin : begin + count], box, lists, wide, bounds, work
        )
        for i in range(count):
            base = i * (size + _PAD) + _PAD
            question = (group, i, own[begin + i], gapped, limits[3])
            listed = (keys, base, size, k, bounds[i])
            points, filled = _emit(tree, weights, listed, question, wide, work, points, filled)
            starts[begin + i + 1] = filled
    return starts, points[:filled].copy(), evaluated


@njit(cache=True, nogil=True)
def open_lists(keys: Any, size: int, bounds: Any) -> None:
    """Empties lists, and takes all bounds away."""
    for i in range(len(bounds)):
        bounds[i] = _MOST
        base = i * (size + _PAD)
        keys[base : base + _PAD] = 0.0
        keys[base + _PAD : base + _PAD + size] = _UNUSED


@njit(cache=True, nogil=True)
def scan(
    products: Any, leaf: int, tree: Any, weights: Any, own: Any, lists: Any, wide: Any, bounds: Any
) -> None:
    """Takes squared distances, computed elsewhere, into the lists of queries.

    Args:
        products: shape (m, 32 * leaves): from each query to the points of some leaves.
        leaf: the first of these leaves.
        tree: a KdTree.
        weights: as for `propose`.
        own: int64, shape (m,): as for `propose`.
        lists: keys, as `open_lists` leaves them; size; k.
        wide: a, b, and by how much a square may be wrong.
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
            bounds[i] = number(_bound(keys, base, size, weights, mine, k, wide))


@njit(cache=True, nogil=True)
def emit(
    tree: Any, weights: Any, queries: Any, own: Any, lists: Any, wide: Any, bounds: Any
) -> Any:
    """The candidates of queries whose lists are full.

    Args:
        tree: a KdTree without missing values.
        weights: as for `propose`.
        queries: as for `propose`; no value is missing.
        own: as for `propose`.
        lists: as for `scan`.
        wide: as for `scan`.
        bounds: as for `scan`.

    Returns:
        As `propose`, but for the last.
    """
    keys, size, k = lists
    m, width = queries.shape
    group = np.zeros(width * LANES, tree.leaves.dtype)
    low, high = np.empty(width, tree.leaves.dtype), np.empty(width, tree.leaves.dtype)
    missing = np.zeros(width, np.bool_)
    squares = np.empty(LANES, tree.leaves.dtype)
    work = (np.empty(tree.depth + 2, np.int64), np.empty(tree.depth + 2), squares)
    starts = np.zeros(m + 1, np.int64)
    points = np.empty(m * (min(k + 1, len(tree.order)) + 2) + size, np.int64)
    filled = 0
    for i in range(m):
        base = i * (size + _PAD) + _PAD
        _fill(queries, i, 1, group, low, high, missing)
        question = (group, 0, own[i], False, 1.0)
        listed = (keys, base, size, k, bounds[i])
        points, filled = _emit(tree, weights, listed, question, wide, work, points, filled)
        starts[i + 1] = filled
    return starts, points[:filled].copy()


@njit(cache=True, nogil=True)
def _emit(
    tree: Any,
    weights: Any,
    listed: Any,
    question: Any,
    wide: Any,
    work: Any,
    points: Any,
    filled: int,
) -> Any:
    """Adds one query's candidates to `points`, which is replaced where it is too short."""
    keys, base, size, k, bound = listed
    if square_of(keys[base + size - 1]) <= bound:
        kth = keys[base + _kth(keys, base, weights, question[2], k)]
        tied = _widened(square_of(kth), wide)
        more = _collect(tree, weights, question, (tied, bound), wide, work)
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
def _fill(
    queries: Any, begin: int, count: int, group: Any, low: Any, high: Any, missing: Any
) -> float:
    """Stores a group's queries 32 to a column, with their box; returns the greatest length."""
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
    return np.sqrt(longest) if longest < _MOST * 1e-8 else np.inf


@njit(cache=True, nogil=True)
def _join(  # noqa: C901, PLR0912, PLR0915 (calls would pass 20 arguments)
    tree: Any,
    weights: Any,
    group: Any,
    count: int,
    own: Any,
    box: Any,
    lists: Any,
    wide: Any,
    bounds: Any,
    work: Any,
) -> int:
    """Takes a group down the tree; fills its lists and lowers its bounds."""
    # Out of their tuples once: in the loops each look inside would count references.
    stack, far, squares = work
    keys, size, k = lists
    low, high, missing, gapped, one = box
    child, first, last, leaf = tree.child, tree.first, tree.last, tree.leaf
    boxes, gaps, leaves = tree.boxes, tree.gaps, tree.leaves
    flat, flat_gaps = boxes.reshape(-1), gaps.reshape(-1)
    width = len(low)
    # Bounds of boxes are summed otherwise than squares of points: by so much they may differ.
    loose = 1.0 + (width + 8) * 2.0**-22
    top = _MOST
    number = leaves.dtype.type
    unit = number(one)
    evaluated = 0
    depth = 1
    stack[0], far[0] = 0, 0.0
    while depth > 0:
        depth -= 1
        if far[depth] > top:
            continue
        node = stack[depth]
        if depth > 0 or far[depth] > 0.0:
            if gapped:
                asking = near_box_gapped(
                    flat, node * 2 * width, group, width, bounds, flat_gaps, node * width, unit
                )
            else:
                asking = near_box(flat, node * 2 * width, group, width, bounds)
            if asking == 0:
                continue
        while child[node] != 0 and node >= 0:
            left = child[node]
            to_left = _gap(boxes, gaps, left, low, high, missing, gapped, one)
            to_right = _gap(boxes, gaps, left + 1, low, high, missing, gapped, one)
            near_node, far_node, to_near, to_far = left, left + 1, to_left, to_right
            if to_right < to_left or (
                to_right == to_left
                and _off(boxes, left, low, high) > _off(boxes, left + 1, low, high)
            ):
                near_node, far_node, to_near, to_far = left + 1, left, to_right, to_left
            if to_far <= top:
                stack[depth], far[depth] = far_node, to_far
                depth += 1
            node = near_node if to_near <= top else -1
            if node < 0:
                break
        if node < 0:
            continue
        if gapped:
            asking = near_box_gapped(
                flat, node * 2 * width, group, width, bounds, flat_gaps, node * width, unit
            )
        else:
            asking = near_box(flat, node * 2 * width, group, width, bounds)
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
            bounds[i] = number(_bound(keys, base, size, weights, mine, k, wide))
            lowered = True
        if lowered:
            top = bounds[0]
            for i in range(1, count):
                top = max(top, bounds[i])
            top *= loose
    return evaluated


@njit(cache=True, nogil=True)
def _bound(keys: Any, base: int, size: int, weights: Any, own: int, k: int, wide: Any) -> float:
    """The greatest square that a needed point can still have.

    That of the nearest point that is surely beyond the ties of the k-th record; where the list
    ends before, that of those ties (then the list overflows).
    """
    j = _kth(keys, base, weights, own, k)
    if j >= size or keys[base + j] >= _UNUSED:
        return _MOST
    tied = _widened(square_of(keys[base + j]), wide)
    j += 1
    while j < size and square_of(keys[base + j]) <= tied:
        j += 1
    if j == size:
        return tied
    if keys[base + j] >= _UNUSED:
        return _MOST
    return _widened(square_of(keys[base + j]), wide)


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
def _widened(square: float, wide: Any) -> float:
    """Beyond this square no point is tied with, or nearer than, one at this square."""
    root = np.sqrt(float(square) + wide[2]) * wide[0] + wide[1]
    widened: float = min(root * root * (1.0 + 2.0**-22) + wide[2], _MOST)
    return widened


@njit(cache=True, nogil=True)
def _gap(
    boxes: Any, gaps: Any, node: int, low: Any, high: Any, missing: Any, gapped: bool, one: float
) -> float:
    """The least square between a node's points and a box of queries."""
    total = 0.0
    if not gapped:
        for c in range(len(low)):
            below, above = boxes[node, 0, c] - high[c], low[c] - boxes[node, 1, c]
            away = max(below, above)
            if away > 0.0:
                total += float(away) * float(away)
        return total
    for c in range(len(low)):
        if missing[c] and gaps[node, c]:
            continue
        below, above = boxes[node, 0, c] - high[c], low[c] - boxes[node, 1, c]
        away = float(max(below, above, 0.0))
        asked, there = low[c] <= high[c], boxes[node, 0, c] <= boxes[node, 1, c]
        if not (asked and there):
            away = np.inf
        if (asked and gaps[node, c]) or (missing[c] and there):
            away = min(away, one)
        total += away * away
    return total


@njit(cache=True, nogil=True)
def _off(boxes: Any, node: int, low: Any, high: Any) -> float:
    """How far the middle of a node's box is from that of a box of queries (for 0: who is first)."""
    total = 0.0
    for c in range(len(low)):
        away = boxes[node, 0, c] + boxes[node, 1, c] - low[c] - high[c]
        total += away * away
    return total


@njit(cache=True, nogil=True)
def _collect(  # noqa: C901, PLR0915 (likewise)
    tree: Any, weights: Any, question: Any, reach: Any, wide: Any, work: Any
) -> Any:
    """The candidates of one query whose list overflowed.

    Args:
        tree: a KdTree.
        weights: as for `propose`.
        question: the group, the query's lane, its own place, whether values may be missing, how
            far a value is from a missing one.
        reach: the square up to which points may be tied; the square up to which points are
            needed, where the nearest beyond the ties was already seen, else the former.
        wide: as for `scan`.
        work: stack, squares to its nodes, room for 32 squares.
    """
    stack, far, squares = work
    group, lane, own, gapped, one = question
    tied, bound = reach
    number = tree.leaves.dtype.type
    if bound <= number(tied):
        bound = _MOST
    boxes, gaps, leaves = tree.boxes, tree.gaps, tree.leaves
    width = boxes.shape[2]
    x = group.reshape(width, LANES)[:, lane].copy()
    none = np.isnan(x)
    loose = 1.0 + (width + 8) * 2.0**-22
    found = np.empty(64, np.int64)
    held = np.empty(64)
    size = 0
    depth = 1
    stack[0], far[0] = 0, 0.0
    while depth > 0:
        depth -= 1
        if far[depth] > bound * loose:
            continue
        node = stack[depth]
        if tree.child[node] != 0:
            closer = tree.child[node]
            farther = closer + 1
            to_closer = _gap(boxes, gaps, closer, x, x, none, gapped, one)
            to_farther = _gap(boxes, gaps, farther, x, x, none, gapped, one)
            if to_farther < to_closer:
                closer, farther = farther, closer
                to_closer, to_farther = to_farther, to_closer
            stack[depth], far[depth] = farther, to_farther
            stack[depth + 1], far[depth + 1] = closer, to_closer
            depth += 2
            continue
        lo, at = tree.first[node], tree.leaf[node] * width * LANES
        if gapped:
            hits = near_gapped(leaves, at, group, lane, width, number(bound), squares, number(one))
        else:
            hits = near(leaves, at, group, lane, width, number(bound), squares)
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
                bound = min(bound, _widened(squares[j], wide))
    return found[:size][held[:size] <= bound].copy()


@njit(cache=True, nogil=True)
def _doubled(array: Any) -> Any:
    """The array with as much room again."""
    longer = np.empty(2 * len(array), array.dtype)
    longer[: len(array)] = array
    return longer
