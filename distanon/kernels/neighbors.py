"""Exact k-neighborhoods under both tie rules, for the points of a table and for other queries.

Source: Zhang et al., Definitions 2 and 3 (k-radius and k-neighborhood). Equal distances means
d <= d_k * (1 + 1e-9) + 1e-12. A record is not its own neighbor; its copies are, at distance 0.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from distanon.errors import InfeasibleError
from distanon.kernels.candidates import Engine, Proposer
from distanon.kernels.points import Points, distinct
from distanon.kernels.threads import in_threads, parts_of

if TYPE_CHECKING:
    from distanon.kernels.kd_tree import KdTree

__all__ = ["NeighborIndex", "Neighborhoods", "Points", "Ties", "distinct"]

Ties = Literal["include", "truncate"]
_AT_ONCE = 8192  # queries that are searched at a time
_MOST = int(np.iinfo(np.int32).max)  # records that lists can number


@dataclass(frozen=True, slots=True)
class Neighborhoods:
    """The neighborhoods of m queries; query i has the entries starts[i]:starts[i + 1].

    Attributes:
        starts: int64, shape (m + 1,).
        points: int32, shape (entries,): point numbers, by (distance, lowest record number).
        weights: int32, shape (entries,), at least 1: how many records of that point belong.
            The own point has one less than its count; truncation may take part of a point.
        distances: float64, shape (entries,).
        radius: float64, shape (m,): d_k, the distance of the k-th nearest record.
        next_distance: float64, shape (m,): the first distance beyond the ties of d_k (include)
            or the distance of the (k + 1)-th record (truncate); the radius itself where no
            record is farther, or (truncate) where that record is tied.
    """

    starts: NDArray[np.int64]
    points: NDArray[np.int32]
    weights: NDArray[np.int32]
    distances: NDArray[np.float64]
    radius: NDArray[np.float64]
    next_distance: NDArray[np.float64]

    def __len__(self) -> int:
        """The number of queries."""
        return len(self.radius)

    @staticmethod
    def join(parts: Sequence[Neighborhoods]) -> Neighborhoods:
        """The neighborhoods of all parts, one part after the other."""
        offsets = np.cumsum([0, *(len(part.points) for part in parts)])
        starts = [np.zeros(1, dtype=np.int64)]
        starts += [part.starts[1:] + at for part, at in zip(parts, offsets, strict=False)]
        empty, none = np.empty(0, dtype=np.int32), np.empty(0)
        return Neighborhoods(
            np.concatenate(starts),
            np.concatenate([empty, *(part.points for part in parts)]),
            np.concatenate([empty, *(part.weights for part in parts)]),
            np.concatenate([none, *(part.distances for part in parts)]),
            np.concatenate([none, *(part.radius for part in parts)]),
            np.concatenate([none, *(part.next_distance for part in parts)]),
        )

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """All arrays, in the order above."""
        return (
            self.starts,
            self.points,
            self.weights,
            self.distances,
            self.radius,
            self.next_distance,
        )

    def take(self, queries: NDArray[np.int64]) -> Neighborhoods:
        """The neighborhoods of some of the queries, in the order given."""
        lengths = np.diff(self.starts)[queries]
        entries = _ranges(self.starts[queries], lengths)
        return Neighborhoods(
            np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths))),
            self.points[entries],
            self.weights[entries],
            self.distances[entries],
            self.radius[queries],
            self.next_distance[queries],
        )

    def sizes(self) -> NDArray[np.int64]:
        """int64, shape (m,): |N_k|, how many records each neighborhood has."""
        totals = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(self.weights)))
        sizes: NDArray[np.int64] = np.diff(totals[self.starts])
        return sizes

    def records(self, i: int, points: Points, record: int | None = None) -> NDArray[np.int64]:
        """The record numbers in the neighborhood of query i, ascending.

        Args:
            i: which query.
            points: the points that were searched.
            record: the record that asks, when the query is one of the points: it is left out.
                None for other queries.

        Returns:
            int64; as many as the weights of query i add up to.
        """
        asking = np.array([-1 if record is None else record], dtype=np.int64)
        return self.record_lists(points, np.array([i], dtype=np.int64), asking)[1]

    def record_lists(
        self, points: Points, queries: NDArray[np.int64], records: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The neighborhoods of many records as record numbers.

        Args:
            points: the points that were searched.
            queries: int64, shape (r,): which query answers for each of the r records.
            records: int64, shape (r,): the record that asks and is left out; -1 for none.

        Returns:
            starts, int64, shape (r + 1,), and the record numbers, int64, ascending for each.
        """
        lengths = self.starts[queries + 1] - self.starts[queries]
        entries = _ranges(self.starts[queries], lengths)
        asker = np.repeat(np.arange(len(queries)), lengths)
        point, weight = self.points[entries], self.weights[entries]
        # The lowest numbers of each point; of the own point one more, since the asker goes.
        asking = records[asker]
        own = (asking >= 0) & (points.point_of[asking] == point)
        taken = weight + own
        numbers = points.records[_ranges(points.starts[point], taken)]
        asker, own, asking = (np.repeat(array, taken) for array in (asker, own, asking))
        asks = own & (numbers == asking)
        # A copy with a high number is not among the lowest: then the last one is surplus.
        last = np.zeros(len(numbers), dtype=np.bool_)
        last[np.cumsum(taken) - 1] = True
        present = np.repeat(np.add.reduceat(asks, np.cumsum(taken) - taken), taken) > 0
        keep = ~asks & ~(own & last & ~present)
        numbers, asker = numbers[keep], asker[keep]
        order = np.lexsort((numbers, asker))
        starts = np.searchsorted(asker, np.arange(len(queries) + 1))
        return starts.astype(np.int64), numbers[order]


