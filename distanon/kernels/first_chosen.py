"""How well a chosen few of many candidates predict some records: one scan of neighbor lists.

Every record to be predicted has a list of its nearest candidates, made once, in the order of
(distance, candidate number). The nearest *chosen* candidate is the first chosen entry of that list,
so an evaluation reads a few entries a record instead of searching anew. Where a list holds too few
chosen ones, the chosen are searched exactly. Distances are equal as in `kd_search.tie`, and all
sums are of integers, so that no result depends on how the records were cut.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from distanon.kernels.kd_search import TIE_RELATIVE, tie
from distanon.kernels.neighbors import NeighborIndex

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

SCALE = 2**20
"""Steps of a numeric answer's range: squared errors of 2²² records add up below 2⁶³."""


class Candidates(NamedTuple):
    """What can be chosen.

    Attributes:
        rows: float64, shape (p, D): their different points; NaN is missing.
        point_of: int64, shape (c,): the point of each candidate.
    """

    rows: Floats
    point_of: Integers


class Questions(NamedTuple):
    """Records to be predicted, equal ones as one question.

    Attributes:
        rows: float64, shape (u, D): points.
        own: int32, shape (u,): a candidate that may not answer, since it was made of the record
            itself; −1: none.
        lists: int32, shape (u, L): numbers of the nearest candidates, nearest first.
        weights: int64, shape (u, w): how many of the records have each label; for numbers their
            count, sum and sum of squares, in steps of `SCALE`.
    """

    rows: Floats
    own: NDArray[np.int32]
    lists: NDArray[np.int32]
    weights: Integers

    def part(self, start: int, stop: int) -> Questions:
        """Some of the questions."""
        span = slice(start, stop)
        return Questions(self.rows[span], self.own[span], self.lists[span], self.weights[span])


def nearest_lists(
    index: NeighborIndex, rows: Floats, length: int, own: NDArray[np.int32] | None = None
) -> NDArray[np.int32]:
    """The nearest candidates of each row, by (distance, number).

    Args:
        index: over all candidates.
        rows: float64, shape (u, D).
        length: L, at most the number of candidates, less one with `own`.
        own: int32, shape (u,): a candidate to leave out for each row; None: none is.

    Returns:
        int32, shape (u, L).
    """
    more = length if own is None else length + 1
    found = index.nearest(rows, more, "truncate")
    points = index.points
    lists = np.empty((len(rows), more), np.int32)
    tables = (points.starts, points.records)
    _expand(found.starts, found.points, found.weights, found.distances, tables, lists)
    if own is None:
        return lists
    others = lists != own[:, None]
    others[others.all(axis=1), -1] = False  # the own one is not in the list: one too many
    kept: NDArray[np.int32] = lists[others].reshape(len(rows), length)
    return kept


def hits(
    questions: Questions,
    candidates: Candidates,
    chosen: NDArray[np.uint8],
    answers: Integers,
    neighbors: int = 1,
) -> Integers:
    """How often each label was answered where each was true.

    Args:
        questions: with the counts of w labels.
        candidates: c of them.
        chosen: uint8, shape (c,): 1 for those that answer; at least one.
        answers: int64, shape (c,), in 0 … w − 1: each candidate's label.
        neighbors: so many nearest chosen vote, the lowest label wins a tie; fewer where fewer
            are chosen.

    Returns:
        int64, shape (w, w): records by answered and true label. O(u · c / chosen).
    """
    result = np.zeros((questions.weights.shape[1],) * 2, np.int64)
    _hits(questions, candidates, chosen, answers, neighbors, result)
    return result


def squared_error(
    questions: Questions,
    candidates: Candidates,
    chosen: NDArray[np.uint8],
    answers: Integers,
    neighbors: int = 1,
) -> int:
    """The squared errors of numeric answers, added up, in steps of `SCALE` squared.

    Args:
        questions: with count, sum and sum of squares of the true numbers.
        candidates: c of them.
        chosen: uint8, shape (c,): 1 for those that answer; at least one.
        answers: int64, shape (c,), in 0 … SCALE.
        neighbors: so many nearest chosen are averaged, in whole steps rounded down.
    """
    return int(_squared_error(questions, candidates, chosen, answers, neighbors))


