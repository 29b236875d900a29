"""What a record gets that its own perturbation did not change enough.

The neighbors' mean comes first; where that is the record itself, or too near, the values of the
nearest record that differs. Both depend on the point alone, so equal records share them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from distanon.data.finishing import Finishing, is_unchanged
from distanon.data.space import AttributeSpace
from distanon.errors import InfeasibleError
from distanon.kernels.neighbors import Neighborhoods, Points
from distanon.methods.base import Context
from distanon.runtime.crew import Shared
from distanon.sharded.neighbors import nearest

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

_FIRST = 8  # candidates asked for at first; doubled until one differs
_AT_ONCE = 8192  # points looked at together: they stay in the cache
_ENTRIES = 4_000_000  # candidates looked at in one go
_SLACK = 1e-9
_EXACT = 15  # digits for which ten to their power is exact


class Source(IntEnum):
    """Where a point's substitute comes from."""

    NONE = 0
    NEIGHBORS_MEAN = 1
    NEAREST_DIFFERING = 2


@dataclass(frozen=True, slots=True)
class Substitutes:
    """The substitutes of m records.

    Attributes:
        values: float64 (m, q), in codes. NEIGHBORS_MEAN: the values of the record's point, of
            which the mean is to be finished; NEAREST_DIFFERING: finished values; else anything.
        source: int8 (m,), of `Source`.
    """

    values: Floats
    source: NDArray[np.int8]


def is_far_enough(
    original: Floats, released: Floats, space: AttributeSpace, min_displacement: float
) -> Booleans:
    """Which records differ from their originals, by the least displacement where one is asked.

    Args:
        original: float64, shape (m, q), in codes.
        released: float64, shape (m, q), finished.
        space: whose scale the displacement is measured in.
        min_displacement: at least 0.

    Returns:
        bool, shape (m,).
    """
    differs = ~is_unchanged(original, released)
    if min_displacement == 0:
        return differs
    apart = displacements(space, original, released)
    enough: Booleans = differs & (apart >= min_displacement * (1.0 - _SLACK))
    return enough


def displacements(space: AttributeSpace, original: Floats, released: Floats) -> Floats:
    """How far each record moved, in scaled units: float64, shape (m,), squares in column order."""
    before, after = space.embed(original), space.embed(released)
    squares = np.zeros(len(before))
    for old, new in zip(before.T, after.T, strict=True):
        gap = new - old
        gap = np.where(np.isnan(gap), np.isnan(old) ^ np.isnan(new), gap)
        squares += np.square(gap)
    root: Floats = np.sqrt(squares)
    return root


def finished(
    finishing: Finishing, original: Floats, perturbed: Floats
) -> tuple[Floats, Booleans, Booleans]:
    """What `Finishing.finish` returns, and which records have all their values still.

    Tables of numbers are finished in one compiled pass, others column by column: the same bits.

    Args:
        finishing: what a value becomes before it is released.
        original: float64, shape (m, q), in codes.
        perturbed: float64, shape (m, q).
    """
    if not _is_plain(finishing):
        values, outside = finishing.finish(original, perturbed)
        return values, outside, is_unchanged(original, values)
    from distanon.kernels.finished_numbers import finished_numbers

    bounds, powers = _bounds_and_powers(finishing)
    found: tuple[Floats, Booleans, Booleans] = finished_numbers(
        np.ascontiguousarray(original),
        np.ascontiguousarray(perturbed),
        bounds,
        np.ascontiguousarray(finishing.domain),
        powers,
        finishing.is_declared,
    )
    return found


def _is_plain(finishing: Finishing) -> bool:
    """Whether compiled code finishes these attributes: numbers alone, as the paper has them."""
    return (
        bool(finishing.numeric.all())
        and not finishing.reflects
        and finishing.decimals.max(initial=0) <= _EXACT
        and all(kind is np.float64 for kind in finishing.storage)
    )


def _bounds_and_powers(finishing: Finishing) -> tuple[Floats, Floats]:
    """Least and greatest values, and ten to the digits after the point, 0: as computed."""
    digits = finishing.decimals
    powers = np.where(digits >= 0, 10.0 ** np.maximum(digits, 0), 0.0)
    return np.stack((finishing.lower, finishing.upper)), powers


