"""MDAV microaggregation: groups of k to 2k - 1 records that are near one another.

Source: Domingo-Ferrer and Torra 2005, Ordinal, continuous and heterogeneous k-anonymity through
    microaggregation, Data Mining and Knowledge Discovery 11, 195-212, algorithm MDAV-generic.
Deviation: distances are whole numbers on a grid, so that sums are exact and the groups do not
    depend on the order of the records; of records that tie the first in the order of their values
    is taken. "Farthest from the average record" is "with the largest sum of squared distances to
    all", which is the same where an average exists and has a meaning where values are missing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_FINEST = 20  # bits of the grid: a millionth of a column's range
_ROOM = 62  # bits of a sum


class Mixed(NamedTuple):
    """Records of numbers and categories, so that squared distances are sums over columns.

    Attributes:
        lines: float64, shape (n, a): numbers and ranks in 0 … 1 of their ranges, NaN missing: at
            distance 1 to a value and 0 to NaN.
        codes: int64, shape (n, b), from 0: categories, missing among them; for a hierarchy one
            column for each level below the top.
        weights: float64, shape (b,): the squared distance that two different codes add.
    """

    lines: Floats
    codes: Integers
    weights: Floats

    def take(self, rows: Integers) -> Mixed:
        """Some of the records."""
        return Mixed(self.lines[rows], self.codes[rows], self.weights)


class _Grid(NamedTuple):
    """`Mixed` in whole numbers: lines int64, -1 missing; `unit` is the square of a distance 1."""

    lines: Integers
    codes: Integers
    weights: Integers
    unit: int


def microaggregate(records: Mixed, k: int) -> Integers:
    """The group of each record, every group of k to 2k - 1 records (of all, if fewer than 2k).

    Args:
        records: n of them.
        k: at least 1; n at least k, or 0.

    Returns:
        int64, shape (n,), groups numbered from 0 in the order in which they were formed. As a
        partition of tuples it does not depend on the order of the records.

    Raises:
        ValueError: fewer than k records.

    Complexity: n / 2k rounds over the records that are left, O(n² · (a + b) / k) in time and
        O(n · (a + b)) in memory; no distance is kept. Cut larger tables by medians before.
    """
    count = len(records.lines)
    if 0 < count < k:
        message = f"{count} records can't be grouped by {k}"
        raise ValueError(message)
    if not count:
        return np.empty(0, np.int64)
    grid = _on_grid(records, count)
    order = np.lexsort((*grid.codes.T[::-1], *grid.lines.T[::-1], np.zeros(count)))
    labels = np.full(count, -1, np.int64)
    spans = np.concatenate(([0], np.cumsum(grid.codes.max(axis=0, initial=-1) + 1)))
    lines, codes = grid.lines[order], grid.codes[order]
    _group(lines, codes, grid.weights, grid.unit, spans.astype(np.int64), k, labels)
    found = np.empty(count, np.int64)
    found[order] = labels
    return found


def join_nearest(representatives: Mixed, fails: NDArray[np.bool_]) -> Integers:
    """Joins each group that fails to the nearest one that has not been joined yet.

    Args:
        representatives: g of them, one for each group.
        fails: bool, shape (g,): groups that can't stay alone.

    Returns:
        int64, shape (g,): the joined group of each, numbered from 0 without gaps in the order of
        their lowest members. Groups that fail come in their order; each joins one other, and who
        was joined once rests, so that groups grow by as little as possible.
    """
    grid = _on_grid(representatives, 1)
    parent = np.arange(len(grid.lines))
    _join(grid.lines, grid.codes, grid.weights, grid.unit, fails, parent)
    return np.unique(parent, return_inverse=True)[1].astype(np.int64)


def _on_grid(records: Mixed, count: int) -> _Grid:
    """The records in whole numbers, as fine as sums over `count` of them allow."""
    whole = records.lines.shape[1] + float(records.weights.sum()) + 1.0
    free = _ROOM - int(np.ceil(np.log2(whole))) - int(np.ceil(np.log2(max(2, count)))) - 1
    size = 2 ** min(_FINEST, free // 2)
    present = np.clip(np.nan_to_num(records.lines, nan=0.0), 0.0, 1.0)
    lines = np.where(np.isnan(records.lines), -1, np.rint(present * size)).astype(np.int64)
    weights = np.rint(records.weights * float(size * size)).astype(np.int64)
    codes = np.ascontiguousarray(records.codes, dtype=np.int64)
    return _Grid(np.ascontiguousarray(lines), codes, weights, size * size)


@njit(cache=True, nogil=True)
def _square(
    one_lines: Integers,
    one_codes: Integers,
    lines: Integers,
    codes: Integers,
    weights: Integers,
    unit: int,
) -> int:
    """The squared distance of two records."""
    total = 0
    for a in range(len(lines)):
        if one_lines[a] < 0 or lines[a] < 0:
            total += unit if one_lines[a] != lines[a] else 0
        else:
            total += (one_lines[a] - lines[a]) ** 2
    for b in range(len(codes)):
        if one_codes[b] != codes[b]:
            total += weights[b]
    return total


@njit(cache=True, nogil=True)
def _nearest(
    lines: Integers,
    codes: Integers,
    their_lines: Integers,
    their_codes: Integers,
    weights: Integers,
    unit: int,
    skipped: NDArray[np.bool_],
    found: Integers,
) -> None:
    for i in range(len(lines)):
        least, found[i] = np.iinfo(np.int64).max, -1
        for j in range(len(their_lines)):
            if skipped[j]:
                continue
            away = _square(lines[i], codes[i], their_lines[j], their_codes[j], weights, unit)
            if away < least:
                least, found[i] = away, j


@njit(cache=True, nogil=True)
def _join(
    lines: Integers,
    codes: Integers,
    weights: Integers,
    unit: int,
    fails: NDArray[np.bool_],
    parent: Integers,
) -> None:
    resting = np.zeros(len(lines), np.bool_)
    found = np.empty(1, np.int64)
    for i in range(len(lines)):
        if not fails[i] or resting[i]:
            continue
        resting[i] = True
        own = slice(i, i + 1)
        _nearest(lines[own], codes[own], lines, codes, weights, unit, resting, found)
        if found[0] < 0:
            resting[i] = False  # nobody is left in this round
            return
        resting[found[0]] = True
        low, high = min(i, found[0]), max(i, found[0])
        parent[high] = low


@njit(cache=True, nogil=True)
def _sums(
    lines: Integers, codes: Integers, spans: Integers
) -> tuple[Integers, Integers, Integers, Integers]:
    """For each line how many are present, their sum and sum of squares; how often each code is."""
    present = np.zeros(lines.shape[1], np.int64)
    sums = np.zeros(lines.shape[1], np.int64)
    squares = np.zeros(lines.shape[1], np.int64)
    counts = np.zeros(spans[-1], np.int64)
    for i in range(len(lines)):
        _account(lines[i], codes[i], spans, present, sums, squares, counts, 1)
    return present, sums, squares, counts


@njit(cache=True, nogil=True)
def _account(
    lines: Integers,
    codes: Integers,
    spans: Integers,
    present: Integers,
    sums: Integers,
    squares: Integers,
    counts: Integers,
    sign: int,
) -> None:
    """Adds one record to the sums (sign 1), or takes it away (-1)."""
    for a in range(len(lines)):
        if lines[a] >= 0:
            present[a] += sign
            sums[a] += sign * lines[a]
            squares[a] += sign * lines[a] * lines[a]
    for b in range(len(codes)):
        counts[spans[b] + codes[b]] += sign


@njit(cache=True, nogil=True)
def _farthest(
    left: Integers,
    lines: Integers,
    codes: Integers,
    weights: Integers,
    unit: int,
    spans: Integers,
    present: Integers,
    sums: Integers,
    squares: Integers,
    counts: Integers,
) -> int:
    """The record with the largest sum of squared distances to all that are left."""
    most, best = -1, -1
    for i in left:
        total = 0
        for a in range(lines.shape[1]):
            x = lines[i, a]
            if x < 0:
                total += present[a] * unit
            else:
                total += present[a] * x * x - 2 * x * sums[a] + squares[a]
                total += (len(left) - present[a]) * unit
        for b in range(codes.shape[1]):
            total += weights[b] * (len(left) - counts[spans[b] + codes[i, b]])
        if total > most:
            most, best = total, i
    return best


@njit(cache=True, nogil=True)
def _take_nearest(
    center: int,
    k: int,
    label: int,
    left: Integers,
    away: Integers,
    lines: Integers,
    codes: Integers,
    weights: Integers,
    unit: int,
    labels: Integers,
) -> None:
    """Gives the k records nearest to `center` their label; `away` keeps all distances."""
    least = np.full(k, np.iinfo(np.int64).max)
    chosen = np.full(k, -1, np.int64)
    for place in range(len(left)):
        i = left[place]
        distance = _square(lines[center], codes[center], lines[i], codes[i], weights, unit)
        away[place] = distance
        if distance >= least[k - 1]:
            continue
        spot = k - 1
        while spot > 0 and least[spot - 1] > distance:
            least[spot], chosen[spot] = least[spot - 1], chosen[spot - 1]
            spot -= 1
        least[spot], chosen[spot] = distance, i
    for i in chosen:
        labels[i] = label


@njit(cache=True, nogil=True)
def _group(
    lines: Integers,
    codes: Integers,
    weights: Integers,
    unit: int,
    spans: Integers,
    k: int,
    labels: Integers,
) -> None:
    left = np.arange(len(lines))
    away = np.empty(len(lines), np.int64)
    present, sums, squares, counts = _sums(lines, codes, spans)
    label = 0
    while len(left) >= 2 * k:
        far = _farthest(left, lines, codes, weights, unit, spans, present, sums, squares, counts)
        pair = 2 if len(left) >= 3 * k else 1
        for _ in range(pair):
            _take_nearest(far, k, label, left, away, lines, codes, weights, unit, labels)
            label += 1
            most, kept = -1, 0
            for place in range(len(left)):
                i = left[place]
                if labels[i] >= 0:
                    _account(lines[i], codes[i], spans, present, sums, squares, counts, -1)
                    continue
                if away[place] > most:
                    most, far = away[place], i
                left[kept] = i
                kept += 1
            left = left[:kept]
    for i in left:
        labels[i] = label
