"""k-degree: every number of neighbors is shared by k nodes, of the graph or of a class."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from distanon.data.classes import equivalence_classes
from distanon.data.evidence import Evidence
from distanon.data.graph_evidence import CLUSTER, DEGREE, GraphEvidence
from distanon.promises import failures
from distanon.promises.base import Promise, Verdict, unverified
from distanon.promises.graphs import graph_evidence


class KDegree(Promise):
    """Every degree, or every pair of class and degree, is shared by at least k nodes.

    Source: Liu & Terzi, SIGMOD 2008, Definition 2 (k-degree anonymity); with classes, methods.md,
        section D.
    """

    name: ClassVar[str] = "k_degree"

    k: int = Field(ge=2, description="Nodes that share each degree.")
    within: Literal["graph", "classes"] = Field(
        default="graph",
        description="graph: each degree is shared by k nodes; classes: by k nodes of the same "
        "quasi-identifiers (of the same cluster, where the intruder knows clusters).",
    )

    def verify(self, evidence: Evidence) -> Verdict:
        """Counts the nodes of each degree in the released edges.

        Raises:
            SpecError: the release is no graph.
        """
        graph = graph_evidence(self, evidence)
        of_classes = graph.classes_from if self.within == "classes" else "release"
        if of_classes == "asserted":
            return unverified(self, "the classes, which are private")
        columns = [*self._class_columns(graph), DEGREE]
        classes = equivalence_classes(graph.release_table, columns)
        too_small = classes.sizes < self.k
        listed = failures.tuples(classes, too_small, graph.release, columns)
        return Verdict(
            promise=self.name,
            asked=self.asked(),
            measured={
                "k": int(classes.sizes.min()) if len(classes) else None,
                "nodes": graph.graph.nodes,
                "classes": len(classes),
            },
            kept=not too_small.any(),
            verified_from=of_classes,
            reason=failures.reason(classes, too_small, f"have fewer than {self.k} nodes"),
            private={"classes": listed} if listed else {},
        )

    def _class_columns(self, graph: GraphEvidence) -> tuple[str, ...]:
        if self.within == "graph":
            return ()
        return (CLUSTER,) if graph.knowledge == "cluster" else graph.attributes
