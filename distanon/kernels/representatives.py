"""One tuple for each group of records: means, medians and most frequent values."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Average = Literal["mean", "median", "mode"]


def group_tuples(
    values: Floats, labels: Integers, groups: int, averages: tuple[Average, ...]
) -> Floats:
    """The average tuple of each group; it does not depend on the order of the records.

    Args:
        values: float64, shape (n, q); NaN is missing, or a code of its own where the average is
            the mode.
        labels: int64, shape (n,), each in 0 … groups - 1.
        groups: g; none of them empty.
        averages: q of them. Mean and median are of the values that are present, and missing
            where more than half are; the median is the lower one; of modes that tie the value that
            most of all n records have, then the lowest.

    Returns:
        float64, shape (g, q), unrounded.

    Source: Domingo-Ferrer and Torra 2005, section 3: averages for the types of attributes.
    """
    result = np.empty((groups, values.shape[1]))
    sizes = np.bincount(labels, minlength=groups)
    for place, average in enumerate(averages):
        column = values[:, place]
        if average == "mode":
            result[:, place] = _modes(column, labels, groups)
            continue
        present = ~np.isnan(column)
        order = np.lexsort((column[present], labels[present]))
        ordered, group_of = column[present][order], labels[present][order]
        starts = np.searchsorted(group_of, np.arange(groups))
        counts = np.bincount(group_of, minlength=groups)
        found = np.full(groups, np.nan)
        filled = np.flatnonzero(2 * counts >= sizes) if len(ordered) else np.empty(0, np.int64)
        filled = filled[counts[filled] > 0]
        if average == "median":
            found[filled] = ordered[(starts + (counts - 1) // 2)[filled]]
        elif len(filled):
            found[filled] = _means(ordered, group_of, groups)[filled]
        result[:, place] = found
    return result


def _means(ordered: Floats, group_of: Integers, groups: int) -> Floats:
    """The mean of each group, NaN of an empty one; sums run from the lowest value up."""
    counts = np.bincount(group_of, minlength=groups)
    filled = np.flatnonzero(counts)
    starts = np.searchsorted(group_of, filled)
    lowest = np.zeros(groups)
    lowest[filled] = ordered[starts]
    # Measured from its lowest value: the mean of equal values is that value, to the bit.
    means = np.full(groups, np.nan)
    above = np.add.reduceat(ordered - lowest[group_of], starts)
    means[filled] = lowest[filled] + above / counts[filled]
    return means


def _modes(column: Floats, labels: Integers, groups: int) -> Floats:
    """The most frequent value of each group.

    Of several the one that most records have, so that a value which one record alone has stands
    for a group only where nobody in it has a more common one; then the lowest.
    """
    values, codes, everywhere = np.unique(column, return_inverse=True, return_counts=True)
    keys, counts = np.unique(labels * np.int64(len(values)) + codes, return_counts=True)
    group_of, value_of = keys // len(values), keys % len(values)
    order = np.lexsort((value_of, -everywhere[value_of], -counts, group_of))
    first = order[np.searchsorted(group_of[order], np.arange(groups))]
    return np.asarray(values[value_of[first]], dtype=np.float64)
