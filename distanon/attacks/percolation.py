"""Percolation: an intruder who knows the graph and a few people in the release matches the rest.

Source: methods.md, section D (structural); seeds are drawn among the nodes of most neighbors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distanon.attacks.bootstrap import bootstrap
from distanon.data.graph import Graph
from distanon.data.graph_evidence import GraphEvidence
from distanon.data.measurement import Measurement
from distanon.data.streams import Streams
from distanon.kernels.percolation import percolate, revise
from distanon.runtime.crew import Crew

SEEDS = (16, 64)
"""How many people the intruder knows in the release."""
MARKS = 3
"""Matched pairs of which both must be neighbors: r."""
TOP = 0.05
"""Seeds are drawn from this share of the nodes, by degree."""
_REFERENCE_DRAWS = 3


@dataclass(frozen=True, slots=True)
class _Graphs:
    """What the workers share.

    Attributes:
        known: the original graph.
        released: with its nodes renumbered at random, so that numbers say nothing.
        truth: int64: the released node of each original one; −1: none.
        hubs: int64: original nodes that seeds are drawn from.
    """

    known: Graph
    released: Graph
    truth: NDArray[np.int64]
    hubs: NDArray[np.int64]


def measure(
    evidence: GraphEvidence,
    *,
    crew: Crew,
    streams: Streams,
    draws: int = 10,
    seeds: tuple[int, ...] = SEEDS,
    revisions: int = 3,
) -> list[Measurement]:
    """Shares of people whom seeded percolation finds in the release.

    Args:
        evidence: with the original graph and the sources; without them the list is empty.
        crew: the workers: one draw is one item.
        streams: draw the seeds, and the resamples of the intervals.
        draws: how often seeds are drawn.
        seeds: how many, one figure each.
        revisions: passes of a second attack that looks at its matches again; 0: none.

    Returns:
        Mean recall over draws with bootstrap intervals, seeds left out; the same attack on the
        original graph (identifiers removed only), which is not public.
    """
    if evidence.original_graph is None or evidence.sources is None:
        return []
    graphs = _graphs(evidence, evidence.original_graph, evidence.sources, streams)
    itself = np.arange(evidence.original_graph.nodes)
    plain = _graphs(evidence, evidence.original_graph, itself, streams, itself=True)
    result = []
    for count in seeds:
        name = f"structural.percolation_{count}"
        people = int((graphs.truth >= 0).sum()) - count
        if people < 1 or len(graphs.hubs) < count:
            reason = f"needs more than {count} released people"
            result.append(Measurement(name, math.nan, goal="lower", note=reason))
            continue
        result += _recalls(name, graphs, crew, streams, draws, count, revisions)
        few = min(draws, _REFERENCE_DRAWS)
        removed = _recalls(f"{name}.identifiers_removed", plain, crew, streams, few, count, 0)
        result += [_kept_private(measurement) for measurement in removed]
    return result


def _recalls(
    name: str,
    graphs: _Graphs,
    crew: Crew,
    streams: Streams,
    draws: int,
    count: int,
    revisions: int,
) -> list[Measurement]:
    shared = crew.put(graphs)
    items = [(streams, draw, count, revisions) for draw in range(draws)]
    hits = list(crew.map(_matched, items, shared=shared, phase="Percolation"))
    people = int((graphs.truth >= 0).sum()) - count
    note = f"{count} known people of the {TOP:.0%} with most neighbors, {MARKS} marks"
    variants = [(name, note)]
    if revisions:
        variants.append((f"{name}.revised", f"{note}; matches are made anew {revisions} times"))
    result = []
    for place, (variant, words) in enumerate(variants):
        recalls = [found[place] / people for found in hits]
        mean = math.fsum(recalls) / draws
        low, high = bootstrap(recalls, streams.generator("percolation interval", count, place))
        result.append(Measurement(variant, mean, low, high, goal="lower", n=draws, note=words))
    return result


def _matched(graphs: _Graphs, item: tuple[Streams, int, int, int]) -> tuple[int, ...]:
    """How many people one draw finds: plainly, and with revisions where they are asked for."""
    streams, draw, count, revisions = item
    chosen = streams.generator("percolation seeds", draw, count)
    nodes = chosen.choice(graphs.hubs, count, replace=False)
    seeds = np.stack([nodes, graphs.truth[nodes]], axis=1)
    targets = graphs.truth >= 0
    targets[nodes] = False
    mates = percolate(graphs.known, graphs.released, seeds, MARKS)
    found = [mates]
    if revisions:
        found.append(revise(graphs.known, graphs.released, seeds, mates, MARKS, revisions))
    return tuple(int((mate[targets] == graphs.truth[targets]).sum()) for mate in found)


def _graphs(
    evidence: GraphEvidence,
    known: Graph,
    sources: NDArray[np.int64],
    streams: Streams,
    *,
    itself: bool = False,
) -> _Graphs:
    released = known if itself else evidence.graph
    number = streams.generator("percolation numbers").permutation(released.nodes)
    truth = np.full(known.nodes, -1, np.int64)
    truth[sources] = number
    present = np.flatnonzero(truth >= 0)
    order = present[np.argsort(-known.degrees()[present], kind="stable")]
    hubs = order[: max(math.ceil(TOP * len(order)), min(max(SEEDS), len(order)))]
    renumbered = Graph.from_pairs(released.nodes, number[released.pairs()])
    return _Graphs(known, renumbered, truth, hubs)


def _kept_private(measurement: Measurement) -> Measurement:
    from dataclasses import replace

    note = f"on the original graph; {measurement.note}"
    return replace(measurement, goal="none", note=note, is_public=False)
