"""Fuzzy c-means spread over workers by blocks of nodes.

The borders of the blocks depend on the number of nodes alone, and what blocks return is added in
their order: the same bits for any number of workers. Rows are put once; the centroids of an
iteration are kept once, where all items of that iteration find them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from distanon.kernels import fuzzy
from distanon.kernels.fuzzy import Rows, Sums
from distanon.kernels.neighbors import NeighborIndex, Points, distinct
from distanon.runtime.crew import Crew, Shared

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_BLOCKS = 16  # at most: each returns sums as large as all centroids
_LEAST = 1024  # nodes in a block, so that small graphs are not cut for nothing
_SAMPLE = 128  # nodes whose memberships are computed in full to measure what truncation omits


@dataclass(frozen=True, slots=True)
class FuzzySettings:
    """How fuzzy c-means runs.

    Attributes:
        m: the fuzzifier, above 1. The customary 2 collapses where clusters are many: on a graph
            of 4,039 nodes 143 of 363 stay empty.
        nearest: to how many distinct nearest centroids memberships are truncated; None: all
            count. Rows with a sparse part have no such search.
        iterations: at most, at least 1.
        tolerance: ends when the objective changes by at most this share.
    """

    m: float = 1.1
    nearest: int | None = None
    iterations: int = 30
    tolerance: float = 1e-3


@dataclass(frozen=True, slots=True)
class Iterate:
    """Where one iteration of fuzzy c-means stands.

    Attributes:
        labels: int64, shape (n,): the cluster of each node's greatest membership; nodes that
            equal centroids share are dealt to them evenly.
        centroids: float64, shape (width + D, C), those that the labels refer to.
        objective: J_m.
        iteration: from 1.
        settled: the objective has come to rest and no centroid was empty.
        empty: how many centroids are nobody's nearest, and move before the next iteration.
        omitted: the most membership that truncation can have left out, mean over the nodes.
    """

    labels: Integers
    centroids: Floats
    objective: float
    iteration: int
    settled: bool
    empty: int
    omitted: float


@dataclass(frozen=True, slots=True)
class Truncation:
    """What truncated memberships leave out.

    Attributes:
        nearest: distinct centroids that count for each node.
        mean: omitted membership, in [0, 1], mean over a sample of nodes.
        largest: the most that a node of the sample omits.
        bound: omitted membership if all other centroids were as near as they can be, mean over
            all nodes; never below the true mean.
    """

    nearest: int
    mean: float
    largest: float
    bound: float


class _Model(NamedTuple):
    """The centroids of one iteration, as workers get them.

    Attributes:
        centroids: float64, shape (width + D, U), distinct.
        copies: float64, shape (U,): how many equal ones each stands for.
        tree: over the distinct ones, where memberships are truncated.
        settings: of all iterations.
    """

    centroids: Floats
    copies: Floats
    tree: NeighborIndex | None
    settings: FuzzySettings


def fuzzy_c_means(
    crew: Crew, rows: Rows, centroids: Floats, settings: FuzzySettings
) -> Iterator[Iterate]:
    """The iterations of fuzzy c-means, until the objective rests or they are used up.

    Args:
        crew: who works.
        rows: features of n nodes.
        centroids: float64, shape (width + D, C): where to start.
        settings: how.

    Source: methods.md, C1; Bezdek 1981.
    Deviation: a centroid that is nobody's nearest moves to the node that is farthest from its
    own, in the first half of the iterations.
    """
    shared = crew.put(rows)
    clusters = centroids.shape[1]
    previous = np.inf
    for iteration in range(1, settings.iterations + 1):
        points = distinct(np.ascontiguousarray(centroids.T))
        found = _survey(crew, shared, rows, _model(points, rows, settings))
        labels = _dealt(found, points)
        empty = np.flatnonzero(np.bincount(labels, minlength=clusters) == 0)
        farthest = _farthest(
            found.squares, len(empty) if 2 * iteration <= settings.iterations else 0
        )
        rests = abs(previous - found.objective) <= settings.tolerance * found.objective
        settled = bool(rests) and not len(farthest)
        omitted = float(found.omitted.mean())
        yield Iterate(labels, centroids, found.objective, iteration, settled, len(empty), omitted)
        if settled:
            return
        previous = found.objective
        centroids = _means(found, points, centroids)
        centroids[:, empty[: len(farthest)]] = fuzzy.columns_of(rows, farthest)


def truncation(rows: Rows, iterate: Iterate, settings: FuzzySettings) -> Truncation | None:
    """What truncation left out in one iteration; None: nothing was truncated.

    Memberships are computed in full for nodes at even steps, and bounded for all.
    """
    points = distinct(np.ascontiguousarray(iterate.centroids.T))
    model = _model(points, rows, settings)
    if model.tree is None or settings.nearest is None:
        return None
    count = min(_SAMPLE, rows.nodes)
    nodes = np.arange(count, dtype=np.int64) * rows.nodes // count
    squares = fuzzy.squares_between(rows, nodes, model.centroids)
    shares = fuzzy.memberships(squares, model.copies, settings.m)
    starts, numbers, _, _ = _listed(model.tree, rows.dense[nodes], settings.nearest)
    shares[np.repeat(np.arange(count), np.diff(starts)), numbers] = 0.0
    left = (shares * model.copies).sum(axis=1)
    return Truncation(settings.nearest, float(left.mean()), float(left.max()), iterate.omitted)


def blocks(nodes: int) -> list[tuple[int, int]]:
    """The blocks that nodes are worked on in: (start, stop), from their number alone."""
    size = max(_LEAST, -(-nodes // _BLOCKS))
    return [(start, min(nodes, start + size)) for start in range(0, nodes, size)]


def _model(points: Points, rows: Rows, settings: FuzzySettings) -> _Model:
    columns, copies = np.ascontiguousarray(points.rows.T), points.counts.astype(np.float64)
    if rows.width or settings.nearest is None or settings.nearest >= len(points):
        return _Model(columns, copies, None, settings)
    return _Model(columns, copies, NeighborIndex.build(distinct(points.rows)), settings)


def _survey(crew: Crew, shared: Shared, rows: Rows, model: _Model) -> Sums:
    """The sums of all blocks, added in their order, and the labels one after the other."""
    (kept,) = crew.map(_as_it_is, [(model,)], keep=True, phase="centroids")
    items = [(start, stop, kept) for start, stop in blocks(rows.nodes)]
    sums, totals = np.zeros(model.centroids.shape), np.zeros(len(model.copies))
    objective = 0.0
    parts: list[tuple[Integers, Floats, Floats]] = []
    for part in crew.map(_of_block, items, shared=shared, phase="fuzzy clusters"):
        sums += part.sums
        totals += part.totals
        objective += part.objective
        parts.append((part.labels, part.squares, part.omitted))
    labels, squares, omitted = (np.concatenate(one) for one in zip(*parts, strict=True))
    return Sums(sums, totals, objective, labels, squares, omitted)


def _as_it_is(_: None, item: tuple[_Model]) -> _Model:
    """So that a value of the driver's is kept where workers read it."""
    return item[0]


