"""Means over neighborhoods, all columns in one go, so that each row is fetched once.

Sums run over a neighborhood in its own order, so that no result depends on how queries were cut
into ranges.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = ["neighborhood_means"]


@njit(cache=True, nogil=True)
def neighborhood_means(starts: Any, points: Any, weights: Any, values: Any, columns: Any) -> Any:
    """The mean of each neighborhood in some columns, and whether one record makes most of it.

    Differences to the neighborhood's least value are added up, so that equal values have
    themselves as their mean, to the last bit, and a mean never leaves its neighbors' range.

    Args:
        starts: int64, shape (m + 1,).
        points: int64, shape (entries,), rows of `values`.
        weights: int64, shape (entries,), records of that point, at least 1.
        values: float64, shape (u, q), row-major; NaN is missing.
        columns: int64, shape (c,): which columns.

    Returns:
        float64, shape (m, c): the mean over the present, NaN when more than half are missing;
        bool, shape (m, c): one record's absolute value exceeds that of all others together.
    """
    m = len(starts) - 1
    means = np.empty((m, len(columns)))
    dominated = np.zeros((m, len(columns)), np.bool_)
    near = np.empty((len(columns), np.diff(starts).max() if m else 0))
    for i in range(m):
        begin, count = starts[i], starts[i + 1] - starts[i]
        size = 0
        for e in range(count):
            size += weights[begin + e]
        _fetch(near, points[begin : begin + count], values, columns)
        for j in range(len(columns)):
            # What is added up stays in registers.
            least, most, total, single, present = np.inf, -np.inf, 0.0, 0.0, 0
            for e in range(count):
                v, weight = near[j, e], weights[begin + e]
                if v == v:  # noqa: PLR0124 (NaN is not)
                    present += weight
                    least, most = min(least, v), max(most, v)
                    total += weight * abs(v)
                    if weight == 1:
                        single = max(single, abs(v))
            dominated[i, j] = 2.0 * single > total * (1.0 + 1e-12)
            if present == 0 or 2 * present < size:
                means[i, j] = np.nan
                continue
            above = 0.0
            for e in range(count):
                v = near[j, e]
                if v == v:  # noqa: PLR0124
                    above += weights[begin + e] * (v - least)
            means[i, j] = min(least + above / present, most)
    return means, dominated


@njit(cache=True, nogil=True)
def _fetch(near: Any, points: Any, values: Any, columns: Any) -> None:
    """Copies some columns of some points, so that each row is visited once."""
    for e in range(len(points)):
        for j in range(len(columns)):
            near[j, e] = values[points[e], columns[j]]
