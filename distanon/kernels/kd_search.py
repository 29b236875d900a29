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
def search(
    tree: Any, counts: Any, starts: Any, records: Any, queries: Any, own: Any, k: int, cut: bool
) -> Any:
    """The neighborhoods of some queries, in CSR form.

    Args:
        tree: a KdTree over u points.
        counts: int64, shape (u,): records of each point.
        starts: int64, shape (u + 1,): where each point's records start.
        records: int64, shape (n,): record numbers, ascending for each point.
        queries: float64, shape (m, D).
        own: int64, shape (m,): the point that the query is, one record of which is left out;
            -1 where the query is none of the points.
        k: how many records; there must be as many.
        cut: take exactly k, the lowest record numbers among those tied at the k-th distance;
            else all that are tied.

    Returns:
        starts (m + 1,), points, weights, distances, radius (m,), next_distance (m,).
    """
    m, width = queries.shape
    offsets = np.zeros(m + 1, np.int64)
    radius = np.empty(m)
    beyond = np.empty(m)
    points = np.empty(m * (k + 1) + 1, np.int64)
    weights = np.empty(len(points), np.int64)
    distances = np.empty(len(points))
    gapped = tree.gaps[0].any() or np.isnan(queries).any()
    best = (np.empty(k + 2), np.empty(k + 2, np.int64), np.empty(k + 2, np.int64))
    leaf = (tree.last - tree.first)[tree.child == 0].max()
    work = (np.empty(tree.depth + 2, np.int64), np.empty(tree.depth + 2), np.empty(leaf))
    filled = 0
    for i in range(m):
        size = _nearest(tree, counts, queries[i], own[i], k + 1, gapped, best, work)
        squared, squared_next = _ranked(best, size, k)
        radius[i] = np.sqrt(squared)
        limit = tie(radius[i])
        beyond[i] = np.sqrt(squared_next)
        if beyond[i] > limit:  # no tie: what was found is all there is
            while np.sqrt(best[0][size - 1]) > limit:
                size -= 1
            found = (np.sqrt(best[0][:size]), best[1][:size].copy(), best[2][:size].copy())
            if squared_next == np.inf:
                beyond[i] = radius[i]
        else:
            found, beyond[i] = _within(
                tree, counts, queries[i], own[i], limit, gapped, not cut, work
            )
            if cut or beyond[i] == np.inf:
                beyond[i] = radius[i]
        near, who, many = _sorted(found[0], found[1], found[2])
        if cut:
            _cut_ties(near, who, many, radius[i], k, own[i], starts, records)
        while filled + len(who) > len(points):
            points = _doubled(points)
            weights = _doubled(weights)
            distances = _doubled(distances)
        for j in range(len(who)):
            if many[j] > 0:
                points[filled] = who[j]
                weights[filled] = many[j]
                distances[filled] = near[j]
                filled += 1
        offsets[i + 1] = filled
    return (
        offsets,
        points[:filled].copy(),
        weights[:filled].copy(),
        distances[:filled].copy(),
        radius,
        beyond,
    )


@njit(cache=True, nogil=True)
def _nearest(
    tree: Any, counts: Any, x: Any, own: int, want: int, gapped: bool, best: Any, work: Any
) -> int:
    """The nearest points that hold `want` records together, nearest first.

    Fills best = (squares, points, weights); returns how many entries it has. All records are
    there if there are fewer than `want`.
    """
    squares, who, many = best
    stack, bounds, buffer = work
    width = len(x)
    bound = np.inf
    size, total = 0, 0
    depth = 1
    stack[0], bounds[0] = 0, 0.0
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if bounds[depth] >= bound:
            continue
        while tree.child[node] != 0:
            near, far = tree.child[node], tree.child[node] + 1
            to_near = _to_box(tree.boxes, tree.gaps, near, x, gapped)
            to_far = _to_box(tree.boxes, tree.gaps, far, x, gapped)
            if to_far < to_near:
                near, far = far, near
                to_near, to_far = to_far, to_near
            if to_far < bound:
                stack[depth], bounds[depth] = far, to_far
                depth += 1
            if to_near >= bound:
                node = -1
                break
            node = near
        if node < 0:
            continue
        lo, m = tree.first[node], tree.last[node] - tree.first[node]
        _squares(tree.leaves, lo * width, m, x, gapped, buffer)
        for j in range(m):
            if buffer[j] >= bound:
                continue
            p = tree.order[lo + j]
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
                bound = squares[size - 1]
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
def _within(
    tree: Any, counts: Any, x: Any, own: int, limit: float, gapped: bool, onward: bool, work: Any
) -> Any:
    """All points at most `limit` away, and (if `onward`) the first distance beyond; else inf."""
    stack, bounds, buffer = work
    width = len(x)
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
        node = stack[depth]
        if bounds[depth] > bound:
            continue
        while tree.child[node] != 0:
            left, right = tree.child[node], tree.child[node] + 1
            to_left = _to_box(tree.boxes, tree.gaps, left, x, gapped)
            to_right = _to_box(tree.boxes, tree.gaps, right, x, gapped)
            if to_right < to_left:
                left, right = right, left
                to_left, to_right = to_right, to_left
            if to_right <= bound:
                stack[depth], bounds[depth] = right, to_right
                depth += 1
            if to_left > bound:
                node = -1
                break
            node = left
        if node < 0:
            continue
        lo, m = tree.first[node], tree.last[node] - tree.first[node]
        _squares(tree.leaves, lo * width, m, x, gapped, buffer)
        for j in range(m):
            if buffer[j] > bound:
                continue
            p = tree.order[lo + j]
            if p == own and counts[p] == 1:
                continue
            distance = np.sqrt(buffer[j])
            if distance <= limit:
                if size == len(who):
                    near = _doubled(near)
                    who = _doubled(who)
                near[size], who[size] = distance, p
                size += 1
            elif onward and distance < following:
                following = distance
                bound = max(reach, buffer[j])
    many = counts[who[:size]].copy()
    for j in range(size):
        if who[j] == own:
            many[j] -= 1
    return (near[:size].copy(), who[:size].copy(), many), following


@njit(cache=True, nogil=True)
def _cut_ties(
    near: Any, who: Any, many: Any, radius: float, k: int, own: int, starts: Any, records: Any
) -> None:
    """Lowers `many` to k records: first the closer ones, then the lowest numbers of the tied.

    Copies of the own point come before other points that are tied with it (which can only be
    within 1e-12): so the weights are the same for all copies.
    """
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
def _to_box(boxes: Any, gaps: Any, node: int, x: Any, gapped: bool) -> float:
    """The least squared distance that a point of this node can have."""
    total = 0.0
    for c in range(len(x)):
        v = x[c]
        if gapped and np.isnan(v):
            total += 0.0 if gaps[node, c] else 1.0
            continue
        away = max(max(boxes[node, 0, c] - v, v - boxes[node, 1, c]), 0.0)
        squared = away * away
        if gapped and gaps[node, c]:
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
