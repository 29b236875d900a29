"""Entropies of neighborhoods, and their neighbors' mean entropy, in one pass over the entries.

Sums run over a neighborhood in its own order, so that no result depends on how queries were cut
into ranges.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

__all__ = ["all_distances", "neighbor_means", "neighborhood_entropies"]


@njit(cache=True, nogil=True, error_model="numpy")
def neighborhood_entropies(starts: Any, distances: Any, weights: Any, sigma: float) -> Any:
    """The entropy of each neighborhood's potentials.

    Args:
        starts: int64, shape (m + 1,).
        distances: float64, shape (entries,), at least 0.
        weights: int64, shape (entries,), at least 0.
        sigma: width of influence, above 0.

    Returns:
        float64, shape (m,), from 0 to ln(records of the neighborhood); 0 where it is empty.
    """
    found = np.zeros(len(starts) - 1)
    exponents = np.empty(np.diff(starts).max() if len(found) else 0)
    for i in range(len(found)):
        top, members = -np.inf, 0
        for e in range(starts[i], starts[i + 1]):
            if weights[e] > 0:
                scaled = distances[e] / sigma
                exponents[e - starts[i]] = -(scaled * scaled)
                top = max(top, -(scaled * scaled))
                members += weights[e]
        if members == 0:
            continue
        total, moment = 0.0, 0.0
        for e in range(starts[i], starts[i + 1]):
            if weights[e] > 0:
                below = exponents[e - starts[i]] - top
                share = weights[e] * math.exp(below)
                total += share
                if share > 0.0:  # else `below` may be infinite
                    moment += share * below
        entropy = math.log(total) - moment / total
        found[i] = min(max(entropy, 0.0), math.log(members))
    return found


@njit(cache=True, nogil=True)
def neighbor_means(starts: Any, points: Any, weights: Any, every: Any) -> Any:
    """The mean of a number over each neighborhood, each record counted.

    Args:
        starts: int64, shape (m + 1,).
        points: int64, shape (entries,), places in `every`.
        weights: int64, shape (entries,), at least 0.
        every: float64, shape (u,).

    Returns:
        float64, shape (m,); 0 where a neighborhood is empty.
    """
    found = np.zeros(len(starts) - 1)
    for i in range(len(found)):
        total, members = 0.0, 0
        for e in range(starts[i], starts[i + 1]):
            total += weights[e] * every[points[e]]
            members += weights[e]
        if members > 0:
            found[i] = total / members
    return found


@njit(cache=True, nogil=True)
def all_distances(points: Any) -> Any:
    """The distances between all rows, float64, shape (m, m): squares summed in column order.

    Args:
        points: float64, shape (m, D); NaN is missing, at distance 1 from a value, 0 from NaN.
    """
    found = np.zeros((len(points), len(points)))
    for i in range(len(points)):
        for j in range(i):
            total = 0.0
            for c in range(points.shape[1]):
                gap = points[i, c] - points[j, c]
                if gap == gap:  # noqa: PLR0124 (NaN is not)
                    total += gap * gap
                elif np.isnan(points[i, c]) != np.isnan(points[j, c]):
                    total += 1.0
            found[i, j] = found[j, i] = np.sqrt(total)
    return found
