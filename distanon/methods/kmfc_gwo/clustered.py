"""Clusters with all that is published of them, for every mode of publication."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.agreement import agreed_values
from distanon.data.classes import encode
from distanon.data.coarse_space import CoarseSpace
from distanon.data.domain import scan
from distanon.data.graph import GraphDataset
from distanon.data.graph_release import GraphRelease
from distanon.data.schema import Schema
from distanon.data.space import AttributeSpace
from distanon.data.supernodes import Generalized, sample, supernodes
from distanon.errors import InfeasibleError
from distanon.methods.base import Context
from distanon.methods.kmfc_gwo.cells import (
    CellChanges,
    SensitiveColumn,
    changes,
    grouped,
    sensitive_columns,
)
from distanon.methods.kmfc_gwo.clusters import Clusters, ClusterSettings, find_clusters
from distanon.promises.base import Promise

if TYPE_CHECKING:
    from distanon.methods.kmfc_gwo.method import ClusteredSearch

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """A graph with its clusters.

    Attributes:
        dataset: the original.
        least: nodes that a class needs.
        clusters: who belongs together.
        space: of the quasi-identifiers; None: there are none. Where members agree on the nodes
            of hierarchies, these nodes are categories of it.
        values: float64, shape (n, q): original values in codes.
        agreed: float64, shape (clusters, q): what the members of each get.
        columns: sensitive attributes.
        coarse: of `space`, where it has labels; None: members agree on values alone.
    """

    dataset: GraphDataset
    least: int
    clusters: Clusters
    space: AttributeSpace | None
    values: Floats
    agreed: Floats
    columns: tuple[SensitiveColumn, ...]
    coarse: CoarseSpace | None = None

    @property
    def labels(self) -> Integers:
        """The cluster of each node, int64, shape (n,)."""
        return self.clusters.labels

    @property
    def schema(self) -> Schema:
        """Of the released nodes: columns that may hold labels are text."""
        kinds = {} if self.space is None else {one.name: one for one in self.space.attributes}
        return Schema(
            tuple(
                replace(one, arrow_type=kinds.get(one.name, one).arrow_type)
                for one in self.dataset.schema
            )
        )


def form_clusters(
    method: ClusteredSearch,
    dataset: GraphDataset,
    promises: Mapping[str, Promise],
    least: int,
    context: Context,
) -> Work:
    """Finds the clusters and what their members are to agree on."""
    settings = ClusterSettings(
        least,
        m=method.m,
        w_edges=method.w_edges,
        w_attributes=method.w_attributes,
        w_degree=method.w_degree,
        representation=method.representation,
        truncate=method.truncate,
        revision=method.revision,
    )
    space, values = None, np.empty((len(dataset), 0))
    columns: tuple[SensitiveColumn, ...] = ()
    domain = None
    if dataset.nodes is not None and (dataset.schema.quasi_identifiers or dataset.schema.sensitive):
        domain = scan(dataset.node_dataset())
        if dataset.schema.quasi_identifiers:
            space = AttributeSpace.of(dataset.schema.quasi_identifiers, domain)
            values = space.encode(dataset.nodes)
    clusters = find_clusters(dataset, space, settings, context)
    labels = clusters.labels
    if domain is not None:
        columns = sensitive_columns(
            dataset, domain, promises, labels, method.l_margin, context.streams
        )
    agreed, coarse = np.empty((clusters.count, 0)), None
    if space is not None and method.tells_labels:
        coarse = CoarseSpace.of(space)
        space, values = coarse.space, coarse.recoded(values)
        agreed = coarse.agreed(labels, values)
    elif space is not None:
        agreed = agreed_values(labels, values, space)
    return Work(dataset, least, clusters, space, values, agreed, columns, coarse)


def publish_clusters(method: ClusteredSearch, work: Work, context: Context) -> GraphRelease:
    """Supernodes and superedges, or a graph drawn from them."""
    told, found = generalize(method, work, context)
    counts = {
        "clusters": work.clusters.count,
        "sensitive_cells_changed": sum(len(change.nodes) for change in found),
    }
    private = {"cluster_sizes": work.clusters.sizes}
    if method.publish == "generalize":
        nodes, edges = told.tables(work.dataset.columns)
        return GraphRelease(
            None,
            None,
            Schema(()),
            np.arange(len(work.dataset)),
            work.labels,
            nodes,
            edges,
            counts,
            private,
        )
    graph, table, clusters = sample(told, context.streams.generator("kmfc sample"))
    attributes = table if table.num_columns else None
    return GraphRelease(
        graph, attributes, told.schema, None, clusters, counts=counts, private=private
    )


def generalize(
    method: ClusteredSearch, work: Work, context: Context
) -> tuple[Generalized, tuple[CellChanges, ...]]:
    """What is told of the clusters, their sensitive values diverse and close enough.

    Raises:
        InfeasibleError: clusters that no change that was found makes so.
    """
    found = []
    for place, column in enumerate(work.columns):
        seed = int(context.streams.generator("kmfc cells", place).integers(2**62))
        none = np.zeros(len(work.labels), np.uint8)
        found.append(
            changes(column, grouped(work.labels), none, seed, with_decoys=method.decoys)
            if column.is_bound
            else CellChanges(np.empty(0, np.int64), np.empty(0, np.int64), 0.0, 0, 0)
        )
    failing = sum(change.failing for change in found)
    if failing:
        raise InfeasibleError(
            f"promises.t_closeness, l_diversity: {failing} of {work.clusters.count} clusters "
            "can't keep them; raise t or k, or lower l"
        )
    table = released_nodes(work, work.agreed[work.labels], tuple(found))
    told = supernodes(work.dataset, table, work.labels, work.space, work.agreed)
    return told, tuple(found)


def released_nodes(
    work: Work, published: Floats, found: tuple[CellChanges, ...]
) -> pa.Table | None:
    """The node table with published quasi-identifiers and changed sensitive cells.

    Args:
        work: the original.
        published: float64, shape (n, q), in codes.
        found: changes of each sensitive attribute.
    """
    table = work.dataset.nodes
    if table is None:
        return None
    if work.space is not None:
        for name, column in zip(work.space.names, work.space.decode(published), strict=True):
            table = table.set_column(table.column_names.index(name), name, column)
    for column, change in zip(work.columns, found, strict=True):
        numbers = column.original.copy()
        numbers[change.nodes] = change.values
        kinds = encode(table.column(column.name)).values
        values = kinds.take(pa.array(numbers)).cast(table.schema.field(column.name).type)
        table = table.set_column(table.column_names.index(column.name), column.name, values)
    return table
