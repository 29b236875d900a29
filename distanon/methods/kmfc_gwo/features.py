"""What clusters are found on: each node's edges, attributes and degree, weighted, as one row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from distanon.data.graph import Graph
from distanon.data.streams import Streams
from distanon.kernels.fuzzy import Rows
from distanon.kernels.projection import leading_basis, project, random_basis

Floats = NDArray[np.float64]

Representation = Literal["auto", "exact", "projection", "svd"]

_LARGEST = 2**21  # entries of exact centroids, nodes × clusters: 16 MB
_MISSING = np.sqrt(0.75)


@dataclass(frozen=True, slots=True)
class Weights:
    """What each part of a row counts for: its columns are multiplied by it.

    Attributes:
        edges: of the node's row of the adjacency matrix, entries 0 and 1.
        attributes: of the attributes, at distance 0 to 1 each.
        degree: of ln(1 + degree).
    """

    edges: float
    attributes: float
    degree: float


@dataclass(frozen=True, slots=True)
class Features:
    """The rows of n nodes.

    Attributes:
        rows: what distances are taken on.
        guide: float64, shape (n, d): coordinates along which a balanced start cuts the nodes;
            the rows themselves unless these are sparse.
        edges: how edges are represented: exact, projection, svd, or none where they don't count.
    """

    rows: Rows
    guide: Floats
    edges: Literal["exact", "projection", "svd", "none"]


def features(
    graph: Graph,
    points: Floats | None,
    weights: Weights,
    representation: tuple[Representation, int],
    clusters: int,
    streams: Streams,
) -> Features:
    """The rows of all nodes: [G | A], weighted, and the degree.

    Args:
        graph: G, n nodes.
        points: A, float64, shape (n, D), as `AttributeSpace.embed` returns them; None: nodes
            have no attributes.
        weights: of the parts.
        representation: of the edges, and on how many columns they are projected. auto: exact
            while the centroids of all clusters have few enough entries, else svd.
        clusters: how many there will be.
        streams: for the projection.

    Source: methods.md, C1.
    Deviation: the degree beside edges and attributes; a missing number is half-way, with a column
    of its own: √¾ … 1 from a value (1 from both ends of the range), 0 from another missing one.
    """
    kind, width = representation
    dense = [_known(points) * weights.attributes] if points is not None else []
    if weights.degree:
        dense.append(np.log1p(graph.degrees().astype(np.float64))[:, None] * weights.degree)
    if not weights.edges or not graph.edges:
        return _dense(graph.nodes, dense, "none")
    if kind == "exact" or (kind == "auto" and graph.nodes * clusters <= _LARGEST):
        leading = _projected(graph, "svd", width, streams) * weights.edges
        guide = _beside(graph.nodes, [*dense, leading])
        rows = _beside(graph.nodes, dense)
        sparse = (graph.starts, graph.neighbors, weights.edges, graph.nodes)
        return Features(Rows(*sparse, rows), guide, "exact")
    chosen: Literal["projection", "svd"] = "projection" if kind == "projection" else "svd"
    dense.append(_projected(graph, chosen, width, streams) * weights.edges)
    return _dense(graph.nodes, dense, chosen)


def _dense(
    nodes: int, parts: list[Floats], edges: Literal["projection", "svd", "none"]
) -> Features:
    together = _beside(nodes, parts)
    starts, columns = np.zeros(nodes + 1, dtype=np.int64), np.empty(0, dtype=np.int32)
    return Features(Rows(starts, columns, 1.0, 0, together), together, edges)


def _beside(nodes: int, parts: list[Floats]) -> Floats:
    """The parts side by side, without columns in which no two nodes differ."""
    together = np.concatenate([np.empty((nodes, 0)), *parts], axis=1)
    if not nodes:
        return together
    return np.ascontiguousarray(together[:, together.max(axis=0) > together.min(axis=0)])


def _projected(
    graph: Graph, kind: Literal["projection", "svd"], width: int, streams: Streams
) -> Floats:
    """The adjacency rows on at most `width` columns, float64, shape (n, width)."""
    width = min(width, graph.nodes)
    if kind == "projection":
        basis = random_basis(streams.uniforms("projection", 0, graph.nodes, width))
    else:
        first = streams.uniforms("leading vectors", 0, graph.nodes, width) - 0.5
        basis = leading_basis(graph.starts, graph.neighbors, first)
    return project(graph.starts, graph.neighbors, basis)


def _known(points: Floats) -> Floats:
    """Points without NaN: a missing number or rank is half-way between least and greatest."""
    missing = np.isnan(points)
    if not missing.any():
        return points
    marked = missing[:, missing.any(axis=0)]
    return np.concatenate([np.where(missing, 0.5, points), marked * _MISSING], axis=1)
