"""The coordinates in which neighbors are searched for: moved, scaled, and rotated if that helps.

They only propose candidates, so float32 will mostly do; here stands by how much a distance in
them can be wrong.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from distanon.kernels.threads import in_threads, parts_of
from distanon.kernels.ties import TIE_ABSOLUTE, TIE_RELATIVE

_SAMPLE = 100_000  # rows that the axes are taken from
_AT_ONCE = 16_384  # rows changed at a time: they stay in the cache
_FLOOR = 1e-22  # what squares that are too small for float32 can hide, for each column
_HIGHEST = 63  # the exponent of a scale, less for many columns: squares of it fit into float32
_HUGE = 1e15  # coordinates are cut off here: the squares of larger ones would overflow


class Coordinates(NamedTuple):
    """An isometry, but for a factor and for rounding.

    Attributes:
        center: float64, shape (D,): moved to the origin.
        axes: float64, shape (D, D): the axes in columns; shape (0, 0) where nothing is rotated.
        scale: a power of two: the farthest row is at most at distance 1. It is how far a value is
            from a missing one; rows so close that it is capped are all tied.
        dtype: float32 or float64: what coordinates are.
    """

    center: NDArray[np.float64]
    axes: NDArray[np.float64]
    scale: float
    dtype: type[Any]

    def of(self, rows: NDArray[np.float64], threads: int = 1) -> NDArray[Any]:
        """The coordinates of some rows, of `dtype`, shape (m, D); NaN stays.

        Rows without columns get one of zeros.

        Args:
            rows: float64, shape (m, D).
            threads: how many work; says nothing about the result.
        """
        if not rows.shape[1]:
            return np.zeros((len(rows), 1), dtype=self.dtype)
        moved = np.empty(rows.shape, dtype=self.dtype)

        def move(at: slice) -> None:
            part = rows[at] - self.center
            part *= self.scale
            if len(self.axes):
                part = part @ self.axes
            moved[at] = np.clip(part, -_HUGE, _HUGE, out=part)

        in_threads(move, parts_of(len(rows), _AT_ONCE), threads)
        return moved

    def slack(self) -> tuple[float, float, float]:
        """How far a distance between two coordinates can be from that between their rows.

        Returns:
            relative, absolute: of the distance, each way; and how much `absolute` grows with the
            length of a query's coordinates.
        """
        width = max(1, len(self.center))
        unit = float(np.finfo(self.dtype).eps)
        relative = (width + 8) * unit + 2.0**-22
        rounding = unit + (8 * width * math.sqrt(width) + 8) * 2.0**-53
        floor = _FLOOR * math.sqrt(width)
        return relative, rounding + floor, rounding

    def widening(self) -> tuple[float, float, float]:
        """(a, b, c): beyond (a·d + b + c·l)² no point is tied with, or nearer than, one at d.

        l is the length of the query's coordinates.
        """
        relative, absolute, growth = self.slack()
        stretch = 1.0 + 4.0 * relative
        add = 2.5 * absolute + 2.0 * TIE_ABSOLUTE * self.scale
        return (1.0 + TIE_RELATIVE) * stretch, add * stretch, 2.5 * growth * stretch


def fit(
    rows: NDArray[np.float64], *, rotated: bool, dtype: type[Any], threads: int = 1
) -> Coordinates:
    """The coordinates for a table.

    Args:
        rows: float64, shape (u, D), u at least 1; NaN is missing.
        rotated: along the principal axes; there may be no missing values then.
        dtype: float32 or float64.
        threads: how many work; says nothing about the coordinates.
    """
    low, high = _bounds(rows, threads)
    center = low + (high - low) / 2.0
    axes = _principal(rows, center) if rotated else np.empty((0, 0))
    farthest = _farthest(rows, center, threads)
    if not np.isfinite(farthest) or farthest == 0.0:
        exponent = 0
    else:
        highest = _HIGHEST - math.ceil(math.log2(max(1, rows.shape[1])) / 2)
        exponent = max(-1000, min(highest, -math.frexp(farthest)[1]))
    return Coordinates(center, axes, math.ldexp(1.0, exponent), dtype)


def _bounds(
    rows: NDArray[np.float64], threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and greatest present value of each column; 0 where there is none."""
    from distanon.kernels.column_ends import column_bounds

    parts = parts_of(len(rows), _AT_ONCE)
    found = in_threads(lambda at: column_bounds(rows[at]), parts, threads)
    low = np.min([least for least, _ in found], axis=0)
    high = np.max([greatest for _, greatest in found], axis=0)
    is_empty = low > high
    return np.where(is_empty, 0.0, low), np.where(is_empty, 0.0, high)


def _farthest(rows: NDArray[np.float64], center: NDArray[np.float64], threads: int) -> float:
    """The greatest distance of a row from the center, missing values left out."""

    def farthest(at: slice) -> float:
        away = rows[at] - center
        np.nan_to_num(away, copy=False, nan=0.0)
        with np.errstate(over="ignore"):
            return float(np.einsum("ij,ij->i", away, away).max())

    return math.sqrt(max(in_threads(farthest, parts_of(len(rows), _AT_ONCE), threads)))


def _principal(rows: NDArray[np.float64], center: NDArray[np.float64]) -> NDArray[np.float64]:
    """The principal axes in columns, the widest first."""
    sample = rows[:: max(1, len(rows) // _SAMPLE)] - center
    sample -= sample.mean(axis=0)
    axes = np.linalg.eigh(sample.T @ sample)[1][:, ::-1]
    return np.ascontiguousarray(axes)
