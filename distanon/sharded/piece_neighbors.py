"""Neighborhoods of a table in pieces: each asks itself, then those that are near enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

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

Work: TypeAlias = tuple[Callable[[Any], Any], Any]
"""A pure function, importable by name, and what it is called with."""

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
    asking = Asking(k, ties, queries, left_out, scratch, name)
    return neighborhoods_and_more(crew, pieces, asking, ())[0]


def neighborhoods_and_more(
    crew: Crew, pieces: Pieces, asking: Asking, beside: Sequence[Work]
) -> tuple[list[Kept], list[Any]]:
    """As `neighborhoods_in_pieces`, with other work for which nobody should have to wait.

    Args:
        crew: who works.
        pieces: of the table.
        asking: the other arguments.
        beside: pure functions and what they are called with.

    Returns:
        As `neighborhoods_in_pieces`; and what `beside` returned.

    Raises:
        InfeasibleError: as `neighborhoods_in_pieces`.
    """
    available = pieces.records - asking.left_out
    if not 1 <= asking.k <= available:
        raise InfeasibleError(
            f"expected k from 1 to {available} (the number of "
            f"{'other ' * asking.left_out}records), got {asking.k}"
        )
    done = {}
    if asking.scratch is not None:
        done = finished(asking.scratch, [asking.name_of(at) for at in range(len(pieces))])
    found: dict[int, Kept] = {}
    if done:
        again = crew.map(stored, done.values(), keep=True, phase=_PHASE)
        found = dict(zip(done, again, strict=True))
    left = [at for at in range(len(pieces)) if at not in found]
    line = _Line(crew, pieces, asking, found)
    others = line.run(left, beside)
    return [found[at] for at in range(len(pieces))], others


class Asking(NamedTuple):
    """What is asked of pieces; the arguments of `neighborhoods_in_pieces`."""

    k: int
    ties: Ties
    queries: Sequence[Integers] | None = None
    left_out: bool = True
    scratch: Scratch | None = None
    name: str = ""

    def name_of(self, piece: int) -> str:
        """What its result is called in the scratch."""
        return f"{self.name}-{piece}"


class _Line:
    """An assembly line: while some pieces ask, others answer those before, and others merge.

    So nobody waits for the last of a few long calls, and what pieces send one another is dropped
    two turns later.
    """

    def __init__(self, crew: Crew, pieces: Pieces, asking: Asking, found: dict[int, Kept]) -> None:
        self._crew, self._pieces, self._asking, self._found = crew, pieces, asking, found
        self._boxes = crew.put(pieces.boxes)
        self._asked: dict[int, Kept] = {}
        self._near: dict[int, list[int]] = {}
        self._answers: dict[int, list[Kept]] = {}

    def run(self, left: Sequence[int], beside: Sequence[Work]) -> list[Any]:
        """Finds what is left; what `beside` returned."""
        width = max(1, self._crew.workers)
        first = len(left) % width  # the short group first: at the end all have something to do
        groups = [left[:first]] if first else []
        groups += [left[at : at + width] for at in range(first, len(left), width)]
        when = 0 if first or not left else 1  # where others would wait, or among short calls
        others: list[Any] = []
        for turn in range(len(groups) + 2):
            asking, answering, merging = (
                groups[at] if 0 <= at < len(groups) else () for at in (turn, turn - 1, turn - 2)
            )
            others += self._turn(asking, answering, merging, beside if turn == when else ())
        return others

    def _turn(
        self,
        asking: Sequence[int],
        answering: Sequence[int],
        merging: Sequence[int],
        beside: Sequence[Work],
    ) -> list[Any]:
        """The longest calls first, so that short ones fill what is left of the turn."""
        pairs = [(at, other) for at in answering for other in self._near.pop(at)]
        items = [
            *(self._ask(at) for at in asking),
            *beside,
            *(self._merge(at) for at in merging),
            *(self._answer(at, other) for at, other in pairs),
        ]
        made = iter(list(self._crew.map(_call, items, keep=True, phase=_PHASE)))
        self._asked |= zip(asking, made, strict=False)
        others = [self._crew.fetch(next(made)) for _ in beside]
        for at in merging:
            self._found[at] = next(made)
        self._answers |= {at: [] for at in answering}
        for (at, _), one in zip(pairs, made, strict=True):
            self._answers[at].append(one)
        if asking:
            self._look(asking)
        return others

    def _ask(self, at: int) -> tuple[Any, ...]:
        k, _, queries, left_out, *_ = self._asking
        return _ask, self._pieces.kept[at], None if queries is None else queries[at], k, left_out

    def _answer(self, at: int, other: int) -> tuple[Any, ...]:
        kept = self._pieces.kept
        return answer, kept[other], kept[at], self._asked[at], self._asking.k

    def _merge(self, at: int) -> tuple[Any, ...]:
        k, ties, _, _, scratch, _ = self._asking
        where = (scratch, self._asking.name_of(at))
        answers = self._answers.pop(at)
        return _merge, self._pieces.kept[at], self._asked.pop(at), k, ties, *where, *answers

    def _look(self, group: Sequence[int]) -> None:
        """Finds out which pieces have to answer each of a group."""
        for at, (poor, near) in zip(group, self._wanted(group), strict=True):
            if poor:
                self._bound(at, poor)
                ((_, bounded),) = self._wanted([at])
            others = np.flatnonzero(bounded if poor else near).tolist()
            self._near[at] = [other for other in others if other != at]

    def _wanted(self, group: Sequence[int]) -> list[tuple[int, Booleans]]:
        asking = [(self._pieces.kept[at], self._asked[at]) for at in group]
        return list(self._crew.map(_wanted, asking, shared=self._boxes, phase=_PHASE))

    def _bound(self, at: int, poor: int) -> None:
        """Bounds of the queries that their own piece has too few records for, from all others."""
        kept, k = self._pieces.kept, self._asking.k
        others = [
            (other, kept[at], self._asked[at], k) for place, other in enumerate(kept) if place != at
        ]
        bounds = np.full(poor, np.inf)
        for known in self._crew.map(_bounds, others, phase=_PHASE):
            bounds = np.minimum(bounds, known)
        items = [(self._asked[at], bounds)]
        (self._asked[at],) = self._crew.map(_bounded, items, keep=True, phase=_PHASE)


def _call(_: None, item: tuple[Any, ...]) -> Any:
    function, *arguments = item
    return function(*arguments)


def _ask(piece: Piece, queries: Integers | None, k: int, left_out: bool) -> Asked:  # noqa: FBT001
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


def _merge(
    piece: Piece,
    asked: Asked,
    k: int,
    ties: Ties,
    scratch: Scratch | None,
    name: str,
    *answers: Answer,
) -> Found:
    found = merge(piece, asked, answers, k, ties)
    if scratch is not None:
        keep(found, scratch, name)
    return found
