"""Numbers inside their bounds and on their grid, and what of them changed, in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from distanon.kernels.prefetch import AHEAD, expect_row

__all__ = ["finished_numbers", "stay_the_same"]


@njit(cache=True, nogil=True)
def finished_numbers(
    original: Any, perturbed: Any, bounds: Any, domain: Any, powers: Any, declared: Any
) -> Any:
    """What `data.finishing.Finishing.finish` makes of numbers, to the bit.

    Args:
        original: float64, shape (m, q); NaN is missing.
        perturbed: float64, shape (m, q).
        bounds: float64, shape (2, q): least and greatest value that may be released.
        domain: float64, shape (2, q): least and greatest value of what counts as the domain.
        powers: float64, shape (q,): ten to the digits after the point, 0: as computed.
        declared: bool, shape (q,): numbers that did not change are rounded too.

    Returns:
        The finished values, float64, shape (m, q); bool, shape (m,): which records had a number
        outside the domain; bool, shape (m,): which records have all their values still.
    """
    m, width = perturbed.shape
    values = np.empty((m, width))
    outside, unchanged = np.zeros(m, np.bool_), np.ones(m, np.bool_)
    for i in range(m):
        for c in range(width):
            given, own = perturbed[i, c], original[i, c]
            if given < domain[0, c] or given > domain[1, c]:
                outside[i] = True
            v = _finished(given, own, bounds[0, c], bounds[1, c], powers[c], declared[c])
            values[i, c] = v + 0.0
            if _differs(v, own):
                unchanged[i] = False
    return values, outside, unchanged


@njit(cache=True, nogil=True)
def stay_the_same(
    values: Any, rows: Any, perturbed: Any, bounds: Any, powers: Any, declared: Any
) -> Any:
    """Which records would have all their values still; the first that changes is looked at alone.

    Args:
        values: float64, shape (u, q), row-major.
        rows: int64, shape (m,): where in them the originals are.
        perturbed: float64, shape (m, q).
        bounds: as for `finished_numbers`.
        powers: likewise.
        declared: likewise.

    Returns:
        bool, shape (m,).
    """
    m, width = perturbed.shape
    unchanged = np.ones(m, np.bool_)
    for i in range(m):
        expect_row(values, rows[min(i + AHEAD, m - 1)], width)
        for c in range(width):
            own = values[rows[i], c]
            given, low, high = perturbed[i, c], bounds[0, c], bounds[1, c]
            v = _finished(given, own, low, high, powers[c], declared[c])
            if _differs(v, own):
                unchanged[i] = False
                break
    return unchanged


@njit(nogil=True)
def _differs(one: float, other: float) -> bool:
    """Whether two numbers are not the same; missing is missing."""
    return one != other and not (np.isnan(one) and np.isnan(other))


@njit(nogil=True)
def _finished(given: float, own: float, low: float, high: float, power: float, always: bool) -> Any:
    """One number inside its bounds and, where it changed, on its grid."""
    v = given
    if v < low:  # noqa: PLR1730 (NaN stays)
        v = low
    if v > high:  # noqa: PLR1730
        v = high
    if power > 0.0 and (v != own or always):
        v = np.rint(v * power) / power
    return v
