"""Structural: an intruder finds people in a released graph by what he knows of their surroundings.

Source: methods.md, section D (structural).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from distanon.attacks import percolation
from distanon.attacks.intervals import wilson
from distanon.attacks.structural_regions import Looks
from distanon.data.classes import Classes, partition_of
from distanon.data.graph import Graph
from distanon.data.graph_evidence import DEGREE, GraphEvidence
from distanon.data.measurement import Measurement
from distanon.data.streams import Streams
from distanon.errors import InputError
from distanon.kernels import structural_classes
from distanon.kernels.neighbors import NeighborIndex, distinct
from distanon.kernels.triangles import triangles
from distanon.runtime.crew import Crew
from distanon.sharded.neighbors import nearest

TARGETS = 30_000
"""Nodes that are attacked in each direction where there are more: a seeded sample."""

Floats = NDArray[np.float64]
_Points = Callable[[GraphEvidence], tuple[Floats, Floats]]
_Link = Callable[[NDArray[np.int64], NDArray[np.int64]], tuple[Floats, Floats]]
"""Scores of people and of their rows: known person → released node, and back."""


def measure(
    evidence: GraphEvidence,
    *,
    crew: Crew,
    streams: Streams,
    draws: int = 10,
    targets: int = TARGETS,
    revisions: int = 3,
    blocks: int = 8,
) -> list[Measurement]:
    """Linkage by degree, degree and attributes, degree and triangles; seeded percolation.

    The intruder takes the nearest candidate: degrees need not be equal. Each figure is the better
    of both directions (known person → released node, and back).

    Args:
        evidence: with the original graph and the sources; without them only uniqueness is
            measured.
        crew: the workers.
        streams: draw targets and seeds.
        draws: of percolation seeds.
        targets: how many are attacked at most in each direction.
        revisions: see `percolation.measure`.
        blocks: items of work of one linkage.

    Returns:
        Shares with Wilson's 95 % intervals (percolation: bootstrap). A target whose c nearest
        candidates tie, its own among them, counts 1/c.
    """
    if not evidence.graph.nodes:
        return []
    result = _uniqueness(evidence)
    if evidence.original_graph is None or evidence.sources is None:
        return result
    knowing: dict[str, _Points] = {"degree": _by_degree, "degree_and_triangles": _by_triangles}
    if evidence.attributes:
        knowing["degree_and_attributes"] = _by_attributes
    for name, points in knowing.items():
        try:
            old, new = points(evidence)
        except InputError as error:
            # Generalized columns have no distances; the words may count rows.
            note = str(error)
            result.append(Measurement(f"structural.{name}", math.nan, note=note, is_public=False))
            continue
        link = _linker(evidence, name, old, new, crew, blocks)
        result.append(_linkage(name, evidence.sources, link, streams, targets))
        result.append(_identifiers_removed(name, old))
    guess = 1.0 / min(evidence.original_graph.nodes, evidence.graph.nodes)
    note = "what an intruder reaches without looking"
    result.append(Measurement("structural.blind_guess", guess, n=evidence.graph.nodes, note=note))
    return result + percolation.measure(
        evidence, crew=crew, streams=streams, draws=draws, revisions=revisions
    )


def linked(
    candidates: NeighborIndex,
    queries: Floats,
    truth: NDArray[np.int64],
    crew: Crew,
    blocks: int = 8,
) -> Floats:
    """Scores of targets: is the nearest candidate, or one of those that tie, theirs?

    Args:
        candidates: the points that are searched.
        queries: float64, shape (t, D): what the intruder knows of each target.
        truth: int64, shape (t,): the row among the candidates that is the target.
        crew: the workers.
        blocks: items of work.

    Returns:
        float64, shape (t,): 1 / the number of tied candidates, or 0.
    """
    asked = distinct(queries)
    found = nearest(crew, crew.put(candidates), asked.rows, 1, "include", blocks)
    width = len(candidates.points)
    owner = np.repeat(np.arange(len(asked)), np.diff(found.starts))
    wanted = asked.point_of * width + candidates.points.point_of[truth]
    scores: Floats = np.isin(wanted, owner * width + found.points) / found.sizes()[asked.point_of]
    return scores


def _linker(
    evidence: GraphEvidence, name: str, old: Floats, new: Floats, crew: Crew, blocks: int
) -> _Link:
    """How people and rows are linked: by distance, or by what labels stand for."""
    if name == "degree_and_attributes" and evidence.is_generalized:
        looks = Looks.of(evidence, old[:, -1], new[:, -1])
        return lambda people, rows: (
            looks.people_to_rows(people, rows, crew, blocks),
            looks.rows_to_people(rows, people),
        )

    def link(people: NDArray[np.int64], rows: NDArray[np.int64]) -> tuple[Floats, Floats]:
        forth = linked(NeighborIndex.build(distinct(new)), old[people], rows, crew, blocks)
        back = linked(NeighborIndex.build(distinct(old)), new[rows], people, crew, blocks)
        return forth, back

    return link


def _linkage(
    name: str, sources: NDArray[np.int64], link: _Link, streams: Streams, targets: int
) -> Measurement:
    """The better of both directions."""
    chosen = streams.generator("structural targets").permutation(len(sources))[:targets]
    rows = np.sort(chosen)
    forth, back = link(sources[rows], rows)
    hits, way = max(
        (math.fsum(forth.tolist()), "known people to released nodes"),
        (math.fsum(back.tolist()), "released nodes to known people"),
    )
    low, high = wilson(hits, len(rows))
    note = f"knows {name.replace('_', ' ')}; {way}"
    rate = hits / len(rows)
    return Measurement(f"structural.{name}", rate, low, high, goal="lower", n=len(rows), note=note)


def _identifiers_removed(name: str, old: Floats) -> Measurement:
    """The same attack on the original graph: kinds of nodes per node."""
    return Measurement(
        f"structural.{name}.identifiers_removed",
        len(distinct(old)) / len(old),
        n=len(old),
        note="the same on the original graph without names",
        is_public=False,
    )


def _uniqueness(evidence: GraphEvidence) -> list[Measurement]:
    """Shares of released nodes that look like no other."""
    starts, neighbors = evidence.graph.starts, evidence.graph.neighbors
    kinds: dict[str, Classes | None] = {
        "degree": evidence.classes_known_by("degree"),
        "degree_and_triangles": partition_of(
            structural_classes.by_degree_and_triangles(starts, neighbors)
        ),
        "neighbor_degrees": partition_of(structural_classes.by_neighbor_degrees(starts, neighbors)),
    }
    if evidence.attributes:
        kinds["degree_and_attributes"] = evidence.classes_known_by("attributes+degree")
    return [
        Measurement(
            f"structural.{name}.unique",
            float((classes.sizes == 1).sum()) / evidence.graph.nodes,
            goal="lower",
            n=evidence.graph.nodes,
            note="released nodes that look like no other",
        )
        for name, classes in kinds.items()
        if classes is not None
    ]


def _by_degree(evidence: GraphEvidence) -> tuple[Floats, Floats]:
    old, new = _graphs(evidence)
    return _column(old.degrees()), _column(new.degrees())


def _by_triangles(evidence: GraphEvidence) -> tuple[Floats, Floats]:
    """Logarithms, so that a step counts by the share that it changes."""

    def points(graph: Graph) -> Floats:
        corners = triangles(graph.starts, graph.neighbors)
        return np.log1p(np.stack([graph.degrees(), corners], axis=1).astype(np.float64))

    old, new = _graphs(evidence)
    return points(old), points(new)


def _by_attributes(evidence: GraphEvidence) -> tuple[Floats, Floats]:
    """All quasi-identifiers in the owner's scale, and the degree's logarithm in [0, 1]."""
    old, new = _graphs(evidence)
    top = max(1.0, math.log1p(int(old.degrees().max(initial=0))))
    hidden = np.array([name == DEGREE for name in evidence.space.names], dtype=np.bool_)

    def points(values: Floats, graph: Graph) -> Floats:
        # A label is no value: a release that shows some is linked by `Looks`.
        known = evidence.space.embed(np.where(hidden, 0.0, values))
        return np.hstack([known, _column(np.log1p(graph.degrees()) / top)])

    return points(evidence.original_values, old), points(evidence.release_values, new)


def _graphs(evidence: GraphEvidence) -> tuple[Graph, Graph]:
    if evidence.original_graph is None:
        raise InputError(f"{evidence.release.source}: the original graph is needed")
    return evidence.original_graph, evidence.graph


def _column(values: NDArray[np.int64] | Floats) -> Floats:
    return values.astype(np.float64)[:, None]
