"""The two ways in which DPTPE changes a record: its neighbors' mean, and a random small move.

Source: Zhang et al., Algorithm 1 (random safe neighborhood, RSN) and Algorithm 2.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from distanon.data.streams import Streams
from distanon.kernels.neighbors import Neighborhoods

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Draw = Literal["sphere", "paper", "ball"]

_LEAST, _MOST = 2.0**-54, 1.0 - 2.0**-53  # the normal quantile of 0 or 1 is infinite


def means(
    neighborhoods: Neighborhoods, values: Floats, columns: Integers
) -> tuple[Floats, Booleans]:
    """The mean of each neighborhood in numeric attributes.

    Differences to the neighborhood's least value are added up, so that equal values have
    themselves as their mean, to the last bit, and a mean never leaves its neighbors' range.

    Args:
        neighborhoods: of m queries.
        values: float64, shape (u, q), of every point; NaN is missing. Fastest row by row.
        columns: int64, shape (c,): which attributes.

    Returns:
        float64, shape (m, c): the mean over the present; NaN when more than half are missing.
        And bool, shape (m, c): whether one record makes over half of it: its absolute value
        exceeds that of all others together, so that who knows the others, or knows them to be
        near zero, reads it from the mean.
    """
    from distanon.kernels.neighborhood_means import neighborhood_means

    rows = np.ascontiguousarray(values)
    starts, points, weights = neighborhoods.arrays()[:3]
    found, dominated = neighborhood_means(starts, points, weights, rows, columns)
    return found, dominated


def medians(neighborhoods: Neighborhoods, column: Floats) -> Floats:
    """The lower median of each neighborhood in one ordinal attribute, a rank that occurs.

    Args:
        neighborhoods: of m queries.
        column: float64, shape (u,), the rank at every point; NaN is missing.

    Returns:
        float64, shape (m,): the median over the present; NaN when more than half are missing.
    """
    rows, values, weights = _entries(neighborhoods, column)
    here = ~np.isnan(values)
    rows, values, weights = rows[here], values[here], weights[here]
    order = np.lexsort((values, rows))
    rows, values, weights = rows[order], values[order], weights[order]
    present = np.bincount(rows, weights, minlength=len(neighborhoods)).astype(np.int64)
    before = np.cumsum(present) - present
    until = np.cumsum(weights) - before[rows]
    reached = np.flatnonzero(2 * until >= present[rows])
    result = np.full(len(neighborhoods), np.nan)
    winners, first = np.unique(rows[reached], return_index=True)
    result[winners] = values[reached[first]]
    result[2 * present < neighborhoods.sizes()] = np.nan
    return result


def modes(neighborhoods: Neighborhoods, column: Floats) -> Floats:
    """The most frequent category of each neighborhood, the lowest number among equals.

    Args:
        neighborhoods: of m queries.
        column: float64, shape (u,), the category's number at every point, never NaN: missing is
            a category, the last.

    Returns:
        float64, shape (m,), category numbers.
    """
    rows, values, weights = _entries(neighborhoods, column)
    order = np.lexsort((values, rows))
    rows, values, weights = rows[order], values[order], weights[order]
    opens = np.ones(len(rows), dtype=np.bool_)
    opens[1:] = (rows[1:] != rows[:-1]) | (values[1:] != values[:-1])
    first = np.flatnonzero(opens)
    votes = np.add.reduceat(weights, first) if first.size else weights
    rows, values = rows[first], values[first]
    ranking = np.lexsort((values, -votes, rows))
    winners, best = np.unique(rows[ranking], return_index=True)
    result = np.full(len(neighborhoods), np.nan)
    result[winners] = values[ranking[best]]
    return result


def neighbor_values(
    neighborhoods: Neighborhoods, queries: Integers, column: Floats, draws: Floats
) -> Floats:
    """The value of a random neighbor, each record of the neighborhood being as likely.

    Args:
        neighborhoods: of m queries, none empty.
        queries: int64, shape (r,), which query each of r records belongs to.
        column: float64, shape (u,), the attribute at every point.
        draws: float64, shape (r,), uniform in (0, 1).

    Returns:
        float64, shape (r,).
    """
    sizes = neighborhoods.sizes()
    until = np.cumsum(neighborhoods.weights)
    before = np.cumsum(sizes) - sizes
    chosen = np.minimum((draws * sizes[queries]).astype(np.int64), sizes[queries] - 1)
    entries = np.searchsorted(until, before[queries] + chosen, side="right")
    drawn: Floats = column[neighborhoods.points[entries]]
    return drawn


def moves(
    streams: Streams,
    start: int,
    reach: Floats,
    movable: Booleans,
    draw: Draw,
    min_displacement: float = 0.0,
    rows: Integers | None = None,
) -> Floats:
    """Random moves of the records from number `start` on, in scaled units.

    The length r is uniform in (0, R]; with a least displacement δ in [δ, max(R, 2δ)]. The ball
    draws the point uniformly instead, from that ball or shell.

    Args:
        streams: all randomness; a record's draws depend on its number alone.
        start: number of the first record.
        reach: float64, shape (m,), R, half the gap behind the k-th neighbor, at least 0.
        movable: bool, shape (m, d), which attributes of a record may move.
        draw: how r² is divided among the attributes. `paper`: each takes a uniform part of
            what the ones before it left, the last all the rest, so that on average they get
            1/2, 1/4, 1/8 …; `sphere` and `ball`: the direction is uniform.
        min_displacement: δ, at least 0.
        rows: int64, shape (s,): which of the m records; None: all.

    Returns:
        float64, shape (s, d): 0 where not movable; the squares of a row add up to r².

    Source: Algorithm 1; the signs are reconstructed.
    """
    stop, d = start + len(reach), movable.shape[1]
    rows = np.arange(len(reach)) if rows is None else rows
    if d == 0:
        return np.zeros((len(rows), 0))
    reach, movable = reach[rows], movable[rows]
    amount = streams.uniforms("dptpe radius", start, stop, 1)[rows, 0]
    low, high = move_limits(reach, min_displacement)
    if draw == "ball":
        power = np.maximum(movable.sum(axis=1), 1).astype(np.float64)
        length = (low**power + (high**power - low**power) * amount) ** (1.0 / power)
    else:
        length = low + (high - low) * amount
    uniforms = np.clip(streams.uniforms("dptpe direction", start, stop, d)[rows], _LEAST, _MOST)
    if draw == "paper":
        sides = streams.uniforms("dptpe sign", start, stop, d)[rows]
        signs = np.where(sides < 0.5, -1.0, 1.0)
        moved: Floats = signs * np.sqrt(_sequential_parts(length, uniforms, movable))
        return moved
    directed = _directions(uniforms, movable)
    directed *= length[:, None]
    return directed


def move_keys(streams: Streams, width: int) -> NDArray[np.uint64]:
    """The keys of the draws of lengths and of directions in `width` attributes, uint64 (2, 2)."""
    return np.stack((streams.key("dptpe radius", 1), streams.key("dptpe direction", width)))


def move_limits(reach: Floats, min_displacement: float) -> tuple[Floats, Floats]:
    """The least and the greatest length of each record's move, float64 (m,).

    Args:
        reach: float64, shape (m,), R.
        min_displacement: δ, at least 0.
    """
    if min_displacement == 0:
        return np.zeros_like(reach), reach
    return np.full_like(reach, min_displacement), np.maximum(reach, 2.0 * min_displacement)


def _sequential_parts(length: Floats, uniforms: Floats, movable: Booleans) -> Floats:
    """r² divided in column order, each part uniform in what is left (the paper's draw)."""
    parts = np.zeros_like(uniforms)
    left = np.square(length)
    behind = movable.sum(axis=1)
    for column in range(uniforms.shape[1]):
        here = movable[:, column]
        behind = behind - here
        part = np.where(here, np.where(behind > 0, left * uniforms[:, column], left), 0.0)
        parts[:, column] = part
        left = left - part
    return parts


def _directions(uniforms: Floats, movable: Booleans) -> Floats:
    """Uniform directions: independent normal draws over their norm."""
    from scipy.special import ndtri

    normal = np.where(movable, ndtri(uniforms), 0.0)
    squares = np.zeros(len(normal))
    for column in normal.T:
        squares += np.square(column)
    norm = np.sqrt(squares)[:, None]
    directions: Floats = np.divide(normal, norm, out=np.zeros_like(normal), where=norm > 0)
    return directions


def _entries(neighborhoods: Neighborhoods, column: Floats) -> tuple[Integers, Floats, Integers]:
    """For each entry its query, its value and its weight."""
    rows = np.repeat(np.arange(len(neighborhoods)), np.diff(neighborhoods.starts))
    return rows, column[neighborhoods.points], neighborhoods.weights.astype(np.int64)
