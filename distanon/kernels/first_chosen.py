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
    near = nearest_chosen(questions, candidates, chosen, neighbors)
    width = questions.weights.shape[1]
    result = np.zeros((width, width), np.int64)
    _hits(near, questions.weights, answers, result)
    return result


def expected_hits(
    questions: Questions,
    candidates: Candidates,
    chosen: NDArray[np.uint8],
    shares: Integers,
    neighbors: int = 1,
) -> int:
    """How many labels would be answered right, if each candidate drew its answer by its shares.

    That is what a nearest-neighbor classifier does with a release: the rows of a class are at
    equal distance, and any of them may answer.

    Args:
        questions: with the counts of w labels.
        candidates: c of them.
        chosen: uint8, shape (c,): 1 for those that answer; at least one.
        shares: int64, shape (c, w), in steps of `SCALE`: of the labels that a candidate stands for.
        neighbors: one of so many nearest chosen answers.

    Returns:
        The expected number, in steps of `SCALE`, each question's rounded down.
    """
    near = nearest_chosen(questions, candidates, chosen, neighbors)
    return int(_expected(near, questions.weights, shares))


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
    near = nearest_chosen(questions, candidates, chosen, neighbors)
    return int(_squared_error(near, questions.weights, answers))


def nearest_chosen(
    questions: Questions, candidates: Candidates, chosen: NDArray[np.uint8], neighbors: int = 1
) -> NDArray[np.int32]:
    """The nearest chosen candidates of each question, by (distance, number).

    Args:
        questions: u of them.
        candidates: c of them.
        chosen: uint8, shape (c,): 1 for those that may answer.
        neighbors: how many.

    Returns:
        int32, shape (u, neighbors); −1 where there are no more.
    """
    near = np.full((len(questions.lists), neighbors), -1, np.int32)
    missed = _scan(questions.lists, chosen, near)
    if len(missed):
        members = np.flatnonzero(chosen)
        for i in missed.tolist():
            own = int(questions.own[i])
            others = len(members) - int(own >= 0 and chosen[own] > 0)
            _search(
                (questions.rows[i], own),
                (candidates.rows, candidates.point_of),
                members,
                min(neighbors, others),
                near[i],
            )
    return near


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
def _scan(lists: Any, chosen: Any, near: Any) -> Any:
    """Fills in the first chosen entries of each list; returns the questions that lack some."""
    many = near.shape[1]
    missed = np.empty(len(lists), np.int64)
    count = 0
    for i in range(len(lists)):
        found = 0
        for j in range(lists.shape[1]):
            if chosen[lists[i, j]]:
                near[i, found] = lists[i, j]
                found += 1
                if found == many:
                    break
        if found < many:
            missed[count] = i
            count += 1
    return missed[:count]


@njit(cache=True, nogil=True)
def _hits(near: Any, weights: Any, answers: Any, result: Any) -> None:
    width = weights.shape[1]
    votes = np.zeros(width, np.int64)
    for i in range(len(near)):
        if near[i, 0] < 0:
            continue
        answer = answers[near[i, 0]]
        if near.shape[1] > 1:
            votes[:] = 0
            for j in range(near.shape[1]):
                if near[i, j] >= 0:
                    votes[answers[near[i, j]]] += 1
            answer = np.argmax(votes)
        for label in range(width):
            result[answer, label] += weights[i, label]


@njit(cache=True, nogil=True)
def _expected(near: Any, weights: Any, shares: Any) -> int:
    total = 0
    for i in range(len(near)):
        right = found = 0
        for j in range(near.shape[1]):
            if near[i, j] >= 0:
                found += 1
                for label in range(weights.shape[1]):
                    right += weights[i, label] * shares[near[i, j], label]
        total += right // max(1, found)
    return total


@njit(cache=True, nogil=True)
def _squared_error(near: Any, weights: Any, answers: Any) -> int:
    total = 0
    for i in range(len(near)):
        answer = found = 0
        for j in range(near.shape[1]):
            if near[i, j] >= 0:
                answer += answers[near[i, j]]
                found += 1
        answer //= max(1, found)
        total += weights[i, 0] * answer * answer - 2 * answer * weights[i, 1] + weights[i, 2]
    return total


@njit(cache=True, nogil=True)
def _search(question: Any, table: Any, members: Any, want: int, near: Any) -> None:
    """The nearest of all chosen candidates, where the list was too short."""
    row, own = question
    if want > 0:
        _lowest(_distances(row, table, members, own, want), members, want, near)


@njit(cache=True, nogil=True)
def _distances(row: Any, table: Any, members: Any, own: int, want: int) -> Any:
    """To all chosen candidates; infinite to the own one, and beyond what can be the nearest."""
    rows, point_of = table
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
