"""A classification tree whose leaves are the groups of a release.

Source: LeFevre, DeWitt and Ramakrishnan 2008, Workload-aware anonymization techniques for
    large-scale datasets, ACM TODS 33, 17 (InfoGain Mondrian), with the impurity of CART (Breiman,
    Friedman, Olshen and Stone 1984).
Deviation: Gini impurity in place of entropy: the counts that decide are whole numbers.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from distanon.kernels.partition import Cuts

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def grow(values: Floats, classes: Integers, minimum: int) -> Cuts:
    """Grows the tree as long as a cut lowers the impurity and leaves `minimum` on both sides.

    Args:
        values: float64, shape (n, q); NaN is missing, a value beyond all others.
        classes: int64, shape (n,), from 0.
        minimum: records of a leaf, at least 1.

    Returns:
        The tree, its leaves numbered from 0. Cuts lie half way between distinct values. Of cuts
        that tie the one of the first attribute, then of the lowest value, is taken: the tree does
        not depend on the order of the records.

    Complexity: O(n q log n) for sorting once, then O(n q) for each level.
    """
    count, width = values.shape
    columns = np.where(np.isnan(values), np.inf, values).T
    order = np.argsort(columns, axis=1, kind="stable").astype(np.int64)
    room = max(1, 2 * (count // max(1, minimum)) + 1)
    attribute = np.full(room, -1, np.int64)
    threshold = np.full(room, np.nan)
    child = np.full(room, -1, np.int64)
    nodes = _grow(
        np.ascontiguousarray(columns).reshape(width, count),
        np.ascontiguousarray(order).reshape(width, count),
        classes.astype(np.int64),
        int(classes.max(initial=-1)) + 1,
        minimum,
        attribute,
        threshold,
        child,
    )
    attribute, threshold, child = attribute[:nodes], threshold[:nodes], child[:nodes]
    is_leaf = attribute < 0
    return Cuts(
        attribute.astype(np.int32),
        threshold,
        child.astype(np.int32),
        np.where(is_leaf, -1, child + 1).astype(np.int32),
        np.where(is_leaf, np.cumsum(is_leaf) - 1, -1).astype(np.int32),
    )


@njit(cache=True, nogil=True)
def _grow(
    values: Floats,
    order: Integers,
    classes: Integers,
    n_classes: int,
    minimum: int,
    attribute: Integers,
    threshold: Floats,
    child: Integers,
) -> int:
    """Grows node by node; each attribute's records stay sorted inside every node."""
    width, count = order.shape
    first = np.zeros(len(child), np.int64)
    last = np.zeros(len(child), np.int64)
    last[0] = count
    goes_right = np.zeros(count, np.bool_)
    spare = np.empty(count, np.int64)
    nodes, node = 1, 0
    while node < nodes:
        start, stop = first[node], last[node]
        best, left = _best_cut(values, order, classes, n_classes, minimum, start, stop)
        if best >= 0:
            low = values[best, order[best, start + left - 1]]
            high = values[best, order[best, start + left]]
            for place in range(start, stop):
                record = order[best, place]
                goes_right[record] = place >= start + left
            for a in range(width):
                _split(order[a], start, stop, goes_right, spare)
            attribute[node], threshold[node], child[node] = best, _between(low, high), nodes
            first[nodes], last[nodes] = start, start + left
            first[nodes + 1], last[nodes + 1] = start + left, stop
            nodes += 2
        node += 1
    return nodes


@njit(cache=True, nogil=True)
def _between(low: float, high: float) -> float:
    """Half way; infinite before the missing values, the lower one where nothing is between."""
    middle = low + (high - low) / 2
    return middle if low <= middle < high or np.isinf(high) else low


@njit(cache=True, nogil=True)
def _split(
    line: Integers, start: int, stop: int, goes_right: NDArray[np.bool_], spare: Integers
) -> None:
    """Moves the records that go right behind the others, both in their order."""
    kept, moved = start, 0
    for place in range(start, stop):
        record = line[place]
        if goes_right[record]:
            spare[moved] = record
            moved += 1
        else:
            line[kept] = record
            kept += 1
    for place in range(moved):
        line[kept + place] = spare[place]


@njit(cache=True, nogil=True)
def _best_cut(
    values: Floats,
    order: Integers,
    classes: Integers,
    n_classes: int,
    minimum: int,
    start: int,
    stop: int,
) -> tuple[int, int]:
    """Attribute of the cut that lowers the impurity most, -1: none, and size of its left side."""
    size = stop - start
    best, left = -1, 0
    if size < 2 * minimum or order.shape[0] == 0:
        return best, left
    whole = np.zeros(n_classes, np.int64)
    for place in range(start, stop):
        whole[classes[order[0, place]]] += 1
    squares = 0
    for label in range(n_classes):
        squares += whole[label] ** 2
    # The impurity is lowered where Σ l² / n_l + Σ r² / n_r exceeds Σ w² / n.
    most = squares / size * (1.0 + 1e-12)
    own = np.empty(n_classes, np.int64)
    for a in range(order.shape[0]):
        own[:] = 0
        ours, theirs = 0, squares
        for place in range(start, stop - minimum):
            record = order[a, place]
            label = classes[record]
            rest = whole[label] - own[label]
            ours += 2 * own[label] + 1
            theirs -= 2 * rest - 1
            own[label] += 1
            taken = place - start + 1
            if taken < minimum or values[a, record] == values[a, order[a, place + 1]]:
                continue
            gain = ours / taken + theirs / (size - taken)
            if gain > most:
                most, best, left = gain, a, taken
    return best, left
