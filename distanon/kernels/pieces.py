"""Exact neighborhoods of a table that is cut into pieces, no two of which must be together.

A piece asks itself first. That gives each of its records a distance beyond which nothing can be
in the neighborhood; other pieces answer with the points within it, and only those whose box is as
near. Own and foreign points then are judged as if they were in one index, with the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from distanon.kernels.neighbors import (
    Neighborhoods,
    NeighborIndex,
    Points,
    Ties,
    distinct,
    in_turn,
)
from distanon.kernels.ties import TIE_ABSOLUTE, TIE_RELATIVE

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

_AT_ONCE = 8192  # queries that are looked at together


class Boxes(NamedTuple):
    """What each of some pieces may hold.

    Attributes:
        ends: float64, shape (b, 2, D): least and greatest present value of each column; infinite
            and the wrong way round where there is none.
        gaps: bool, shape (b, D): whether the column has missing values.
    """

    ends: Floats
    gaps: Booleans

    @staticmethod
    def join(parts: Sequence[Boxes]) -> Boxes:
        """The boxes of all parts."""
        return Boxes(*_sealed(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True))))


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """The records of one piece, as an index of their distinct points.

    Attributes:
        index: over the u points; their records are numbered from 0 in the piece.
        numbers: int64, shape (m,): the number of each record in the whole table, ascending.
        values: float64, shape (u, q): what travels with each point.
    """

    index: NeighborIndex
    numbers: Integers
    values: Floats

    @staticmethod
    def build(rows: Floats, numbers: Integers, values: Floats, *, gapped: bool) -> Piece:
        """The piece of some records.

        Args:
            rows: float64, shape (m, D), m at least 1; NaN is missing.
            numbers: int64, shape (m,), ascending.
            values: float64, shape (m, q); a point has those of its first record.
            gapped: whether any piece has missing values: they don't go with rotations.
        """
        points = distinct(rows)
        index = NeighborIndex.build(points, "tree" if gapped else None)
        firsts = points.records[points.starts[:-1]]
        return Piece(index, numbers, np.ascontiguousarray(values[firsts]))

    def __len__(self) -> int:
        """How many distinct points there are."""
        return len(self.points)

    @property
    def points(self) -> Points:
        """The distinct points, records numbered in the piece."""
        return self.index.points

    @property
    def leads(self) -> Integers:
        """int64, shape (u,): each point's lowest record number in the whole table; ascending."""
        return self.numbers[self.points.records[self.points.starts[:-1]]]

    @property
    def boxes(self) -> Boxes:
        """Its one box."""
        rows = self.points.rows
        missing = np.isnan(rows)
        low = np.where(missing, np.inf, rows).min(axis=0)
        high = np.where(missing, -np.inf, rows).max(axis=0)
        gaps = np.any(missing, axis=0, keepdims=True)
        return Boxes(*_sealed(np.stack((low, high))[None], gaps))


