"""The release, partition by partition: perturb, finish, make sure of a change, write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.finishing import Finishing, is_unchanged
from distanon.data.ports import Partition, Scratch
from distanon.data.release import publishable
from distanon.data.schema import SOURCE, Schema
from distanon.data.space import AttributeSpace
from distanon.data.streams import Streams
from distanon.methods.dptpe.perturbation import Draw, move_limits, moves
from distanon.methods.dptpe.substitutes import Source, Substitutes, finished, is_far_enough

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

_AT_ONCE = 8192  # records changed together: they stay in the cache


@dataclass(frozen=True, slots=True)
class Plan:
    """What a worker needs to release any partition; q attributes.

    Attributes:
        schema: of the release.
        widens: whether integers and decimals become float64.
        space: of the quasi-identifiers.
        finishing: what becomes of perturbed values.
        streams: all randomness.
        draw: how a compact record's move is divided among attributes.
        min_displacement: δ, at least 0.
        keys: uint64 (2, 2), of the moves' draws; as secret as the streams.
    """

    schema: Schema
    widens: bool
    space: AttributeSpace
    finishing: Finishing
    streams: Streams
    draw: Draw
    min_displacement: float
    keys: NDArray[np.uint64] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Fates:
    """What is to become of the m records of a partition.

    Attributes:
        gets_mean: bool (m,): replaced by the neighbors' mean; the others move a little.
        means: float64 (m, q).
        reach: float64 (m,), R.
        swaps: float64 (m, nominal attributes), the category to take; NaN: none.
        substitutes: what too little changed records get; None: they are kept.
    """

    gets_mean: Booleans
    means: Floats
    reach: Floats
    swaps: Floats
    substitutes: Substitutes | None

    def __getitem__(self, rows: slice) -> Fates:
        """Those of some of the records."""
        given = self.substitutes
        some = None if given is None else Substitutes(given.values[rows], given.source[rows])
        return Fates(
            self.gets_mean[rows], self.means[rows], self.reach[rows], self.swaps[rows], some
        )


@dataclass(frozen=True, slots=True)
class Counts:
    """How many records met which fate; public.

    Attributes:
        unchanged_before_fallback: equal to their originals after domain and rounding.
        replaced_by_neighbors_mean: too little changed, and given their neighbors' mean.
        replaced_by_nearest_differing: likewise, given the nearest differing record's values.
        unchanged: equal to their originals in the release.
        out_of_domain_before: with a number out of bounds before these were applied.
        kept_nominal: released with all nominal values of their originals.
    """

    unchanged_before_fallback: int
    replaced_by_neighbors_mean: int
    replaced_by_nearest_differing: int
    unchanged: int
    out_of_domain_before: int
    kept_nominal: int

    def as_table(self) -> pa.Table:
        """One row, for the scratch."""
        return pa.table({each.name: [getattr(self, each.name)] for each in fields(self)})

    def as_mapping(self) -> Mapping[str, int]:
        """By name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @staticmethod
    def total(parts: list[Counts]) -> Counts:
        """Of all partitions."""
        return Counts(*(sum(getattr(part, f.name) for part in parts) for f in fields(Counts)))


@dataclass(frozen=True, slots=True)
class Outcome:
    """A release, and what the user is told of it.

    Attributes:
        pieces: what was written, one for each partition.
        counts: of all records.
        space: of the quasi-identifiers.
        sigma: width of influence.
        dispersed: records whose entropy stands out.
        given_mean: records that got their neighbors' mean.
        dominated: those of them in whose mean one record makes over half.
    """

    pieces: tuple[Partition, ...]
    counts: Counts
    space: AttributeSpace
    sigma: float
    dispersed: int
    given_mean: int
    dominated: int


def publish(
    plan: Plan, partition: Partition, scratch: Scratch, fates_of: Callable[[Floats], Fates]
) -> tuple[Partition, Counts]:
    """Writes the release of one partition, unless an earlier attempt did.

    Args:
        plan: of the whole table.
        partition: the records.
        scratch: where the release goes.
        fates_of: from their values in codes, float64 (m, q), what is to become of them.

    Returns:
        The written piece, in record order with `SOURCE` as its last column, and its counts.
    """
    done = published(partition, scratch)
    if done is not None:
        return done
    where = f"{partition.start}-{partition.stop}"
    table = partition.read([attribute.name for attribute in plan.schema.published])
    original = np.ascontiguousarray(plan.space.encode(table))
    fates = fates_of(original)
    released, found = np.empty(original.shape, order="F"), [Counts.total([])]
    for at in range(0, len(original), _AT_ONCE):
        rows = slice(at, at + _AT_ONCE)
        perturbed = perturb(plan, fates[rows], partition.start + at, original[rows])
        released[rows], counts = settle(plan, fates[rows], original[rows], perturbed)
        found.append(counts)
    counts = Counts.total(found)
    scratch.write(f"dptpe-counts-{where}", counts.as_table())
    return scratch.write(f"dptpe-{where}", _assembled(plan, table, released, partition)), counts


