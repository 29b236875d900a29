"""Edits that are made whether a promise needs them or not, so that the graph can't be matched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from distanon.data.graph import Graph
from distanon.kernels.shared_neighbors import shared_counts

Integers = NDArray[np.int64]

_TRIES = 24  # ends that are tried for a moved edge: most mates of a cluster
_FEW = 10.0  # shared neighbors, up to which an edge hardly counts as part of a dense structure
_SETTLED = 0.65  # edits that the search then needs for a unit of degree that is left open


class EdgeFloor(BaseModel):
    """Edges whose ends move, beside what the promises need."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["mates", "two_hop", "random"] = Field(
        "mates",
        description="where an end goes: to a cluster mate, to a friend of a friend, anywhere",
    )
    share: float = Field(
        gt=0,
        le=1,
        description="share of the edges that are moved (one removed, one added); what the search "
        "edits itself counts",
    )


@dataclass(frozen=True, slots=True, eq=False)
class Floored:
    """A graph with its floor.

    Attributes:
        graph: edited.
        removed: int64, shape (p, 2): edges of the original, smaller node first.
        added: int64, shape (p, 2).
    """

    graph: Graph
    removed: Integers
    added: Integers


def floored(
    graph: Graph,
    floor: EdgeFloor,
    labels: Integers,
    want: Integers | None,
    generator: np.random.Generator,
) -> Floored:
    """Moves edges until these and what is then left open make up the share.

    Args:
        graph: original.
        floor: what is asked.
        labels: int64, shape (n,): clusters.
        want: int64, shape (n,): how many edges each node lacks (below 0: has too many); moves
            serve them where they can. None: degrees don't matter.
        generator: of the moves.

    Returns:
        The graph and its edits; fewer than asked where no end can be moved.
    """
    moves = _Moves(graph, labels, want, generator)
    edges = graph.pairs()
    goal = 2.0 * floor.share * len(edges)
    # Strangers are joined only where too few ends can move to friends of friends.
    for shared in (1, 0) if floor.kind == "mates" else (0,):
        for place in moving_order(graph, edges, floor.kind, generator).tolist():
            if 2 * len(moves.removed) + _SETTLED * moves.open >= goal:
                break
            moves.move(int(edges[place, 0]), int(edges[place, 1]), floor.kind, shared)
    removed = np.array(sorted(moves.removed), np.int64).reshape(-1, 2)
    added = np.array(sorted(moves.added), np.int64).reshape(-1, 2)
    return Floored(graph.edited(removed, added), removed, added)


def moving_order(
    graph: Graph, edges: Integers, kind: str, generator: np.random.Generator
) -> Integers:
    """The edges in the order in which they are moved, int64, shape (m,).

    Those between hubs tend to come first, since they are what percolation starts from; of these,
    edges whose ends share few neighbors, so that structure is kept. An edge that goes anywhere
    comes at random.
    """
    if kind == "random":
        return generator.permutation(len(edges))
    first, second = (np.ascontiguousarray(edges[:, side]) for side in (0, 1))
    shared = shared_counts(graph.starts, graph.neighbors, first, second)
    ends = graph.degrees()[edges].astype(np.float64)
    weight = np.sqrt(ends[:, 0] * ends[:, 1]) / (_FEW + shared)
    return np.argsort(generator.exponential(size=len(edges)) / weight, kind="stable")


class _Moves:
    """The moves so far."""

    def __init__(
        self,
        graph: Graph,
        labels: Integers,
        want: Integers | None,
        generator: np.random.Generator,
    ) -> None:
        self._graph, self._generator = graph, generator
        self._want = np.zeros(graph.nodes, np.int64) if want is None else want.copy()
        self.open = 0.0 if want is None else float(np.abs(want).sum())
        self._counts = want is not None
        order = np.argsort(labels, kind="stable")
        self._mates = np.split(order, np.cumsum(np.bincount(labels))[:-1])
        self._labels = labels
        self._edges = {int(key) for key in graph.pairs() @ np.array([graph.nodes, 1])}
        self._rows: dict[int, set[int]] = {}
        self.removed: set[tuple[int, int]] = set()
        self.added: set[tuple[int, int]] = set()

    def move(self, a: int, b: int, kind: str, shared: int) -> None:
        """Moves one end of an edge: that of the node with more edges than it wants.

        Args:
            a: an end.
            b: the other.
            kind: where the end goes.
            shared: neighbors that the new edge's ends must share.
        """
        if (min(a, b), max(a, b)) in self.removed:
            return
        gap = int(self._want[a] - self._want[b])
        swap = gap > 0 or (gap == 0 and self._generator.random() < 0.5)
        leaving, staying = (b, a) if swap else (a, b)
        found = self._end(leaving, staying, kind, shared)
        if found is None:
            return
        near, far = found
        self.removed.add((min(a, b), max(a, b)))
        self.added.add((min(near, far), max(near, far)))
        for node, change in ((a, 1), (b, 1), (near, -1), (far, -1)):
            if self._counts:
                self.open += abs(self._want[node] + change) - abs(self._want[node])
            self._want[node] += change

    def _end(self, leaving: int, staying: int, kind: str, shared: int) -> tuple[int, int] | None:
        """The new edge's ends; None where none of those that were tried can be joined.

        It goes to a node that wants one, if there is one, and among these to the one that shares
        most neighbors with the end that stays.
        """
        best: tuple[int, int] | None = None
        highest = (-1, -1)
        for _ in range(_TRIES):
            pair = (staying, self._tried(leaving, staying, kind))
            if kind == "random":
                pair = (int(self._generator.integers(self._graph.nodes)), pair[1])
            if not self._is_free(*pair):
                continue
            common = 0 if kind == "random" else len(self._row(pair[0]) & self._row(pair[1]))
            score = (int(self._want[pair[1]] > 0), common)
            if common >= shared and score > highest:
                best, highest = pair, score
        return best

    def _row(self, node: int) -> set[int]:
        if node not in self._rows:
            self._rows[node] = set(self._graph.neighbors_of(node).tolist())
        return self._rows[node]

    def _tried(self, leaving: int, staying: int, kind: str) -> int:
        if kind == "mates":
            return self._one_of(self._mates[self._labels[leaving]])
        if kind == "two_hop":
            return self._one_of(
                self._graph.neighbors_of(self._one_of(self._graph.neighbors_of(staying)))
            )
        return int(self._generator.integers(self._graph.nodes))

    def _one_of(self, nodes: NDArray[np.integer]) -> int:
        return int(nodes[self._generator.integers(len(nodes))])

    def _is_free(self, a: int, b: int) -> bool:
        low, high = min(a, b), max(a, b)
        is_edge = low * self._graph.nodes + high in self._edges
        return a != b and not is_edge and (low, high) not in self.added
