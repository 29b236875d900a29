"""Means over neighborhoods, four or eight columns side by side.

Sums run over a neighborhood in its own order, so that no result depends on how queries were cut
into ranges.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from distanon.kernels.columns_abreast import (
    ABOVE,
    LEAST,
    MOST,
    ROOM,
    SINGLE,
    TOTAL,
    sums_of_4,
    sums_of_8,
)
from distanon.kernels.prefetch import expect_neighbors

__all__ = ["neighborhood_means"]

_NARROW, _WIDE = 4, 8  # columns side by side
_MOST_OF_IT = 1.0 + 1e-12


@njit(cache=True, nogil=True, error_model="numpy")
def neighborhood_means(starts: Any, points: Any, weights: Any, values: Any, columns: Any) -> Any:
    """The mean of each neighborhood in some columns, and whether one record makes most of it.

    Differences to the neighborhood's least value are added up, so that equal values have
    themselves as their mean, to the last bit, and a mean never leaves its neighbors' range.

    Args:
        starts: int64, shape (m + 1,).
        points: int32 or int64, shape (entries,), rows of `values`. Fastest where those of a
            neighborhood lie together.
        weights: int32 or int64, shape (entries,), records of that point, at least 1.
        values: float64, shape (u, q), row-major; NaN is missing.
        columns: int64, shape (c,): which columns.

    Returns:
        float64, shape (m, c): the mean over the present, NaN when more than half are missing;
        bool, shape (m, c): one record's absolute value exceeds that of all others together.
    """
    m, width = len(starts) - 1, values.shape[1]
    means = np.empty((m, len(columns)))
    dominated = np.zeros((m, len(columns)), np.bool_)
    found = np.empty(ROOM)
    for i in range(m):
        begin, end = starts[i], starts[i + 1]
        expect_neighbors(values, width, starts, points, i)
        size = 0
        for e in range(begin, end):
            size += weights[e]
        first, after = 0, 0  # the columns that `found` is of
        for j in range(len(columns)):
            c = columns[j]
            if c >= after and width >= _WIDE:
                first = min(c, width - _WIDE)
                after = first + _WIDE
                sums_of_8(values, points, weights, begin, end, first, found)
            elif c >= after and width >= _NARROW:
                first = min(c, width - _NARROW)
                after = first + _NARROW
                sums_of_4(values, points, weights, begin, end, first, found)
            at = c - first
            if width < _NARROW or size == 0 or np.isnan(found[TOTAL, at]):
                means[i, j], dominated[i, j] = _with_gaps(points, weights, begin, end, values, c)
                continue
            above = found[ABOVE, at] / size
            means[i, j] = min(found[LEAST, at] + above, found[MOST, at])
            dominated[i, j] = 2.0 * found[SINGLE, at] > found[TOTAL, at] * _MOST_OF_IT
    return means, dominated


@njit(cache=True, nogil=True, error_model="numpy")
def _with_gaps(points: Any, weights: Any, begin: int, end: int, values: Any, c: int) -> Any:
    """The same of one column, in which numbers may be missing."""
    least, most, total, single, size, present = np.inf, -np.inf, 0.0, 0.0, 0, 0
    for e in range(begin, end):
        v, weight = values[points[e], c], weights[e]
        size += weight
        if v == v:  # noqa: PLR0124 (NaN is not)
            present += weight
            least, most = min(least, v), max(most, v)
            total += weight * abs(v)
            if weight == 1:
                single = max(single, abs(v))
    dominated = 2.0 * single > total * _MOST_OF_IT
    if present == 0 or 2 * present < size:
        return np.nan, dominated
    above = 0.0
    for e in range(begin, end):
        v = values[points[e], c]
        if v == v:  # noqa: PLR0124
            above += weights[e] * (v - least)
    return min(least + above / present, most), dominated