def _of_block(rows: Rows, item: tuple[int, int, _Model]) -> Sums:
    start, stop, model = item
    m, nearest = model.settings.m, model.settings.nearest
    if model.tree is None or nearest is None:
        return fuzzy.sum_block(rows, start, stop, model.centroids, model.copies, m)
    dense = rows.dense[start:stop]
    return fuzzy.sum_nearest(dense, _listed(model.tree, dense, nearest), model.copies, m)


def _listed(
    index: NeighborIndex, dense: Floats, nearest: int
) -> tuple[Integers, Integers, Floats, Floats]:
    """Each node's nearest distinct centroids, for `fuzzy.sum_nearest`."""
    found = index.nearest(dense, nearest, "truncate")
    return found.starts, found.points.astype(np.int64), found.distances, found.next_distance


def _dealt(found: Sums, points: Points) -> Integers:
    """Labels in which equal centroids share their nodes evenly, near ones and far ones together.

    Their memberships are equal, so any of them is an arg max; the lowest of them for all would
    leave the others empty.
    """
    order = np.lexsort((found.squares, found.labels))  # stable: then by node
    sizes = np.bincount(found.labels, minlength=len(points))
    at = found.labels[order]
    turn = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    share = turn * np.minimum(points.counts, sizes)[at] // sizes[at]
    labels = np.empty(len(order), dtype=np.int64)
    labels[order] = points.records[points.starts[at] + share]
    return labels


def _means(found: Sums, points: Points, centroids: Floats) -> Floats:
    """The next centroids; one without any membership stays where it is."""
    following = centroids.copy()
    some = np.flatnonzero(found.totals[points.point_of] > 0.0)
    at = points.point_of[some]
    following[:, some] = found.sums[:, at] / found.totals[at]
    return following


def _farthest(squares: Floats, count: int) -> Integers:
    """The nodes farthest from their centroids, the lowest of equals first; none at distance 0."""
    order = np.argsort(-squares, kind="stable")[:count]
    return order[squares[order] > 0.0]
