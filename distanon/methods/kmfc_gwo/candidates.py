"""The edits that a solution chooses from: enumerated node by node, capped, each with its costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from distanon.data.graph import Graph
from distanon.kernels.degree_repair import Incidence, incidence
from distanon.kernels.shared_neighbors import partners, shared_counts
from distanon.methods.kmfc_gwo.targets import DegreeGroups

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
EdgeWeight = Literal["uniform", "neighborhood"]

_BASE, _PER_UNIT, _MOST = 24, 8, 400  # partners of a node: by how much its degree must grow
_MOST_MATES = 64
_MANY, _PER_GAIN = 8, 4  # edges to gain from which on a node is also offered strangers; how many
_DRIFTING = 3  # partners for each edge to gain that want none: hubs gain more than others want


@dataclass(frozen=True, slots=True)
class Candidates:
    """Edge edits.

    Attributes:
        inc: the edits and each node's list of them.
        dropped: how many were left out for the cap.
    """

    inc: Incidence
    dropped: int

    def __len__(self) -> int:
        return len(self.inc.sign)


def edit_weights(sign: NDArray[np.int8], similarity: Floats, edge_weight: EdgeWeight) -> Floats:
    """What an edit counts in IL_G, shape (p,).

    uniform: 1. neighborhood: ½ + s for a removal and 3/2 − s for an addition, where s is the
    similarity: an edge among friends of friends is dear to lose and cheap to fake.
    """
    if edge_weight == "uniform":
        return np.ones(len(sign))
    return np.where(sign < 0, 0.5 + similarity, 1.5 - similarity)


def similarities(graph: Graph, pairs: Integers) -> Floats:
    """Shared neighbors of each pair / neighbors of either, float64, shape (p,), in [0, 1]."""
    first, second = (np.ascontiguousarray(pairs[:, side]) for side in (0, 1))
    shared = shared_counts(graph.starts, graph.neighbors, first, second)
    degrees = graph.degrees()
    result: Floats = shared / np.maximum(degrees[first] + degrees[second] - shared, 1)
    return result


def enumerate_candidates(
    graph: Graph, groups: DegreeGroups, labels: Integers, most: int, kept: Integers
) -> Candidates:
    """Removals, two-hop additions and moves to cluster mates, for nodes that may have to change.

    Args:
        graph: as it stands before the search.
        groups: with all degrees that a group may get; edits that lead to the first come first.
        labels: int64, shape (n,): clusters; mates share one.
        most: how many candidates at most; the costliest go.
        kept: int64, shape (p, 2): pairs that no edit may touch (those of the edge floor).

    Returns:
        Sorted by pair. Never A²: O(Σ degrees of neighbors) time, O(n + candidates) memory.
    """
    degrees = graph.degrees()
    few = np.maximum(degrees - groups.options.min(axis=1)[groups.group_of], 0)
    more = np.maximum(groups.options.max(axis=1)[groups.group_of] - degrees, 0)
    edges = graph.pairs()
    removals = edges[(few[edges[:, 0]] > 0) | (few[edges[:, 1]] > 0)]
    start = groups.options[:, 0][groups.group_of] - degrees
    additions = _additions(graph, more, np.maximum(start, 0), labels, groups.group_of)
    removals, additions = (_without(pairs, kept) for pairs in (removals, additions))
    ends = np.concatenate([removals, additions])
    sign = np.repeat(np.array([-1, 1], np.int8), [len(removals), len(additions)])
    similarity = similarities(graph, ends)
    cost = np.where(sign < 0, similarity, 1.0 - similarity)
    dropped = max(0, len(sign) - most)
    if dropped:
        # An edit that may serve both its ends is worth two that serve one.
        fewer = few.clip(max=1) + (start < 0)
        use = np.where(sign < 0, fewer[ends].sum(1), (more.clip(max=1) + (start > 0))[ends].sum(1))
        best = np.sort(np.lexsort((np.arange(len(sign)), cost - use))[:most])
        ends, sign, cost = ends[best], sign[best], cost[best]
    listed = incidence(graph.nodes, ends.astype(np.int32), sign, cost)
    return Candidates(listed, dropped)


def _additions(
    graph: Graph, more: Integers, gain: Integers, labels: Integers, group_of: Integers
) -> Integers:
    """Pairs that are no edges, of which one end may have to gain; int64, shape (p, 2), sorted.

    Args:
        graph: as it stands.
        more: int64, shape (n,): by how much each node's degree may have to grow.
        gain: int64, shape (n,): by how much it grows at the start.
        labels: int64, shape (n,): clusters.
        group_of: int64, shape (n,): groups of one degree.
    """
    nodes = np.flatnonzero(more > 0)
    wide = np.minimum(_MOST, _BASE + _PER_UNIT * more[nodes])
    may_gain, everyone = more > 0, np.ones(graph.nodes, np.bool_)
    rows = (graph.starts, graph.neighbors)
    found = [
        partners(*rows, *rows, nodes, wide, may_gain),
        partners(*rows, *rows, nodes, np.maximum(2 * _BASE, _DRIFTING * gain[nodes]), everyone),
    ]
    many = np.flatnonzero(gain >= _MANY)
    found.append(partners(*rows, *rows, many, _PER_GAIN * gain[many], gain > 0))
    found.append(_strangers(many, _PER_GAIN * gain[many], np.flatnonzero(gain > 0)))
    for peers in (labels, group_of):
        found.append(partners(*rows, *_mates(peers), nodes, wide // 2, may_gain))
        found.append(_pairs_within(peers, may_gain))
    first, second = (np.concatenate([pair[side] for pair in found]) for side in (0, 1))
    low, high = np.minimum(first, second), np.maximum(first, second)
    keys = np.unique(low * graph.nodes + high)
    pairs = np.stack([keys // graph.nodes, keys % graph.nodes], axis=1)
    is_new: NDArray[np.bool_] = ~graph.has(pairs) & (pairs[:, 0] != pairs[:, 1])
    return pairs[is_new]


def _strangers(nodes: Integers, keep: Integers, others: Integers) -> tuple[Integers, Integers]:
    """Each node with so many of the others, evenly spread over them."""
    keep = np.minimum(keep, len(others))
    rows = np.repeat(np.arange(len(nodes)), keep)
    place = np.arange(len(rows)) - np.repeat(np.cumsum(keep) - keep, keep)
    return nodes[rows], others[place * len(others) // np.maximum(keep[rows], 1)]


def _mates(labels: Integers) -> tuple[Integers, NDArray[np.int32]]:
    """Each node's row of members of its cluster: those that follow it, all if they are few."""
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    firsts = np.cumsum(sizes) - sizes
    place = np.empty(len(labels), np.int64)
    place[order] = np.arange(len(labels)) - np.repeat(firsts, sizes)
    lengths = np.minimum(sizes - 1, _MOST_MATES)[labels]
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    step = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths) + 1
    rows = np.repeat(np.arange(len(labels)), lengths)
    inside = (place[rows] + step) % sizes[labels[rows]]
    return starts, order[firsts[labels[rows]] + inside].astype(np.int32)


def _pairs_within(labels: Integers, is_wanted: NDArray[np.bool_]) -> tuple[Integers, Integers]:
    """Pairs of wanted nodes of a cluster."""
    starts, mates = _mates(labels)
    rows = np.repeat(np.arange(len(labels)), np.diff(starts))
    chosen = is_wanted[rows] & is_wanted[mates]
    return rows[chosen], mates[chosen].astype(np.int64)


def _without(pairs: Integers, kept: Integers) -> Integers:
    if not len(kept):
        return pairs
    base = int(max(pairs.max(initial=0), kept.max())) + 1
    is_kept = np.isin(pairs[:, 0] * base + pairs[:, 1], kept[:, 0] * base + kept[:, 1])
    return pairs[~is_kept]
