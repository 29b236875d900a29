"""Exact neighborhoods from a k-d tree, compiled.

Every distance is the square root of squares summed in column order in float64, without
reassociation or fused operations, so each path gives the same bits. Bounds of boxes are summed
in the same order and are therefore never above a computed distance: no slack is needed.

One file, although long: numba compiles again what stands in a changed file, not its callers
in other files.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

TIE_RELATIVE = 1e-9
TIE_ABSOLUTE = 1e-12
_SMALL = 64  # entries that an insertion sort orders faster than a heap


@njit(cache=True, nogil=True)
def tie(distance: float) -> float:
    """The greatest distance that counts as equal to this one.

    Columns divided by their range round differently: without a tolerance 11 % of Poker's
    records have a radius of 1e-17 where there is a tie.
    """
    return distance * (1.0 + TIE_RELATIVE) + TIE_ABSOLUTE


@njit(cache=True, nogil=True)
def places(tree: Any, queries: Any) -> Any:
    """Where in the tree each query belongs: sorted by it, neighbors share what is in the cache.

    Args:
        tree: a KdTree.
        queries: float64, shape (m, D).

    Returns:
        int64, shape (m,): the first place of the leaf that is nearest cut by cut.
    """
    gapped = tree.gaps[0].any() or np.isnan(queries).any()
    place = np.empty(len(queries), np.int64)
    for i in range(len(queries)):
        node = 0
        while tree.child[node] != 0:
            node = tree.child[node]
            to_left, to_right = _to_children(tree.boxes, tree.gaps, node, queries[i], gapped)
            if to_right < to_left:
                node += 1
        place[i] = tree.first[node]
    return place


@njit(cache=True, nogil=True)
def search(tree: Any, table: Any, queries: Any, own: Any, k: int, cut: bool) -> Any:
    """The neighborhoods of some queries, in CSR form.

    Args:
        tree: a KdTree over u points.
        table: counts, int64, shape (u,): records of each point; starts, int64, shape (u + 1,):
            where each point's records start; records, int64, shape (n,): record numbers,
            ascending for each point.
        queries: float64, shape (m, D).
        own: int64, shape (m,): the point that the query is, one record of which is left out;
            -1 where the query is none of the points.
        k: how many records; there must be as many.
        cut: take exactly k, the lowest record numbers among those tied at the k-th distance;
            else all that are tied.

    Returns:
        starts (m + 1,), points, weights, distances, radius (m,), next_distance (m,).
    """
    m = len(queries)
    starts = np.zeros(m + 1, np.int64)
    radius = np.empty(m)
    beyond = np.empty(m)
    points = np.empty(m * min(k + 1, len(table[0])) + 1, np.int64)
    weights = np.empty(len(points), np.int64)
    distances = np.empty(len(points))
    gapped = tree.gaps[0].any() or np.isnan(queries).any()
    best = (np.empty(k + 2), np.empty(k + 2, np.int64), np.empty(k + 2, np.int64))
    work = _workspace(tree)
    filled = 0
    for i in range(m):
        question = (queries[i], own[i], gapped)
        found, radius[i], beyond[i] = _neighborhood(tree, table[0], question, k, cut, best, work)
        near, who, many = found
        _sort(near, who, many)
        if cut:
            _cut_ties(near, who, many, radius[i], k, own[i], table)
        while filled + len(who) > len(points):
            points = _doubled(points)
            weights = _doubled(weights)
            distances = _doubled(distances)
        for j in range(len(who)):
            if many[j] > 0:
                points[filled], weights[filled], distances[filled] = who[j], many[j], near[j]
                filled += 1
        starts[i + 1] = filled
    entries = (points[:filled].copy(), weights[:filled].copy(), distances[:filled].copy())
    return starts, entries[0], entries[1], entries[2], radius, beyond


@njit(cache=True, nogil=True)
def _workspace(tree: Any) -> Any:
    """Nodes to visit and their bounds, and the squared distances to one leaf."""
    widest = (tree.last - tree.first)[tree.child == 0].max()
    return np.empty(tree.depth + 2, np.int64), np.empty(tree.depth + 2), np.empty(widest)


@njit(cache=True, nogil=True)
def _neighborhood(
    tree: Any, counts: Any, question: Any, k: int, cut: bool, best: Any, work: Any
) -> Any:
    """All points within the ties of the k-th record, uncut: (distances, points, weights).

    Also the radius and the next distance, which is the radius where there is none.
    """
    size = _nearest(tree, counts, question, k + 1, best, work)
    squared, squared_next = _ranked(best, size, k)
    radius = np.sqrt(squared)
    following = np.sqrt(squared_next)
    limit = tie(radius)
    if following > limit:  # no tie at the border: what was found is all there is
        while np.sqrt(best[0][size - 1]) > limit:
            size -= 1
        found = (np.sqrt(best[0][:size]), best[1][:size].copy(), best[2][:size].copy())
    else:
        found, following = _within(tree, counts, question, limit, not cut, work)
    return found, radius, following if following < np.inf else radius


@njit(cache=True, nogil=True)
def _nearest(tree: Any, counts: Any, question: Any, want: int, best: Any, work: Any) -> int:
    """The nearest points that hold `want` records together, nearest first.

    Fills best = (squares, points, weights); returns how many entries it has. All points are
    there if they hold fewer records than `want`.
    """
    squares, who, many = best
    # Out of their tuples once: in the loops each look inside would count references.
    stack, bounds, buffer = work
    x, own, gapped = question
    order, child, first, last = tree.order, tree.child, tree.first, tree.last
    boxes, gaps, leaves = tree.boxes, tree.gaps, tree.leaves
    bound = np.inf
    size, total = 0, 0
    depth = 1
    stack[0], bounds[0] = 0, 0.0
    while depth > 0:
        depth -= 1
        if bounds[depth] > bound:
            continue
        leaf, depth = _descend(child, boxes, gaps, x, gapped, bound, stack, bounds, depth)
        if leaf < 0:
            continue
        lo, m = first[leaf], last[leaf] - first[leaf]
        _squares(leaves, lo * len(x), m, x, gapped, buffer)
        for j in range(m):
            if buffer[j] > bound:
                continue
            p = order[lo + j]
            weight = counts[p] - (1 if p == own else 0)
            if weight == 0:
                continue
            at = size
            while at > 0 and squares[at - 1] > buffer[j]:
                squares[at], who[at], many[at] = squares[at - 1], who[at - 1], many[at - 1]
                at -= 1
            squares[at], who[at], many[at] = buffer[j], p, weight
            size += 1
            total += weight
            while total - many[size - 1] >= want:
                size -= 1
                total -= many[size]
            if total >= want:
                bound = np.nextafter(squares[size - 1], -np.inf)  # equal ones change nothing
    return size


@njit(cache=True, nogil=True)
def _ranked(best: Any, size: int, k: int) -> Any:
    """The squares of the k-th and the (k + 1)-th nearest record; inf where there is none."""
    total = 0
    squared = np.inf
    for j in range(size):
        total += best[2][j]
        if squared == np.inf and total >= k:
            squared = best[0][j]
        if total > k:
            return squared, best[0][j]
    return squared, np.inf


@njit(cache=True, nogil=True)
def _within(tree: Any, counts: Any, question: Any, limit: float, onward: bool, work: Any) -> Any:
    """All points at most `limit` away, and (if `onward`) the first distance beyond; else inf."""
    # Out of their tuples once: in the loops each look inside would count references.
    stack, bounds, buffer = work
    x, own, gapped = question
    order, child, first, last = tree.order, tree.child, tree.first, tree.last
    boxes, gaps, leaves = tree.boxes, tree.gaps, tree.leaves
    reach = limit * limit * (1.0 + 1e-12)  # the square rounds; the root below decides
    bound = np.inf if onward else reach
    following = np.inf
    size = 0
    near = np.empty(_SMALL)
    who = np.empty(_SMALL, np.int64)
    depth = 1
    stack[0], bounds[0] = 0, 0.0
    while depth > 0:
        depth -= 1
        if bounds[depth] > bound:
            continue
        leaf, depth = _descend(child, boxes, gaps, x, gapped, bound, stack, bounds, depth)
        if leaf < 0:
            continue
        lo, m = first[leaf], last[leaf] - first[leaf]
        _squares(leaves, lo * len(x), m, x, gapped, buffer)
        for j in range(m):
            distance = np.sqrt(buffer[j])
            if distance <= limit:
                if size == len(who):
                    near = _doubled(near)
                    who = _doubled(who)
                near[size], who[size] = distance, order[lo + j]
                size += 1
            elif onward and distance < following:
                following = distance
                bound = max(reach, buffer[j])
    many = counts[who[:size]]
    many[who[:size] == own] -= 1
    return (near[:size].copy(), who[:size].copy(), many), following


@njit(cache=True, nogil=True)
def _descend(
    child: Any,
    boxes: Any,
    gaps: Any,
    x: Any,
    gapped: bool,
    bound: float,
    stack: Any,
    bounds: Any,
    depth: int,
) -> Any:
    """From the node on top of the stack to its nearest leaf, leaving the others on the stack.

    Returns:
        The leaf, or -1 where every way is farther than `bound`; the new depth of the stack.
    """
    node = stack[depth]
    while child[node] != 0:
        near = child[node]
        far = near + 1
        to_near, to_far = _to_children(boxes, gaps, near, x, gapped)
        if to_far < to_near:
            near, far = far, near
            to_near, to_far = to_far, to_near
        if to_far <= bound:
            stack[depth], bounds[depth] = far, to_far
            depth += 1
        if to_near > bound:
            return -1, depth
        node = near
    return node, depth


@njit(cache=True, nogil=True)
def _cut_ties(near: Any, who: Any, many: Any, radius: float, k: int, own: int, table: Any) -> None:
    """Lowers `many` to k records: first the closer ones, then the lowest numbers of the tied.

    Copies of the own point come before other points that are tied with it (which can only be
    within 1e-12): so the weights are the same for all copies.
    """
    starts, records = table[1], table[2]
    missing = k
    tied = np.empty(len(who), np.int64)
    size = 0
    for j in range(len(who)):
        if who[j] == own or tie(near[j]) < radius:
            many[j] = min(many[j], missing)
            missing -= many[j]
        else:
            tied[size] = who[j]
            size += 1
    # Points are numbered by their lowest record: beyond the first `missing` none can win.
    tied = _ascending(tied[:size])[:missing]
    numbers = np.empty(max(1, missing * len(tied)), np.int64)
    size = 0
    for p in tied:
        for r in range(starts[p], min(starts[p + 1], starts[p] + missing)):
            numbers[size] = records[r]
            size += 1
    numbers = _ascending(numbers[:size])
    highest = numbers[missing - 1] if missing > 0 else -1
    for j in range(len(who)):
        if who[j] == own or tie(near[j]) < radius:
            continue
        p = who[j]
        weight = 0
        while weight < many[j] and records[starts[p] + weight] <= highest:
            weight += 1
        many[j] = weight


@njit(cache=True, nogil=True)
def _to_children(boxes: Any, gaps: Any, left: int, x: Any, gapped: bool) -> Any:
    """The least squared distances that points of a left and of its right node can have."""
    if gapped:
        return _to_gapped(boxes, gaps, left, x), _to_gapped(boxes, gaps, left + 1, x)
    one, other = boxes[left], boxes[left + 1]
    to_left, to_right = 0.0, 0.0
    for c in range(len(x)):
        away = max(one[0, c] - x[c], x[c] - one[1, c], 0.0)
        to_left += away * away
        away = max(other[0, c] - x[c], x[c] - other[1, c], 0.0)
        to_right += away * away
    return to_left, to_right


@njit(cache=True, nogil=True)
def _to_gapped(boxes: Any, gaps: Any, node: int, x: Any) -> float:
    """The least squared distance to a node where values may be missing, here or there."""
    total = 0.0
    for c in range(len(x)):
        v = x[c]
        if np.isnan(v):
            total += 0.0 if gaps[node, c] else 1.0
            continue
        away = max(boxes[node, 0, c] - v, v - boxes[node, 1, c], 0.0)
        squared = away * away
        if gaps[node, c]:
            squared = min(squared, 1.0)
        total += squared
    return total


@njit(cache=True, nogil=True)
def _squares(leaves: Any, start: int, m: int, x: Any, gapped: bool, out: Any) -> None:
    """Squared distances to the m points of a leaf, summed in column order."""
    for j in range(m):
        out[j] = 0.0
    for c in range(len(x)):
        v = x[c]
        block = leaves[start + c * m : start + c * m + m]
        if not gapped:
            for j in range(m):
                away = block[j] - v
                out[j] += away * away
        elif np.isnan(v):
            for j in range(m):
                out[j] += 0.0 if np.isnan(block[j]) else 1.0
        else:
            for j in range(m):
                away = block[j] - v
                out[j] += 1.0 if np.isnan(block[j]) else away * away


@njit(cache=True, nogil=True)
def _sort(near: Any, who: Any, many: Any) -> None:
    """Sorts entries by distance, then point number, which follows the lowest record number.

    By insertion what is short and nearly sorted, else as a heap; numpy's sorts of two keys
    would double the time to compile.
    """
    size = len(who)
    if size > _SMALL:
        for root in range(size // 2 - 1, -1, -1):
            _sift(near, who, many, root, size)
        for last in range(size - 1, 0, -1):
            _swap(near, who, many, 0, last)
            _sift(near, who, many, 0, last)
        return
    for j in range(1, size):
        at = j
        while at > 0 and _before(near, who, at, at - 1):
            _swap(near, who, many, at, at - 1)
            at -= 1


@njit(cache=True, nogil=True)
def _ascending(numbers: Any) -> Any:
    """The numbers, sorted."""
    _sort(np.zeros(len(numbers)), numbers, numbers.copy())
    return numbers


@njit(cache=True, nogil=True)
def _sift(near: Any, who: Any, many: Any, root: int, size: int) -> None:
    """Moves the root of a heap whose greatest entry is to be on top down to its place."""
    while 2 * root + 1 < size:
        child = 2 * root + 1
        if child + 1 < size and _before(near, who, child, child + 1):
            child += 1
        if not _before(near, who, root, child):
            return
        _swap(near, who, many, root, child)
        root = child


@njit(cache=True, nogil=True)
def _before(near: Any, who: Any, i: int, j: int) -> Any:
    return near[i] < near[j] or (near[i] == near[j] and who[i] < who[j])


@njit(cache=True, nogil=True)
def _swap(near: Any, who: Any, many: Any, i: int, j: int) -> None:
    near[i], near[j] = near[j], near[i]
    who[i], who[j] = who[j], who[i]
    many[i], many[j] = many[j], many[i]


@njit(cache=True, nogil=True)
def _doubled(array: Any) -> Any:
    """The array with as much room again."""
    longer = np.empty(2 * len(array), array.dtype)
    longer[: len(array)] = array
    return longer