def published(partition: Partition, scratch: Scratch) -> tuple[Partition, Counts] | None:
    """The release of a partition, if an earlier attempt wrote it."""
    where = f"{partition.start}-{partition.stop}"
    counted, written = scratch.find(f"dptpe-counts-{where}"), scratch.find(f"dptpe-{where}")
    if counted is None or written is None:
        return None
    (row,) = counted.read().to_pylist()
    return written, Counts(**row)


def perturb(plan: Plan, fates: Fates, start: int, original: Floats) -> Floats:
    """The records from number `start` on, perturbed, before domain and rounding.

    Args:
        plan: of the whole table.
        fates: of these m records.
        start: number of the first record.
        original: float64, shape (m, q), in codes.

    Returns:
        float64, shape (m, q): the neighbors' mean, or the record after its random move.

    Source: Algorithms 1 and 2.
    """
    space = plan.space
    perturbed = fates.means.copy()
    moving = np.flatnonzero(may_move(space))
    _move(plan, fates, start, original, perturbed, moving)
    nominal = np.flatnonzero(space.nominal)
    if nominal.size:
        compact = np.flatnonzero(~fates.gets_mean)
        # Where nothing else can move the record takes its neighbors' categories.
        moves_any: Booleans = np.any(~np.isnan(original[np.ix_(compact, moving)]), axis=1)
        means = fates.means[np.ix_(compact, nominal)]
        swaps = np.where(moves_any[:, None], fates.swaps[compact], means)
        own = original[np.ix_(compact, nominal)]
        perturbed[np.ix_(compact, nominal)] = np.where(np.isnan(swaps), own, swaps)
    fixed = np.flatnonzero(~space.nominal & space.constant)
    if fixed.size:
        perturbed[:, fixed] = np.where(fates.gets_mean[:, None], fates.means, original)[:, fixed]
    return perturbed


def may_move(space: AttributeSpace) -> Booleans:
    """Which attributes random moves change, bool (q,): those with more than one number or rank."""
    return ~space.nominal & ~space.constant


def _move(
    plan: Plan,
    fates: Fates,
    start: int,
    original: Floats,
    perturbed: Floats,
    moving: NDArray[np.int64],
) -> None:
    """Writes the moved records that don't get the mean, in the columns that may move."""
    spreads, least = np.array(plan.space.spreads)[moving], plan.min_displacement
    if plan.draw == "sphere":
        from distanon.kernels.sphere_moves import move

        limits = np.stack(move_limits(fates.reach, least))
        move(perturbed, original, fates.gets_mean, limits, plan.keys, start, moving, spreads)
        return
    compact = np.flatnonzero(~fates.gets_mean)
    own = original[np.ix_(compact, moving)]
    movable = ~np.isnan(original[:, moving])
    drawn = moves(plan.streams, start, fates.reach, movable, plan.draw, least, compact)
    perturbed[np.ix_(compact, moving)] = own + drawn * spreads


def settle(plan: Plan, fates: Fates, original: Floats, perturbed: Floats) -> tuple[Floats, Counts]:
    """Perturbed records inside domain and grid, substitutes where they changed too little.

    Args:
        plan: of the whole table.
        fates: of these m records.
        original: float64, shape (m, q), in codes.
        perturbed: float64, shape (m, q).

    Returns:
        What is released, float64 of shape (m, q), and the counts of these records.
    """
    released, outside, before = finished(plan.finishing, original, perturbed)
    source = np.zeros(len(original), dtype=np.int8)
    if fates.substitutes is not None:
        near = before
        if plan.min_displacement:
            near = ~is_far_enough(original, released, plan.space, plan.min_displacement)
        source = np.where(near, fates.substitutes.source, Source.NONE)
        given = np.flatnonzero(source == Source.NEIGHBORS_MEAN)
        own = fates.substitutes.values
        if given.size:
            released[given] = finished(plan.finishing, own[given], fates.means[given])[0]
        differing = np.flatnonzero(source == Source.NEAREST_DIFFERING)
        released[differing] = own[differing]
    nominal = plan.space.nominal
    kept = np.zeros(0, np.bool_)
    if nominal.any():
        kept = is_unchanged(original[:, nominal], released[:, nominal])
    again = np.flatnonzero(before | (source != Source.NONE))  # the others are changed
    still = is_unchanged(original[again], released[again])
    return released, Counts(
        int(before.sum()),
        int((source == Source.NEIGHBORS_MEAN).sum()),
        int((source == Source.NEAREST_DIFFERING).sum()),
        int(still.sum()),
        int(outside.sum()),
        int(kept.sum()),
    )


def _assembled(plan: Plan, table: pa.Table, released: Floats, partition: Partition) -> pa.Table:
    """The published columns with the released values, and the source records' numbers."""
    columns = plan.space.decode(released, widen=plan.widens)
    for name, column in zip(plan.space.names, columns, strict=True):
        table = table.set_column(table.column_names.index(name), name, column)
    numbers = pa.array(np.arange(partition.start, partition.stop, dtype=np.int64))
    return publishable(table, plan.schema).append_column(SOURCE, numbers)
