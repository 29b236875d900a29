"""Which points can be in a neighborhood: by k-d tree, by rotated k-d tree, or by brute force.

An engine only proposes: whichever is chosen, the exact distances that follow give the same bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from distanon.kernels import coordinates
from distanon.kernels.coordinates import Coordinates
from distanon.kernels.points import Points

if TYPE_CHECKING:
    from distanon.kernels.kd_tree import KdTree

Engine = Literal["tree", "rotated", "brute"]
_SPARE = 8  # room in the lists for ties, at least
_FEW = 2048  # points below which nothing is worth a probe
_PART = 4096  # points on which a rotation is tried
_LATTICE = 0.05  # a share of different values in a column, below which it isn't
_WIDEST = 256  # columns; a rotation costs the square of that for each row
_ASKED = 224  # queries of a probe
_TYPICAL = 16  # k of a probe
_CROWDED = 1.5  # candidates for each that is needed, above which many are tied


class Proposer(NamedTuple):
    """Proposes the points that can be in the neighborhoods of queries.

    Attributes:
        engine: how they are found.
        space: the coordinates that are searched.
        tree: over them.
        weights: int64, shape (u,): records of the point at each place of the tree; empty where
            all are 1.
    """

    engine: Engine
    space: Coordinates
    tree: KdTree
    weights: NDArray[np.int64]

    @staticmethod
    def build(
        points: Points, engine: Engine, dtype: type[Any] = np.float32, threads: int = 1
    ) -> Proposer:
        """The engine over at least one point; float64 tells apart what float32 can't."""
        from distanon.kernels import kd_tree

        rotated = engine == "rotated" and not np.isnan(points.rows).any()
        space = coordinates.fit(points.rows, rotated=rotated, dtype=dtype, threads=threads)
        tree = kd_tree.build(space.of(points.rows, threads), threads)
        weights = points.counts[tree.order] if (points.counts > 1).any() else np.empty(0, np.int64)
        weights.flags.writeable = False
        return Proposer(engine, space, tree, weights)

    @staticmethod
    def chosen(points: Points, threads: int = 1) -> Proposer:
        """The engine that some 200 queries find fastest. It changes the time, not the answers."""
        engine: Engine = "rotated" if _rotation_helps(points) else "tree"
        proposer = Proposer.build(points, engine, threads=threads)
        if len(points) < _FEW:
            return proposer
        effort, proposed = proposer.probe(_ASKED)
        if proposed > _CROWDED:
            # Ties, or distances that float32 can't tell apart.
            finer = Proposer.build(points, engine, np.float64, threads)
            if finer.probe(_ASKED)[1] < 0.8 * proposed:
                return finer
        is_whole = proposed <= _CROWDED and not proposer.tree.gaps[0].any()
        if is_whole and _product_is_faster(effort, *points.rows.shape):
            return proposer._replace(engine="brute")
        return proposer

    def probe(self, asked: int) -> tuple[float, float]:
        """What queries from all over the tree cost.

        Args:
            asked: about how many.

        Returns:
            Which share of all distances is computed; how many candidates there are for each that
            is needed.
        """
        borders = self.tree.borders
        leaves = np.unique(np.linspace(0, len(borders) - 2, asked // 32).astype(np.int64))
        places = np.concatenate([np.arange(borders[leaf], borders[leaf + 1]) for leaf in leaves])
        k = min(_TYPICAL, len(self.tree.order) - 1)
        starts, _, evaluated = self._replace(engine="tree").to_places(places, k)
        proposed = float(starts[-1]) / (len(places) * (k + 1))
        return evaluated / (len(places) * (len(borders) - 1)), proposed

    def sequence(self, queries: NDArray[np.float64]) -> NDArray[np.int64]:
        """The queries sorted by leaf: neighbors share a traversal, and what is in the cache."""
        from distanon.kernels import kd_join

        leaves = np.empty(len(queries), dtype=np.int64)
        for start in range(0, len(queries), 65_536):
            part = slice(start, start + 65_536)
            leaves[part] = kd_join.placed(self.tree, self.space.of(queries[part]), self.space.scale)
        return np.argsort(leaves, kind="stable")

    def to_places(self, places: NDArray[np.int64], k: int) -> tuple[Any, ...]:
        """Candidates for the points at some places, which ascend.

        Returns:
            As `kd_join.propose`.
        """
        from distanon.kernels import kd_join

        queries, leaves = kd_join.coordinates_at(self.tree, places)
        return self._propose(queries, leaves, places, k)

    def to_queries(self, queries: NDArray[np.float64], k: int) -> tuple[Any, ...]:
        """Candidates for other queries, sorted by `sequence`.

        Returns:
            As `kd_join.propose`.
        """
        from distanon.kernels import kd_join

        moved = self.space.of(queries)
        leaves = kd_join.placed(self.tree, moved, self.space.scale)
        return self._propose(moved, leaves, np.full(len(queries), -1, dtype=np.int64), k)

    def _propose(
        self, queries: NDArray[Any], leaves: NDArray[np.int64], own: NDArray[np.int64], k: int
    ) -> tuple[Any, ...]:
        from distanon.kernels import brute_force, kd_join

        size = min(k + 1 + max(_SPARE, k // 4), len(self.tree.order) + 1)
        size = -(-size // 4) * 4
        limits = (*self.space.widening(), self.space.scale)
        found: tuple[Any, ...]
        if self.engine == "brute" and not (self.tree.gaps[0].any() or np.isnan(queries).any()):
            found = brute_force.propose(
                self.tree, self.weights, queries, own, leaves, k, size, limits
            )
        else:
            found = kd_join.propose(
                self.tree, self.weights, queries, own, kd_join.groups(leaves), k, size, limits
            )
        return found


def _product_is_faster(effort: float, points: int, width: int) -> bool:
    """Whether all distances by products of matrices take less time than some by the tree.

    Nanoseconds for each pair, as measured on isotropic points of 8 to 50 columns, 4,000 to
    500,000 of them. The fewer leaves a query visits, the more of its time goes into finding them,
    and among many points they have left the cache; what a query pays for its list, by products
    more than by the tree, weighs where there are few points.
    """
    scattered = 1.8 * min(1.0, points / 200_000) * (1.0 - effort) ** 2
    by_tree = effort * (0.28 + 0.0434 * width) * (1.0 + scattered)
    return by_tree > 0.27 + 0.0185 * width + 1500.0 / points


def _rotation_helps(points: Points) -> bool:
    """Whether trees over a part of the points say so; it hurts where values lie on a lattice."""
    u, width = points.rows.shape
    if u < _FEW or not 2 <= width <= _WIDEST or np.isnan(points.rows).any():
        return False
    rows = points.rows[:: -(-u // _PART)]
    levels = [len(np.unique(column)) for column in rows[::4].T]
    if np.median(levels) < _LATTICE * len(rows[::4]):
        return False
    numbers = np.arange(len(rows))
    ends = np.arange(len(rows) + 1)
    part = Points(rows, np.ones(len(rows), dtype=np.int64), numbers, numbers, ends)
    straight, turned = (
        Proposer.build(part, engine).probe(_ASKED)[0] for engine in ("tree", "rotated")
    )
    return turned < 0.9 * straight
