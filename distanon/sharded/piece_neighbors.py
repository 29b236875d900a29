"""Neighborhoods of a table in pieces: each asks itself, then those that are near enough."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from distanon.data.ports import Scratch
from distanon.errors import InfeasibleError
from distanon.kernels.neighbors import Ties
from distanon.kernels.pieces import (
    Answer,
    Asked,
    Boxes,
    Found,
    Piece,
    answer,
    ask,
    bounds_at,
    merge,
    wanted,
)
from distanon.runtime.crew import Crew, Kept
from distanon.sharded.finished_pieces import finished, keep, stored
from distanon.sharded.pieces import Pieces

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

_PHASE = "neighborhoods"


def neighborhoods_in_pieces(
    crew: Crew,
    pieces: Pieces,
    k: int,
    ties: Ties,
    *,
    queries: Sequence[Integers] | None = None,
    left_out: bool = True,
    scratch: Scratch | None = None,
    name: str = "",
) -> list[Kept]:
    """The neighborhoods of points of a table in pieces, over the whole table.

    Args:
        crew: who works.
        pieces: of the table.
        k: at least 1, at most the number of (other) records.
        ties: as `NeighborIndex.neighborhoods`.
        queries: for each piece the points that ask, int64; None: all.
        left_out: whether a record of the asking point is left out.
        scratch: where what a piece has found is kept beyond a crash, and looked for first.
        name: there, for these pieces, queries and settings alone.

    Returns:
        For each piece a `kernels.pieces.Found`, kept. Its lists are those of one index over all
        records, with the same bits; a neighbor's name is its lowest record number.

    Raises:
        InfeasibleError: k is less than 1 or more than the number of (other) records.
    """
    available = pieces.records - left_out
    if not 1 <= k <= available:
        raise InfeasibleError(
            f"expected k from 1 to {available} (the number of {'other ' * left_out}records), "
            f"got {k}"
        )
    names = [f"{name}-{at}" for at in range(len(pieces))]
    done = {} if scratch is None else finished(scratch, names)
    found: dict[int, Kept] = {}
    if done:
        again = crew.map(stored, done.values(), keep=True, phase=_PHASE)
        found = dict(zip(done, again, strict=True))
    left = [at for at in range(len(pieces)) if at not in found]
    together = 2 * crew.workers  # what pieces send one another is dropped group by group
    for start in range(0, len(left), together):
        group = left[start : start + together]
        made = _of_group(crew, pieces, group, (k, ties, left_out), queries)
        if scratch is not None:
            written = [(one, scratch, names[at]) for one, at in zip(made, group, strict=True)]
            list(crew.map(keep, written, phase=_PHASE))
        found |= zip(group, made, strict=True)
    return [found[at] for at in range(len(pieces))]


def _of_group(
    crew: Crew,
    pieces: Pieces,
    group: Sequence[int],
    settings: tuple[int, Ties, bool],
    queries: Sequence[Integers] | None,
) -> list[Kept]:
    """As `neighborhoods_in_pieces`, of some pieces."""
    k, ties, left_out = settings
    kept, boxes = pieces.kept, crew.put(pieces.boxes)
    asks = [(kept[at], None if queries is None else queries[at], k, left_out) for at in group]
    asked: list[Kept] = list(crew.map(_ask, asks, keep=True, phase=_PHASE))
    asking = [(kept[at], one) for at, one in zip(group, asked, strict=True)]
    told = list(crew.map(_wanted, asking, shared=boxes, phase=_PHASE))
    for place, (poor, _) in enumerate(told):
        if poor:
            at = group[place]
            others = [
                (kept[other], kept[at], asked[place], k)
                for other in range(len(pieces))
                if other != at
            ]
            bounds = np.full(poor, np.inf)
            for known in crew.map(_bounds, others, phase=_PHASE):
                bounds = np.minimum(bounds, known)
            (asked[place],) = crew.map(_bounded, [(asked[place], bounds)], keep=True, phase=_PHASE)
            again = [(kept[at], asked[place])]
            (told[place],) = crew.map(_wanted, again, shared=boxes, phase=_PHASE)
    pairs = [
        (place, other)
        for place, (_, near) in enumerate(told)
        for other in np.flatnonzero(near).tolist()
        if other != group[place]
    ]
    items = [(kept[other], kept[group[place]], asked[place], k) for place, other in pairs]
    answers: list[Kept] = list(crew.map(_answer, items, keep=True, phase=_PHASE))
    merges = [
        (
            kept[at],
            asked[place],
            k,
            ties,
            *(one for one, (to, _) in zip(answers, pairs, strict=True) if to == place),
        )
        for place, at in enumerate(group)
    ]
    return list(crew.map(_merge, merges, keep=True, phase=_PHASE))


def _ask(_: None, item: tuple[Piece, Integers | None, int, bool]) -> Asked:
    piece, queries, k, left_out = item
    every = np.arange(len(piece)) if queries is None else queries
    return ask(piece, every, k, left_out=left_out)


def _wanted(boxes: Boxes, item: tuple[Piece, Asked]) -> tuple[int, Booleans]:
    """How many queries have no bound, and which pieces must be asked."""
    piece, asked = item
    return int(np.isinf(asked.bounds).sum()), wanted(piece, asked, boxes)


def _bounds(_: None, item: tuple[Piece, Piece, Asked, int]) -> Floats:
    """Bounds of those queries that have none yet, by another piece."""
    other, piece, asked, k = item
    poor = asked.queries[np.isinf(asked.bounds)]
    return bounds_at(other, piece.points.rows[poor], k)


def _bounded(_: None, item: tuple[Asked, Floats]) -> Asked:
    asked, bounds = item
    every = asked.bounds.copy()
    every[np.isinf(every)] = bounds
    return asked._replace(bounds=every)


def _answer(_: None, item: tuple[Piece, Piece, Asked, int]) -> Answer:
    return answer(*item)


def _merge(_: None, item: tuple[Piece, Asked, int, Ties, *tuple[Answer, ...]]) -> Found:
    piece, asked, k, ties, *answers = item
    return merge(piece, asked, answers, k, ties)
