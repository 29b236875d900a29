"""Exact k-neighborhoods under both tie rules, for the points of a table and for other queries.

Source: Zhang et al., Definitions 2 and 3 (k-radius and k-neighborhood). Equal distances means
d <= d_k * (1 + 1e-9) + 1e-12. A record is not its own neighbor; its copies are, at distance 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from distanon.errors import InfeasibleError
from distanon.kernels.points import Points, distinct

if TYPE_CHECKING:
    from distanon.kernels.kd_tree import KdTree

__all__ = ["NeighborIndex", "Neighborhoods", "Points", "Ties", "distinct"]

Ties = Literal["include", "truncate"]
Scalar = TypeVar("Scalar", np.float64, np.int64)


@dataclass(frozen=True, slots=True)
class Neighborhoods:
    """The neighborhoods of m queries; query i has the entries starts[i]:starts[i + 1].

    Attributes:
        starts: int64, shape (m + 1,).
        points: int64, shape (entries,): point numbers, by (distance, lowest record number).
        weights: int64, shape (entries,), at least 1: how many records of that point belong.
            The own point has one less than its count; truncation may take part of a point.
        distances: float64, shape (entries,).
        radius: float64, shape (m,): d_k, the distance of the k-th nearest record.
        next_distance: float64, shape (m,): the first distance beyond the ties of d_k (include)
            or the distance of the (k + 1)-th record (truncate); the radius itself where no
            record is farther, or (truncate) where that record is tied.
    """

    starts: NDArray[np.int64]
    points: NDArray[np.int64]
    weights: NDArray[np.int64]
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
        empty, none = np.empty(0, dtype=np.int64), np.empty(0)
        return Neighborhoods(
            np.concatenate(starts),
            np.concatenate([empty, *(part.points for part in parts)]),
            np.concatenate([empty, *(part.weights for part in parts)]),
            np.concatenate([none, *(part.distances for part in parts)]),
            np.concatenate([none, *(part.radius for part in parts)]),
            np.concatenate([none, *(part.next_distance for part in parts)]),
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


@dataclass(frozen=True, slots=True)
class NeighborIndex:
    """Points with a k-d tree over them: plain read-only arrays, shared without a copy.

    The answers are the same bits however the queries are cut into blocks.

    Attributes:
        points: what is searched.
        tree: over the points' rows.
    """

    points: Points
    tree: KdTree

    @staticmethod
    def build(points: Points) -> NeighborIndex:
        """The index over at least one point, in O(u D log u).

        Raises:
            InfeasibleError: there are no points.
        """
        from distanon.kernels import kd_tree

        if not len(points):
            raise InfeasibleError("expected at least 1 record to search for neighbors, got 0")
        return NeighborIndex(points, kd_tree.build(points.rows))

    def neighborhoods(self, start: int, stop: int, k: int, ties: Ties) -> Neighborhoods:
        """The neighborhoods of the points start … stop - 1, for a record of each.

        The record itself is left out, its copies are not.

        Raises:
            InfeasibleError: k is less than 1 or more than the number of other records.
        """
        own = np.arange(start, stop, dtype=np.int64)
        return self._search(self.points.rows[start:stop], own, k, ties, left_out=1)

    def nearest(self, queries: NDArray[np.float64], k: int, ties: Ties) -> Neighborhoods:
        """The neighborhoods of other query points; nothing is left out.

        Args:
            queries: float64, shape (m, D); NaN is missing.
            k: at least 1, at most the number of records.
            ties: take all records tied at the k-th distance, or the lowest numbers among them.

        Raises:
            InfeasibleError: k is less than 1 or more than the number of records.
        """
        own = np.full(len(queries), -1, dtype=np.int64)
        return self._search(queries, own, k, ties, left_out=0)

    def _search(
        self,
        queries: NDArray[np.float64],
        own: NDArray[np.int64],
        k: int,
        ties: Ties,
        *,
        left_out: int,
    ) -> Neighborhoods:
        from distanon.kernels import kd_search

        available = len(self.points.point_of) - left_out
        if not 1 <= k <= available:
            raise InfeasibleError(
                f"expected k from 1 to {available} (the number of {'other ' * left_out}records), "
                f"got {k}"
            )
        rows = _read_only(np.ascontiguousarray(queries, dtype=np.float64))
        visits = np.argsort(kd_search.places(self.tree, rows), kind="stable")
        table = (self.points.counts, self.points.starts, self.points.records)
        found = kd_search.search(
            self.tree,
            table,
            _read_only(rows[visits]),
            _read_only(own[visits]),
            k,
            ties != "include",
        )
        return Neighborhoods(*found).take(np.argsort(visits, kind="stable"))


def _read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """A view that compiled code sees as it sees shared memory: one compiled form for both."""
    view = array.view()
    view.flags.writeable = False
    return view


def _ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """start, start + 1, …, start + length - 1 for each pair, one after the other."""
    offsets = np.cumsum(lengths) - lengths
    steps: NDArray[np.int64] = np.arange(int(lengths.sum()), dtype=np.int64)
    steps += np.repeat(starts - offsets, lengths)
    return steps
