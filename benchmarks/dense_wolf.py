"""The customary evaluation of a wolf: all of its N × (N + M) bits, in numpy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from ego_facebook import SetUp
from numpy.typing import NDArray

from distanon.data.domain import scan
from distanon.data.graph import Graph
from distanon.data.space import AttributeSpace
from distanon.methods.kmfc_gwo.cells import CellChanges
from distanon.methods.kmfc_gwo.objective import Shares
from distanon.methods.kmfc_gwo.problem import edited_pairs
from distanon.optimizers.population import Individual

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Dense:
    """What no wolf changes, all of it computed beforehand.

    Attributes:
        adjacency: bool, shape (N, N).
        moves: float64, shape (N, M): how far each cell moves (nominal: 1) where its bit
            is set.
        points: float64, shape (N, D): published quasi-identifiers, weighted.
        centroids: float64, shape (N, N + D + 1): of each node's cluster, weighted.
        spread: of the original features.
        shares: weights.
    """

    adjacency: Booleans
    moves: Floats
    points: Floats
    centroids: Floats
    spread: float
    shares: Shares

    @staticmethod
    def of(given: SetUp, cells: tuple[CellChanges, ...]) -> Dense:
        """For the nominal attributes of a set-up and the sensitive changes of one wolf."""
        objective, shares = given.problem.objective, given.problem.objective.shares
        adjacency = _matrix(objective.graph)
        space = AttributeSpace.of(
            given.dataset.schema.quasi_identifiers, scan(given.dataset.node_dataset())
        )
        tables = given.dataset.nodes, given.release.nodes
        before, after = (space.encode(table) for table in tables)
        known = [before[:, place] != after[:, place] for place in range(before.shape[1])]
        known += [np.isin(np.arange(len(before)), change.nodes) for change in cells]
        degrees = np.log1p(adjacency.sum(axis=1, dtype=np.float64))[:, None]
        features = np.hstack(
            [
                shares.feature_edges * adjacency,
                shares.feature_attributes * space.embed(before),
                shares.feature_degree * degrees,
            ]
        )
        sums = np.zeros((len(objective.sizes), features.shape[1]))
        np.add.at(sums, objective.labels, features)
        centroids = (sums / objective.sizes[:, None])[objective.labels]
        spread = float(((features - features.mean(axis=0)) ** 2).sum())
        points = shares.feature_attributes * space.embed(after)
        return Dense(adjacency, np.stack(known, axis=1) * 1.0, points, centroids, spread, shares)

    def wolf(self, given: SetUp, individual: Individual) -> Booleans:
        """A solution as bits, shape (N, N + M)."""
        removed, added = edited_pairs(given.problem, individual)
        released = given.problem.graph.edited(removed, added)
        return np.hstack([_matrix(released) ^ self.adjacency, self.moves > 0])

    def evaluate(self, wolf: Booleans) -> float:
        """F of a wolf, shape (N, N + M)."""
        nodes, shares = len(self.adjacency), self.shares
        released = self.adjacency ^ wolf[:, :nodes]
        graph_loss = (released != self.adjacency).sum() / self.adjacency.sum()
        attribute_loss = (self.moves * wolf[:, nodes:]).mean()
        degrees = np.log1p(released.sum(axis=1, dtype=np.float64))[:, None]
        features = np.hstack(
            [shares.feature_edges * released, self.points, shares.feature_degree * degrees]
        )
        error = ((features - self.centroids) ** 2).sum() / self.spread
        losses = (shares.graph * graph_loss, shares.attributes * attribute_loss)
        return float(sum(losses) + shares.clustering * error)


def _matrix(graph: Graph) -> Booleans:
    matrix = np.zeros((graph.nodes, graph.nodes), np.bool_)
    one, other = graph.pairs().T
    matrix[one, other] = matrix[other, one] = True
    return matrix
