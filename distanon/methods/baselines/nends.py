"""Nearest-neighbor data substitution: near items replace one another in cycles.

Symbols of the paper: NH a neighborhood of near items, c its size.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

SMALLEST_CYCLE = 3
"""In a cycle of two, both would hold the other's value."""


def groups_of_one_column(column: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """Groups of at least `size` near values of one attribute, missing ones in none.

    Args:
        column: float64, shape (n,); NaN is missing.
        size: of a group; smaller only where fewer values are present.

    Returns:
        Group number of each record, shape (n,); −1 where the value is missing.
    """
    order = np.argsort(column, kind="stable")
    present = len(column) - int(np.isnan(column).sum())
    pieces = max(1, present // size)
    result = np.full(len(column), -1, dtype=np.int64)
    result[order[:present]] = np.arange(present) * pieces // max(1, present)
    return result


def groups_of_records(points: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """Groups of `size` to 2·size − 1 near records, by median cuts of the widest column.

    Args:
        points: float64, shape (n, d), n ≥ 1, columns in one scale; NaN counts as the middle.
        size: smallest group; a table with fewer records is one group.

    Returns:
        Group number of each record, shape (n,).

    Deviation: the paper leaves open how near tuples are found.
    """
    low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    filled = np.where(np.isnan(points), 0.5 * (low + high), points)
    result = np.empty(len(points), dtype=np.int64)
    todo = [np.arange(len(points))]
    groups = 0
    while todo:
        members = todo.pop()
        if len(members) < 2 * size:
            result[members] = groups
            groups += 1
            continue
        widest = int(np.argmax(np.ptp(filled[members], axis=0)))
        # Whole groups on both sides, so that few grow beyond `size`.
        cut = len(members) // size // 2 * size
        order = np.argsort(filled[members, widest], kind="stable")
        todo += [members[order[cut:]], members[order[:cut]]]
    return result


def substitutes(
    column: NDArray[np.float64], groups: NDArray[np.int64], uniforms: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Whose value each record gets: the next one's in its group's cycle.

    A group's cycle runs up its sorted values by every second one and down by the others, so that
    no value moves further than two places: of all cycles through the group, one with the smallest
    largest step.

    Args:
        column: float64, shape (n,); NaN is missing.
        groups: group number of each record, shape (n,); −1: in none.
        uniforms: a draw in (0, 1) for each record: the order of equal values, and with the
            first of a group its direction.

    Returns:
        Record numbers, shape (n,): a record's own where its value is missing, or where fewer than
        3 values of its group are present.

    Source: Parameswaran & Blough 2008, section 4 (substitution within a neighborhood; no two
        items swapped).
    """
    result = np.arange(len(column), dtype=np.int64)
    order = np.lexsort((uniforms, column, groups))
    order = order[(groups[order] >= 0) & ~np.isnan(column[order])]
    if len(order) == 0:
        return result
    _, first, sizes = np.unique(groups[order], return_index=True, return_counts=True)
    start = np.repeat(first, sizes)
    length = np.repeat(sizes, sizes)
    following = start + _next_place(np.arange(len(order)) - start, length)
    preceding = np.empty_like(following)
    preceding[following] = np.arange(len(order))
    ascending = uniforms[order[start]] < 0.5
    chosen = np.where(ascending, following, preceding)
    chosen = np.where(length < SMALLEST_CYCLE, np.arange(len(order)), chosen)
    result[order] = order[chosen]
    return result


def _next_place(place: NDArray[np.int64], length: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place after each in the cycle 0, 2, 4, …, 5, 3, 1 of so many places."""
    even = place % 2 == 0
    # From the last even place the cycle turns to the last odd one, and from 1 back to 0.
    last_odd = length - 1 - length % 2
    up = np.where(place + 2 < length, place + 2, np.maximum(last_odd, 0))
    down = np.where(place == 1, 0, place - 2)
    return np.where(even, up, down)
