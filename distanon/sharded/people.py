"""Known people and released regions: which rows may be whose, spread over workers.

An intruder knows records: originals, records that were held out, a population. All are numbered
in one domain, so that a category or a number that only some of them have has its place too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distanon.data.classes import partition_of
from distanon.data.domain import Domain, merge, scan
from distanon.data.evidence import Evidence, read_regions
from distanon.data.generalization import Regions
from distanon.data.region_points import region_points
from distanon.data.schema import Attribute, Schema
from distanon.data.space import AttributeSpace
from distanon.data.table import Dataset
from distanon.kernels.points import distinct
from distanon.kernels.regions import NearestRegions, Terms, nearest_regions, rows_around
from distanon.runtime.crew import Crew, Shared

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_CELLS = 4_000_000
"""Distances of values to sets that one item of work holds at a time."""
_NAME = "people"


@dataclass(frozen=True)
class People:
    """Everybody whom an intruder may know, in one scale that favours no side.

    Attributes:
        space: by the ranges and categories of all of them.
        originals: float64, shape (n, q): values of all originals.
        control: float64, shape (m, q): of the records that were held out; None: there are none.
        population: float64, shape (p, q): of the population; None: it was not given.
    """

    space: AttributeSpace
    originals: Floats
    control: Floats | None
    population: Floats | None

    @cached_property
    def original_points(self) -> Floats:
        """All originals as points, shape (n, D)."""
        return self.space.embed(self.originals)

    @cached_property
    def control_points(self) -> Floats | None:
        """The records that were held out as points, shape (m, D)."""
        return None if self.control is None else self.space.embed(self.control)


@dataclass(frozen=True, slots=True)
class Around:
    """Rows around known people.

    Attributes:
        rows: int64, shape (t,): released rows that may be each one's.
        people: int64, shape (c,): known people who may be behind each distinct region.
    """

    rows: Integers
    people: Integers


@dataclass(frozen=True)
class ReleasedRegions:
    """The distinct regions of a release, over all or some quasi-identifiers.

    Attributes:
        attributes: what each cell may stand for, by attribute.
        spreads: of each attribute; 0: constant.
        regions: int64, shape (c, q): number of each distinct region's set, by attribute.
        region_of: int64, shape (rows,): the region of each released row.
        rows: int64, shape (c,): how many rows each region has.
    """

    attributes: tuple[Regions, ...]
    spreads: tuple[float, ...]
    regions: Integers
    region_of: Integers
    rows: Integers

    @staticmethod
    def of(
        space: AttributeSpace, attributes: Sequence[Regions], known: Sequence[int] | None = None
    ) -> ReleasedRegions:
        """The regions over the attributes that are known; None: all.

        Args:
            space: of all attributes.
            attributes: the release's cells, by attribute.
            known: places of the known attributes.
        """
        places = range(len(attributes)) if known is None else known
        chosen = tuple(attributes[place] for place in places)
        tuples = np.column_stack([one.code_of for one in chosen]).astype(np.int64)
        key = np.zeros(len(tuples), np.int64)
        for column in tuples.T:
            key = partition_of(key * (int(column.max(initial=0)) + 1) + column).class_of
        classes = partition_of(key)
        return ReleasedRegions(
            chosen,
            tuple(space.spreads[place] for place in places),
            np.ascontiguousarray(tuples[classes.firsts]),
            classes.class_of,
            classes.sizes,
        )

    def only(self, chosen: Integers) -> ReleasedRegions:
        """Some of the regions, by number, without their rows' numbers."""
        none = np.zeros(0, np.int64)
        return replace(self, regions=self.regions[chosen], region_of=none, rows=self.rows[chosen])

    def terms(self, values: Floats) -> tuple[Terms, Integers]:
        """Squared distances of the distinct values of some records to all sets.

        Args:
            values: float64, shape (t, q): of the same attributes.

        Returns:
            The terms, and int64, shape (t, q): the number of each record's value.
        """
        tables, numbers = [], []
        for place, own in enumerate(self.attributes):
            found, number = np.unique(values[:, place], return_inverse=True)
            tables.append(_squares(found, own, self.spreads[place]))
            numbers.append(number.reshape(-1))
        return Terms.of(tables), np.column_stack(numbers).astype(np.int64)

    @property
    def widest(self) -> int:
        """Most sets of an attribute."""
        return max(1, *(len(one) for one in self.attributes))


def people_of(evidence: Evidence) -> People:
    """Everybody known beside a release; the same for all releases of these originals."""
    made = evidence.made_of_original
    if _NAME not in made:
        made[_NAME] = _people(evidence)
    people: People = made[_NAME]
    return people


def regions_of(evidence: Evidence) -> tuple[Regions, ...]:
    """What each released cell may stand for, in the domain of all people; read once."""
    made: dict[str, Any] = evidence.made_of_release
    if _NAME not in made:
        space = people_of(evidence).space
        is_own = evidence.control is None and evidence.population is None
        made[_NAME] = (
            evidence.release_regions
            if is_own
            else read_regions(evidence.release_table.select(list(space.names)), space)
        )
    found: tuple[Regions, ...] = made[_NAME]
    return found


