"""The compiled inside of `partition`: one cut for each of many groups of records."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]

_DENSE = 4  # a histogram pays while it has at most so many bins a record


class Axes(NamedTuple):
    """How the q attributes are cut; attribute j has m_j distinct values, code m_j is missing.

    Attributes:
        counts: int64 (q,), m_j.
        starts: int64 (q,): where the values of attribute j start in `values`.
        values: float64: the distinct values, ascending, attribute by attribute.
        widths: float64 (q,): what extents are divided by; 0: the attribute has no extent.
        is_set: bool (q,): wide by how many different values a group has, less one, whatever lies
            between them; missing is one of them.
        heights: int64 (q,): of its hierarchy; 0: it has none, and is cut at the median.
        levels: int64 (q,): where the spans of attribute j start in `firsts` and `lasts`: height
            by height from 0 to `heights[j]`, m_j codes each.
        firsts: int32: first code under the ancestor of each code.
        lasts: int32: last code likewise.
    """

    counts: Integers
    starts: Integers
    values: Floats
    widths: Floats
    is_set: NDArray[np.bool_]
    heights: Integers
    levels: Integers
    firsts: Codes
    lasts: Codes


@njit(cache=True, nogil=True)
def propose(
    axes: Axes,
    codes: Codes,
    records: Codes,
    people: Codes,
    starts: Integers,
    stops: Integers,
    skips: Integers,
    minimum: int,
) -> tuple[Integers, Integers, Integers]:
    """For each group the cut that comes next, carried out in place.

    Widest attribute first; of each, the two borders between distinct values next to the median,
    the more balanced one first. Borders that leave a side too small don't count.

    Args:
        axes: of the attributes.
        codes: int32 (n, q), row-major: rows are moved so that the left side comes first.
        records: int32 (n,): moved likewise.
        people: int32 (n,): who is behind each row, moved likewise; empty: rows count.
        starts: int64 (g,): the groups are rows starts[i] … stops[i] − 1.
        stops: int64 (g,).
        skips: int64 (g,): how many possible cuts of each group were refused already.
        minimum: rows (people) that each side must have.

    Returns:
        int64 (g,) each: the attribute, −1 where no cut is left; the last code of the left side;
        the first row of the right side.
    """
    many, q = len(starts), codes.shape[1]
    attributes = np.full(many, -1, np.int64)
    last_codes = np.zeros(many, np.int64)
    middles = np.zeros(many, np.int64)
    bins = np.zeros(int(axes.counts.max()) + 2 if q else 1, np.int64)
    marks = np.zeros(int((axes.counts + 1).sum()), np.bool_)
    seen = np.full(int(people.max()) + 1 if len(people) else 0, -1, np.int64)
    extents = np.empty(q)
    lows, highs = np.empty(q, np.int64), np.empty(q, np.int64)
    borders, lefts = np.empty(3, np.int64), np.empty(3, np.int64)
    stamp = 0
    for i in range(many):
        start, stop = starts[i], stops[i]
        if stop - start < 2 * minimum:
            continue
        measure(axes, codes, start, stop, lows, highs, extents, marks)
        skip = skips[i]
        while q > 0 and attributes[i] < 0:
            j = int(np.argmax(extents))
            if not extents[j] > 0:
                break
            extents[j] = -1.0
            found = _borders(axes, codes, j, start, stop, lows[j], highs[j], bins, borders, lefts)
            for place in range(found):
                left, border = lefts[place], borders[place]
                is_enough = min(left, stop - start - left) >= minimum
                if is_enough and len(people):
                    stamp += 2
                    is_enough = _enough(codes, people, seen, j, border, start, stop, minimum, stamp)
                if is_enough and skip == 0:
                    attributes[i], last_codes[i], middles[i] = j, border, start + left
                    move(codes, records, people, j, border, start, stop)
                    break
                skip -= int(is_enough)
    return attributes, last_codes, middles


@njit(cache=True, nogil=True)
def measure(
    axes: Axes,
    codes: Codes,
    start: int,
    stop: int,
    lows: Integers,
    highs: Integers,
    extents: Floats,
    marks: NDArray[np.bool_],
) -> None:
    """Lowest and highest present code of each attribute, and how wide the group is in it.

    A group that mixes missing with numbers is as wide as can be: 1.
    """
    q = codes.shape[1]
    tops, kinds = np.empty(q, np.int64), np.zeros(q, np.int64)
    for j in range(q):
        lows[j], highs[j], tops[j] = axes.counts[j], -1, -1
    for row in range(start, stop):
        for j in range(q):
            code = np.int64(codes[row, j])
            lows[j] = min(lows[j], code)
            tops[j] = max(tops[j], code)
            if code < axes.counts[j]:
                highs[j] = max(highs[j], code)
            if axes.is_set[j] and not marks[axes.starts[j] + j + code]:
                marks[axes.starts[j] + j + code] = True
                kinds[j] += 1
    for j in range(q):
        if axes.is_set[j]:
            for row in range(start, stop):
                marks[axes.starts[j] + j + codes[row, j]] = False
        extents[j] = _extent(axes, j, lows[j], highs[j], tops[j], kinds[j])


@njit(cache=True, nogil=True)
def _extent(axes: Axes, j: int, low: int, high: int, top: int, kinds: int) -> float:
    """How wide a group is in attribute j."""
    many, width = axes.counts[j], axes.widths[j]
    if low == top:
        return 0.0
    if axes.is_set[j]:
        return float((kinds - 1) / width) if width > 0 else 0.0
    if top == many:
        return 1.0
    if not width > 0:
        return 0.0
    first, last = np.int64(low), np.int64(high)
    if axes.heights[j] > 0:
        level = axes.levels[j] + height_of(axes, j, low, high) * many
        first, last = np.int64(axes.firsts[level + low]), np.int64(axes.lasts[level + low])
    base = axes.starts[j]
    return float((axes.values[base + last] - axes.values[base + first]) / width)


@njit(cache=True, nogil=True)
def height_of(axes: Axes, j: int, low: int, high: int) -> int:
    """The height of the lowest common ancestor of two codes."""
    height = 0
    while axes.lasts[axes.levels[j] + height * axes.counts[j] + low] < high:
        height += 1
    return height


@njit(cache=True, nogil=True)
def _borders(
    axes: Axes,
    codes: Codes,
    j: int,
    start: int,
    stop: int,
    low: int,
    high: int,
    bins: Integers,
    borders: Integers,
    lefts: Integers,
) -> int:
    """Where attribute j may be cut: last codes of left sides, and these sides' sizes.

    Returns:
        How many: the cut between values and missing, where both occur; then the two borders
        beside the median.
    """
    many, size = axes.counts[j], stop - start
    missing = 0
    for row in range(start, stop):
        if codes[row, j] == many:
            missing += 1
    parted = int(0 < missing < size)
    if parted:
        borders[0], lefts[0] = high, size - missing
    if low >= high:
        return parted
    if axes.heights[j] > 0 or high - low + 1 <= _DENSE * size + 64:
        for row in range(start, stop):
            bins[codes[row, j]] += 1
        found = _beside_median(axes, j, low, high, size, bins, borders[parted:], lefts[parted:])
        for code in range(low, high + 1):
            bins[code] = 0
        bins[many] = 0
    else:
        found = _selected(codes, j, start, stop, high, borders[parted:], lefts[parted:])
    return parted + found


@njit(cache=True, nogil=True)
def _beside_median(
    axes: Axes,
    j: int,
    low: int,
    high: int,
    size: int,
    bins: Integers,
    borders: Integers,
    lefts: Integers,
) -> int:
    """The last border before the middle and the first one after it, the more balanced first.

    With a hierarchy only borders between children of the lowest common ancestor count.
    """
    many = axes.counts[j]
    level = 0
    has_tree = axes.heights[j] > 0
    if has_tree:
        level = axes.levels[j] + (height_of(axes, j, low, high) - 1) * many
    running, border, left = 0, -1, 0
    found = 0
    last_present = low
    for code in range(low, high + 1):
        if bins[code] == 0:
            continue
        # A border lies before this code, unless both sides hang under one child.
        if running > 0 and not (has_tree and axes.lasts[level + last_present] >= code):
            if 2 * running <= size:
                border, left = last_present, running
            else:
                borders[found], lefts[found] = last_present, running
                found += 1
                break
        running += bins[code]
        last_present = code
    if border >= 0:
        borders[found], lefts[found] = border, left
        found += 1
    if found == 2 and 2 * lefts[0] - size >= size - 2 * lefts[1]:
        borders[0], borders[1] = borders[1], borders[0]
        lefts[0], lefts[1] = lefts[1], lefts[0]
    return found


@njit(cache=True, nogil=True)
def _selected(
    codes: Codes, j: int, start: int, stop: int, high: int, borders: Integers, lefts: Integers
) -> int:
    """The same borders where a histogram would be too sparse, by sorting."""
    size = stop - start
    ordered = np.empty(size, np.int32)
    present = 0
    for row in range(start, stop):
        if codes[row, j] <= high:
            ordered[present] = codes[row, j]
            present += 1
    ordered = ordered[:present]
    ordered.sort()
    place = min(size // 2, present - 1)
    middle = ordered[place]
    below = place
    while below > 0 and ordered[below - 1] == middle:
        below -= 1
    upto = place + 1
    while upto < present and ordered[upto] == middle:
        upto += 1
    found = 0
    if below > 0:
        borders[found], lefts[found] = ordered[below - 1], below
        found += 1
    if upto < present:
        borders[found], lefts[found] = middle, upto
        found += 1
    if found == 2 and size - 2 * lefts[0] > 2 * lefts[1] - size:
        borders[0], borders[1] = borders[1], borders[0]
        lefts[0], lefts[1] = lefts[1], lefts[0]
    return found


@njit(cache=True, nogil=True)
def _enough(
    codes: Codes,
    people: Codes,
    seen: Integers,
    j: int,
    border: int,
    start: int,
    stop: int,
    minimum: int,
    stamp: int,
) -> bool:
    """Whether both sides have enough different people; `seen` keeps who was met last when."""
    for side in range(2):
        met = 0
        for row in range(start, stop):
            if (codes[row, j] <= border) == (side == 0) and seen[people[row]] != stamp + side:
                seen[people[row]] = stamp + side
                met += 1
                if met >= minimum:
                    break
        if met < minimum:
            return False
    return True


@njit(cache=True, nogil=True)
def move(
    codes: Codes, records: Codes, people: Codes, j: int, border: int, start: int, stop: int
) -> None:
    """Puts the rows of the left side first."""
    q = codes.shape[1]
    low, high = start, stop - 1
    while low <= high:
        if codes[low, j] <= border:
            low += 1
        elif codes[high, j] > border:
            high -= 1
        else:
            for at in range(q):
                codes[low, at], codes[high, at] = codes[high, at], codes[low, at]
            records[low], records[high] = records[high], records[low]
            if len(people):
                people[low], people[high] = people[high], people[low]
            low += 1
            high -= 1


@njit(cache=True, nogil=True)
def descend(
    attributes: Codes,
    thresholds: Floats,
    lefts: Codes,
    rights: Codes,
    groups: Codes,
    roots: Integers,
    values: Floats,
) -> Integers:
    """The group of each record: values up to the threshold go left, missing goes right.

    Args:
        attributes: int32 (nodes,): −1 at a group.
        thresholds: float64 (nodes,).
        lefts: int32 (nodes,).
        rights: int32 (nodes,).
        groups: int32 (nodes,).
        roots: int64 (m,): where each record starts.
        values: float64 (m, q).
    """
    found = np.empty(len(roots), np.int64)
    for row in range(len(roots)):
        node = roots[row]
        while attributes[node] >= 0:
            is_left = values[row, attributes[node]] <= thresholds[node]
            node = lefts[node] if is_left else rights[node]
        found[row] = groups[node]
    return found
