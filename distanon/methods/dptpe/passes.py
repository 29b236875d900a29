"""What must be known of every point before a record is changed, in two passes over the points.

The first finds neighborhoods, which stay with the workers, and their entropies; the second needs
the entropies of all neighbors and yields dispersion, room to move and neighbors' mean.

Source: Zhang et al., Definitions 2 to 8.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from distanon.data.finishing import Finishing
from distanon.data.space import AttributeSpace
from distanon.data.streams import Streams
from distanon.kernels.neighbors import Neighborhoods, NeighborIndex, Points, Ties
from distanon.kernels.potential import best_sigma, dispersions, entropies
from distanon.methods.base import BLOCK, Context
from distanon.methods.dptpe import perturbation
from distanon.methods.dptpe.substitutes import Source, first_choice
from distanon.runtime.crew import Crew, Kept, Shared
from distanon.sharded.neighbors import neighborhoods_by_place

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

_SAMPLE = 2000  # records; their distances take a matrix of 32 MB


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


class Known(NamedTuple):
    """What is known of the m points of a block.

    Attributes:
        traits: of the points.
        swaps: float64 (records, nominal attributes): the category that each of their records
            takes, in the order of `points.records`; NaN: none.
        source: int8 (m,): whether the neighbors' mean will do as a substitute.
    """

    traits: Traits
    swaps: Floats
    source: NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Choice:
    """How substitutes are chosen.

    Attributes:
        finish: what a value becomes before it is released.
        space: of the attributes.
        least: what a substitute must be away from the record.
        is_asked: whether there are substitutes at all.
    """

    finish: Finishing
    space: AttributeSpace
    least: float
    is_asked: bool

    def sources(self, values: Floats, points: Integers, means: Floats) -> NDArray[np.int8]:
        """`first_choice`, or NONE for all."""
        if not self.is_asked:
            return np.full(len(points), Source.NONE, dtype=np.int8)
        return first_choice(values, points, means, self.finish, self.space, self.least)


@dataclass(frozen=True, slots=True)
class Field:
    """What the second pass reads beside entropies.

    Attributes:
        values: float64 (u, q), each point's values in codes, row-major.
        space: of the quasi-identifiers.
        streams: randomness of the nominal attributes.
        swap: chance that a compact record takes a neighbor's value in a nominal attribute.
    """

    values: Floats
    space: AttributeSpace
    streams: Streams
    swap: float


class Settings(NamedTuple):
    """Of both passes."""

    k: int
    ties: Ties
    sigma: float | Literal["auto"]
    swap: float


@dataclass(frozen=True, slots=True)
class Survey:
    """What both passes over the u points of n records found.

    Attributes:
        order: int64 (u,): the points, those that lie together one after the other.
        place: int64 (u,): where each point stands in `order`.
        borders: int64 (b + 1,): where each of b blocks starts in `order`.
        kept: of each block a `Known`, kept.
        sigma: the width of influence.
        dispersion: float64 (u,), by point.
        radius: float64 (u,), likewise.
        dominated: bool (u,), likewise.
        source: int8 (u,), likewise.
        swaps: float64 (n, nominal attributes), by record.
    """

    order: Integers
    place: Integers
    borders: Integers
    kept: list[Kept]
    sigma: float
    dispersion: Floats
    radius: Floats
    dominated: Booleans
    source: NDArray[np.int8]
    swaps: Floats


def sigma_sample(n: int, streams: Streams) -> Integers:
    """The records that say how wide influence is, ascending."""
    if n <= _SAMPLE:
        return np.arange(n)
    return np.sort(streams.generator("dptpe sigma").choice(n, _SAMPLE, replace=False))


def survey(
    context: Context,
    index: NeighborIndex,
    shared: Shared,
    values: Floats,
    choice: Choice,
    settings: Settings,
) -> Survey:
    """Both passes over all points, those that lie together in one block.

    Args:
        context: crew, streams, blocks.
        index: over the u points of n records.
        shared: the same, as the crew put it.
        values: float64 (u, q), each point's values in codes.
        choice: of substitutes.
        settings: of the method; sigma auto is found by a worker, while others look for neighbors.
    """
    crew, points, order = context.crew, index.points, index.tree.order
    runs = index.runs(min(len(points), context.blocks), crew.workers)
    sample = points.point_of[sigma_sample(len(points.point_of), context.streams)]
    beside = [(best_sigma, points.rows[sample])] if settings.sigma == "auto" else []
    field = Field(values, choice.space, context.streams, settings.swap)
    with ThreadPoolExecutor(1) as meanwhile:
        put = meanwhile.submit(crew.put, (field, choice, order))
        lists, found = neighborhoods_by_place(
            crew,
            shared,
            runs,
            settings.k,
            settings.ties,
            scratch=context.scratch,
            order=index.order_digest(),
            beside=beside,
        )
    read_by_all = put.result()
    sigma = float(found[0] if settings.sigma == "auto" else settings.sigma)
    every = np.empty(len(points))
    widths = [(kept, sigma) for kept in lists]
    told = crew.map(_entropies, widths, phase="entropies")
    for (start, stop), some in zip(runs, told, strict=True):
        every[order[start:stop]] = some
    of_all = crew.put(every)
    nominal = int(choice.space.nominal.sum())
    records = [_records_of(points, order[start:stop], nominal) for start, stop in runs]
    items = [
        (run, of_all, kept, numbers, counts)
        for run, kept, (numbers, counts) in zip(runs, lists, records, strict=True)
    ]
    place = np.empty(len(points), np.int64)
    place[order] = np.arange(len(points))
    borders = np.array([0, *(stop for _, stop in runs)], np.int64)
    result = Survey(
        order,
        place,
        borders,
        [],
        sigma,
        np.empty(len(points)),
        np.empty(len(points)),
        np.empty(len(points), np.bool_),
        np.empty(len(points), np.int8),
        np.full((len(points.point_of), nominal), np.nan),
    )
    known = crew.map(_known, items, shared=read_by_all, keep=True, phase="dispersion")
    for ((start, stop), _, _, numbers, _), kept in zip(items, known, strict=True):
        result.kept.append(kept)
        traits, swaps, source = crew.fetch(kept)
        who = order[start:stop]
        result.dispersion[who], result.radius[who] = traits.dispersion, traits.radius
        result.dominated[who], result.source[who] = traits.dominated, source
        result.swaps[numbers] = swaps
    return result


def driver_threads(crew: Crew) -> int:
    """How many threads the driver may use while workers wait for it: none more than it has CPUs."""
    return min(crew.workers, os.cpu_count() or 1)


def _records_of(points: Points, who: Integers, nominal: int) -> tuple[Integers, Integers]:
    """The records of some points, one point after the other, and how many each has.

    Nobody asks for them where no attribute is nominal: none then.
    """
    if not nominal:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    counts = points.counts[who]
    steps = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return points.records[np.repeat(points.starts[who], counts) + steps], counts


def _entropies(_: None, item: tuple[Neighborhoods, float]) -> Floats:
    lists, sigma = item
    return entropies(lists.starts, lists.distances, lists.weights, sigma)


def _known(
    shared: tuple[Field, Choice, Integers],
    item: tuple[tuple[int, int], Floats, Neighborhoods, Integers, Integers],
) -> Known:
    """What is known of a run of points, with all entropies, their neighborhoods and records."""
    field, choice, order = shared
    (start, stop), every, lists, records, counts = item
    points = order[start:stop]
    traits = traits_of(lists, every.take(points), every, field)
    sources = choice.sources(field.values, points, traits.means)
    return Known(traits, swaps_of(field, records, counts, lists), sources)


def traits_of(lists: Neighborhoods, own: Floats, every: Floats, field: Field) -> Traits:
    """The traits of some points.

    Args:
        lists: their m neighborhoods.
        own: float64 (m,), their entropies.
        every: float64 (u,), the entropies of the points in the lists.
        field: their values.
    """
    means, dominated = middles(lists, field.values, field.space)
    return Traits(
        dispersions(lists.starts, lists.points, lists.weights, own, every),
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
    numeric = np.flatnonzero(space.numeric)
    found, one = perturbation.means(lists, values, numeric)
    dominated = np.zeros(len(lists), np.bool_)
    for place in np.flatnonzero(~space.constant[numeric]).tolist():
        dominated |= one[:, place]
    if len(numeric) == values.shape[1]:
        return found, dominated
    result = np.empty((len(lists), values.shape[1]))
    result[:, numeric] = found
    for place in np.flatnonzero(~space.numeric).tolist():
        middle = perturbation.medians if space.ordinal[place] else perturbation.modes
        result[:, place] = middle(lists, values[:, place])
    return result, dominated


def swaps_of(field: Field, records: Integers, counts: Integers, lists: Neighborhoods) -> Floats:
    """The nominal draws of the records of some points.

    Args:
        field: values of the points in the lists.
        records: int64: record numbers, one point after the other.
        counts: int64 (m,): records of each point.
        lists: their m neighborhoods.
    """
    nominal = np.flatnonzero(field.space.nominal)
    result = np.full((len(records), len(nominal)), np.nan)
    if not len(nominal) or field.swap == 0:
        return result
    queries = np.repeat(np.arange(len(counts)), counts)
    draws = _draws(field.streams, records, 2 * len(nominal))
    for place, attribute in enumerate(nominal):
        column = field.values[:, attribute]
        drawn = perturbation.neighbor_values(lists, queries, column, draws[:, 2 * place])
        taken = draws[:, 2 * place + 1] < field.swap
        result[taken, place] = drawn[taken]
    return result


def _draws(streams: Streams, records: Integers, width: int) -> Floats:
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
