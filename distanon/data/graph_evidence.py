"""What the release of a graph is judged on: its files read back and, where known, the original.

Classes of nodes are those that an intruder can form who has the stated knowledge. A derived
column holds each node's degree (or cluster), so that whatever judges a table by its
quasi-identifiers judges the nodes of a graph too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.classes import Classes, equivalence_classes
from distanon.data.evidence import Evidence
from distanon.data.graph import Graph, GraphDataset
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.table import Dataset, MemoryPartition
from distanon.errors import InputError

DEGREE = "__degree__"
"""Derived column: how many neighbors a node has, int64. Never published."""
CLUSTER = "__cluster__"
"""Derived column: the private cluster of a node, int64. Never published."""

Knowledge = Literal["cluster", "attributes", "degree", "attributes+degree"]
"""Against whom k is promised (methods.md, C2)."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class GraphEvidence(Evidence):
    """The released graph and what is known of its origin; made by `GraphEvidence.of`.

    The quasi-identifiers of `release` are those of `knowledge`. Those of `original` are all that
    the schema names, and the degree where `knowledge` includes it.

    Attributes:
        graph: the released one; node i is row i of the release.
        original_graph: that the method was given; node i is record i of the original.
        knowledge: against whom k is promised.
        attributes: names of the attributes that are quasi-identifiers, whatever the knowledge.
        clusters: int64, shape (nodes,): private cluster of each released node; None: unknown.

    Raises:
        ValueError: counts of rows and nodes differ, or the sources do not fit (see `Evidence`).
    """

    graph: Graph
    original_graph: Graph | None = None
    knowledge: Knowledge = "attributes+degree"
    attributes: tuple[str, ...] = ()
    clusters: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _fits("released", self.graph.nodes, len(self.release))
        if self.original_graph is not None and self.original is not None:
            _fits("original", self.original_graph.nodes, len(self.original))

    @staticmethod
    def of(
        nodes: Dataset,
        graph: Graph,
        knowledge: Knowledge,
        *,
        original: GraphDataset | None = None,
        sources: NDArray[np.int64] | None = None,
        clusters: NDArray[np.int64] | None = None,
    ) -> GraphEvidence:
        """The evidence on a released graph.

        Args:
            nodes: the node table that was read back; its schema has the declared attributes.
            graph: the edges that were read back, over the rows of `nodes`.
            knowledge: against whom k is promised.
            original: what the method was given.
            sources: int64, shape (nodes,): the original node of each released one.
            clusters: int64, shape (nodes,): private.

        Raises:
            InputError: the files do not fit together, or a column has the name of a derived one.
        """
        if len(nodes) != graph.nodes:
            raise InputError(
                f"{nodes.source}: the edges are over {graph.nodes} nodes, "
                f"but the node table has {len(nodes)} rows"
            )
        known: Dataset | None = None
        if original is not None:
            knows_degree = "degree" in knowledge
            known = _with_degrees(original.node_dataset(), original.graph, known=knows_degree)
        return GraphEvidence(
            _as_known(nodes, graph, knowledge, clusters),
            known,
            sources,
            graph=graph,
            original_graph=None if original is None else original.graph,
            knowledge=knowledge,
            attributes=tuple(attribute.name for attribute in nodes.schema.quasi_identifiers),
            clusters=clusters,
        )

    def with_graph(
        self,
        nodes: Dataset,
        graph: Graph,
        sources: NDArray[np.int64] | None,
        clusters: NDArray[np.int64] | None = None,
    ) -> GraphEvidence:
        """The evidence on another release of the same graph, whose original is not read again."""
        held = replace(
            self,
            release=_as_known(nodes, graph, self.knowledge, clusters),
            sources=sources,
            graph=graph,
            attributes=tuple(attribute.name for attribute in nodes.schema.quasi_identifiers),
            clusters=clusters,
        )
        self._hand_over(held)
        return held

    @property
    def classes_from(self) -> Literal["release", "release+private", "asserted"]:
        """Clusters are not in the files: they are private, or not known at all."""
        if self.knowledge != "cluster":
            return "release"
        return "asserted" if self.clusters is None else "release+private"

    def classes_known_by(self, knowledge: Knowledge) -> Classes | None:
        """The classes of nodes that look alike to an intruder; None: clusters are not known."""
        if knowledge == "cluster":
            columns = [CLUSTER]
        else:
            columns = list(self.attributes) if "attributes" in knowledge else []
            columns += [DEGREE] if "degree" in knowledge else []
        if knowledge == "cluster" and self.clusters is None:
            return None
        return equivalence_classes(self.release_table, columns)

    @cached_property
    def _comparable(self) -> tuple[Attribute, ...]:
        """Clusters are numbers without meaning: no distance is measured on them."""
        return tuple(attribute for attribute in super()._comparable if attribute.name != CLUSTER)


def _fits(what: str, nodes: int, rows: int) -> None:
    if nodes != rows:
        raise ValueError(f"expected a row for each of {nodes} {what} nodes, got {rows}")


def _as_known(
    nodes: Dataset,
    graph: Graph,
    knowledge: Knowledge,
    clusters: NDArray[np.int64] | None,
) -> Dataset:
    """The node table with derived columns; its quasi-identifiers are those of the knowledge."""
    dataset = _with_degrees(nodes, graph, known="degree" in knowledge)
    if clusters is not None:
        if np.shape(clusters) != (graph.nodes,):
            raise ValueError(f"expected a cluster for each of {graph.nodes} released nodes")
        dataset = _with_column(dataset, CLUSTER, clusters, known=knowledge == "cluster")
    if "attributes" in knowledge:
        return dataset
    attributes = tuple(
        replace(attribute, role=Role.INSENSITIVE)
        if attribute.role == Role.QUASI_IDENTIFIER and attribute.name not in (DEGREE, CLUSTER)
        else attribute
        for attribute in dataset.schema
    )
    return replace(dataset, schema=Schema(attributes))


def _with_degrees(nodes: Dataset, graph: Graph, *, known: bool) -> Dataset:
    return _with_column(nodes, DEGREE, graph.degrees(), known=known)


def _with_column(dataset: Dataset, name: str, values: NDArray[np.int64], *, known: bool) -> Dataset:
    """A data set in memory with one more column, a quasi-identifier if it is known."""
    if name in dataset.schema:
        raise InputError(f"{dataset.source}: column '{name}' has the name of a derived one")
    table = dataset.read()
    column = pa.array(values, pa.int64())
    table = table.append_column(name, column) if table.num_columns else pa.table({name: column})
    role = Role.QUASI_IDENTIFIER if known else Role.INSENSITIVE
    attribute = Attribute(name, role, AttributeType.NUMERIC, pa.int64(), declared=False)
    schema = Schema((*dataset.schema.attributes, attribute))
    return Dataset(schema, (MemoryPartition(table),), dataset.source)
