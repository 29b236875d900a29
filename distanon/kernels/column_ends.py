"""The least and the greatest values of a column, found in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = ["column_bounds", "column_ends"]


@njit(cache=True, nogil=True)
def column_ends(column: Any, most: int) -> Any:
    """How many values are present, and some of the smallest and of the largest, ascending.

    Args:
        column: float64, shape (n,); NaN is missing.
        most: how many of either are asked for, at least 1; all where there are fewer.
    """
    lows, highs = np.empty(2 * most), np.empty(2 * most)
    low, high, below, above, present = np.inf, -np.inf, 0, 0, 0
    for v in column:
        if v != v:  # noqa: PLR0124 (NaN is)
            continue
        present += 1
        if v < low or below < most:
            lows[below] = v
            below += 1
            if below == len(lows):  # what is above the first `most` will never be asked for
                lows.sort()
                below, low = most, lows[most - 1]
        if v > high or above < most:
            highs[above] = -v
            above += 1
            if above == len(highs):
                highs.sort()
                above, high = most, -highs[most - 1]
    least, greatest = np.sort(lows[:below])[:most], np.sort(-highs[:above])[-most:]
    return present, least, greatest


@njit(cache=True, nogil=True)
def column_bounds(rows: Any) -> Any:
    """The least and the greatest present value of each column; ±infinity where there is none.

    Args:
        rows: shape (m, D), row-major; NaN is missing.
    """
    width = rows.shape[1]
    low = np.full(width, np.inf)
    high = np.full(width, -np.inf)
    for i in range(len(rows)):
        for c in range(width):
            v = rows[i, c]
            if v < low[c]:  # noqa: PLR1730 (stores rarely)
                low[c] = v
            if v > high[c]:  # noqa: PLR1730
                high[c] = v
    return low, high
