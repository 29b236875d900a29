"""Entropies of neighborhoods, and their neighbors' mean entropy, in one pass over the entries.

Sums run over a neighborhood in its own order, so that no result depends on how queries were cut
into ranges.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from distanon.kernels.elementary import LEAST_EXPONENT, exponential, logarithm
from distanon.kernels.prefetch import expect_neighbors

__all__ = ["all_distances", "influence_entropy", "neighbor_means", "neighborhood_entropies"]

_ENTRIES = 2048  # that are looked at together: they stay in the cache
_LANES = 4  # sums side by side


@njit(cache=True, nogil=True, error_model="numpy")
def neighborhood_entropies(starts: Any, distances: Any, weights: Any, sigma: float) -> Any:
    """The entropy of each neighborhood's potentials.

    Args:
        starts: int64, shape (m + 1,).
        distances: float64, shape (entries,), at least 0, ascending in each neighborhood.
        weights: int32 or int64, shape (entries,), at least 0.
        sigma: width of influence, above 0.

    Returns:
        float64, shape (m,), from 0 to ln(records of the neighborhood); 0 where it is empty.
    """
    m = len(starts) - 1
    room = max(_ENTRIES, np.diff(starts).max() if m else 0)
    shares, moments = np.empty(room), np.empty(room)
    found, totals, members = np.zeros(m), np.empty(room), np.empty(room)
    begin = 0
    while begin < m:
        first, end = starts[begin], begin + 1
        while end < m and end - begin < room and starts[end + 1] - first <= room:
            end += 1
        _lay_tops(starts, distances, weights, sigma, begin, end, moments)
        for e in range(starts[end] - first):
            scaled = distances[first + e] / sigma
            below = moments[e] - scaled * scaled
            power = max(below, LEAST_EXPONENT)
            share = exponential(power) * weights[first + e]
            shares[e] = share if below > LEAST_EXPONENT else 0.0
            moments[e] = power * shares[e]
        for i in range(begin, end):
            total, moment, count = 0.0, 0.0, 0
            for e in range(starts[i], starts[i + 1]):
                total += shares[e - first]
                moment += moments[e - first]
                count += weights[e]
            totals[i - begin], found[i], members[i - begin] = total, moment, count
        for i in range(begin, end):
            count, total = members[i - begin], totals[i - begin]
            entropy = logarithm(total) - found[i] / total
            found[i] = min(max(entropy, 0.0), logarithm(count)) if count > 0.0 else 0.0
        begin = end
    return found


@njit(nogil=True, error_model="numpy")
def _lay_tops(
    starts: Any, distances: Any, weights: Any, sigma: float, begin: int, end: int, tops: Any
) -> None:
    """Lays at each entry of some neighborhoods how far their nearest record is, squared."""
    for i in range(begin, end):
        nearest = 0.0
        for e in range(starts[i], starts[i + 1]):
            if weights[e] > 0:
                nearest = distances[e] / sigma
                break
        for e in range(starts[i], starts[i + 1]):
            tops[e - starts[begin]] = nearest * nearest


@njit(cache=True, nogil=True)
def neighbor_means(starts: Any, points: Any, weights: Any, every: Any) -> Any:
    """The mean of a number over each neighborhood, each record counted.

    Args:
        starts: int64, shape (m + 1,).
        points: int32 or int64, shape (entries,), places in `every`.
        weights: int32 or int64, shape (entries,), at least 0.
        every: float64, shape (u,).

    Returns:
        float64, shape (m,); 0 where a neighborhood is empty.
    """
    m = len(starts) - 1
    found = np.zeros(m)
    for i in range(m):
        expect_neighbors(every, 1, starts, points, i)
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


@njit(cache=True, nogil=True, error_model="numpy")
def influence_entropy(distances: Any, sigma: float) -> Any:
    """The entropy of the potentials of a sample, each record's own share of 1 included.

    Args:
        distances: float64, shape (m, m), symmetric.
        sigma: width of influence, above 0.

    Returns:
        From 0 to ln m.
    """
    field = _sums_of_influence(distances, sigma)
    total, entropy = 0.0, 0.0
    for i in range(len(field)):
        total += field[i]
    for i in range(len(field)):
        share = field[i] / total
        entropy -= share * logarithm(share)
    return entropy


@njit(nogil=True, error_model="numpy")
def _sums_of_influence(distances: Any, sigma: float) -> Any:
    """The topological potential of each record of a sample, float64, shape (m,)."""
    m = len(distances)
    found, shares = np.ones(m), np.empty(m + _LANES)
    for i in range(m):  # each pair once: what it adds to the one it adds to the other
        for j in range(i):
            scaled = distances[i, j] / sigma
            below = -(scaled * scaled)
            share = exponential(max(below, LEAST_EXPONENT))
            shares[j] = share if below > LEAST_EXPONENT else 0.0
        for j in range(i):
            found[j] += shares[j]
        shares[i : i + _LANES] = 0.0
        first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
        for j in range(0, i, _LANES):
            first += shares[j]
            second += shares[j + 1]
            third += shares[j + 2]
            fourth += shares[j + 3]
        found[i] += (first + second) + (third + fourth)
    return found