_NOTHING = Neighborhoods.join([])


@dataclass(frozen=True, slots=True)
class NeighborIndex:
    """Points with a k-d tree over them: plain read-only arrays, shared without a copy.

    The answers are the same bits however the queries are cut into blocks, and whichever engine
    proposes candidates.

    Attributes:
        points: what is searched.
        proposer: what finds the candidates.
    """

    points: Points
    proposer: Proposer

    @property
    def tree(self) -> KdTree:
        """Over the points."""
        return self.proposer.tree

    @staticmethod
    def build(points: Points, engine: Engine | None = None, threads: int = 1) -> NeighborIndex:
        """The index over at least one point, in O(u D log u).

        Args:
            points: what is to be searched.
            engine: how candidates are found; None takes what a probe finds fastest.
            threads: how many work; says nothing about the index.

        Raises:
            InfeasibleError: there are no points, or more records than an int32 can number.
        """
        if not 1 <= len(points.point_of) <= _MOST:
            raise InfeasibleError(
                f"expected from 1 to {_MOST:,} records to search for neighbors together, "
                f"got {len(points.point_of):,}"
            )
        if engine:
            return NeighborIndex(points, Proposer.build(points, engine, threads=threads))
        chosen = Proposer.chosen(points, threads)
        return NeighborIndex(points, chosen)

    def neighborhoods(
        self, start: int, stop: int, k: int, ties: Ties, threads: int = 1
    ) -> Neighborhoods:
        """The neighborhoods of the points start … stop - 1, for a record of each.

        The record itself is left out, its copies are not.

        Raises:
            InfeasibleError: k is less than 1 or more than the number of other records.
        """
        self._check(k, left_out=1)
        order = self.tree.order
        places = np.flatnonzero((order >= start) & (order < stop))
        return self._of_places(places, order[places] - start, k, ties, threads)

    def blocks(
        self, k: int, ties: Ties, size: int = 65_536, threads: int = 1
    ) -> Iterator[tuple[NDArray[np.int64], Neighborhoods]]:
        """The neighborhoods of all points, block by block: what a caller drops is given back.

        Points of a block lie together, so that this is the fastest way, and the least in memory.

        Args:
            k: at least 1, at most the number of other records.
            ties: take all records tied at the k-th distance, or the lowest numbers among them.
            size: about how many points to a block.
            threads: how many work; says nothing about results.

        Yields:
            Point numbers, and their neighborhoods in that order.

        Raises:
            InfeasibleError: k is less than 1 or more than the number of other records.
        """
        for start, stop in self.runs(-(-len(self.points) // size)):
            yield self.tree.order[start:stop], self.at_places(start, stop, k, ties, threads)

    def order_digest(self) -> str:
        """Tells orders of the points in the tree apart.

        Two processors may differ in them, where a library of linear algebra finds the rows' axes.
        """
        return hashlib.sha256(self.tree.order.tobytes()).hexdigest()[:12]

    def runs(self, count: int, workers: int = 1) -> list[tuple[int, int]]:
        """About `count` runs of places, each of whole leaves.

        Args:
            count: at least 1.
            workers: how many take one after the other: the last run of each is halved, and its
                second half again, so that nobody waits long for the last of them.

        Returns:
            Start and stop of each; of nearly equal length but for the last.
        """
        shares = [4] * count
        if 1 < workers <= count // 2:
            shares = [4] * (count - workers) + [2] * workers + [1] * (2 * workers)
        borders, points = self.tree.borders, len(self.points)
        ideal = [points * share // (4 * count) for share in accumulate(shares[:-1])]
        ends = [int(borders[np.searchsorted(borders, end)]) for end in ideal]
        return list(pairwise(sorted({0, *ends, points})))

    def at_places(
        self, start: int, stop: int, k: int, ties: Ties, threads: int = 1
    ) -> Neighborhoods:
        """The neighborhoods of the points `tree.order[start:stop]`, in that order.

        The record itself is left out, its copies are not.

        Raises:
            InfeasibleError: k is less than 1 or more than the number of other records.
        """
        self._check(k, left_out=1)
        places = np.arange(start, stop)
        return self._of_places(places, places - start, k, ties, threads)

    def _of_places(
        self,
        places: NDArray[np.int64],
        numbers: NDArray[np.int64],
        k: int,
        ties: Ties,
        threads: int,
    ) -> Neighborhoods:
        def search(part: slice) -> Neighborhoods:
            own = self.tree.order[places[part]]
            found = self.proposer.to_places(places[part], k)
            return self._settle(self.points.rows[own], own, found, k, ties)

        return in_turn(search, numbers, threads)

    def nearest(
        self, queries: NDArray[np.float64], k: int, ties: Ties, threads: int = 1
    ) -> Neighborhoods:
        """The neighborhoods of other query points; nothing is left out.

        Args:
            queries: float64, shape (m, D); NaN is missing.
            k: at least 1, at most the number of records.
            ties: take all records tied at the k-th distance, or the lowest numbers among them.
            threads: how many work; says nothing about results.

        Raises:
            InfeasibleError: k is less than 1 or more than the number of records.
        """
        self._check(k, left_out=0)
        rows = np.ascontiguousarray(queries, dtype=np.float64)
        visits = self.proposer.sequence(rows)

        def search(part: slice) -> Neighborhoods:
            asked = rows[visits[part]]
            own = np.full(len(asked), -1, dtype=np.int64)
            return self._settle(asked, own, self.proposer.to_queries(asked, k), k, ties)

        return in_turn(search, visits, threads)

    def _check(self, k: int, *, left_out: int) -> None:
        available = len(self.points.point_of) - left_out
        if not 1 <= k <= available:
            raise InfeasibleError(
                f"expected k from 1 to {available} (the number of {'other ' * left_out}records), "
                f"got {k}"
            )

    def _settle(
        self,
        queries: NDArray[np.float64],
        own: NDArray[np.int64],
        candidates: tuple[Any, ...],
        k: int,
        ties: Ties,
    ) -> Neighborhoods:
        """The neighborhoods among candidates."""
        from distanon.kernels import kd_search

        gapped = bool(self.tree.gaps[0].any() or np.isnan(queries).any())
        table = (self.points.counts, self.points.starts, self.points.records)
        found = kd_search.settle(
            self.points.rows,
            table,
            candidates[:2],
            queries,
            own,
            gapped,
            k,
            ties != "include",
        )
        return Neighborhoods(*found)


def in_turn(
    search: Callable[[slice], Neighborhoods], numbers: NDArray[np.int64], threads: int
) -> Neighborhoods:
    """The neighborhoods of queries that are searched in another sequence than they are numbered.

    Args:
        search: finds those of a range of the sequence.
        numbers: int64, shape (m,): the number of each query of the sequence, 0 … m - 1.
        threads: how many ranges are searched at a time.
    """
    from distanon.kernels import kd_search

    parts = parts_of(len(numbers), _AT_ONCE)
    found = in_threads(search, parts, threads)
    if (numbers[1:] > numbers[:-1]).all():
        return found[0] if len(found) == 1 else Neighborhoods.join(found)
    starts = np.zeros(len(numbers) + 1, dtype=np.int64)
    for part, some in zip(parts, found, strict=True):
        starts[numbers[part] + 1] = np.diff(some.starts)
    np.cumsum(starts, out=starts)
    whole = Neighborhoods(
        starts,
        np.empty(starts[-1], dtype=np.int32),
        np.empty(starts[-1], dtype=np.int32),
        np.empty(starts[-1]),
        np.empty(len(numbers)),
        np.empty(len(numbers)),
    )
    for i, part in enumerate(parts):
        some = found[i]
        found[i] = _NOTHING  # what is copied is given back before the next part is touched
        kd_search.scatter(some.arrays(), numbers[part], whole.arrays())
    return whole


def _ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """start, start + 1, …, start + length - 1 for each pair, one after the other."""
    offsets = np.cumsum(lengths) - lengths
    steps: NDArray[np.int64] = np.arange(int(lengths.sum()), dtype=np.int64)
    steps += np.repeat(starts - offsets, lengths)
    return steps
