"""Seeded percolation: two graphs of the same people are matched, starting from a few known pairs.

A pair of nodes, one of each graph, has a mark for every matched pair of which both are neighbors.
Marks are never stored for pairs of nodes: a node's marks are counted when its neighbors changed,
over the neighbors of its neighbors' mates, in one array of n. So memory is O(n + m).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from distanon.data.graph import Graph

Integers = NDArray[np.int64]

_FAR = np.iinfo(np.int64).max


def percolate(one: Graph, other: Graph, seeds: Integers, marks: int = 3) -> Integers:
    """The mate in `other` of each node of `one`, int64, shape (nodes of one,); −1: none.

    In rounds: the pairs that have at least `marks` marks, at least half as many as the best pair,
    and of whose nodes each is the other's best are matched, until no pair has so many. Best is
    most marks, then the nearest degree, then the lower number.

    Args:
        one: the graph that the intruder knows.
        other: the released graph. Node numbers must say nothing of who is who.
        seeds: int64, shape (s, 2): known pairs (node of one, node of other); they stay.
        marks: r of the source, at least 1.

    Source: Yartseva & Grossglauser, COSN 2013 (percolation graph matching).
    Deviation: pairs with most marks go first and in rounds (Kazemi, Hassani & Grossglauser 2015
        defer in the same way), mates must be one another's best (Korula & Lattanzi 2014).
    """
    mates = (np.full(one.nodes, -1, np.int64), np.full(other.nodes, -1, np.int64))
    mates[0][seeds[:, 0]] = seeds[:, 1]
    mates[1][seeds[:, 1]] = seeds[:, 0]
    if one.nodes and other.nodes:
        _spread(_sides(one, other), mates, marks, 0.5)
    return mates[0]


def revise(
    one: Graph, other: Graph, seeds: Integers, mates: Integers, marks: int = 3, passes: int = 3
) -> Integers:
    """Matches made anew from the marks of all others, which repairs early mistakes.

    Args:
        one: the graph that the intruder knows.
        other: the released graph.
        seeds: int64, shape (s, 2): they stay.
        mates: int64, shape (nodes of one,): what `percolate` found.
        marks: as there.
        passes: at most; after each the matching spreads again.

    Returns:
        int64, shape (nodes of one,); −1: none.

    Source: Narayanan & Shmatikov, IEEE S&P 2009 (revisiting nodes).
    """
    back = np.full(other.nodes, -1, np.int64)
    back[mates[mates >= 0]] = np.flatnonzero(mates >= 0)
    both, sides = (mates.copy(), back), _sides(one, other)
    fixed = (np.zeros(one.nodes, np.bool_), np.zeros(other.nodes, np.bool_))
    fixed[0][seeds[:, 0]] = True
    fixed[1][seeds[:, 1]] = True
    for _ in range(passes if one.nodes and other.nodes else 0):
        before = both[0].copy()
        _revise(sides, both, fixed, marks)
        _spread(sides, both, marks, 0.0)
        if np.array_equal(before, both[0]):
            break
    return both[0]


def _sides(one: Graph, other: Graph) -> Any:
    return ((one.starts, one.neighbors), (other.starts, other.neighbors))


@njit(cache=True, nogil=True)
def _spread(sides: Any, mates: Any, marks: int, share: float) -> None:
    """Matches in rounds until no two nodes that are free have enough marks.

    No round is without a match: of the pairs with most marks, the one of the nearest degrees and
    lowest numbers is each other's best. A node has no more marks with anybody than neighbors that
    are matched; who has too few for a round is left stale in it.
    """
    best = (np.full(len(mates[0]), -1, np.int64), np.full(len(mates[1]), -1, np.int64))
    most = (np.zeros(len(mates[0]), np.int64), np.zeros(len(mates[1]), np.int64))
    stale = (mates[0] < 0, mates[1] < 0)
    matched = (_matched_neighbors(sides[0], mates[0]), _matched_neighbors(sides[1], mates[1]))
    work = _workspace(sides, marks)
    while True:
        top = np.where(stale[0] | (mates[0] >= 0), 0, most[0]).max()
        for side in range(2):
            here, away = sides[side], sides[1 - side]
            for node in np.flatnonzero(stale[side] & (mates[side] < 0)):
                if matched[side][node] >= max(marks, int(top * share)):
                    found = _best(here, away, mates[side], mates[1 - side], node, marks, work)
                    best[side][node], most[side][node] = found
                    stale[side][node] = False
                    top = max(top, most[side][node])
        if top < marks:
            return
        limit = max(marks, int(top * share))
        is_due = ~stale[0] & (mates[0] < 0) & (most[0] >= limit)
        _match(sides, mates, best, is_due, stale, matched)
        for side in range(2):
            for loser in range(len(mates[side])):
                wanted = best[side][loser]
                stale[side][loser] |= wanted >= 0 and mates[1 - side][wanted] >= 0


@njit(cache=True, nogil=True)
def _matched_neighbors(side: Any, own: Any) -> Integers:
    """How many neighbors of each node have mates."""
    starts, neighbors = side
    count = np.zeros(len(own), np.int64)
    for node in np.flatnonzero(own >= 0):
        for place in range(starts[node], starts[node + 1]):
            count[neighbors[place]] += 1
    return count


@njit(cache=True, nogil=True)
def _match(sides: Any, mates: Any, best: Any, is_due: Any, stale: Any, matched: Any) -> None:
    """Matches the nodes that are due and each other's best; their neighbors' marks are stale."""
    for node in np.flatnonzero(is_due):
        mate = best[0][node]
        if best[1][mate] == node and mates[1][mate] < 0:
            mates[0][node], mates[1][mate] = mate, node
            _touch(sides[0], node, stale[0], matched[0])
            _touch(sides[1], mate, stale[1], matched[1])


@njit(cache=True, nogil=True)
def _revise(sides: Any, mates: Any, fixed: Any, marks: int) -> None:
    """Matches anew, but for the seeds, those who are one another's best by the marks of all."""
    work = _workspace(sides, marks)
    best = (np.full(len(mates[0]), -1, np.int64), np.full(len(mates[1]), -1, np.int64))
    for side in range(2):
        # Whoever is no seed counts as free to be anybody's mate.
        free = np.where(fixed[1 - side], mates[1 - side], -1)
        here, away = sides[side], sides[1 - side]
        for node in np.flatnonzero(~fixed[side]):
            best[side][node] = _best(here, away, mates[side], free, node, marks, work)[0]
    for side in range(2):
        for node in np.flatnonzero(~fixed[side]):
            mate = best[side][node]
            mates[side][node] = mate if mate >= 0 and best[1 - side][mate] == node else -1


