"""What a solution costs: F = w_G·IL_G + w_A·IL_A + w_C·CE, in time that grows with its edits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distanon.data.graph import Graph
from distanon.data.space import AttributeSpace
from distanon.kernels.shared_neighbors import links_into
from distanon.methods.kmfc_gwo.candidates import EdgeWeight, edit_weights, similarities

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Shares:
    """The weights of the three losses and, in the clustering error, of its features.

    Attributes:
        graph: w_G.
        attributes: w_A.
        clustering: w_C.
        feature_edges: of the adjacency rows.
        feature_attributes: of the embedded quasi-identifiers.
        feature_degree: of ln(1 + degree).
    """

    graph: float
    attributes: float
    clustering: float
    feature_edges: float
    feature_attributes: float
    feature_degree: float


@dataclass(frozen=True, slots=True, eq=False)
class Objective:
    """The objective of one data set, with all that no solution changes computed once.

    Attributes:
        graph: the original one.
        labels: int64, shape (n,): clusters.
        sizes: int64, shape (clusters,).
        edge_weight: what an edit counts in IL_G.
        shares: weights.
        centroid_degrees: float64, shape (clusters,): mean ln(1 + degree).
        scatter: of the published features before any edit, without the degree.
        spread: Σ‖x_i − x̄‖² of the original features; 0: CE is 0.
        attribute_loss: IL_A of the quasi-identifiers, which follow their clusters.
        cells: N·M, of the attributes that are published; 0: IL_A is 0.

    Source: methods.md, C3.
    """

    graph: Graph
    labels: Integers
    sizes: Integers
    edge_weight: EdgeWeight
    shares: Shares
    centroid_degrees: Floats
    scatter: float
    spread: float
    attribute_loss: float
    cells: int

    @staticmethod
    def of(
        graph: Graph,
        labels: Integers,
        space: AttributeSpace | None,
        values: tuple[Floats, Floats],
        columns: int,
        edge_weight: EdgeWeight,
        shares: Shares,
    ) -> Objective:
        """Computes what no solution changes.

        Args:
            graph: original.
            labels: clusters from 0 without gaps.
            space: of the q quasi-identifiers; None: none.
            values: float64, shape (n, q) twice: original and published, in codes.
            columns: M, published attributes, sensitive ones included.
            edge_weight: what an edit counts.
            shares: weights.
        """
        sizes = np.bincount(labels).astype(np.int64)
        degrees = np.log1p(graph.degrees().astype(np.float64))
        means = np.bincount(labels, weights=degrees) / sizes
        own, total = _edge_scatter(graph, labels, sizes)
        scatter = shares.feature_edges**2 * own
        spread = shares.feature_edges**2 * total
        spread += shares.feature_degree**2 * float(((degrees - degrees.mean()) ** 2).sum())
        loss = 0.0
        if space is not None and space.attributes:
            points, published = (_known(space.embed(part)) for part in values)
            centroids = _means(points, labels, len(sizes))
            weight = shares.feature_attributes**2
            scatter += weight * float(((published - centroids[labels]) ** 2).sum())
            spread += weight * float(((points - points.mean(axis=0)) ** 2).sum())
            loss = float(distances(space, *values).sum())
        cells = graph.nodes * columns
        loss = loss / cells if cells else 0.0
        fixed = (means, scatter, spread, loss, cells)
        return Objective(graph, labels, sizes, edge_weight, shares, *fixed)

    def pair_costs(self, pairs: Integers, sign: NDArray[np.int8]) -> tuple[Floats, Floats]:
        """What each edit adds to Σ|G − G′|, weighted, and to the scatter, float64 (p,) twice.

        Args:
            pairs: int64, shape (p, 2).
            sign: int8, shape (p,): +1 for pairs that are no edges of the original, −1 for edges.
        """
        ends = pairs.astype(np.int64)
        weights = edit_weights(sign, similarities(self.graph, ends), self.edge_weight)
        scatter = np.zeros(len(ends))
        for one, other in ((0, 1), (1, 0)):
            cluster = self.labels[ends[:, one]]
            rows = (self.graph.starts, self.graph.neighbors, self.labels)
            links = links_into(*rows, np.ascontiguousarray(ends[:, other]), cluster)
            scatter += sign * (1.0 - 2.0 * links / self.sizes[cluster])
        return weights, self.shares.feature_edges**2 * scatter

    def graph_loss(self, weights: float) -> float:
        """IL_G of edits with these weights together."""
        return weights / max(1, self.graph.edges)

    def clustering_error(self, scatter: float, degrees: Integers) -> float:
        """CE of edits that add `scatter` and lead to these degrees, shape (n,)."""
        if self.spread <= 0:
            return 0.0
        away = np.log1p(degrees.astype(np.float64)) - self.centroid_degrees[self.labels]
        moved = self.shares.feature_degree**2 * float((away**2).sum())
        return (self.scatter + scatter + moved) / self.spread

    def attributes_loss(self, changed: float) -> float:
        """IL_A, where sensitive cells moved by so much in all."""
        return self.attribute_loss + (changed / self.cells if self.cells else 0.0)

    def total(self, graph_loss: float, attribute_loss: float, clustering_error: float) -> float:
        """F."""
        shares = self.shares
        return (
            shares.graph * graph_loss
            + shares.attributes * attribute_loss
            + shares.clustering * clustering_error
        )


def distances(space: AttributeSpace, first: Floats, second: Floats) -> Floats:
    """The distance of cells, attribute by attribute; float64, shape (n, q).

    A missing number is at distance 1 from a value and 0 from another missing one.
    """
    left, right = space.embed(first), space.embed(second)
    result = np.zeros(first.shape)
    for place, columns in enumerate(space.slices):
        a, b = left[:, columns], right[:, columns]
        gap = np.where(np.isnan(a) & np.isnan(b), 0.0, np.where(np.isnan(a - b), 1.0, a - b))
        result[:, place] = np.sqrt((gap**2).sum(axis=1))
    return result


def _edge_scatter(graph: Graph, labels: Integers, sizes: Integers) -> tuple[float, float]:
    """Σ over clusters and over all nodes of the squared distance to the mean adjacency row."""
    n = graph.nodes
    rows = np.repeat(np.arange(n), graph.degrees())
    keys, links = np.unique(labels[rows] * np.int64(n) + graph.neighbors, return_counts=True)
    own = float((links - links**2 / sizes[keys // n]).sum()) if len(keys) else 0.0
    degrees = graph.degrees().astype(np.float64)
    total = float((degrees - degrees**2 / n).sum()) if n else 0.0
    return own, total


def _means(points: Floats, labels: Integers, n_clusters: int) -> Floats:
    sums = np.zeros((n_clusters, points.shape[1]))
    np.add.at(sums, labels, points)
    return sums / np.bincount(labels, minlength=n_clusters)[:, None]


def _known(points: Floats) -> Floats:
    return np.where(np.isnan(points), 0.5, points)