class Foreign(NamedTuple):
    """Points as another piece needs them, in the order of their lowest record numbers.

    Attributes:
        rows: float64, shape (f, D).
        values: float64, shape (f, q).
        counts: int64, shape (f,): all records of each point.
        starts: int64, shape (f + 1,).
        records: int64: the lowest record numbers of each point, ascending: as many as may be
            in a neighborhood, and one more.
    """

    rows: Floats
    values: Floats
    counts: Integers
    starts: Integers
    records: Integers

    @property
    def leads(self) -> Integers:
        """int64, shape (f,): the lowest record number of each point."""
        return self.records[self.starts[:-1]]

    @staticmethod
    def all(piece: Piece, k: int) -> Foreign:
        """All points of a piece."""
        points = piece.points
        if points.counts.max(initial=0) > k + 1:
            return Foreign.of(piece, np.arange(len(piece)), k)
        records = piece.numbers[points.records]
        return Foreign(points.rows, piece.values, points.counts, points.starts, records)

    @staticmethod
    def of(piece: Piece, chosen: Integers, k: int) -> Foreign:
        """Some points of a piece, ascending."""
        points = piece.points
        taken = np.minimum(points.counts[chosen], k + 1)
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(taken)))
        records = piece.numbers[points.records[_ranges(points.starts[chosen], taken)]]
        counts = points.counts[chosen]
        return Foreign(points.rows[chosen], piece.values[chosen], counts, starts, records)

    @staticmethod
    def join(parts: Sequence[Foreign]) -> tuple[Foreign, list[Integers]]:
        """All points of pieces that have none in common, and where those of each part stand."""
        leads = np.concatenate([part.leads for part in parts])
        place = np.empty(len(leads), np.int64)
        place[np.argsort(leads, kind="stable")] = np.arange(len(leads))
        borders = np.cumsum([len(part.counts) for part in parts])[:-1]
        places = np.split(place, borders)
        rows = np.empty((len(leads), parts[0].rows.shape[1]))
        values = np.empty((len(leads), parts[0].values.shape[1]))
        counts, starts = np.empty(len(leads), np.int64), np.zeros(len(leads) + 1, np.int64)
        for part, at in zip(parts, places, strict=True):
            rows[at], values[at], counts[at] = part.rows, part.values, part.counts
            starts[at + 1] = np.diff(part.starts)
        np.cumsum(starts, out=starts)
        records = np.empty(starts[-1], np.int64)
        for part, at in zip(parts, places, strict=True):
            records[_ranges(starts[at], np.diff(part.starts))] = part.records
        return Foreign(*_sealed(rows, values, counts, starts, records)), places


class Asked(NamedTuple):
    """Queries that are points of a piece, and what this piece has for them.

    Attributes:
        queries: int64, shape (m,): points of the piece.
        own: int64, shape (m,): the same where a record of the point is left out, else -1.
        starts: int64, shape (m + 1,).
        points: int32: for each query those points that may be in its neighborhood, or be the
            nearest beyond.
        bounds: float64, shape (m,): no farther point matters; infinite where the piece has too
            few records.
        evaluated: how often 32 distances were computed.
    """

    queries: Integers
    own: Integers
    starts: Integers
    points: NDArray[np.int32]
    bounds: Floats
    evaluated: int


