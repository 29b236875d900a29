"""Link confidence: no two classes, and none within itself, may be joined too densely."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from distanon.data.graph import Graph
from distanon.methods.kmfc_gwo.candidates import similarities

Integers = NDArray[np.int64]

_TRIES = 400  # edges that an edge too many is offered to change ends with


def excess_links(pairs: Integers, class_of: Integers, limit: Fraction) -> int:
    """How many edges stand above the limit, over all pairs of classes.

    Args:
        pairs: int64, shape (m, 2): edges.
        class_of: int64, shape (n,).
        limit: λ: edges / possible pairs at most, between classes and within.
    """
    tally = _Tally(pairs, class_of, limit)
    return sum(max(0, count - tally.most(key)) for key, count in tally.counts.items())


def thinned(
    graph: Graph,
    class_of: Integers,
    limit: Fraction,
    kept: frozenset[tuple[int, int]],
    generator: np.random.Generator,
    *,
    keeps_degrees: bool,
) -> tuple[Integers, int]:
    """The edits that bring all pairs of classes down to the limit.

    Where degrees don't matter, the edges whose ends share least are removed: no fewer edits can
    do. Else an edge too many changes ends with another edge, so that every node keeps its degree
    and no pair of classes exceeds the limit by it.

    Args:
        graph: as it stands.
        class_of: int64, shape (n,).
        limit: λ.
        kept: pairs, smaller node first, that no edit may touch.
        generator: of the exchanges.
        keeps_degrees: whether every node must keep its degree.

    Returns:
        int64, shape (p, 2): pairs to toggle, sorted; and how many edges are still too many.
    """
    work = _Thinning(graph, class_of, limit, kept, generator)
    left = 0
    for key in sorted(work.tally.counts):
        need = work.tally.counts[key] - work.tally.most(key)
        if need <= 0:
            continue
        for place in work.edges_of(key):
            done = work.exchange(place) if keeps_degrees else work.remove(place)
            need -= done
            if need <= 0:
                break
        left += max(need, 0)
    return np.array(sorted(work.toggled), np.int64).reshape(-1, 2), left


class _Tally:
    """Edges of each pair of classes."""

    def __init__(self, pairs: Integers, class_of: Integers, limit: Fraction) -> None:
        self._class_of, self._limit = class_of, limit
        self._sizes = np.bincount(class_of)
        self.many = len(self._sizes)
        ends = np.sort(class_of[pairs], axis=1)
        self.keys = ends[:, 0] * np.int64(self.many) + ends[:, 1]
        keys, counts = np.unique(self.keys, return_counts=True)
        self.counts = dict(zip(keys.tolist(), counts.tolist(), strict=True))

    def key(self, a: int, b: int) -> int:
        """The pair of classes of two nodes."""
        one, other = int(self._class_of[a]), int(self._class_of[b])
        return min(one, other) * self.many + max(one, other)

    def most(self, key: int) -> int:
        """Edges that a pair of classes may have."""
        one, other = (int(self._sizes[part]) for part in divmod(key, self.many))
        inside = key // self.many == key % self.many
        possible = one * (one - 1) // 2 if inside else one * other
        return possible * self._limit.numerator // self._limit.denominator


class _Thinning:
    """A graph whose edges are removed or change ends."""

    def __init__(
        self,
        graph: Graph,
        class_of: Integers,
        limit: Fraction,
        kept: frozenset[tuple[int, int]],
        generator: np.random.Generator,
    ) -> None:
        self._graph, self._kept, self._generator = graph, kept, generator
        self._pairs = graph.pairs()
        self.tally = _Tally(self._pairs, class_of, limit)
        self._edges = set(map(tuple, self._pairs.tolist()))
        self.toggled: set[tuple[int, int]] = set()

    def edges_of(self, key: int) -> list[int]:
        """Places of the edges of a pair of classes, those whose ends share least first."""
        places = np.flatnonzero(self.tally.keys == key)
        likeness = similarities(self._graph, self._pairs[places])
        return [int(place) for place in places[np.argsort(likeness, kind="stable")]]

    def remove(self, place: int) -> bool:
        """Removes an edge; False where it must stay."""
        a, b = self._pairs[place].tolist()
        if (a, b) in self._kept:
            return False
        self._toggle(a, b, -1)
        return True

    def exchange(self, place: int) -> bool:
        """Lets an edge change ends with another; False where none fits."""
        u, v = self._pairs[place].tolist()
        if (u, v) in self._kept:
            return False
        for other in self._generator.integers(len(self._pairs), size=_TRIES).tolist():
            x, y = self._pairs[other].tolist()
            if self._generator.random() < 0.5:
                x, y = y, x
            if self._fits(u, v, x, y):
                for a, b, sign in ((u, v, -1), (x, y, -1), (u, y, 1), (x, v, 1)):
                    self._toggle(a, b, sign)
                self._pairs[place] = _ordered(u, y)
                self._pairs[other] = _ordered(x, v)
                self.tally.keys[place] = self.tally.key(u, y)
                self.tally.keys[other] = self.tally.key(x, v)
                return True
        return False

    def _fits(self, u: int, v: int, x: int, y: int) -> bool:
        """Whether u–v and x–y can become u–y and x–v."""
        new = (_ordered(u, y), _ordered(x, v))
        is_apart = len({u, v, x, y}) == 4
        if not is_apart or _ordered(x, y) in self._kept:
            return False
        if any(pair in self._edges or pair in self._kept for pair in new):
            return False
        change: dict[int, int] = {}
        for a, b, sign in ((u, v, -1), (x, y, -1), (u, y, 1), (x, v, 1)):
            key = self.tally.key(a, b)
            change[key] = change.get(key, 0) + sign
        if change.get(self.tally.key(u, v), 0) >= 0:
            return False
        counts = self.tally.counts
        return all(
            step <= 0 or counts.get(key, 0) + step <= self.tally.most(key)
            for key, step in change.items()
        )

    def _toggle(self, a: int, b: int, sign: int) -> None:
        pair = _ordered(a, b)
        self._edges ^= {pair}
        self.toggled ^= {pair}
        key = self.tally.key(a, b)
        self.tally.counts[key] = self.tally.counts.get(key, 0) + sign


def _ordered(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)