@njit(cache=True, nogil=True)
def _expand(
    starts: Any, points: Any, weights: Any, distances: Any, tables: Any, lists: Any
) -> None:
    """Points with their records' counts as record numbers, those at equal distance ascending."""
    first_record, records = tables
    for i in range(len(lists)):
        filled = opened = 0
        limit = -1.0
        for j in range(starts[i], starts[i + 1]):
            if distances[j] > limit:
                if filled - opened > 1:
                    lists[i, opened:filled].sort()
                opened, limit = filled, tie(distances[j])
            at = first_record[points[j]]
            for m in range(weights[j]):
                lists[i, filled] = records[at + m]
                filled += 1
        if filled - opened > 1:
            lists[i, opened:filled].sort()


@njit(cache=True, nogil=True)
def _hits(
    questions: Any, candidates: Any, chosen: Any, answers: Any, neighbors: int, result: Any
) -> None:
    width = questions.weights.shape[1]
    votes = np.zeros(width, np.int64)
    near = np.empty(neighbors, np.int64)
    members = np.flatnonzero(chosen)
    for i in range(len(questions.lists)):
        found = _nearest(questions, candidates, chosen, members, i, near)
        if found == 0:
            continue
        answer = answers[near[0]]
        if found > 1:
            votes[:] = 0
            for j in range(found):
                votes[answers[near[j]]] += 1
            answer = np.argmax(votes)
        for label in range(width):
            result[answer, label] += questions.weights[i, label]


@njit(cache=True, nogil=True)
def _squared_error(
    questions: Any, candidates: Any, chosen: Any, answers: Any, neighbors: int
) -> int:
    weights = questions.weights
    near = np.empty(neighbors, np.int64)
    members = np.flatnonzero(chosen)
    total = 0
    for i in range(len(questions.lists)):
        found = _nearest(questions, candidates, chosen, members, i, near)
        answer = 0
        for j in range(found):
            answer += answers[near[j]]
        answer //= max(1, found)
        total += weights[i, 0] * answer * answer - 2 * answer * weights[i, 1] + weights[i, 2]
    return total


@njit(cache=True, nogil=True)
def _nearest(questions: Any, candidates: Any, chosen: Any, members: Any, i: int, near: Any) -> int:
    """Fills `near` with the nearest chosen ones of question i; returns how many there are."""
    listed, own = questions.lists[i], questions.own[i]
    others = len(members)
    if own >= 0 and chosen[own]:
        others -= 1
    want = min(len(near), others)
    found = 0
    for j in range(len(listed)):
        if chosen[listed[j]]:
            near[found] = listed[j]
            found += 1
            if found >= want:
                return want
    if want > 0:
        distances = _distances(questions.rows[i], candidates, members, own, want)
        _lowest(distances, members, want, near)
    return want


@njit(cache=True, nogil=True)
def _distances(row: Any, candidates: Any, members: Any, own: int, want: int) -> Any:
    """To all chosen candidates; infinite to the own one, and beyond what can be the nearest."""
    rows, point_of = candidates.rows, candidates.point_of
    distances = np.full(len(members), np.inf)
    bound = np.inf
    for j in range(len(members)):
        if members[j] == own:
            continue
        square = _square(row, rows[point_of[members[j]]], bound)
        if square <= bound:
            distances[j] = np.sqrt(square)
            if want == 1:
                bound = min(bound, tie(distances[j]) ** 2 * (1.0 + TIE_RELATIVE))
    return distances


@njit(cache=True, nogil=True)
def _square(row: Any, other: Any, bound: float) -> float:
    """The squared distance of two points, or something above the bound."""
    total = 0.0
    for column in range(len(row)):
        gap = row[column] - other[column]
        if not np.isnan(gap):
            total += gap * gap
        elif np.isnan(row[column]) != np.isnan(other[column]):
            total += 1.0
        if total > bound:
            break
    return total


@njit(cache=True, nogil=True)
def _lowest(distances: Any, members: Any, want: int, near: Any) -> None:
    """The nearest by (distance, number); distances are used up."""
    found = 0
    while found < want:
        limit = tie(distances.min())
        for j in range(len(members)):
            if distances[j] <= limit:
                distances[j] = np.inf
                if found < want:
                    near[found] = members[j]
                    found += 1
