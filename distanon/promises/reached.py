"""The k that a released graph reaches against every kind of knowledge, promised or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from distanon.data.classes import Classes, partition_of
from distanon.data.graph_evidence import GraphEvidence, Knowledge
from distanon.kernels import structural_classes


@dataclass(frozen=True, slots=True)
class Reached:
    """How many nodes look alike to one kind of intruder.

    Attributes:
        knowledge: what the intruder knows of a target.
        k: the fewest nodes that look alike; 0 without nodes.
        unique: share of the nodes that look like no other.
        classes: how many kinds of nodes there are.
        is_promised: whether it is the knowledge that the release was made against.
    """

    knowledge: str
    k: int
    unique: float
    classes: int
    is_promised: bool


def reached(evidence: GraphEvidence) -> list[Reached]:
    """From least to most knowledge of the structure; clusters only where they are known."""
    found: list[tuple[str, Classes]] = []
    for knowledge in get_args(Knowledge):
        classes = evidence.classes_known_by(knowledge)
        if classes is not None:
            found.append((knowledge, classes))
    starts, neighbors = evidence.graph.starts, evidence.graph.neighbors
    triangles = structural_classes.by_degree_and_triangles(starts, neighbors)
    around = structural_classes.by_neighbor_degrees(starts, neighbors)
    found += [
        ("degree and triangles", partition_of(triangles)),
        ("neighbor degrees", partition_of(around)),
    ]
    return [
        Reached(
            knowledge=knowledge,
            k=int(classes.sizes.min(initial=evidence.graph.nodes)),
            unique=int((classes.sizes == 1).sum()) / max(evidence.graph.nodes, 1),
            classes=len(classes),
            is_promised=knowledge == evidence.knowledge,
        )
        for knowledge, classes in found
    ]
