"""Links: an intruder tells added edges from true ones, and finds edges that were taken away.

Who shares many neighbors is likely joined: edges added at random stand out, and what was deleted
shows in what is left.

Source: methods.md, section D (link).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from distanon.attacks.auc import auc
from distanon.data.graph import Graph
from distanon.data.graph_evidence import GraphEvidence
from distanon.data.measurement import Measurement
from distanon.data.streams import Streams
from distanon.kernels.link_predictors import predictors
from distanon.runtime.crew import Crew

PAIRS = 20_000
"""Pairs of each kind that are compared where there are more: a seeded sample."""
_ROUNDS = 200

Integers = NDArray[np.int64]


def measure(
    evidence: GraphEvidence,
    *,
    crew: Crew | None = None,
    streams: Streams,
    pairs: int = PAIRS,
) -> list[Measurement]:
    """How well predictors by shared neighbors rank pairs of nodes, as areas under the ROC curve.

    - *fake*: a kept edge against an added one, equally many of both;
    - *deleted*: a deleted edge against a pair that is joined in neither graph, equally many.

    Args:
        evidence: with the original graph and the sources; without them the list is empty.
        crew: not used: this is one pass over the sampled pairs.
        streams: draw the samples.
        pairs: of each kind, at most.

    Returns:
        Areas with DeLong's 95 % intervals. 0.5 is what a coin reaches; below it an intruder who
        knows the method turns the ranking round.
    """
    del crew
    if evidence.original_graph is None or evidence.sources is None:
        return []
    released = evidence.graph
    known = carried_over(evidence.original_graph, evidence.sources, released.nodes)
    shown = released.pairs()
    is_true = known.has(shown)
    mine = known.pairs()
    deleted = mine[~released.has(mine)]
    non_edges = _non_edges(released, known, min(len(deleted), pairs), streams)
    coin = Measurement("link.blind_guess", 0.5, unit="1", note="what a coin reaches")
    return [
        *_ranked("link.fake", released, (shown[is_true], shown[~is_true]), streams, pairs),
        *_ranked("link.deleted", released, (deleted, non_edges), streams, pairs),
        coin,
    ]


def carried_over(original: Graph, sources: Integers, nodes: int) -> Graph:
    """The edges of the original between released nodes, numbered as these are.

    Args:
        original: the graph that the method was given.
        sources: int64, shape (nodes,): original node of each released one.
        nodes: how many were released.
    """
    place = np.full(original.nodes, -1, np.int64)
    place[sources] = np.arange(nodes)
    pairs = place[original.pairs()]
    return Graph.from_pairs(nodes, pairs[(pairs >= 0).all(axis=1)])


def _ranked(
    name: str,
    released: Graph,
    kinds: tuple[Integers, Integers],
    streams: Streams,
    limit: int,
) -> list[Measurement]:
    """The area of each predictor: how often the first kind scores above the second."""
    likely, unlikely = kinds
    names = [f"{name}.{predictor}" for predictor in ("common_neighbors", "adamic_adar", "jaccard")]
    n = min(len(likely), len(unlikely), limit)
    if not n:
        reason = "there are no such edges to be found, or nothing to compare them with"
        return [Measurement(each, math.nan, goal="lower", unit="1", note=reason) for each in names]
    draw = streams.generator(f"{name} pairs")
    likely = likely[np.sort(draw.choice(len(likely), n, replace=False))]
    unlikely = unlikely[np.sort(draw.choice(len(unlikely), n, replace=False))]
    above = predictors(released.starts, released.neighbors, likely)
    below = predictors(released.starts, released.neighbors, unlikely)
    note = f"{n} pairs of each kind; a coin reaches 0.5"
    return [
        Measurement(each, *auc(one, other), goal="lower", unit="1", n=2 * n, note=note)
        for each, one, other in zip(names, above, below, strict=True)
    ]


def _non_edges(released: Graph, known: Graph, count: int, streams: Streams) -> Integers:
    """Different pairs that are joined in neither graph, uniformly drawn; fewer if there are few.

    Returns:
        int64, shape (at most count, 2), smaller node first.
    """
    draw = streams.generator("link non-edges")
    nodes = released.nodes
    found = np.zeros((0, 2), np.int64)
    for _ in range(_ROUNDS):
        if len(found) >= count or nodes < 2:
            break
        pairs = np.sort(draw.integers(0, nodes, (2 * count + 64, 2)), axis=1)
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        pairs = pairs[~(released.has(pairs) | known.has(pairs))]
        both = np.concatenate([found, pairs])
        _, first = np.unique(both[:, 0] * nodes + both[:, 1], return_index=True)
        found = both[np.sort(first)]
    return found[:count]
