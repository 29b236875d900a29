"""Pairs of attributes rotated so far that both move enough, and no distance changes.

Symbols of the paper: A, B a pair of normalised attributes; A′, B′ the same, rotated; θ the angle;
ρ1, ρ2 the pairwise-security threshold.

Source: Oliveira & Zaïane, Achieving privacy preservation when sharing data for clustering, 2004.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

_GRID = 7200
"""Angles at which the margin is looked at before its borders are bisected: every 0.05 degrees."""
_HALVINGS = 60


@dataclass(frozen=True, slots=True)
class Rotation:
    """One pair of columns, in the order in which they enter the rotation, and its angle."""

    first: int
    second: int
    angle: float


def normalise(
    values: NDArray[np.float64], scale: Literal["zscore", "range"]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Centers and spreads that bring columns to one scale.

    Args:
        values: float64, shape (n, d); NaN is missing.
        scale: the spread is the sample standard deviation, or the range.

    Returns:
        Means and spreads, each of shape (d,); the spread of a constant column is 0.

    Source: Oliveira & Zaïane 2004, section 2 (z-score normalisation).
    """
    columns = [column[~np.isnan(column)] for column in values.T]
    centers = np.array([column.mean() if len(column) else 0.0 for column in columns])
    spreads = np.array([_spread(column, scale) for column in columns])
    return centers, spreads


def _spread(column: NDArray[np.float64], scale: Literal["zscore", "range"]) -> float:
    if len(column) < 2 or column.min() == column.max():
        return 0.0
    return float(column.max() - column.min() if scale == "range" else column.std(ddof=1))


def covariance(scaled: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sample covariance of centered columns, shape (d, d), a missing value counting as the mean.

    Sums of products, not a matrix product: those depend on the threads of the BLAS.
    """
    filled = np.nan_to_num(scaled)
    rows, columns = filled.shape
    result = np.empty((columns, columns))
    for one in range(columns):
        for other in range(one, columns):
            product = (filled[:, one] * filled[:, other]).sum() / max(1, rows - 1)
            result[one, other] = result[other, one] = product
    return result


def displacement_variances(
    angle: NDArray[np.float64], var_first: float, var_second: float, between: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Var(A − A′) and Var(B − B′) where A′ = A cos θ + B sin θ, B′ = −A sin θ + B cos θ.

    Source: Oliveira & Zaïane 2004, section 4.2.
    """
    versine, sine = 1.0 - np.cos(angle), np.sin(angle)
    first = versine**2 * var_first + sine**2 * var_second - 2.0 * versine * sine * between
    second = sine**2 * var_first + versine**2 * var_second + 2.0 * versine * sine * between
    return first, second


def security_range(
    var_first: float, var_second: float, between: float, thresholds: tuple[float, float]
) -> tuple[tuple[float, float], ...]:
    """The angles at which both variances reach their thresholds.

    Returns:
        Intervals within [0, 2π], ascending; none where no angle will do.

    Source: Oliveira & Zaïane 2004, section 4.2 (security range).
    """

    def margin(angle: NDArray[np.float64]) -> NDArray[np.float64]:
        first, second = displacement_variances(angle, var_first, var_second, between)
        return np.minimum(first / thresholds[0], second / thresholds[1]) - 1.0

    angles = np.linspace(0.0, 2.0 * math.pi, _GRID + 1)
    reached = margin(angles) >= 0.0
    # At 0 and 2π nothing moves, so every interval has two borders inside.
    borders = np.flatnonzero(reached[1:] != reached[:-1])
    low, high = angles[borders], angles[borders + 1]
    rising = ~reached[borders]
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        beyond = (margin(middle) >= 0.0) == rising
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    ends = np.where(rising, high, low)  # the side on which the thresholds are reached
    return tuple(zip(ends[0::2].tolist(), ends[1::2].tolist(), strict=True))


def draw_angle(ranges: tuple[tuple[float, float], ...], uniform: float) -> float:
    """An angle of the security range, all equally likely."""
    widths = [high - low for low, high in ranges]
    place = uniform * sum(widths)
    for (low, high), width in zip(ranges, widths, strict=True):
        if place <= width:
            return min(low + place, high)
        place -= width
    return ranges[-1][1]


def plan(
    covariances: NDArray[np.float64],
    order: NDArray[np.int64],
    thresholds: tuple[float, float],
    uniforms: NDArray[np.float64],
) -> list[Rotation] | None:
    """Pairs in the given order, each with an angle from its security range.

    An odd attribute at the end is rotated with the first one already rotated that admits an angle.

    Args:
        covariances: of the normalised columns, shape (d, d), d ≥ 2.
        order: columns in the order in which they are paired.
        thresholds: for the first and the second of each pair, in units of their variances.
        uniforms: one draw in (0, 1) for each pair.

    Returns:
        None where a pair admits no angle.

    Source: Oliveira & Zaïane 2004, section 4.3 (pairs and the odd attribute).
    """
    current = covariances.copy()
    columns = order.tolist()
    choices = [[pair] for pair in zip(columns[0::2], columns[1::2], strict=False)]
    if len(columns) % 2:
        choices.append([(columns[-1], partner) for partner in columns[:-1]])
    rotations: list[Rotation] = []
    for pairs, uniform in zip(choices, uniforms.tolist(), strict=False):
        found = None
        for first, second in pairs:
            wanted = (
                thresholds[0] * covariances[first, first],
                thresholds[1] * covariances[second, second],
            )
            ranges = security_range(
                current[first, first], current[second, second], current[first, second], wanted
            )
            if ranges:
                found = Rotation(first, second, draw_angle(ranges, uniform))
                break
        if found is None:
            return None
        rotations.append(found)
        current = rotate(rotate(current, [found]).T, [found])
    return rotations


def largest_threshold(
    covariances: NDArray[np.float64],
    order: NDArray[np.int64],
    thresholds: tuple[float, float],
    uniforms: NDArray[np.float64],
) -> tuple[float, float]:
    """The largest multiple of the thresholds, at most themselves, for which there is a plan.

    Rounded down to 3 significant digits and tried, so that a user can ask for it.
    """
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        scaled = (thresholds[0] * middle, thresholds[1] * middle)
        if plan(covariances, order, scaled, uniforms) is not None:
            low = middle
        else:
            high = middle
    while low > 0.0:
        rounded = (_round_down(thresholds[0] * low), _round_down(thresholds[1] * low))
        if plan(covariances, order, rounded, uniforms) is not None:
            return rounded
        low *= 0.99
    return 0.0, 0.0


def _round_down(value: float) -> float:
    digits = 2 - math.floor(math.log10(value))
    return float(f"{math.floor(value * 10.0**digits) * 10.0**-digits:.3g}")


def rotate(scaled: NDArray[np.float64], rotations: list[Rotation]) -> NDArray[np.float64]:
    """The columns after all rotations, one after the other.

    A missing value turns its partner as the mean would and stays missing.

    Args:
        scaled: float64, shape (n, d), centered; NaN is missing.
        rotations: pairs and angles.

    Returns:
        The same shape. Distances between complete rows are kept but for rounding.
    """
    missing = np.isnan(scaled)
    result = np.where(missing, 0.0, scaled)
    for rotation in rotations:
        cosine, sine = math.cos(rotation.angle), math.sin(rotation.angle)
        first, second = result[:, rotation.first], result[:, rotation.second]
        result[:, rotation.first], result[:, rotation.second] = (
            first * cosine + second * sine,
            second * cosine - first * sine,
        )
    return np.where(missing, np.nan, result)
