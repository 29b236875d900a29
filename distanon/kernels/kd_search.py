"""Neighborhoods from candidates: exact distances, ties, counts.

Every distance is the square root of squares summed in column order in float64, without
reassociation or fused operations, so that it does not matter who proposed the candidates.

One file, although long: numba compiles again what stands in a changed file, not its callers
in other files.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from distanon.kernels.prefetch import expect_neighbors
from distanon.kernels.ties import TIE_ABSOLUTE, TIE_RELATIVE

__all__ = ["TIE_ABSOLUTE", "TIE_RELATIVE", "scatter", "settle", "tie"]

_SMALL = 64  # entries that an insertion sort orders faster than a heap


@njit(cache=True, nogil=True)
def tie(distance: float) -> float:
    """The greatest distance that counts as equal to this one.

    Columns divided by their range round differently: without a tolerance 11 % of Poker's
    records have a radius of 1e-17 where there is a tie.
    """
    return distance * (1.0 + TIE_RELATIVE) + TIE_ABSOLUTE


@njit(cache=True, nogil=True)
def settle(
    rows: Any, table: Any, candidates: Any, queries: Any, own: Any, gapped: bool, k: int, cut: bool
) -> Any:
    """The neighborhoods of some queries, in CSR form.

    Args:
        rows: float64, shape (u, D): the points.
        table: counts, int64, shape (u,): records of each point; starts, int64, shape (u + 1,):
            where each point's records start; records, int64, shape (n,): record numbers,
            ascending for each point.
        candidates: starts, int64, shape (m + 1,), and for each query the points that are
            looked at: all of the neighborhood, and the nearest beyond, at least.
        queries: float64, shape (m, D).
        own: int64, shape (m,): the point that the query is, one record of which is left out;
            -1 where the query is none of the points.
        gapped: whether values may be missing.
        k: how many records; there must be as many.
        cut: take exactly k, the lowest record numbers among those tied at the k-th distance;
            else all that are tied.

    Returns:
        starts (m + 1,), points and weights (int32), distances, radius (m,), next_distance (m,).
    """
    m, width = len(queries), rows.shape[1]
    opens, proposed = candidates
    starts = np.zeros(m + 1, np.int64)
    radius, beyond = np.empty(m), np.empty(m)
    points = np.empty(len(proposed), np.int32)
    weights = np.empty(len(proposed), np.int32)
    distances = np.empty(len(proposed))
    filled = 0
    for i in range(m):
        # In the output itself: entries that don't belong are overwritten by the next query's.
        size = 0
        expect_neighbors(rows, width, opens, proposed, i)
        expect_neighbors(table[0], 1, opens, proposed, i)
        for p in proposed[opens[i] : opens[i + 1]]:
            weight = table[0][p] - (1 if p == own[i] else 0)
            if weight > 0:
                points[filled + size], weights[filled + size] = p, weight
                distances[filled + size] = np.sqrt(_square(rows, p, queries, i, gapped))
                size += 1
        near = distances[filled : filled + size]
        who, many = points[filled : filled + size], weights[filled : filled + size]
        _sort(near, who, many)
        radius[i], beyond[i], size, total = _border(near, many, k)
        if cut and total > k:
            beyond[i] = radius[i]
            _cut_ties(near[:size], who[:size], many[:size], radius[i], k, own[i], table)
            size = _packed(near, who, many, size)
        filled += size
        starts[i + 1] = filled
    entries = (points[:filled].copy(), weights[:filled].copy(), distances[:filled].copy())
    return starts, entries[0], entries[1], entries[2], radius, beyond


@njit(cache=True, nogil=True)
def scatter(some: Any, numbers: Any, whole: Any) -> None:
    """Copies neighborhoods (as `settle` returns them) to their places among all.

    Args:
        some: of some queries.
        numbers: int64: the number of each of these queries among all.
        whole: of all queries; starts are set, the others are filled.
    """
    starts, points, weights, distances, radius, beyond = some
    all_starts, all_points, all_weights, all_distances, all_radius, all_beyond = whole
    for i in range(len(numbers)):
        to = all_starts[numbers[i]]
        for j in range(starts[i], starts[i + 1]):
            all_points[to], all_weights[to] = points[j], weights[j]
            all_distances[to] = distances[j]
            to += 1
        all_radius[numbers[i]], all_beyond[numbers[i]] = radius[i], beyond[i]


@njit(cache=True, nogil=True)
def _square(rows: Any, p: int, queries: Any, i: int, gapped: bool) -> float:
    """The squared distance of a point and a query, summed in column order."""
    total = 0.0
    for c in range(rows.shape[1]):
        away = rows[p, c] - queries[i, c]
        if gapped and np.isnan(away):
            total += 0.0 if np.isnan(rows[p, c]) and np.isnan(queries[i, c]) else 1.0
        else:
            total += away * away
    return total


@njit(cache=True, nogil=True)
def _border(near: Any, many: Any, k: int) -> Any:
    """The radius, the next distance, how many entries are within the ties, and their records."""
    total, j = 0, 0
    while total < k:
        total += many[j]
        j += 1
    radius = near[j - 1]
    limit = tie(radius)
    while j < len(near) and near[j] <= limit:
        total += many[j]
        j += 1
    return radius, near[j] if j < len(near) else radius, j, total


@njit(cache=True, nogil=True)
def _packed(near: Any, who: Any, many: Any, size: int) -> int:
    """Moves entries that have a weight to the front; returns how many there are."""
    kept = 0
    for j in range(size):
        if many[j] > 0:
            near[kept], who[kept], many[kept] = near[j], who[j], many[j]
            kept += 1
    return kept


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
