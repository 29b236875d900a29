"""Composition: what two releases of the same people leave together.

Rows of two releases can't be matched by number. What is kept as it is (sensitive and insensitive
columns) matches some; whoever knows a person's quasi-identifiers finds candidates in each release
and keeps those that stand in both; and two released values of one person average.

Source: methods.md, section D (composition); the intersection after Ganta, Kasiviswanathan & Smith,
KDD 2008.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from distanon.attacks.intervals import wilson
from distanon.attacks.nearest_record import Setting, release_to_original
from distanon.data.classes import common_classes
from distanon.data.evidence import Evidence
from distanon.data.measurement import Measurement
from distanon.data.schema import Role
from distanon.data.streams import Streams
from distanon.kernels.neighbors import NeighborIndex
from distanon.runtime.crew import Crew
from distanon.sharded.indexes import original_index, release_index
from distanon.sharded.neighbors import nearest
from distanon.sharded.people import ReleasedRegions, nearest_to, people_of, regions_of

TARGETS = 2_000
"""Known people and released rows under attack where there are more: a seeded sample."""

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is released as it is, in both releases.

    Attributes:
        one: int64, shape (rows,): number of the tuple of kept values of each row.
        other: likewise; equal tuples have equal numbers.
        partner: int64, shape (rows of one,): the only row of the other release with this tuple,
            where it stands once in each; else -1.
        columns: how many columns are kept.
    """

    one: Integers
    other: Integers
    partner: Integers
    columns: int


def measure(
    one: Evidence,
    other: Evidence,
    *,
    crew: Crew,
    streams: Streams,
    targets: int = TARGETS,
    blocks: int = 8,
) -> list[Measurement]:
    """What an intruder gains from the other release beside one.

    Args:
        one: the release that is judged; with the original, candidates are counted; with the
            source of each row too, averaging is scored.
        other: another release of the same people, beside the same original.
        crew: the workers.
        streams: draws people and rows where there are many.
        targets: how many at most.
        blocks: items of work of one search.
    """
    if not len(one.release) or not len(other.release):
        return []
    kept = _kept(one, other)
    result = [_matched(kept)]
    if one.original is None:
        return result
    known = np.arange(len(one.original)) if one.sources is None else np.unique(one.sources)
    people = streams.sample(known, targets, "composition targets")
    result += _intersection(one, other, kept, people, crew, blocks)
    if one.sources is not None:
        rows = np.arange(len(one.release))
        rows = streams.sample(rows, targets, "composition rows")
        result += _averaging(one, other, kept, Setting(crew, blocks, one.sources, rows, people))
    return result


def _kept(one: Evidence, other: Evidence) -> _Kept:
    columns = [
        column.name
        for role in (Role.SENSITIVE, Role.INSENSITIVE)
        for column in one.release.schema.with_role(role)
        if column.name in other.release.schema
    ]
    ours, theirs = common_classes(one.release_table, other.release_table, columns)
    count = int(max(ours.max(), theirs.max())) + 1
    alone = (np.bincount(ours, minlength=count) == 1) & (np.bincount(theirs, minlength=count) == 1)
    row_of = np.full(count, -1, dtype=np.int64)
    row_of[theirs] = np.arange(len(theirs))
    return _Kept(ours, theirs, np.where(alone[ours], row_of[ours], -1), len(columns))


def _matched(kept: _Kept) -> Measurement:
    name, n = "composition.matched", len(kept.one)
    if not kept.columns:
        return Measurement(name, math.nan, goal="lower", note="no column is kept as it is")
    note = (
        "rows whose kept values (sensitive and insensitive) stand once in each release: both "
        "releases of these people are known to be theirs"
    )
    return Measurement(name, float((kept.partner >= 0).mean()), goal="lower", n=n, note=note)


def _intersection(
    one: Evidence, other: Evidence, kept: _Kept, people: Integers, crew: Crew, blocks: int
) -> list[Measurement]:
    """How many candidates a known person has in one release, and in both."""
    near = [_candidates(side, people, crew, blocks) for side in (one, other)]
    alone = np.array([len(rows) for rows in near[0]], dtype=np.int64)
    both = np.array(
        [_common(kept.one[ours], kept.other[theirs]) for ours, theirs in zip(*near, strict=True)],
        dtype=np.int64,
    )
    # Where nothing is common, the nearest rows are of different people: nothing was gained.
    both = np.where(both == 0, alone, both)
    result = []
    for suffix, counts, where in (
        ("_alone", alone, "in this release alone"),
        ("", both, "in this release that agree with one in the other"),
    ):
        n, hits, fewest = len(counts), int((counts == 1).sum()), float(counts.min())
        note = f"rows that may be a known person's {where}: the fewest"
        result += [
            Measurement(f"composition.k{suffix}", fewest, goal="higher", unit="1", n=n, note=note),
            _rate(f"composition.singled_out{suffix}", hits, n, "known people with one such row"),
        ]
    return result


