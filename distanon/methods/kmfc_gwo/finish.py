"""What the candidates left open, settled with any pair of nodes: a few units, never all pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from distanon.data.graph import Graph
from distanon.kernels.degree_repair import Levels

Integers = NDArray[np.int64]

_LOOKED_AT = 20_000  # steps for one unit, after which it stays open
_LIFTS = 3  # times that a whole degree gives way
_NEAR = 64  # neighbors through which friends of friends are met


class Finish:
    """A graph with edits, and what its nodes still want."""

    def __init__(
        self,
        graph: Graph,
        toggled: Integers,
        levels: Levels,
        level: Integers,
        want: Integers,
        kept: frozenset[tuple[int, int]],
    ) -> None:
        """Takes the state that the repair left.

        Args:
            graph: unedited.
            toggled: int64, shape (p, 2): pairs that are edited, smaller node first.
            levels: classes and their degrees; changed in place.
            level: int64, shape (n,): the degree that each node is to have; changed in place.
            want: int64, shape (n,): what is open; changed in place.
            kept: pairs that are touched only where nothing else serves.
        """
        self._graph, self._levels, self._level, self._want = graph, levels, level, want
        ends = np.concatenate([toggled, toggled[:, ::-1]])
        ends = ends[np.argsort(ends[:, 0], kind="stable")]
        self._before, self._starts = (
            ends[:, 1],
            np.searchsorted(ends[:, 0], np.arange(len(want) + 1)),
        )
        self._turned: set[tuple[int, int]] = set()
        self._kept = kept
        self._rows: dict[int, set[int]] = {}

    def run(self) -> Integers:
        """Settles what it can.

        Returns:
            int64, shape (p, 2): pairs whose state differs from `toggled`, sorted.
        """
        # Promises come first: a node all of whose edges are kept can't be served otherwise.
        for kept in (self._kept, frozenset[tuple[int, int]]()):
            self._kept = kept
            self._settle()
            for _ in range(_LIFTS):
                if not self._want.any() or not self._lift():
                    break
                self._settle()
            if not self._want.any():
                break
        return np.array(sorted(self._turned), np.int64).reshape(-1, 2)

    def _settle(self) -> None:
        settled = True
        while settled:
            settled = False
            for node in np.flatnonzero(self._want).tolist():
                while self._want[node] and self._serve(node):
                    settled = True

    def _lift(self) -> bool:
        """All nodes of one degree get the next one, in the class where these are the fewest.

        An odd number of open units can't be settled by edits alone: an odd number of nodes has
        to change its degree. The highest degree of a class has none above: its nodes get the one
        below.
        """
        levels, best = self._levels, None
        key = levels.starts[levels.class_of] + self._level
        for place in np.flatnonzero(levels.counts % 2 == 1).tolist():
            if best is None or levels.counts[place] < levels.counts[best]:
                best = place
        if best is None or len(self._want) < 2:
            return False
        nodes = np.flatnonzero(key == best)
        own = int(self._level[nodes[0]])
        is_highest = best + 1 in levels.starts or own + 1 >= self._graph.nodes
        if is_highest and own == 0:
            return False
        step = -1 if is_highest else 1
        levels.counts[best + step] += levels.counts[best]
        levels.counts[best] = 0
        self._level[nodes] += step
        self._want[nodes] += step
        return True

    def _serve(self, node: int) -> bool:
        """One unit of a node, in the cheapest way."""
        s = 1 if self._want[node] > 0 else -1
        ways = (self._accept, self._pair, self._move, self._drift, self._shift, self._bridge)
        return any(way(node, s) for way in ways)

    def _accept(self, node: int, s: int) -> bool:
        del s
        new = int(self._level[node] - self._want[node])
        if not self._may_have(node, new):
            return False
        self._leave(node, new)
        self._want[node] = 0
        return True

    def _pair(self, node: int, s: int) -> bool:
        for other in np.flatnonzero(s * self._want > 0).tolist():
            if self._can(node, other, s):
                self._toggle(node, other, s)
                return True
        return False

    def _drift(self, node: int, s: int) -> bool:
        for other in self._partners(node, s):
            new = int(self._level[other]) + s
            if self._want[other] == 0 and self._may_have(other, new):
                self._leave(other, new)
                self._toggle(node, other, s)
                self._want[other] = 0
                return True
        return False

    def _move(self, node: int, s: int) -> bool:
        for other in np.flatnonzero(s * self._want < 0).tolist():
            middle = self._middle(node, other, s)
            if middle is not None:
                self._toggle(node, middle, s)
                self._toggle(middle, other, -s)
                return True
        return False

    def _middle(self, node: int, other: int, s: int) -> int | None:
        """Whose edge moves from one to the other: of those tried who shares most with both.

        It is looked for among the neighbors of the one that has too many, who are few.
        """
        fuller, emptier = (other, node) if s > 0 else (node, other)
        best, most = None, -1
        for middle in self._partners(fuller, -1):
            if middle != emptier and self._can(middle, emptier, 1):
                shared = len(self._row(middle) & self._row(emptier))
                if shared > most:
                    best, most = middle, shared
        return best

    def _shift(self, node: int, s: int) -> bool:
        """A moved end, for a node that may drift the other way."""
        steps = 0
        for middle in self._partners(node, s):
            for other in self._partners(middle, -s):
                steps += 1
                if steps > _LOOKED_AT:
                    return False
                new = int(self._level[other]) - s
                if other != node and self._want[other] == 0 and self._may_have(other, new):
                    self._leave(other, new)
                    self._toggle(node, middle, s)
                    self._toggle(middle, other, -s)
                    self._want[other] = 0
                    return True
        return False

    def _bridge(self, node: int, s: int) -> bool:
        steps = 0
        others = [
            one
            for one in np.flatnonzero(s * self._want > 0).tolist()
            if one != node or s * self._want[node] > 1
        ]
        for other in others:
            for first in self._partners(node, s):
                # Whichever list is of edges, which are few.
                seconds = self._partners(other, s) if s < 0 else self._partners(first, -s)
                for second in seconds:
                    steps += 1
                    if steps > _LOOKED_AT:
                        return False
                    is_apart = len({node, other, first, second}) == (3 if node == other else 4)
                    if is_apart and self._can(first, second, -s) and self._can(other, second, s):
                        self._toggle(node, first, s)
                        self._toggle(first, second, -s)
                        self._toggle(other, second, s)
                        return True
        return False

    def _partners(self, node: int, s: int) -> Iterator[int]:
        """With whom an edge can be removed (s < 0) or added, friends of friends first."""
        row = self._row(node)
        if s < 0:
            yield from (other for other in sorted(row) if self._can(node, other, s))
            return
        near = sorted({far for other in sorted(row)[:_NEAR] for far in self._row(other)})
        yield from (other for other in near if self._can(node, other, s))
        seen = set(near)
        for other in self._everyone(node):
            if other not in seen and self._can(node, other, s):
                yield other

    def _everyone(self, node: int) -> Iterable[int]:
        n = self._graph.nodes
        return ((node + step) % n for step in range(1, n))

    def _can(self, a: int, b: int, s: int) -> bool:
        pair = (a, b) if a < b else (b, a)
        return a != b and pair not in self._kept and (b in self._row(a)) == (s < 0)

    def _row(self, node: int) -> set[int]:
        """The neighbors of a node as things stand."""
        if node not in self._rows:
            edited = self._before[self._starts[node] : self._starts[node + 1]]
            row = set(self._graph.neighbors_of(node).tolist())
            self._rows[node] = row ^ set(edited.tolist())
        return self._rows[node]

    def _toggle(self, a: int, b: int, s: int) -> None:
        # Both rows exist before either changes: a new one is made of what was edited at first.
        first, second = self._row(a), self._row(b)
        first ^= {b}
        second ^= {a}
        self._turned ^= {(a, b) if a < b else (b, a)}
        self._want[a] -= s
        self._want[b] -= s

    def _may_have(self, node: int, new: int) -> bool:
        levels = self._levels
        begin, end = levels.starts[levels.class_of[node]], levels.starts[levels.class_of[node] + 1]
        if new < 0 or begin + new >= end or new == self._level[node]:
            return False
        counts = levels.counts
        enough = counts[begin + self._level[node]] > levels.least
        return bool(enough and counts[begin + new] >= levels.least)

    def _leave(self, node: int, new: int) -> None:
        begin = self._levels.starts[self._levels.class_of[node]]
        self._levels.counts[begin + self._level[node]] -= 1
        self._levels.counts[begin + new] += 1
        self._level[node] = new
