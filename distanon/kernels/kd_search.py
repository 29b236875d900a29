"""Exact neighborhoods from a k-d tree, compiled.

Every distance is the square root of squares summed in column order in float64, without
reassociation or fused operations, so each path gives the same bits. Bounds of boxes are summed
in the same order and are therefore never above a computed distance: no slack is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

TIE_RELATIVE = 1e-9
TIE_ABSOLUTE = 1e-12
_SMALL = 64  # entries that an insertion sort orders faster than a merge sort


@njit(cache=True, nogil=True)
def tie(distance: float) -> float:
    """The greatest distance that counts as equal to this one.

    Columns divided by their range round differently: without a tolerance 11 % of Poker's
    records have a radius of 1e-17 where there is a tie.
    """
    return distance * (1.0 + TIE_RELATIVE) + TIE_ABSOLUTE


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
    offsets = np.zeros(m + 1, np.int64)
    radius = np.empty(m)
    beyond = np.empty(m)
    points = np.empty(m * (k + 1) + 1, np.int64)
    weights = np.empty(len(points), np.int64)
    distances = np.empty(len(points))
    gapped = tree.gaps[0].any() or np.isnan(queries).any()
    best = (np.empty(k + 2), np.empty(k + 2, np.int64), np.empty(k + 2, np.int64))
    work = _workspace(tree)
    filled = 0
    for i in range(m):
        question = (queries[i], own[i], gapped)
        found, radius[i], beyond[i] = _neighborhood(tree, table[0], question, k, cut, best, work)
        near, who, many = _sorted(found[0], found[1], found[2])
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
        offsets[i + 1] = filled
    entries = (points[:filled].copy(), weights[:filled].copy(), distances[:filled].copy())
    return offsets, entries[0], entries[1], entries[2], radius, beyond


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
    stack, bounds, buffer = work
    bound = np.inf
    size, total = 0, 0
    depth = 1
    stack[0], bounds[0] = 0, 0.0
    while depth > 0:
        depth -= 1
        if bounds[depth] > bound:
            continue
        leaf, depth = _descend(tree, question, bound, depth, work)
        if leaf < 0:
            continue
        lo, m = tree.first[leaf], tree.last[leaf] - tree.first[leaf]
        _squares(tree.leaves, lo, m, question, buffer)
        for j in range(m):
            if buffer[j] > bound:
                continue
            p = tree.order[lo + j]
            weight = counts[p] - (1 if p == question[1] else 0)
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
    stack, bounds, buffer = work
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
        leaf, depth = _descend(tree, question, bound, depth, work)
        if leaf < 0:
            continue
        lo, m = tree.first[leaf], tree.last[leaf] - tree.first[leaf]
        _squares(tree.leaves, lo, m, question, buffer)
        for j in range(m):
            distance = np.sqrt(buffer[j])
            if distance <= limit:
                if size == len(who):
                    near = _doubled(near)
                    who = _doubled(who)
                near[size], who[size] = distance, tree.order[lo + j]
                size += 1
            elif onward and distance < following:
                following = distance
                bound = max(reach, buffer[j])
    many = counts[who[:size]]
    many[who[:size] == question[1]] -= 1
    return (near[:size].copy(), who[:size].copy(), many), following


@njit(cache=True, nogil=True)
def _descend(tree: Any, question: Any, bound: float, depth: int, work: Any) -> Any:
    """From the node on top of the stack to its nearest leaf, leaving the others on the stack.

    Returns:
        The leaf, or -1 where every way is farther than `bound`; the new depth of the stack.
    """
    stack, bounds = work[0], work[1]
    node = stack[depth]
    while tree.child[node] != 0:
        near = tree.child[node]
        far = near + 1
        to_near = _to_box(tree.boxes, tree.gaps, near, question)
        to_far = _to_box(tree.boxes, tree.gaps, far, question)
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
    tied = np.sort(tied[:size])[:missing]
    numbers = np.empty(max(1, missing * len(tied)), np.int64)
    size = 0
    for p in tied:
        for r in range(starts[p], min(starts[p + 1], starts[p] + missing)):
            numbers[size] = records[r]
            size += 1
    numbers = np.sort(numbers[:size])
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
def _to_box(boxes: Any, gaps: Any, node: int, question: Any) -> float:
    """The least squared distance that a point of this node can have."""
    x, _, gapped = question
    total = 0.0
    for c in range(len(x)):
        v = x[c]
        if gapped and np.isnan(v):
            total += 0.0 if gaps[node, c] else 1.0
            continue
        away = max(boxes[node, 0, c] - v, v - boxes[node, 1, c], 0.0)
        squared = away * away
        if gapped and gaps[node, c]:
            squared = min(squared, 1.0)
        total += squared
    return total


@njit(cache=True, nogil=True)
def _squares(leaves: Any, lo: int, m: int, question: Any, out: Any) -> None:
    """Squared distances to the m points of a leaf, summed in column order."""
    x, _, gapped = question
    start = lo * len(x)
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
def _sorted(near: Any, who: Any, many: Any) -> Any:
    """Entries by distance, then point number, which follows the lowest record number."""
    if len(who) > _SMALL:
        by_number = np.argsort(who)
        by_distance = by_number[np.argsort(near[by_number], kind="mergesort")]
        return near[by_distance], who[by_distance], many[by_distance]
    for j in range(1, len(who)):
        d, p, w = near[j], who[j], many[j]
        at = j
        while at > 0 and (near[at - 1] > d or (near[at - 1] == d and who[at - 1] > p)):
            near[at], who[at], many[at] = near[at - 1], who[at - 1], many[at - 1]
            at -= 1
        near[at], who[at], many[at] = d, p, w
    return near, who, many


@njit(cache=True, nogil=True)
def _doubled(array: Any) -> Any:
    """The array with as much room again."""
    longer = np.empty(2 * len(array), array.dtype)
    longer[: len(array)] = array
    return longer
