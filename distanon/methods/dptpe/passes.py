"""What must be known of every point before a record is changed, in two passes over the points.

The first finds neighborhoods, which stay with the workers, and their entropies; the second needs
the entropies of all neighbors and yields dispersion, room to move and neighbors' mean.

Source: Zhang et al., Definitions 2 to 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distanon.data.space import AttributeSpace
from distanon.data.streams import Streams
from distanon.kernels.neighbors import Neighborhoods, Points, Ties
from distanon.kernels.potential import best_sigma, dispersions, entropies
from distanon.methods.base import BLOCK, Context
from distanon.methods.dptpe import perturbation
from distanon.runtime.crew import Shared
from distanon.sharded.neighbors import neighborhoods

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

_SAMPLE = 2000  # records; their distances take three matrices of 32 MB


@dataclass(frozen=True, slots=True)
class Traits:
    """What is known of each of m points.

    Attributes:
        dispersion: float64 (m,), entropy over the neighbors' mean entropy; may be infinite.
        radius: float64 (m,), distance of the k-th nearest record.
        reach: float64 (m,), R: half the gap between that and the next distance.
        means: float64 (m, q): mean, median or mode of the neighborhood in each attribute.
        dominated: bool (m,): one record makes over half of one of these means.
    """

    dispersion: Floats
    radius: Floats
    reach: Floats
    means: Floats
    dominated: Booleans


@dataclass(frozen=True, slots=True)
class Field:
    """What the second pass reads: all points with their entropies.

    Attributes:
        points: the distinct points of the n records.
        values: float64 (u, q), each point's values in codes.
        entropies: float64 (u,).
        space: of the quasi-identifiers.
        streams: randomness of the nominal attributes.
        swap: chance that a compact record takes a neighbor's value in a nominal attribute.
    """

    points: Points
    values: Floats
    entropies: Floats
    space: AttributeSpace
    streams: Streams
    swap: float


def choose_sigma(points: Points, streams: Streams) -> float:
    """The width of influence with the least potential entropy over a seeded sample of records."""
    return best_sigma(points.rows[points.point_of[sigma_sample(len(points.point_of), streams)]])


def sigma_sample(n: int, streams: Streams) -> NDArray[np.int64]:
    """The records that say how wide influence is, ascending."""
    if n <= _SAMPLE:
        return np.arange(n)
    return np.sort(streams.generator("dptpe sigma").choice(n, _SAMPLE, replace=False))


def survey(
    context: Context,
    index: Shared,
    points: Points,
    values: Floats,
    space: AttributeSpace,
    settings: tuple[int, Ties, float, float],
) -> tuple[Traits, Floats]:
    """Both passes over all points.

    Args:
        context: crew, streams, blocks.
        index: a NeighborIndex over the points, as the crew put it.
        points: u distinct points of n records.
        values: float64 (u, q), each point's values in codes.
        space: of the quasi-identifiers.
        settings: k, ties, sigma, rsn_nominal.

    Returns:
        The traits of the u points, and float64 (n, nominal attributes): the category that a
        compact record takes, NaN where it keeps its own.
    """
    k, ties, sigma, swap = settings
    crew = context.crew
    lists = neighborhoods(
        crew, index, len(points), k, ties, context.blocks, scratch=context.scratch
    )
    widths = [(kept, sigma) for _, _, kept in lists]
    every = np.concatenate(list(crew.map(_entropies, widths, phase="entropies")))
    field = crew.put(Field(points, values, every, space, context.streams, swap))
    found = list(crew.map(_traits, lists, shared=field, phase="dispersion"))
    swaps = np.full((len(points.point_of), int(space.nominal.sum())), np.nan)
    for (start, stop, _), (_, drawn) in zip(lists, found, strict=True):
        swaps[points.records[points.starts[start] : points.starts[stop]]] = drawn
    return _joined([traits for traits, _ in found]), swaps


def _joined(parts: Sequence[Traits]) -> Traits:
    return Traits(
        np.concatenate([part.dispersion for part in parts]),
        np.concatenate([part.radius for part in parts]),
        np.concatenate([part.reach for part in parts]),
        np.concatenate([part.means for part in parts]),
        np.concatenate([part.dominated for part in parts]),
    )


def _entropies(_: None, item: tuple[Neighborhoods, float]) -> Floats:
    lists, sigma = item
    return entropies(lists.starts, lists.distances, lists.weights, sigma)


def _traits(field: Field, item: tuple[int, int, Neighborhoods]) -> tuple[Traits, Floats]:
    """The traits of the points start … stop - 1, and their records' nominal draws."""
    start, stop, lists = item
    traits = traits_of(lists, field.entropies[start:stop], field)
    return traits, swaps_of(field, start, stop, lists)


def traits_of(lists: Neighborhoods, own: Floats, field: Field) -> Traits:
    """The traits of some points.

    Args:
        lists: their m neighborhoods.
        own: float64 (m,), their entropies.
        field: entropies and values of the points in the lists.
    """
    means, dominated = middles(lists, field.values, field.space)
    return Traits(
        dispersions(lists.starts, lists.points, lists.weights, own, field.entropies),
        lists.radius,
        0.5 * (lists.next_distance - lists.radius),
        means,
        dominated,
    )


def middles(lists: Neighborhoods, values: Floats, space: AttributeSpace) -> tuple[Floats, Booleans]:
    """What stands in the middle of each neighborhood, by the attribute's type.

    Args:
        lists: neighborhoods of m queries.
        values: float64 (u, q), in codes, row-major.
        space: of the q attributes.

    Returns:
        float64 (m, q): mean of numbers, median of ranks, mode of categories; and bool (m,):
        whether one record makes over half of one of the means.
    """
    result = np.empty((len(lists), values.shape[1]))
    numeric = np.flatnonzero(space.numeric)
    result[:, numeric], one = perturbation.means(lists, values, numeric)
    for place in np.flatnonzero(~space.numeric).tolist():
        middle = perturbation.medians if space.ordinal[place] else perturbation.modes
        result[:, place] = middle(lists, values[:, place])
    dominated: Booleans = np.any(one[:, ~space.constant[numeric]], axis=1)
    return result, dominated


def swaps_of(field: Field, start: int, stop: int, lists: Neighborhoods) -> Floats:
    """The nominal draws of the records of some points, in the order of `points.records`."""
    nominal = np.flatnonzero(field.space.nominal)
    borders = field.points.starts[start : stop + 1]
    records = field.points.records[borders[0] : borders[-1]]
    result = np.full((len(records), len(nominal)), np.nan)
    if not len(nominal) or field.swap == 0:
        return result
    queries = np.repeat(np.arange(stop - start), np.diff(borders))
    draws = _draws(field.streams, records, 2 * len(nominal))
    for place, attribute in enumerate(nominal):
        column = field.values[:, attribute]
        drawn = perturbation.neighbor_values(lists, queries, column, draws[:, 2 * place])
        taken = draws[:, 2 * place + 1] < field.swap
        result[taken, place] = drawn[taken]
    return result


def _draws(streams: Streams, records: NDArray[np.int64], width: int) -> Floats:
    """The draws of scattered records, read from the stream block by block."""
    result = np.empty((len(records), width))
    order = np.argsort(records, kind="stable")
    blocks, opens = np.unique(records[order] // BLOCK, return_index=True)
    for block, rows in zip(blocks.tolist(), np.split(order, opens[1:]), strict=True):
        first = int(block) * BLOCK
        low, high = int(records[rows].min()), int(records[rows].max()) + 1
        low = max(first, low)
        result[rows] = streams.uniforms("dptpe nominal", low, high, width)[records[rows] - low]
    return result
