"""Topological potential, its entropy over a neighborhood, and the dispersion of that entropy.

Neighborhoods come as compressed rows: the neighbors of query i stand at
`starts[i]:starts[i + 1]` of the flat arrays, in the order of their distance. A neighbor is a
distinct point; its weight says how many records of it belong to the neighborhood (0: none).
Sums run inside one neighborhood in its own order, so that no result depends on how queries were
cut into ranges.

Source: Zhang et al., clustering-oriented data perturbation based on node neighborhood
topological potential entropy, Definitions 4 to 7; potential after Gan et al., Journal of
Software 20 (2009) 2241-2254.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Counts = NDArray[np.int32] | NDArray[np.int64]

_GRID = 17  # widths tried before the best bracket is narrowed
_FINER = 65  # widths that are looked at as well where all of the sample is
_COARSE = 500  # records that the grid is tried on
_STEPS = 18  # golden sections: the bracket of at most a factor of 10 shrinks to one of 1.0004
_NARROW = 32  # columns up to which looking at each is faster than looking for frequent values
_LEAST, _MOST = 1e-307, 8e307  # of a distance whose logarithm is taken
_GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0


def entropies(starts: Integers, distances: Floats, weights: Counts, sigma: float) -> Floats:
    """Neighborhood topological potential entropy of each query.

    With x = -(distance / sigma)² and y = x - max x, the entropy of the weights exp(x) / Σ exp(x)
    is ln Σ exp(y) - Σ y exp(y) / Σ exp(y), which never underflows.

    Args:
        starts: int64, shape (m + 1,).
        distances: float64, shape (nnz,), at least 0, ascending in each neighborhood.
        weights: int32 or int64, shape (nnz,), at least 0.
        sigma: width of influence, above 0.

    Returns:
        float64, shape (m,), in nats, from 0 to ln(records of the neighborhood): the maximum
        exactly when all distances are equal, 0 exactly when one record has all the weight.

    Source: Definition 6, Theorem 1 and Corollary 1.
    """
    from distanon.kernels.neighborhood_entropies import neighborhood_entropies

    found: Floats = neighborhood_entropies(starts, distances, weights, float(sigma))
    return found


def dispersions(
    starts: Integers, points: Counts, weights: Counts, own: Floats, every: Floats
) -> Floats:
    """Entropy of each query over the mean entropy of its neighbors.

    Args:
        starts: int64, shape (m + 1,).
        points: int32 or int64, shape (nnz,), numbers of the neighbors, indices into `every`.
        weights: int32 or int64, shape (nnz,), at least 0.
        own: float64, shape (m,), the queries' entropies.
        every: float64, shape (u,), the entropies of all points.

    Returns:
        float64, shape (m,), at least 0; 1 where both are 0, infinity where only the mean is.

    Source: Definition 7 (reconstructed).
    """
    from distanon.kernels.neighborhood_entropies import neighbor_means

    means: Floats = neighbor_means(starts, points, weights, every)
    with np.errstate(over="ignore"):
        ratios = np.divide(own, means, out=np.full_like(own, np.inf), where=means > 0)
    ratios[(means == 0) & (own == 0)] = 1.0
    return ratios


def pairwise_distances(points: Floats) -> Floats:
    """Distances between all rows: squares summed in column order.

    Args:
        points: float64, shape (m, D); NaN is missing, at distance 1 from a value, 0 from NaN.

    Returns:
        float64, shape (m, m). Takes at most m² · D operations and 8 · m² bytes, three times. A
        column costs as many rows as do not hold its most frequent value: those of a nominal
        attribute, however many its categories are, cost about as much as two others.
    """
    if points.shape[1] <= _NARROW:
        from distanon.kernels.neighborhood_entropies import all_distances

        found: Floats = all_distances(np.ascontiguousarray(points))
        return found
    squares = np.zeros((len(points), len(points)))
    for column in points.T:
        values, counts = np.unique(column, return_counts=True)
        common = values[counts.argmax()]
        is_common = np.isnan(column) if np.isnan(common) else column == common
        others, rest = np.flatnonzero(~is_common), np.flatnonzero(is_common)
        if len(others) > len(rest):
            squares += _squared_gaps(column, column)
            continue
        gaps = _squared_gaps(column[others], column)
        squares[others] += gaps
        squares[np.ix_(rest, others)] += gaps[:, rest].T
    root: Floats = np.sqrt(squares)
    return root


def _squared_gaps(some: Floats, column: Floats) -> Floats:
    """Squared distances between some values of a column and all, shape (len(some), m)."""
    gaps = some[:, None] - column[None, :]
    missing = np.isnan(column)
    if missing.any():
        gaps[np.isnan(gaps)] = 1.0
        gaps[np.ix_(np.isnan(some), missing)] = 0.0
    squares: Floats = np.square(gaps)
    return squares


def potential_entropy(distances: Floats, sigma: float) -> float:
    """Entropy of the potentials of a sample, each record's own share of 1 included.

    Args:
        distances: float64, shape (m, m), between the records of the sample; symmetric.
        sigma: width of influence, above 0.

    Returns:
        −Σ (φ/Z) ln (φ/Z) in nats, from 0 to ln m.

    Source: Gan et al. 2009; without the record itself the minimum runs to sigma = 0.
    """
    from distanon.kernels.neighborhood_entropies import influence_entropy

    return float(influence_entropy(distances, sigma))


def _height(distances: Floats, width: float) -> float:
    """`potential_entropy` at the logarithm of a width."""
    return potential_entropy(distances, _exp(width))


def _exp(number: float) -> float:
    """The same bits on every processor."""
    from distanon.kernels.elementary import exponential

    return float(exponential(number))


def _log(number: float) -> float:
    """Likewise, between the logarithms of the least and the greatest number it is meant for."""
    from distanon.kernels.elementary import logarithm

    return float(logarithm(min(max(number, _LEAST), _MOST)))


def best_sigma(points: Floats) -> float:
    """The width of influence that minimises the entropy of the potentials of a sample.

    A grid of widths, even in the logarithm, finds the valley on a part of the sample; golden
    sections narrow it on the whole, where it lies at somewhat smaller widths. Both
    ends of the range, far below the least and far above the greatest distance, make all
    potentials equal, which is the maximum.

    Args:
        points: float64, shape (m, D), scaled; NaN is missing.

    Returns:
        Above 0, in scaled units; 1 when all distances are 0.

    Source: Gan et al. 2009, section 2.3; methods.md, A, step 3.
    Deviation: the paper leaves the search open.
    """
    distances = pairwise_distances(points)
    farthest = distances.max(initial=0.0)
    if farthest == 0:
        return 1.0
    nearest = distances.min(where=distances > 0, initial=farthest)
    top = _log(2.0 * farthest)
    bottom = max(_log(nearest / 4.0), top - _log(1e4))
    grid = np.linspace(bottom, top, _GRID)
    every = -(-len(points) // _COARSE)
    coarse = np.ascontiguousarray(distances[::every, ::every])
    heights = [_height(coarse, width) for width in grid]
    best, margin = int(np.argmin(heights)), 1 if every == 1 else 2
    low, high = float(grid[max(best - margin, 0)]), float(grid[min(best + margin, _GRID - 1)])
    found = _golden_section(distances, low, high)
    if every == 1:
        found = _deepest(distances, bottom, top, found)
    return _exp(found)


def _deepest(distances: Floats, low: float, high: float, found: float) -> float:
    """The width that was found, or that of a deeper valley; a small sample can have several."""
    finer = np.linspace(low, high, _FINER)
    heights = [_height(distances, width) for width in finer]
    best = int(np.argmin(heights))
    if heights[best] >= _height(distances, found):
        return found
    left, right = finer[max(best - 1, 0)], finer[min(best + 1, _FINER - 1)]
    return _golden_section(distances, float(left), float(right))


def _golden_section(distances: Floats, low: float, high: float) -> float:
    """The logarithm of the best width between two others, by golden sections."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left = _height(distances, left)
    at_right = _height(distances, right)
    for _ in range(_STEPS):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = _height(distances, left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = _height(distances, right)
    return (low + high) / 2.0
