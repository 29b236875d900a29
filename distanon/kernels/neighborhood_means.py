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
    for i in range(m):
        begin, end = starts[i], starts[i + 1]
        size = 0
        for e in range(begin, end):
            size += weights[e]
        for j in range(len(columns)):
            # The rows are in the cache by now; what is added up stays in registers.
            c = columns[j]
            least, most, total, single, present = np.inf, -np.inf, 0.0, 0.0, 0
            for e in range(begin, end):
                v, weight = values[points[e], c], weights[e]
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
            for e in range(begin, end):
                v = values[points[e], c]
                if v == v:  # noqa: PLR0124
                    above += weights[e] * (v - least)
            means[i, j] = min(least + above / present, most)
    return means, dominated
