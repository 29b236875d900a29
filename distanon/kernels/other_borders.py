"""Cuts away from the median, for groups of which limits refuse every cut beside it.

All borders of an attribute are judged in one pass: the counts on the left of a border are those
on the left of the one before it and what lies between the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numpy.typing import NDArray

from distanon.kernels.counts import Counts, from_triplets
from distanon.kernels.median_cuts import Axes, Codes, Floats, Integers, height_of, measure, move

if TYPE_CHECKING:
    from distanon.kernels.partition import Limit

Booleans = NDArray[np.bool_]

MOST = 64
"""Borders of an attribute that are tried; of more, so many that are spread evenly."""
_ROOM = 4_096
"""Counts that a group may have beside two for each record: values times borders stay below."""


def other_cuts(
    axes: Axes,
    codes: Codes,
    records: Codes,
    people: Codes,
    starts: Integers,
    stops: Integers,
    minimum: int,
    limits: Sequence[Limit],
) -> tuple[Integers, Integers, Integers]:
    """For each group the most even cut of its widest attribute that has one; carried out in place.

    Args:
        axes: of the attributes.
        codes: int32 (n, q), row-major: rows are moved so that the left side comes first.
        records: int32 (n,): moved likewise.
        people: int32 (n,): who is behind each row, moved likewise; empty: rows count.
        starts: int64 (g,): the groups are rows starts[i] … stops[i] − 1.
        stops: int64 (g,).
        minimum: rows (people) that each side must have.
        limits: that both sides must keep.

    Returns:
        int64 (g,) each, as `median_cuts.propose`: the attribute, −1 where there is no cut; the
        last code of the left side; the first row of the right side.
    """
    attributes = np.full(len(starts), -1, np.int64)
    last_codes, middles = np.zeros((2, len(starts)), np.int64)
    extents, lows, highs = _extents(axes, codes, starts, stops)
    order = np.argsort(-extents, axis=1, kind="stable")
    for rank in range(codes.shape[1]):
        axis = order[:, rank] if len(starts) else np.zeros(0, np.int64)
        is_wide = extents[np.arange(len(starts)), axis] > 0
        groups = np.flatnonzero((attributes < 0) & is_wide & (stops - starts >= 2 * minimum))
        if not len(groups):
            continue
        own = axis[groups]
        low, high = lows[groups, own], highs[groups, own]
        many = _tried(starts[groups], stops[groups], limits)
        found = _borders(
            axes, codes, people, own, starts[groups], stops[groups], low, high, many, minimum
        )
        group_of, borders, lefts = found
        stands = _standing(codes, records, own, starts, stops, groups, found, limits)
        uneven = np.abs(2 * lefts - (stops - starts)[groups][group_of])
        best = np.lexsort((borders, uneven, ~stands, group_of))
        first = np.unique(group_of[best], return_index=True)[1]
        taken = best[first][stands[best[first]]]
        cut = groups[group_of[taken]]
        attributes[cut], last_codes[cut] = axis[cut], borders[taken]
        middles[cut] = starts[cut] + lefts[taken]
    _carry_out(codes, records, people, attributes, last_codes, starts, stops)
    return attributes, last_codes, middles


def _tried(starts: Integers, stops: Integers, limits: Sequence[Limit]) -> Integers:
    """How many borders of each group are tried: few where many values would be counted."""
    sizes = stops - starts
    values = np.ones(len(sizes), np.int64)
    for limit in limits:
        own = np.minimum(sizes, limit.n_values)
        values = np.maximum(values, own)
    return np.asarray(np.clip((2 * sizes + _ROOM) // values, 2, MOST), dtype=np.int64)


def _standing(
    codes: Codes,
    records: Codes,
    axis: Integers,
    starts: Integers,
    stops: Integers,
    groups: Integers,
    found: tuple[Integers, Integers, Integers],
    limits: Sequence[Limit],
) -> Booleans:
    """Whether both sides of each border keep every limit, bool (b,)."""
    group_of, borders, _ = found
    stands = np.ones(len(borders), np.bool_)
    bounds = np.searchsorted(group_of, np.arange(len(groups) + 1)).astype(np.int64)
    for limit in limits:
        sides = _sides(
            codes,
            records,
            limit.codes,
            limit.n_values,
            axis,
            starts[groups],
            stops[groups],
            bounds,
            borders,
        )
        counts: Counts = from_triplets(*sides, 2 * len(borders), limit.n_values)
        held = limit.holds(counts)
        stands &= held[0::2] & held[1::2]
    return stands


@njit(cache=True, nogil=True)
def _extents(
    axes: Axes, codes: Codes, starts: Integers, stops: Integers
) -> tuple[Floats, Integers, Integers]:
    """How wide each group is in each attribute, its lowest and its highest present code."""
    many, q = len(starts), codes.shape[1]
    extents = np.zeros((many, q))
    lows, highs = np.zeros((many, q), np.int64), np.zeros((many, q), np.int64)
    marks = np.zeros(int((axes.counts + 1).sum()), np.bool_)
    for i in range(many):
        measure(axes, codes, starts[i], stops[i], lows[i], highs[i], extents[i], marks)
    return extents, lows, highs


@njit(cache=True, nogil=True)
def _borders(
    axes: Axes,
    codes: Codes,
    people: Codes,
    axis: Integers,
    starts: Integers,
    stops: Integers,
    lows: Integers,
    highs: Integers,
    most: Integers,
    minimum: int,
) -> tuple[Integers, Integers, Integers]:
    """Borders that leave both sides enough rows (people), group by group, ascending.

    Returns:
        int64 (b,) each: the group; the last code on the left; the rows on the left.
    """
    total = int(most.sum())
    group_of, borders, lefts = (
        np.empty(total, np.int64),
        np.empty(total, np.int64),
        np.empty(total, np.int64),
    )
    seen = np.full(int(people.max()) + 1 if len(people) else 0, -1, np.int64)
    at, stamp = 0, 0
    for i in range(len(starts)):
        j, start, size = axis[i], starts[i], stops[i] - starts[i]
        order = np.argsort(codes[start : stops[i], j])
        before, after = _beside(people[start : stops[i]], order, seen, stamp)
        stamp += 2
        level = -1
        if axes.heights[j] > 0 and lows[i] < highs[i]:
            level = axes.levels[j] + (height_of(axes, j, lows[i], highs[i]) - 1) * axes.counts[j]
        own = np.empty(size, np.int64)
        found = 0
        for place in range(1, size):
            low, high = codes[start + order[place - 1], j], codes[start + order[place], j]
            if low == high or before[place] < minimum or after[place] < minimum:
                continue
            # As in `median_cuts`: not inside a child of the lowest common ancestor.
            if level < 0 or high == axes.counts[j] or axes.lasts[level + low] < high:
                own[found] = place
                found += 1
        tried = min(found, most[i])
        for number in range(tried):
            place = own[number if tried == found else number * (found - 1) // (tried - 1)]
            group_of[at], lefts[at] = i, place
            borders[at] = codes[start + order[place - 1], j]
            at += 1
    return group_of[:at], borders[:at], lefts[:at]


@njit(cache=True, nogil=True)
def _beside(
    people: Codes, order: Integers, seen: Integers, stamp: int
) -> tuple[Integers, Integers]:
    """How many people, or rows, stand before each place in an order, and from it on; (m + 1,)."""
    size = len(order)
    before = np.arange(size + 1)
    after = size - before
    if len(people):
        for place in range(size):
            person = people[order[place]]
            before[place + 1] = before[place] + int(seen[person] != stamp)
            seen[person] = stamp
        for place in range(size - 1, -1, -1):
            person = people[order[place]]
            after[place] = after[place + 1] + int(seen[person] != stamp + 1)
            seen[person] = stamp + 1
    return before, after


@njit(cache=True, nogil=True)
def _kinds(records: Codes, value_of: Integers, kinds: Integers) -> Integers:
    """The distinct values of some records, ascending; how often each occurs is left in `kinds`."""
    found = np.empty(len(records), np.int64)
    many = 0
    for record in records:
        value = value_of[record]
        if kinds[value] == 0:
            found[many] = value
            many += 1
        kinds[value] += 1
    found = found[:many]
    found.sort()
    return found


@njit(cache=True, nogil=True)
def _sides(
    codes: Codes,
    records: Codes,
    value_of: Integers,
    n_values: int,
    axis: Integers,
    starts: Integers,
    stops: Integers,
    bounds: Integers,
    borders: Integers,
) -> tuple[Integers, Integers, Integers]:
    """Counts of values left and right of each border: sorted (2 · border + side, value, count)."""
    kinds, left = np.zeros(n_values, np.int64), np.zeros(n_values, np.int64)
    room = 0
    for i in range(len(starts)):
        own = _kinds(records[starts[i] : stops[i]], value_of, kinds)
        kinds[own] = 0
        room += 2 * len(own) * (bounds[i + 1] - bounds[i])
    sides, values, counts = (
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
    )
    at = 0
    for i in range(len(starts)):
        here = records[starts[i] : stops[i]]
        own = _kinds(here, value_of, kinds)
        order = np.argsort(codes[starts[i] : stops[i], axis[i]])
        place = 0
        for border in range(bounds[i], bounds[i + 1]):
            while codes[starts[i] + order[place], axis[i]] <= borders[border]:
                left[value_of[here[order[place]]]] += 1
                place += 1
            for value in own:
                if left[value] > 0:
                    sides[at], values[at], counts[at] = 2 * border, value, left[value]
                    at += 1
            for value in own:
                if kinds[value] > left[value]:
                    sides[at], values[at] = 2 * border + 1, value
                    counts[at] = kinds[value] - left[value]
                    at += 1
        left[own] = 0
        kinds[own] = 0
    return sides[:at], values[:at], counts[:at]


@njit(cache=True, nogil=True)
def _carry_out(
    codes: Codes,
    records: Codes,
    people: Codes,
    attributes: Integers,
    borders: Integers,
    starts: Integers,
    stops: Integers,
) -> None:
    """Puts the rows of each left side first."""
    for i in range(len(starts)):
        if attributes[i] >= 0:
            move(codes, records, people, attributes[i], borders[i], starts[i], stops[i])
