"""Which records make groups wide: those that are left out within a budget, best gain first."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from distanon.kernels.median_cuts import Axes, Codes, Integers

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]


def trimmed(
    axes: Axes, codes: Codes, labels: Integers, groups: int, minimum: int, budget: int
) -> Booleans:
    """Leaves out records at the ends of groups, so that the groups span less.

    In each round every group offers one step: all its records with the lowest or highest number
    of one attribute, with one category, or without a value, whichever narrows it most a record.
    The best offers are taken until the budget ends; ties by the number of the group.

    Args:
        axes: of q attributes; hierarchies are left alone.
        codes: int32, shape (n, q), as `partition.dictionary` numbers them.
        labels: int64, shape (n,), groups from 0 without gaps.
        groups: g.
        minimum: records that each group keeps.
        budget: records that may be left out.

    Returns:
        bool, shape (n,): which records stay.
    """
    kept = np.ones(len(labels), np.bool_)
    members = np.argsort(labels, kind="stable").astype(np.int64)
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(labels))))
    active = np.arange(groups, dtype=np.int64)
    while budget > 0 and len(active):
        attributes, values, counts, gains = _offers(
            axes, codes, members, starts, kept, active, minimum
        )
        offers = np.flatnonzero(counts > 0)
        best = offers[np.lexsort((active[offers], -gains[offers]))]
        # Offers that fit, in their order: one that does not ends it, so that no choice is left.
        taken = best[np.cumsum(counts[best]) <= budget]
        if not len(taken):
            break
        budget -= int(counts[taken].sum())
        chosen = active[taken]
        _leave_out(codes, members, starts, kept, chosen, attributes[taken], values[taken])
        active = np.sort(active[offers])
    return kept


@njit(cache=True, nogil=True)
def _offers(
    axes: Axes,
    codes: Codes,
    members: Integers,
    starts: Integers,
    kept: Booleans,
    active: Integers,
    minimum: int,
) -> tuple[Integers, Integers, Integers, Floats]:
    """The step that narrows each group most: attribute, code, records, gain a record."""
    many = len(active)
    attributes, values = np.zeros(many, np.int64), np.zeros(many, np.int64)
    counts, gains = np.zeros(many, np.int64), np.zeros(many)
    for i in range(many):
        rows = members[starts[active[i]] : starts[active[i] + 1]]
        rows = rows[kept[rows]]
        size = len(rows)
        if size <= minimum:
            continue
        own = np.empty(size, np.int32)
        for j in range(codes.shape[1]):
            if axes.heights[j] > 0 or not axes.widths[j] > 0:
                continue
            for place in range(size):
                own[place] = codes[rows[place], j]
            own.sort()
            value, count, gain = _best_run(axes, j, own, size - minimum)
            if gain > gains[i]:
                attributes[i], values[i], counts[i], gains[i] = j, value, count, gain
    return attributes, values, counts, gains


@njit(cache=True, nogil=True)
def _best_run(axes: Axes, j: int, own: Codes, most: int) -> tuple[int, int, float]:
    """Which value, of how many records, at what gain a record; own: a group's codes, sorted."""
    size, first = len(own), 0
    kinds = 1 + int((own[1:] != own[:-1]).sum())
    best_value, best_count, best_gain = 0, 0, 0.0
    while first < size and kinds > 1:
        last = first
        while last + 1 < size and own[last + 1] == own[first]:
            last += 1
        count = last - first + 1
        is_end = first == 0 or last == size - 1
        if count <= most and (axes.is_set[j] or is_end):
            gain = _gain(axes, j, own, first, last, kinds) / count
            if gain > best_gain:
                best_value, best_count, best_gain = own[first], count, gain
        first = last + 1
    return best_value, best_count, best_gain


@njit(cache=True, nogil=True)
def _gain(axes: Axes, j: int, own: Codes, first: int, last: int, kinds: int) -> float:
    """Extents summed over the records, before less after leaving out own[first … last]."""
    size, count = len(own), last - first + 1
    if axes.is_set[j]:
        before, after = (kinds - 1) / axes.widths[j], (kinds - 2) / axes.widths[j]
    else:
        before = _range(axes, j, own[0], own[size - 1])
        low = own[last + 1] if first == 0 else own[0]
        high = own[first - 1] if last == size - 1 else own[size - 1]
        after = _range(axes, j, low, high)
    return float(size * before - (size - count) * after)


@njit(cache=True, nogil=True)
def _range(axes: Axes, j: int, low: int, high: int) -> float:
    """The extent between two codes; 1 where values and missing are mixed."""
    if low == high:
        return 0.0
    if high == axes.counts[j]:
        return 1.0
    base = axes.starts[j]
    return float((axes.values[base + high] - axes.values[base + low]) / axes.widths[j])


@njit(cache=True, nogil=True)
def _leave_out(
    codes: Codes,
    members: Integers,
    starts: Integers,
    kept: Booleans,
    groups: Integers,
    attributes: Integers,
    values: Integers,
) -> None:
    for i in range(len(groups)):
        for place in range(starts[groups[i]], starts[groups[i] + 1]):
            if codes[members[place], attributes[i]] == values[i]:
                kept[members[place]] = False
