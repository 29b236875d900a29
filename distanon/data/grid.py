"""The grid of a numeric column: how many digits after the point its numbers have."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

_SIGNIFICANT = 6  # digits of a released number
_SIGNIFICANT_OF_RANGE = 3  # but never fewer of the column's range, which would flatten it
_FLOAT_DIGITS = 15
_EXACT_POWER = 22  # 10^22 is the last power of ten that float64 holds


def grid_limit(low: float, high: float) -> int:
    """The most digits after the point that a released number may show.

    Six significant digits of the largest magnitude; more where the range is so narrow beside
    it that fewer than three digits of the range would be left (a constant keeps its own). It
    never grows when the range does, so that what parts of a column say can be merged.
    """
    magnitude = max(abs(low), abs(high))
    if magnitude == 0:
        return 0
    limit = most = _FLOAT_DIGITS - _digits(magnitude)
    if high > low:
        limit = max(_SIGNIFICANT - _digits(magnitude), _SIGNIFICANT_OF_RANGE - _digits(high - low))
    return max(0, min(limit, most))


def decimals_seen(
    values: NDArray[np.float64], limit: int, exact: type[np.floating] = np.float64
) -> int:
    """The most digits after the point in the shortest texts of the values, at most `limit`.

    Args:
        values: present and finite, any shape.
        limit: 0 or more.
        exact: the type that the values were stored in: 0.1 as float32 has one digit.

    Returns:
        The smallest d for which every value is the float nearest to a multiple of 10^-d.
    """
    left = values
    for decimals in range(min(limit, _EXACT_POWER + 1)):
        power = 10.0**decimals
        # Both are exact integers below 2^53, so the quotient is the nearest float.
        back = np.rint(left * power) / power
        left = left[back.astype(exact).astype(np.float64) != left]
        if not left.size:
            return decimals
    if limit <= _EXACT_POWER:
        return limit
    texts = (Decimal(str(exact(value))).normalize() for value in np.unique(left))
    return min(limit, max(-int(text.as_tuple().exponent) for text in texts))


def _digits(magnitude: float) -> int:
    """Digits before the point; 0 or less for numbers below a tenth."""
    return Decimal(repr(float(magnitude))).adjusted() + 1
