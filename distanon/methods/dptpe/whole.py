"""DPTPE on a table that one process holds: its values, one index, both passes, the release.

The driver numbers the points, cuts the index and holds a few numbers to a record; workers read,
search, sum up and write. What lies in the driver's memory is read and released by its threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from distanon.data.domain import Domain
from distanon.data.ports import Partition, Scratch
from distanon.data.space import AttributeSpace, zscore_spreads
from distanon.data.table import Dataset, MemoryPartition
from distanon.kernels.neighbors import NeighborIndex, distinct
from distanon.kernels.points import empty_rows, take_rows
from distanon.methods.base import Context
from distanon.methods.dptpe.extremes import Ends, ends_of, extremes_of
from distanon.methods.dptpe.kinds import gets_mean, is_dispersed
from distanon.methods.dptpe.passes import Known, Settings, Survey, driver_threads, survey
from distanon.methods.dptpe.publication import Counts, Fates, Outcome, Plan, publish
from distanon.methods.dptpe.refusals import refuse_equal
from distanon.methods.dptpe.substitutes import Source, Substitutes, find_differing
from distanon.promises.base import Promise

if TYPE_CHECKING:
    from distanon.methods.dptpe.method import DPTPE

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Item = TypeVar("Item")
Result = TypeVar("Result")

_AT_ONCE = 16_384  # records read together: they stay in the cache


class Share(NamedTuple):
    """What the driver knows of the m records of a partition.

    Attributes:
        place: int64 (m,): where the point of each stands in the survey's order.
        gets_mean: bool (m,).
        swaps: float64 (m, nominal attributes).
        own: float64 (m, q): the values of each record's point; None: its own.
        source: int8 (m,): of its substitute; None: there are none.
        given: int64: records of the partition that get what a differing one has, ascending.
        values: float64 (given, q): that.
    """

    place: Integers
    gets_mean: Booleans
    swaps: Floats
    own: Floats | None
    source: NDArray[np.int8] | None
    given: Integers
    values: Floats


def in_memory(
    method: DPTPE,
    dataset: Dataset,
    domain: Domain,
    promises: Mapping[str, Promise],
    context: Context,
) -> Outcome:
    """The release of a table that one process can hold.

    Raises:
        InfeasibleError: as `DPTPE.release`.
    """
    crew = context.crew
    space, values, rows, ends = _encoded(method, dataset, domain, context)
    threads = driver_threads(crew)
    points = distinct(rows, threads=threads, is_given=True)
    del rows
    refuse_equal(promises, all_equal=len(points) == 1)
    method.note_kept(promises, context)
    index = NeighborIndex.build(points, threads=threads)
    shared = crew.put(index)
    if len(points) < len(values):
        values = take_rows(values, points.records[points.starts[:-1]])
    choice = method.choice(space, ends)
    settings = Settings(method.k, method.ties, method.sigma, method.rsn_nominal)
    found = survey(context, index, shared, values, choice, settings)
    pending = np.flatnonzero(found.source == Source.NONE) if choice.is_asked else np.zeros(0, int)
    differing = find_differing(
        context, shared, points, values, pending, choice.finish, choice.space, choice.least
    )
    del index, shared  # nothing below reads them
    found.source[differing[0]] = Source.NEAREST_DIFFERING
    dispersed = is_dispersed(found.dispersion, method.t)
    chosen = gets_mean(method.rule, dispersed, found.radius, points.point_of, context.streams)
    shares = _Shares(points.point_of, values, found, chosen, differing, choice.is_asked)
    plan = method.plan(dataset.schema, choice, context.streams)
    made = _published(dataset, context, plan, found, shares)
    return Outcome(
        tuple(piece for piece, _ in made),
        Counts.total([counts for _, counts in made]),
        space,
        found.sigma,
        int(dispersed[points.point_of].sum()),
        int(chosen.sum()),
        int((chosen & found.dominated[points.point_of]).sum()),
    )


def _published(
    dataset: Dataset, context: Context, plan: Plan, found: Survey, shares: _Shares
) -> list[tuple[Partition, Counts]]:
    """The release of each partition."""
    crew, parts, shared = context.crew, dataset.partitions, (plan, found.borders)
    if _is_here(dataset):
        blocks = [crew.fetch(one) for one in found.kept]

        def publish_here(part: Partition) -> tuple[Partition, Counts]:
            return _publish(shared, (part, context.scratch, shares.of(part), *blocks))

        return _in_threads(context, publish_here, list(parts), "release")
    items = [(part, context.scratch, shares.of(part), *found.kept) for part in parts]
    return list(crew.map(_publish, items, shared=crew.put(shared), phase="release"))


class _Shares:
    """Tells each partition what the driver knows of its records."""

    def __init__(
        self,
        point_of: Integers,
        values: Floats,
        found: Survey,
        chosen: Booleans,
        differing: tuple[Integers, Floats],
        is_asked: bool,  # noqa: FBT001 (named where it is called)
    ) -> None:
        self._point_of, self._values, self._found, self._chosen = point_of, values, found, chosen
        self._differing, self._is_asked = differing, is_asked

    def of(self, part: Partition) -> Share:
        """What is known of a partition's records."""
        rows, found = slice(part.start, part.stop), self._found
        point = self._point_of[rows]
        source = found.source[point] if self._is_asked else None
        given, values = np.zeros(0, np.int64), self._differing[1][:0]
        if source is not None:
            given = np.flatnonzero(source == Source.NEAREST_DIFFERING)
            values = self._differing[1][np.searchsorted(self._differing[0], point[given])]
        has_copies = len(self._values) < len(self._point_of)
        return Share(
            found.place[point],
            self._chosen[rows],
            found.swaps[rows],
            self._values[point] if has_copies and self._is_asked else None,
            source,
            given,
            values,
        )