class Answer(NamedTuple):
    """What another piece has for some of the queries.

    Attributes:
        queries: int64, shape (a,): places among the queries that were asked.
        starts: int64, shape (a + 1,).
        points: int64: places in `foreign`.
        foreign: the points that occur.
        evaluated: how often 32 distances were computed.
    """

    queries: Integers
    starts: Integers
    points: Integers
    foreign: Foreign
    evaluated: int


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The neighborhoods of some points of a piece.

    Attributes:
        queries: int64, shape (m,): points of the piece.
        lists: their neighborhoods; points are places in `leads`.
        leads: int64, shape (c,): the lowest record number of each point that may occur, ascending.
        values: float64, shape (c, q): what travels with it.
        evaluated: how often 32 distances were computed.
        visits: how many queries other pieces were asked, each time counted.
    """

    queries: Integers
    lists: Neighborhoods
    leads: Integers
    values: Floats
    evaluated: int = 0
    visits: int = 0


def ask(piece: Piece, queries: Integers, k: int, *, left_out: bool) -> Asked:
    """Asks a piece for what is near to its own points.

    Args:
        piece: the piece.
        queries: int64, shape (m,): points of the piece.
        k: how many records.
        left_out: whether a record of the asking point is left out.
    """
    from distanon.kernels import kd_search

    index, points = piece.index, piece.points
    available = len(piece.numbers) - left_out
    least = min(k, available)
    order = _sequence(piece, queries, left_out=left_out)
    queries = queries[order]
    own = queries if left_out else np.full(len(queries), -1, np.int64)
    if least < 1 or not len(queries):
        nothing = np.zeros(0, np.int32)
        far = np.full(len(queries), np.inf)
        return Asked(queries, own, np.zeros(len(queries) + 1, np.int64), nothing, far, 0)
    place = np.argsort(index.tree.order)
    table = (points.counts, points.starts, points.records)
    lengths, proposed, bounds, evaluated = [], [], [], 0
    for part in _slices(len(queries)):
        rows = points.rows[queries[part]]
        if left_out:
            starts, some, times = index.proposer.to_places(place[queries[part]], least)
        else:
            starts, some, times = _to_queries(index, rows, least)
        gapped = bool(index.tree.gaps[0].any())
        found = kd_search.settle(
            points.rows, table, (starts, some), rows, own[part], gapped, least, False
        )
        radius, beyond = found[4:]
        bounds.append(np.where((least == k) & (beyond > radius), beyond, np.inf))
        lengths.append(np.diff(starts))
        proposed.append(some.astype(np.int32))
        evaluated += int(times)
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.concatenate(lengths))))
    return Asked(queries, own, starts, np.concatenate(proposed), np.concatenate(bounds), evaluated)


def wanted(piece: Piece, asked: Asked, boxes: Boxes) -> Booleans:
    """Which boxes some query has to look into, bool (b,)."""
    found = np.zeros(len(boxes.ends), np.bool_)
    for part in _slices(len(asked.queries)):
        rows = piece.points.rows[asked.queries[part]]
        found |= _is_near(boxes, rows, asked.bounds[part]).any(axis=0)
    return found


def bounds_at(piece: Piece, rows: Floats, k: int) -> Floats:
    """Distances beyond which queries need nothing, by what one piece has.

    Args:
        piece: any piece of which the queries are no part.
        rows: float64, shape (m, D).
        k: how many records.

    Returns:
        float64, shape (m,); infinite where the piece has too few records.
    """
    if len(piece.numbers) <= k or not len(rows):
        return np.full(len(rows), np.inf)
    found = piece.index.nearest(rows, k, "include")
    return np.where(found.next_distance > found.radius, found.next_distance, np.inf)


def answer(piece: Piece, asking: Piece, asked: Asked, k: int) -> Answer:
    """What a piece has for the queries of another one.

    Args:
        piece: who is asked.
        asking: whose points the queries are.
        asked: the queries.
        k: how many records.
    """
    from distanon.kernels import kd_reach

    boxes, proposer = piece.boxes, piece.index.proposer
    chosen, lengths, points, evaluated = [], [np.zeros(1, np.int64)], [], 0
    stretch, add, growth = proposer.space.widening()
    for part in _slices(len(asked.queries)):
        rows = asking.points.rows[asked.queries[part]]
        near = np.flatnonzero(_is_near(boxes, rows, asked.bounds[part])[:, 0])
        rows, bounds = rows[near], asked.bounds[part][near]
        moved = proposer.space.of(rows)
        with np.errstate(over="ignore"):
            long = np.sqrt(np.nansum(np.square(moved.astype(np.float64)), axis=1))
            root = stretch * bounds * proposer.space.scale + add + growth * long
            squares = np.square(root) * (1.0 + 2.0**-20)
        starts, some, times = kd_reach.reach(proposer.tree, moved, squares, proposer.space.scale)
        chosen.append(near + part.start)
        lengths.append(np.diff(starts))
        points.append(some)
        evaluated += int(times)
    places = np.concatenate([*points, np.zeros(0, np.int64)])
    occurring, place = np.unique(places, return_inverse=True)
    return Answer(
        np.concatenate([*chosen, np.zeros(0, np.int64)]),
        np.cumsum(np.concatenate(lengths)),
        place.reshape(-1).astype(np.int64),
        Foreign.of(piece, occurring, k),
        evaluated,
    )


def merge(piece: Piece, asked: Asked, answers: Sequence[Answer], k: int, ties: Ties) -> Found:
    """The neighborhoods among what the own piece and others have.

    Args:
        piece: whose points asked.
        asked: the queries.
        answers: of all pieces that may have something.
        k: how many records; the table has as many.
        ties: as `NeighborIndex.neighborhoods`.

    Returns:
        The neighborhoods, the queries ascending.
    """
    from distanon.kernels import kd_search

    whole, places = Foreign.join([Foreign.all(piece, k), *(one.foreign for one in answers)])
    starts, points = _gathered(asked, answers, places)
    own = np.where(asked.own >= 0, places[0][asked.own], -1)
    table = (whole.counts, whole.starts, whole.records)
    gapped = bool(np.isnan(whole.rows).any())

    def search(part: slice) -> Neighborhoods:
        opens = starts[part.start : part.stop + 1]
        some = (opens - opens[0], points[opens[0] : opens[-1]])
        rows = piece.points.rows[asked.queries[part]]
        return Neighborhoods(
            *kd_search.settle(
                whole.rows, table, some, rows, own[part], gapped, k, ties != "include"
            )
        )

    order = np.argsort(asked.queries)
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    return Found(
        asked.queries[order],
        in_turn(search, number, 1),
        whole.leads,
        whole.values,
        asked.evaluated + sum(one.evaluated for one in answers),
        sum(len(one.queries) for one in answers),
    )


def _sequence(piece: Piece, queries: Integers, *, left_out: bool) -> Integers:
    """The order in which queries lie together."""
    if left_out:
        place = np.argsort(piece.index.tree.order)
        return np.argsort(place[queries], kind="stable")
    return piece.index.proposer.sequence(piece.points.rows[queries])


def _to_queries(index: NeighborIndex, rows: Floats, k: int) -> tuple[Integers, Integers, int]:
    """As `Proposer.to_queries`, of queries that are sorted."""
    starts, points, evaluated = index.proposer.to_queries(rows, k)
    return starts, points, evaluated


def _is_near(boxes: Boxes, rows: Floats, bounds: Floats) -> Booleans:
    """Whether a box may hold something within each row's bound, bool (m, b)."""
    from distanon.kernels import kd_reach

    away = kd_reach.box_distances(boxes.ends, boxes.gaps, rows)
    near: Booleans = away <= (bounds * (1.0 + TIE_RELATIVE) + TIE_ABSOLUTE)[:, None]
    return near


