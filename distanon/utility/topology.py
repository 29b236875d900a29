"""Topology: what the released graph keeps of the original one's structure.

Source: methods.md, section D (utility, for graphs).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from distanon.data.graph import Graph
from distanon.data.graph_evidence import GraphEvidence
from distanon.data.measurement import Measurement
from distanon.data.streams import Streams
from distanon.kernels.communities import louvain, modularity, mutual_information
from distanon.kernels.shortest_paths import LANES, distance_sums
from distanon.kernels.spectrum import leading_eigenvalue, pagerank
from distanon.kernels.triangles import average_clustering, transitivity, triangles
from distanon.runtime.crew import Crew
from distanon.utility.cluster_loss import cluster_losses

EXACT_NODES = 20_000
"""Paths start from every node of a component up to this size; of larger ones from a sample."""
PATH_SOURCES = 2_048
TOP = 100
"""Nodes of the highest PageRank that are compared."""

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Paths:
    """The mean length of shortest paths on the largest component.

    Attributes:
        mean: NaN for a component of one node.
        error: its standard error; 0 where all nodes were sources.
        sources: nodes that paths start from.
        component: nodes of the largest component.
    """

    mean: float
    error: float
    sources: int
    component: int


def measure(
    evidence: GraphEvidence,
    *,
    crew: Crew,
    streams: Streams,
    exact_nodes: int = EXACT_NODES,
    path_sources: int = PATH_SOURCES,
    top: int = TOP,
    blocks: int = 8,
) -> list[Measurement]:
    """Structure of the release, beside that of the original where it is known.

    Args:
        evidence: of a graph; what compares two graphs needs the original and the sources.
        crew: the workers: paths are counted from blocks of nodes.
        streams: draw sampled nodes and the order in which communities grow.
        exact_nodes: size of a component up to which all paths are counted.
        path_sources: nodes that paths start from in larger ones.
        top: nodes of the highest PageRank that are compared.
        blocks: items of work.

    Returns:
        What tells a figure of the original is not public.
    """
    if not evidence.graph.nodes:
        return []
    limits = (exact_nodes, path_sources)
    result = _shape("topology", evidence.graph, crew, streams, limits, blocks)
    if evidence.original_graph is None:
        return result
    of_original = _shape(
        "topology.original", evidence.original_graph, crew, streams, limits, blocks
    )
    result += [replace(figure, is_public=False) for figure in of_original]
    if evidence.sources is not None:
        result += _kept(evidence.original_graph, evidence.graph, evidence.sources)
        result += _agreement(evidence.original_graph, evidence.graph, evidence.sources, streams)
        result.append(_influence(evidence.original_graph, evidence.graph, evidence.sources, top))
    return result + cluster_losses(evidence)


def mean_path(
    graph: Graph,
    *,
    crew: Crew,
    streams: Streams,
    exact_nodes: int = EXACT_NODES,
    path_sources: int = PATH_SOURCES,
    blocks: int = 8,
) -> Paths:
    """Mean length of the shortest paths between two nodes of the largest component.

    Args:
        graph: of at least one node.
        crew: the workers.
        streams: draw the sources, where not all nodes are.
        exact_nodes: size of a component up to which all nodes are sources.
        path_sources: sources in larger components.
        blocks: items of work; they change no bit, sums are of integers.
    """
    labels = graph.components()
    nodes = np.flatnonzero(labels == np.argmax(np.bincount(labels)))
    size = len(nodes)
    if size < 2:
        return Paths(math.nan, 0.0, size, size)
    sources = nodes
    if size > exact_nodes:
        chosen = streams.generator("path sources").choice(size, path_sources, replace=False)
        sources = nodes[np.sort(chosen)]
    pieces = max(1, min(blocks, -(-len(sources) // LANES)))
    width = LANES * -(-len(sources) // (LANES * pieces))
    items = [sources[start : start + width] for start in range(0, len(sources), width)]
    sums = np.concatenate(
        list(crew.map(_distances, items, shared=crew.put(graph), phase="Shortest paths"))
    )
    mean = int(sums.sum()) / (len(sources) * (size - 1))
    if len(sources) == size:
        return Paths(mean, 0.0, size, size)
    spread = math.fsum(np.square(sums / (size - 1) - mean).tolist()) / max(1, len(sources) - 1)
    # Drawn without replacement: what was looked at is known.
    error = math.sqrt(spread / len(sources) * (1.0 - len(sources) / size))
    return Paths(mean, error, len(sources), size)


def _distances(graph: Graph, sources: Integers) -> Integers:
    return distance_sums(graph.starts, graph.neighbors, sources)[0]


def _shape(
    name: str,
    graph: Graph,
    crew: Crew,
    streams: Streams,
    limits: tuple[int, int],
    blocks: int,
) -> list[Measurement]:
    """Figures of one graph."""
    starts, neighbors, degrees = graph.starts, graph.neighbors, graph.degrees()
    corners = triangles(starts, neighbors)
    paths = mean_path(
        graph,
        crew=crew,
        streams=streams,
        exact_nodes=limits[0],
        path_sources=limits[1],
        blocks=blocks,
    )
    half = 1.96 * paths.error
    exact = half == 0.0
    low, high = (None, None) if exact else (paths.mean - half, paths.mean + half)
    note = f"on the largest component, {paths.component} nodes, from {paths.sources} of them"
    if not exact:
        note += f"; standard error {paths.error:.2g}"
    if math.isnan(paths.mean):
        note = "no two nodes are joined"
    labels = louvain(starts, neighbors, streams.generator("communities"))
    joined = "joined pairs of a node's neighbors, mean over nodes"
    nodes = graph.nodes
    return [
        Measurement(f"{name}.edges", float(graph.edges), unit="edges", n=nodes),
        Measurement(
            f"{name}.clustering", average_clustering(degrees, corners), n=nodes, note=joined
        ),
        Measurement(f"{name}.transitivity", transitivity(degrees, corners), n=nodes),
        Measurement(
            f"{name}.mean_path", paths.mean, low, high, unit="edges", n=paths.sources, note=note
        ),
        Measurement(
            f"{name}.modularity",
            modularity(starts, neighbors, labels),
            unit="1",
            n=int(labels.max(initial=-1)) + 1,
            note="of Louvain's communities; n: how many",
        ),
        Measurement(
            f"{name}.leading_eigenvalue", leading_eigenvalue(starts, neighbors), unit="1", n=nodes
        ),
    ]


def edit_loss(original: Graph, released: Graph, sources: Integers) -> float:
    """IL_G: edges that were lost or added, by the number of original edges.

    Args:
        original: the graph before.
        released: the graph after.
        sources: int64, shape (released nodes,): the original node of each released one.
    """
    same = int(original.has(sources[released.pairs()]).sum()) if released.edges else 0
    return (original.edges + released.edges - 2 * same) / max(1, original.edges)


def _kept(original: Graph, released: Graph, sources: Integers) -> list[Measurement]:
    """Edges kept and added, as shares of the original's, and the degrees' distribution."""
    edges = max(1, original.edges)
    same = int(original.has(sources[released.pairs()]).sum()) if released.edges else 0
    return [
        Measurement("topology.edges_kept", same / edges, goal="higher", n=original.edges),
        Measurement(
            "topology.edges_added",
            (released.edges - same) / edges,
            goal="lower",
            n=original.edges,
            note="by the number of original edges",
        ),
        Measurement(
            "topology.degree_ks",
            kolmogorov_smirnov(original.degrees(), released.degrees()),
            goal="lower",
            unit="1",
            n=released.nodes,
            note="largest distance of the degrees' distribution functions",
        ),
    ]


def kolmogorov_smirnov(one: Integers, other: Integers) -> float:
    """The largest distance between two empirical distribution functions; neither may be empty."""
    at = np.union1d(one, other)
    below_one = np.searchsorted(np.sort(one), at, side="right") / len(one)
    below_other = np.searchsorted(np.sort(other), at, side="right") / len(other)
    return float(np.abs(below_one - below_other).max())


def _agreement(
    original: Graph, released: Graph, sources: Integers, streams: Streams
) -> list[Measurement]:
    """How far the communities of both graphs agree, and how far two runs on the original do."""
    before = louvain(original.starts, original.neighbors, streams.generator("communities"))
    again = louvain(original.starts, original.neighbors, streams.generator("communities again"))
    after = louvain(released.starts, released.neighbors, streams.generator("communities"))
    return [
        Measurement(
            "topology.communities",
            mutual_information(before[sources], after),
            goal="higher",
            unit="1",
            n=len(sources),
            note="normalized mutual information of Louvain's communities",
        ),
        Measurement(
            "topology.communities.floor",
            mutual_information(before, again),
            unit="1",
            n=original.nodes,
            note="the same for two runs on the original: agreement above it says nothing",
            is_public=False,
        ),
    ]


def _influence(original: Graph, released: Graph, sources: Integers, top: int) -> Measurement:
    """How many of the nodes of the highest PageRank are the same people."""
    count = max(1, min(top, len(sources)))
    before = np.argsort(-pagerank(original.starts, original.neighbors), kind="stable")[:count]
    after = np.argsort(-pagerank(released.starts, released.neighbors), kind="stable")[:count]
    same = len(np.intersect1d(before, sources[after]))
    note = f"of the {count} nodes with the highest PageRank"
    return Measurement("topology.pagerank_overlap", same / count, goal="higher", n=count, note=note)