def _encoded(
    method: DPTPE, dataset: Dataset, domain: Domain, context: Context
) -> tuple[AttributeSpace, Floats, Floats, Floats]:
    """The space of the quasi-identifiers, all records in it, values and rows, and extremes."""
    attributes = dataset.schema.quasi_identifiers
    is_known = method.scale != "zscore"  # which needs all values
    space = AttributeSpace.of(attributes, domain, method.scale if is_known else "range")
    values = empty_rows(len(dataset), len(attributes))
    rows = empty_rows(len(dataset), space.slices[-1].stop)
    told: list[Ends] = []
    if _is_here(dataset):
        told = _taken_in(dataset, space, method.k, context, values, rows)
    else:
        shared = context.crew.put((space, method.k))
        parts = context.crew.map(_encode, dataset.partitions, shared=shared, phase="reading")
        for part, (some, embedded, ends) in zip(dataset.partitions, parts, strict=True):
            values[part.start : part.stop], rows[part.start : part.stop] = some, embedded
            told.append(ends)
    if not is_known:
        space = AttributeSpace.of(attributes, domain, method.scale, zscore_spreads(values))
        rows = space.embed(values)
    return space, values, rows, extremes_of(told, method.k)


def _taken_in(
    dataset: Dataset,
    space: AttributeSpace,
    k: int,
    context: Context,
    values: Floats,
    rows: Floats,
) -> list[Ends]:
    """Writes all values and rows, of a table in this memory."""

    def take_in(item: tuple[Partition, int]) -> Ends:
        part, start = item
        some = space.encode(part.read(space.names).slice(start, _AT_ONCE))
        at = slice(part.start + start, part.start + start + len(some))
        values[at], rows[at] = some, space.embed(some)
        return ends_of(some, k)

    parts = dataset.partitions
    items = [(one, at) for one in parts for at in range(0, one.stop - one.start, _AT_ONCE)]
    return _in_threads(context, take_in, items, "reading")


def _is_here(dataset: Dataset) -> bool:
    """Whether all records are in this memory: to send them away costs more than what is done."""
    return all(isinstance(part, MemoryPartition) for part in dataset.partitions)


def _in_threads(
    context: Context, work: Callable[[Item], Result], items: list[Item], phase: str
) -> list[Result]:
    """What comes of each item, in their order, by threads of the driver."""
    context.progress.start(phase, len(items))
    made = []
    with ThreadPoolExecutor(driver_threads(context.crew)) as pool:
        for result in pool.map(work, items):
            context.progress.advance()
            made.append(result)
    return made


def _encode(
    shared: tuple[AttributeSpace, int], partition: Partition
) -> tuple[Floats, Floats, Ends]:
    space, k = shared
    values = space.encode(partition.read(space.names))
    return np.ascontiguousarray(values), space.embed(values), ends_of(values, k)


def _publish(
    shared: tuple[Plan, Integers], item: tuple[Partition, Scratch, Share, *tuple[Known, ...]]
) -> tuple[Partition, Counts]:
    """The release of a partition, from what all blocks know of its records."""
    plan, borders = shared
    partition, scratch, share, *blocks = item

    def fates(original: Floats) -> Fates:
        substitutes = None
        if share.source is not None:
            own = original if share.own is None else share.own
            if len(share.given):
                own = own.copy()
                own[share.given] = share.values
            substitutes = Substitutes(own, share.source)
        means, reach = _gathered(blocks, borders, share.place)
        return Fates(share.gets_mean, means, reach, share.swaps, substitutes)

    return publish(plan, partition, scratch, fates)


def _gathered(blocks: list[Known], borders: Integers, place: Integers) -> tuple[Floats, Floats]:
    """Mean and reach of the points at some places."""
    from distanon.kernels.gathered_rows import by_block, copy_rows

    means, reach = np.empty((len(place), blocks[0].traits.means.shape[1])), np.empty(len(place))
    order, starts = by_block(place, borders)
    for number, known in enumerate(blocks):
        rows, traits = order[starts[number] : starts[number + 1]], known.traits
        copy_rows(traits.means, traits.reach, borders[number], place, rows, means, reach)
    return means, reach
