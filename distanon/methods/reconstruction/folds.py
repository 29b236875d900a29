"""Folds of the records, and the questions that a fold asks of candidates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from distanon.data.streams import Streams
from distanon.kernels.first_chosen import Candidates, Questions, nearest_lists
from distanon.kernels.neighbors import NeighborIndex, distinct
from distanon.methods.base import Context
from distanon.methods.reconstruction.confidential import Confidential

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_MOST_JUDGES = 200_000
"""Records of the fold that the search fits to: more tell it nothing."""
_LONGEST = 320
_MISS, _MORE = 8.0, 1.6
"""Chosen entries that a list has on average: with 8, one in 3,000 has none."""


@dataclass(frozen=True, slots=True, eq=False)
class Folds:
    """A random division of the records; record numbers ascend.

    Attributes:
        answers: those that answers are learnt from, where they need records of their own.
        search: that the search fits to.
        stop: that stop it, and choose.
    """

    answers: Integers
    search: Integers
    stop: Integers

    @staticmethod
    def of(records: int, held_out: float, streams: Streams) -> Folds:
        """Deals records out: two thirds of the held out ones to the search, one third to stop it.

        Args:
            records: how many there are.
            held_out: share, in (0, 1).
            streams: of the deal.
        """
        judges = min(_MOST_JUDGES, max(1, int(records * held_out * 2 / 3)))
        stops = min(_MOST_JUDGES // 2, max(1, int(records * held_out / 3)))
        order = streams.generator("reconstruction folds").permutation(records)
        parts = (order[judges + stops :], order[:judges], order[judges : judges + stops])
        return Folds(*(np.sort(part).astype(np.int64) for part in parts))


@dataclass(frozen=True, slots=True, eq=False)
class Asking:
    """How questions are made.

    Attributes:
        points: float64, shape (n, D): all original records as points.
        index: over the candidates.
        confidential: what is asked for.
        own: int32, shape (n,): the candidate that was made of each record and may not answer for
            it, −1 where there is none; None: no candidate stands for a single record.
        length: of the lists.
    """

    points: Floats
    index: NeighborIndex
    confidential: Confidential
    own: NDArray[np.int32] | None
    length: int

    @property
    def candidates(self) -> Candidates:
        """What is asked."""
        return Candidates(self.index.points.rows, self.index.points.point_of)

    def questions(self, records: Integers, context: Context) -> Questions:
        """The questions of some records; lists are made by the workers, block by block."""
        asked = distinct(self.points[records])
        rows, point_of, own = asked.rows, asked.point_of, None
        if self.own is not None:  # equal records have different candidates to leave out
            rows, point_of = self.points[records], np.arange(len(records))
            own = self.own[records]
        borders = [len(rows) * part // context.blocks for part in range(context.blocks + 1)]
        items = [
            (rows[begin:end], self.length, None if own is None else own[begin:end])
            for begin, end in pairwise(borders)
            if begin < end
        ]
        shared = context.crew.put(self.index)
        lists = list(context.crew.map(_lists, items, shared=shared, phase="nearest candidates"))
        weights = self.confidential.weights(point_of, records, len(rows))
        none = np.full(len(rows), -1, np.int32)
        return Questions(
            np.ascontiguousarray(rows), none if own is None else own, np.concatenate(lists), weights
        )


def list_length(candidates: int, chosen: int, neighbors: int) -> int:
    """How long lists are: all but one in 2,000 hold enough chosen ones.

    Capped, since where few are chosen each of these can be looked at.
    """
    want = _MISS + _MORE * (neighbors - 1)
    return min(candidates, _LONGEST, math.ceil(want * candidates / max(1, chosen)))


def _lists(
    index: NeighborIndex, item: tuple[Floats, int, NDArray[np.int32] | None]
) -> NDArray[np.int32]:
    rows, length, own = item
    if own is not None:
        length = min(length, len(index.points.point_of) - 1)
    return nearest_lists(index, rows, length, own)