def find_differing(
    context: Context,
    index: Shared,
    points: Points,
    values: Floats,
    pending: Integers,
    finishing: Finishing,
    space: AttributeSpace,
    min_displacement: float,
) -> tuple[Integers, Floats]:
    """The nearest differing record's values, for points whose neighbors' mean will not do.

    Args:
        context: crew and blocks.
        index: a NeighborIndex over the points, as the crew put it.
        points: the u distinct points.
        values: float64 (u, q), their values in codes.
        pending: int64, ascending: the points that ask.
        finishing: what a value becomes before it is released.
        space: of the attributes.
        min_displacement: what a substitute must be away from the record, at least 0.

    Returns:
        The points that have one, and its finished values. For the others nothing that may be
        released differs.

    Raises:
        InfeasibleError: nothing lies as far as `min_displacement` from some record.
    """

    def ask(asked: Integers, k: int) -> tuple[Integers, Floats]:
        who = pending[asked]
        lists = nearest(context.crew, index, points.rows[who], k, "truncate", context.blocks)
        own, every = values[who], values
        return first_far_enough(lists, own, every, finishing, space, min_displacement)

    shape = (len(points.point_of), values.shape[1])
    found, candidates = seek(points.counts[pending], shape, ask, min_displacement)
    return pending[found], candidates[found]


def first_choice(
    values: Floats,
    points: Integers,
    means: Floats,
    finishing: Finishing,
    space: AttributeSpace,
    least: float,
) -> NDArray[np.int8]:
    """Whether the neighbors' means will do as substitutes.

    Args:
        values: float64 (u, q), in codes.
        points: int64 (m,), of which points.
        means: float64 (m, q), of the neighbors.
        finishing: what a value becomes before it is released.
        space: of the attributes.
        least: what a substitute must be away from the record.

    Returns:
        int8 (m,) of `Source`: NONE where the finished means are the record itself, or too near.
    """
    source = np.full(len(points), Source.NONE, dtype=np.int8)
    if not least and _is_plain(finishing):
        from distanon.kernels.finished_numbers import stay_the_same

        bounds, powers = _bounds_and_powers(finishing)
        same = stay_the_same(values, points, means, bounds, powers, finishing.is_declared)
        source[~same] = Source.NEIGHBORS_MEAN
        return source
    for start in range(0, len(points), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        own = values.take(points[part], axis=0)
        released, _, unchanged = finished(finishing, own, means[part])
        far = ~unchanged
        if least:
            far = is_far_enough(own, released, space, least)
        source[part][far] = Source.NEIGHBORS_MEAN
    return source


def seek(
    counts: Integers,
    shape: tuple[int, int],
    ask: Callable[[Integers, int], tuple[Integers, Floats]],
    min_displacement: float,
) -> tuple[Booleans, Floats]:
    """Asks for ever more neighbors of some points until one of them will do.

    Args:
        counts: int64 (p,), copies of each point.
        shape: how many records n the table has, and attributes q.
        ask: for some of the points (places, ascending) and k: which of those that ask have a
            neighbor among their k nearest that will do, and its finished values.
        min_displacement: what a substitute must be away from the record, at least 0.

    Returns:
        Which points have one, bool (p,), and its values, float64 (p, q).

    Raises:
        InfeasibleError: as `find_differing`.
    """
    n, width = shape
    found, candidates = np.zeros(len(counts), np.bool_), np.empty((len(counts), width))
    pending = np.arange(len(counts))
    # Copies come first and never differ: a point asks for its copies and as many more.
    needs = counts + _FIRST
    while pending.size:
        least = int(needs[pending].min())
        asked = pending[needs[pending] <= 2 * least][: max(1, _ENTRIES // least)]
        k = min(n, int(needs[asked].max()))
        place, candidate = ask(asked, k)
        candidates[asked[place]] = candidate
        found[asked[place]] = True
        needs[asked] = 2 * k
        if k == n and min_displacement and len(place) < len(asked):
            raise InfeasibleError(
                f"method.min_displacement {min_displacement}: expected a distance at which other "
                "records lie, got one that no value inside the domain reaches for some records; "
                "lower it, or widen `domain_bounds`"
            )
        done = asked if k == n else asked[place]
        pending = np.setdiff1d(pending, done, assume_unique=True)
    return found, candidates


def first_far_enough(
    lists: Neighborhoods,
    own: Floats,
    values: Floats,
    finishing: Finishing,
    space: AttributeSpace,
    min_displacement: float,
) -> tuple[Integers, Floats]:
    """The nearest candidate of each query that may be released and lies far enough.

    Args:
        lists: neighborhoods of m queries.
        own: float64 (m, q), the queries' values in codes.
        values: float64 (u, q), of the points.
        finishing: what a value becomes before it is released.
        space: of the attributes.
        min_displacement: what a substitute must be away from the record.

    Returns:
        Which queries have one, int64 (s,), and its finished values, float64 (s, q).
    """
    row = np.repeat(np.arange(len(lists)), np.diff(lists.starts))
    own = own[row]
    candidates, _ = finishing.finish(own, values[lists.points])
    good = np.flatnonzero(is_far_enough(own, candidates, space, min_displacement))
    place, first = np.unique(row[good], return_index=True)
    return place, candidates[good[first]]
