"""Cuts nodes into groups of nearly equal degree, at the least cost of making them equal."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def grouped_by_degree(degrees: Integers, class_of: Integers, least: int) -> Integers:
    """The cheapest cut of each class into groups of nodes that get one degree.

    Args:
        degrees: int64, shape (n,).
        class_of: int64, shape (n,): groups never cross classes; each has at least `least` nodes.
        least: nodes of a group, at least; below twice that many at most.

    Returns:
        int64, shape (n,): the group of each node, numbered by (class, degree). The sum of
        |degree − median of the group| is the least there is, by dynamic programming over the
        sorted degrees of a class, O(n · least).

    Raises:
        ValueError: a class has fewer nodes than `least`.
    """
    order = np.lexsort((np.arange(len(degrees)), degrees, class_of))
    starts = np.flatnonzero(np.diff(class_of[order], prepend=-1))
    stops = np.append(starts[1:], len(order))
    if len(order) and (stops - starts).min() < least:
        raise ValueError(f"a class has fewer than {least} nodes")
    groups = np.empty(len(order), np.int64)
    first = 0
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        cut = _cut(degrees[order[start:stop]], least)
        groups[order[start:stop]] = cut + first
        first += int(cut[-1]) + 1
    return groups


def medians_cost(degrees: Integers, groups: Integers) -> int:
    """The least sum of |degree − d| over all groups with one degree d each."""
    order = np.lexsort((degrees, groups))
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    sizes = np.diff(np.append(starts, len(order)))
    median = degrees[order][starts + (sizes - 1) // 2]
    return int(np.abs(degrees[order] - np.repeat(median, sizes)).sum())


def evened(level: Integers, group_of: Integers, degrees: Integers) -> Integers:
    """The degrees of groups, changed so that a graph can have them: their sum is even.

    Args:
        level: int64, shape (g,): the degree that each group is to have, 0 … n − 1.
        group_of: int64, shape (n,).
        degrees: int64, shape (n,): what nodes have.

    Returns:
        int64, shape (g,). Where the sum over all nodes would be odd, the group of odd size in
        which that costs least gets one more or one less.
    """
    sizes = np.bincount(group_of, minlength=len(level))
    level = level.copy()
    if int((level * sizes).sum()) % 2 == 0:
        return level
    wanted = level[group_of]
    above = np.bincount(group_of, weights=degrees > wanted, minlength=len(level))
    below = np.bincount(group_of, weights=degrees < wanted, minlength=len(level))
    up, down = sizes - 2 * above, sizes - 2 * below
    up = np.where((sizes % 2 == 1) & (level < len(degrees) - 1), up, np.inf)
    down = np.where((sizes % 2 == 1) & (level > 0), down, np.inf)
    if min(up.min(), down.min()) < np.inf:
        step = 1 if up.min() <= down.min() else -1
        level[int(np.argmin(up if step == 1 else down))] += step
    return level


@njit(cache=True, nogil=True)
def _cut(degrees: Integers, least: int) -> Integers:
    """The group of each of the ascending degrees."""
    m = len(degrees)
    sums = np.zeros(m + 1, np.int64)
    for i in range(m):
        sums[i + 1] = sums[i] + degrees[i]
    best = np.full(m + 1, np.iinfo(np.int64).max, np.int64)
    before = np.zeros(m + 1, np.int64)
    best[0] = 0
    for stop in range(least, m + 1):
        for start in range(max(0, stop - 2 * least + 1), stop - least + 1):
            if best[start] == np.iinfo(np.int64).max:
                continue
            middle = (start + stop) // 2
            upper = sums[stop] - sums[middle] - (stop - middle) * degrees[middle]
            lower = (middle - start) * degrees[middle] - (sums[middle] - sums[start])
            cost = best[start] + upper + lower
            if cost < best[stop]:
                best[stop] = cost
                before[stop] = start
    groups = np.empty(m, np.int64)
    number = 0
    stop = m
    while stop > 0:
        groups[before[stop] : stop] = number
        number += 1
        stop = before[stop]
    return number - 1 - groups