@njit(cache=True, nogil=True)
def _best(here: Any, away: Any, own: Any, theirs: Any, node: Any, marks: int, work: Any) -> Any:
    """The free node of the other graph with most marks for a node, and the marks.

    (−1, 0) where none has enough. A candidate with enough marks is a neighbor of at least one
    mate other than the marks − 1 mates of most neighbors: these hubs are only asked about
    candidates that the others named.
    """
    starts, neighbors = here
    far_starts, far_neighbors = away
    counts, touched, hubs = work
    if _largest_mates(here, own, node, far_starts, hubs) < marks:
        return -1, 0
    found = 0
    for place in range(starts[node], starts[node + 1]):
        mate = own[neighbors[place]]
        if mate < 0 or (hubs == mate).any():
            continue
        for beyond in range(far_starts[mate], far_starts[mate + 1]):
            candidate = far_neighbors[beyond]
            if theirs[candidate] < 0:
                if counts[candidate] == 0:
                    touched[found] = candidate
                    found += 1
                counts[candidate] += 1
    degree = starts[node + 1] - starts[node]
    best, most, nearest = -1, marks, _FAR
    for place in range(found):
        candidate = touched[place]
        count = counts[candidate]
        counts[candidate] = 0
        if count + len(hubs) < most:
            continue
        count += _named_by(hubs, away, candidate)
        apart = abs(far_starts[candidate + 1] - far_starts[candidate] - degree)
        nearer = apart < nearest or (apart == nearest and candidate < best)
        if count > most or (count == most and nearer):
            best, most, nearest = candidate, count, apart
    return (best, most) if best >= 0 else (-1, 0)


@njit(cache=True, nogil=True)
def _largest_mates(here: Any, own: Any, node: Any, far_starts: Any, hubs: Any) -> int:
    """Fills `hubs` with the mates of a node's neighbors that have most neighbors themselves.

    Returns:
        How many of its neighbors have mates.
    """
    starts, neighbors = here
    seen = 0
    for place in range(starts[node], starts[node + 1]):
        mate = own[neighbors[place]]
        if mate >= 0:
            _keep_largest(hubs, min(seen, len(hubs)), mate, far_starts)
            seen += 1
    return seen


@njit(cache=True, nogil=True)
def _named_by(hubs: Any, away: Any, candidate: Any) -> Any:
    """Of how many hubs a node is a neighbor."""
    far_starts, far_neighbors = away
    count = 0
    for hub in hubs:
        row = far_neighbors[far_starts[hub] : far_starts[hub + 1]]
        at = np.searchsorted(row, candidate)
        count += at < len(row) and row[at] == candidate
    return count


@njit(cache=True, nogil=True)
def _keep_largest(hubs: Any, held: int, mate: int, far_starts: Any) -> None:
    """Keeps the mates of most neighbors, the largest first, in the `hubs` that there is room for.

    Args:
        hubs: filled up to `held`.
        held: how many are in it; where it is full, the smallest falls out.
        mate: to be kept if it is larger than the smallest.
        far_starts: that tell how many neighbors a mate has.
    """
    size = far_starts[mate + 1] - far_starts[mate]
    place = held
    while place > 0 and far_starts[hubs[place - 1] + 1] - far_starts[hubs[place - 1]] < size:
        if place < len(hubs):
            hubs[place] = hubs[place - 1]
        place -= 1
    if place < len(hubs):
        hubs[place] = mate


@njit(cache=True, nogil=True)
def _touch(side: Any, node: Any, stale: Any, matched: Any) -> None:
    """The neighbors of a node that was matched have new marks."""
    for place in range(side[0][node], side[0][node + 1]):
        stale[side[1][place]] = True
        matched[side[1][place]] += 1


@njit(cache=True, nogil=True)
def _workspace(sides: Any, marks: int) -> Any:
    larger = max(len(sides[0][0]), len(sides[1][0]))
    return np.zeros(larger, np.int64), np.empty(larger, np.int64), np.empty(marks - 1, np.int64)