def _common(ours: Integers, theirs: Integers) -> int:
    """How many rows of one side have a row of their own with equal kept values on the other."""
    values, counts = np.unique(ours, return_counts=True)
    others, other_counts = np.unique(theirs, return_counts=True)
    _, left, right = np.intersect1d(values, others, assume_unique=True, return_indices=True)
    return int(np.minimum(counts[left], other_counts[right]).sum())


def _averaging(one: Evidence, other: Evidence, kept: _Kept, setting: Setting) -> list[Measurement]:
    """Rows linked to their source as they are, and after averaging with the other release's."""
    if one.is_generalized or other.is_generalized:
        note = "regions are not averaged: composition.k says what two of them leave"
        names = ("composition.linked_alone", "composition.linked_averaged")
        return [Measurement(name, math.nan, goal="lower", note=note) for name in names]
    ours = one.release_points
    guess = _first_rows(other, ours[setting.rows], setting)
    partner = kept.partner[setting.rows]
    theirs = other.release_points[np.where(partner >= 0, partner, guess)]
    averaged = ours.copy()
    averaged[setting.rows] = _mean(ours[setting.rows], theirs)
    index = original_index(one)
    notes = {
        "composition.linked_alone": "rows linked to their source by the nearest original",
        "composition.linked_averaged": "the same after averaging with the row of the other "
        "release that has the same kept values, else with the nearest one",
    }
    tables = (ours, averaged)
    return [
        _rate(name, float(release_to_original(setting, index, table).sum()), len(partner), note)
        for (name, note), table in zip(notes.items(), tables, strict=True)
    ]


def _mean(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of two points; where one has no value, the other's."""
    filled_one = np.where(np.isnan(one), other, one)
    filled_other = np.where(np.isnan(other), one, other)
    mean: NDArray[np.float64] = (filled_one + filled_other) / 2.0
    return mean


def _candidates(side: Evidence, people: Integers, crew: Crew, blocks: int) -> list[Integers]:
    """For each known person the released rows that may be theirs.

    Of generalized rows those whose regions contain the person, or are nearest where none does.
    """
    if not side.is_generalized:
        return _nearest_rows(side, side.original_points[people], crew, blocks)
    known = people_of(side)
    released = ReleasedRegions.of(known.space, regions_of(side))
    asked = known.originals[people]
    found = nearest_to(crew, crew.put(released), released, asked, blocks)
    order = np.argsort(released.region_of, kind="stable")
    rows = np.split(order, np.cumsum(released.rows)[:-1])
    return [
        np.concatenate([rows[region] for region in found.regions[low:high]])
        for low, high in pairwise(found.starts)
    ]


def _nearest_rows(
    side: Evidence, points: NDArray[np.float64], crew: Crew, blocks: int
) -> list[Integers]:
    """For each point the released rows that are nearest, all that tie."""
    index = release_index(side)
    found = nearest(crew, crew.put(index), points, 1, "include", blocks)
    numbers = found.points.astype(np.int64)
    return [_rows(index, numbers[low:high]) for low, high in pairwise(found.starts)]


def _first_rows(side: Evidence, points: NDArray[np.float64], setting: Setting) -> Integers:
    """For each point one released row that is nearest."""
    index = release_index(side)
    found = nearest(setting.crew, setting.crew.put(index), points, 1, "include", setting.blocks)
    firsts: Integers = index.points.records[index.points.starts[found.points[found.starts[:-1]]]]
    return firsts


def _rows(index: NeighborIndex, points: Integers) -> Integers:
    starts, records = index.points.starts, index.points.records
    return np.concatenate([records[starts[point] : starts[point + 1]] for point in points])


def _rate(name: str, hits: float, n: int, note: str) -> Measurement:
    low, high = wilson(hits, n)
    return Measurement(name, hits / n, low, high, goal="lower", n=n, note=note)
