"""Attribute inference: a node's sensitive value guessed as the commonest among its neighbors.

Source: Zheleva & Getoor, WWW 2009 (friends' majority); methods.md, section C.
"""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.attacks.intervals import wilson
from distanon.data.classes import Codes, encode
from distanon.data.graph import Graph
from distanon.data.graph_evidence import GraphEvidence
from distanon.data.measurement import Measurement
from distanon.data.streams import Streams
from distanon.kernels.counts import Counts
from distanon.runtime.crew import Crew

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def measure(
    evidence: GraphEvidence, *, crew: Crew | None = None, streams: Streams | None = None
) -> list[Measurement]:
    """Shares of nodes whose sensitive value their released neighbors tell.

    The intruder sees the released edges and the neighbors' released values, and guesses the
    target's true value: the original's where it is known, else the released one. Without
    neighbors that have a value he guesses the commonest of all. Targets without a value are no
    targets.

    Args:
        evidence: of a graph with sensitive attributes.
        crew: not used: this is one pass over the edges.
        streams: not used.

    Returns:
        For each attribute the share with Wilson's 95 % interval, c tied values counting 1/c, and
        the same for guessing the commonest value of the release.
    """
    del crew, streams
    result = []
    for attribute in evidence.release.schema.sensitive:
        codes = _codes(evidence, attribute.name)
        nodes = evidence.graph.nodes
        truth, shown = codes.code_of[:nodes], codes.code_of[nodes:]
        says = ~codes.is_marker
        asked = says[truth]
        if not asked.any() or not says[shown].any():
            continue
        common = np.bincount(shown[says[shown]], minlength=len(codes.values))
        score = majority(evidence.graph, shown, truth, says, int(np.argmax(common)))
        names = (
            (f"attribute.neighbors.{attribute.name}", score[asked], "commonest among neighbors"),
            (
                f"attribute.neighbors.{attribute.name}.blind_guess",
                (truth[asked] == np.argmax(common)).astype(np.float64),
                "the commonest released value",
            ),
        )
        for name, scores, note in names:
            hits = math.fsum(scores.tolist())
            low, high = wilson(hits, len(scores))
            rate = hits / len(scores)
            result.append(
                Measurement(name, rate, low, high, goal="lower", n=len(scores), note=note)
            )
    return result


def majority(
    graph: Graph, shown: Integers, truth: Integers, says: NDArray[np.bool_], commonest: int
) -> Floats:
    """For each node 1 / (values that tie as the commonest among its neighbors), or 0.

    Args:
        graph: over n nodes.
        shown: int64, shape (n,): number of each node's released value.
        truth: int64, shape (n,): number of each node's true value.
        says: bool, by number: whether it is a value, not a missing one.
        commonest: guessed where no neighbor has a value.

    Returns:
        float64, shape (n,).
    """
    rows = np.repeat(np.arange(graph.nodes), graph.degrees())
    values = shown[graph.neighbors]
    votes = says[values]
    counts = Counts.of(rows[votes], values[votes], graph.nodes, len(says))
    most = np.zeros(graph.nodes, np.int64)
    np.maximum.at(most, counts.classes, counts.counts)
    leads = counts.counts == most[counts.classes]
    tied = np.bincount(counts.classes[leads], minlength=graph.nodes)
    right = leads & (counts.values == truth[counts.classes])
    hit = np.bincount(counts.classes[right], minlength=graph.nodes)
    guess = (truth == commonest).astype(np.float64)
    return np.where(tied > 0, hit / np.maximum(tied, 1), guess)


def _codes(evidence: GraphEvidence, name: str) -> Codes:
    """True values of the released nodes, then their released values, numbered alike."""
    shown = evidence.release_table.column(name)
    if evidence.original is None or evidence.sources is None:
        truth = shown
    else:
        truth = evidence.original_table.column(name).take(pa.array(evidence.sources))
    kinds = {_plain(truth.type), _plain(shown.type)}
    kind = kinds.pop() if len(kinds) == 1 else pa.large_string()
    chunks = truth.cast(kind).chunks + shown.cast(kind).chunks
    return encode(pa.chunked_array(chunks, kind))


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