def released_points(evidence: Evidence) -> Floats:
    """Released rows as points in the scale of all people, shape (rows, D)."""
    space = people_of(evidence).space
    if evidence.is_generalized:
        return region_points(space, regions_of(evidence))
    return space.embed(space.encode(evidence.release_table.select(list(space.names))))


def nearest_to(
    crew: Crew, shared: Shared, released: ReleasedRegions, values: Floats, blocks: int
) -> NearestRegions:
    """The regions nearest to each of some people, ties included.

    Args:
        crew: who works.
        shared: what `put` made of the regions.
        released: the same regions.
        values: float64, shape (t, q): in the domain of the regions.
        blocks: items of work; says nothing about results.
    """
    people = distinct(values)
    items = _cut(people.rows, released, blocks)
    parts: list[NearestRegions] = list(crew.map(_nearest, items, shared=shared, phase="regions"))
    lengths = np.concatenate([np.diff(part.starts) for part in parts])
    found = np.concatenate([part.regions for part in parts])
    away = np.concatenate([part.distances for part in parts])
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    sizes = lengths[people.point_of]
    own = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    take = np.arange(own[-1]) + np.repeat(starts[people.point_of] - own[:-1], sizes)
    return NearestRegions(own, found[take], away[people.point_of])


def around(
    crew: Crew, shared: Shared, released: ReleasedRegions, values: Floats, blocks: int
) -> Around:
    """The rows around each of some people, and the people in each region; as `nearest_to`."""
    people = distinct(values)
    counts = people.counts.astype(np.int64)
    items = [
        (part, counts[start : start + len(part)])
        for start, part in _starts(_cut(people.rows, released, blocks))
    ]
    parts: list[tuple[Integers, Integers]] = list(
        crew.map(_rows_around, items, shared=shared, phase="regions")
    )
    rows = np.concatenate([rows for rows, _ in parts])
    inside = np.zeros(len(released.regions), np.int64)
    for _, count in parts:
        inside += count
    return Around(rows[people.point_of], inside)


def holds(released: ReleasedRegions, values: Floats, regions: Integers) -> NDArray[np.bool_]:
    """Whether a region contains a record, pair by pair.

    Args:
        released: the regions.
        values: float64, shape (t, q).
        regions: int64, shape (t,): the region to be looked at for each record.
    """
    inside = np.ones(len(values), np.bool_)
    for place, own in enumerate(released.attributes):
        inside &= own.contains(values[:, place], released.regions[regions, place])
    return inside


def _people(evidence: Evidence) -> People:
    attributes = evidence.space.attributes
    tables = [evidence.original, evidence.control, evidence.population]
    domains = [_domain(table, attributes) for table in tables if table is not None]
    space = AttributeSpace.of(attributes, merge(domains)) if len(domains) > 1 else evidence.space
    names = list(space.names)

    def values(table: Dataset | None) -> Floats | None:
        return None if table is None else space.encode(table.read(names))

    originals = space.encode(evidence.original_table.select(names))
    return People(space, originals, values(evidence.control), values(evidence.population))


def _domain(table: Dataset, attributes: Sequence[Attribute]) -> Domain:
    """Of these attributes alone: not all tables have the others."""
    if table.domain is None:
        return scan(Dataset(Schema(tuple(attributes)), table.partitions, table.source))
    own = {attribute.name: table.domain[attribute.name] for attribute in attributes}
    return Domain(own, table.domain.records)


def _squares(values: Floats, regions: Regions, spread: float) -> Floats:
    """Squared distances of values to sets, shape (values, sets).

    Deviation: a category outside a set is at distance 1, also under a hierarchy.
    """
    width = len(regions)
    asked = np.repeat(values, width)
    sets = np.tile(np.arange(width), len(values))
    inside = regions.contains(asked, sets).reshape(len(values), width)
    away = np.ones((len(values), width))
    if not regions.is_nominal:
        low, high = regions.low[None, :], regions.high[None, :]
        gap = np.maximum(low - values[:, None], values[:, None] - high)
        # NaN: the value or the whole set is missing, and that is 1 away.
        away = np.where(np.isnan(gap), 1.0, np.square(np.maximum(gap, 0.0) / (spread or 1.0)))
    return np.where(inside, 0.0, away)


def _cut(rows: Floats, released: ReleasedRegions, blocks: int) -> list[Floats]:
    """Records in pieces, small enough that their tables fit."""
    most = max(1, _CELLS // released.widest)
    pieces = max(1, min(len(rows), max(blocks, -(-len(rows) // most))))
    edges = [len(rows) * piece // pieces for piece in range(pieces + 1)]
    return [rows[low:high] for low, high in pairwise(edges)]


def _starts(parts: list[Floats]) -> list[tuple[int, Floats]]:
    edges = np.cumsum([0, *(len(part) for part in parts)])
    return [(int(start), part) for start, part in zip(edges, parts, strict=False)]


def _nearest(released: ReleasedRegions, values: Floats) -> NearestRegions:
    terms, records = released.terms(values)
    return nearest_regions(terms, records, released.regions)


def _rows_around(
    released: ReleasedRegions, item: tuple[Floats, Integers]
) -> tuple[Integers, Integers]:
    values, times = item
    terms, records = released.terms(values)
    return rows_around(terms, records, released.regions, released.rows, times)