def _gathered(
    asked: Asked, answers: Sequence[Answer], places: Sequence[Integers]
) -> tuple[Integers, Integers]:
    """All candidates of each query: starts, and places among the joined points."""
    from distanon.kernels.piece_candidates import add_candidates

    own = np.arange(len(asked.queries)), asked.starts, asked.points
    parts: list[tuple[NDArray[Any], ...]] = [own]
    parts += [(one.queries, one.starts, one.points) for one in answers]
    starts = np.zeros(len(asked.queries) + 1, np.int64)
    for queries, opens, _ in parts:
        starts[queries + 1] += np.diff(opens)
    np.cumsum(starts, out=starts)
    points, following = np.empty(starts[-1], np.int64), starts[:-1].copy()
    for part, place in zip(parts, places, strict=True):
        some, (at,) = _sealed(*(array.view() for array in part)), _sealed(place)
        add_candidates(some, at, following, points)
    return starts, points


def _sealed(*arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """The arrays, read-only: compiled code sees the same types here and in a worker."""
    for array in arrays:
        array.flags.writeable = False
    return arrays


def _slices(m: int) -> Iterator[slice]:
    for at in range(0, m, _AT_ONCE):
        yield slice(at, min(m, at + _AT_ONCE))


def _ranges(starts: Integers, lengths: Integers) -> Integers:
    """start, start + 1, …, start + length - 1 for each pair, one after the other."""
    offsets = np.cumsum(lengths) - lengths
    steps: Integers = np.arange(int(lengths.sum()), dtype=np.int64)
    steps += np.repeat(starts - offsets, lengths)
    return steps
