"""A graph before it is staged: what a method made, and its published form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data import codes
from distanon.data.graph import Graph, GraphColumns
from distanon.data.release import publishable, publishable_schema
from distanon.data.schema import Schema
from distanon.data.streams import Streams

Integers = NDArray[np.int64]

_NODES = "node ids"
_SUPERNODES = "supernode ids"


@dataclass(frozen=True, slots=True, eq=False)
class GraphRelease:
    """What a method made of a graph: a graph with attributes, or supernodes.

    Attributes:
        graph: over the released nodes; None for supernodes.
        nodes: the published attribute columns, a row for each released node; None: nodes have
            none.
        schema: of `nodes`: a method may have changed a column's arrow type.
        sources: int64, the source node of each released node; with supernodes the source nodes
            that `classes` speaks of; None: no released node stands for one of the original.
            Private.
        classes: int64, the cluster of each released node, or of each of `sources`; private.
        supernodes: a row for each cluster, in the order of their numbers, without ids.
        superedges: the clusters' numbers in the first two columns, then what is told of them.
        counts: facts that may be published.
        private: facts that may not.
        data: the release as the kind that was put in; set by `Method.anonymize` alone.
    """

    graph: Graph | None
    nodes: pa.Table | None
    schema: Schema
    sources: Integers | None
    classes: Integers | None = None
    supernodes: pa.Table | None = None
    superedges: pa.Table | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    private: Mapping[str, Any] = field(default_factory=dict)
    data: Any = None

    def __repr__(self) -> str:
        """Without values of the data, nor whose node a row is: a notebook may keep it."""
        clusters = None if self.supernodes is None else f"{self.supernodes.num_rows} supernodes"
        return f"GraphRelease({clusters or self.graph})"


@dataclass(frozen=True, slots=True, eq=False)
class PublishedGraph:
    """The tables of a release as they are published, with fresh ids 0 … n-1.

    Attributes:
        tables: "nodes" and "edges", or "supernodes" and "superedges"; the first sorted by its
            ids, the second with the smaller id first and sorted. Ids are int64.
        columns: names of the id columns, as in the input.
        schema: of the attributes of "nodes".
        sources: int64, the source node of each row of "nodes", or as in `GraphRelease`; private.
        classes: int64, the cluster of each row; with supernodes the fresh id of each source's
            supernode; private.
    """

    tables: Mapping[str, pa.Table]
    columns: GraphColumns
    schema: Schema
    sources: Integers | None = None
    classes: Integers | None = None

    def __repr__(self) -> str:
        """Without values of the data, nor whose node a row is."""
        rows = ", ".join(f"{table.num_rows} {name}" for name, table in self.tables.items())
        return f"PublishedGraph({rows})"


def publishable_tables(
    release: GraphRelease, columns: GraphColumns, streams: Streams
) -> PublishedGraph:
    """Gives nodes fresh ids by a seeded permutation and puts rows in the order of these.

    Args:
        release: what a method made.
        columns: names of the id columns, as in the input.
        streams: of the run.

    Raises:
        ValueError: the parts of the release do not belong together.
    """
    if release.supernodes is not None and release.superedges is not None:
        return _of_clusters(release, release.supernodes, release.superedges, columns, streams)
    if release.graph is None:
        raise ValueError("expected a graph, or supernodes and superedges")
    return _of_nodes(release, release.graph, columns, streams)


def _of_nodes(
    release: GraphRelease, graph: Graph, columns: GraphColumns, streams: Streams
) -> PublishedGraph:
    count = graph.nodes
    schema = publishable_schema(release.schema)
    _check(release, count, [attribute.name for attribute in schema], columns)
    fresh = streams.generator(_NODES).permutation(count)
    order = np.argsort(fresh)
    nodes = {columns.node: pa.chunked_array([pa.array(np.arange(count))])}
    if release.nodes is not None and schema.attributes:
        table = publishable(release.nodes.take(pa.array(order)), release.schema)
        nodes |= dict(zip(table.column_names, table.columns, strict=True))
    ends = _sorted_pairs(fresh[graph.pairs()])[0]
    edges = pa.table({columns.source: ends[:, 0], columns.target: ends[:, 1]})
    return PublishedGraph(
        {"nodes": pa.table(nodes), "edges": edges},
        columns,
        schema if release.nodes is not None else Schema(()),
        None if release.sources is None else release.sources[order],
        None if release.classes is None else release.classes[order],
    )


def _of_clusters(
    release: GraphRelease,
    supernodes: pa.Table,
    superedges: pa.Table,
    columns: GraphColumns,
    streams: Streams,
) -> PublishedGraph:
    count = supernodes.num_rows
    clash = {columns.node, columns.source, columns.target}
    if clash & {*supernodes.column_names, *superedges.column_names[2:]}:
        raise ValueError("a column of the supernodes or superedges has the name of an id column")
    fresh = streams.generator(_SUPERNODES).permutation(count)
    order = pa.array(np.argsort(fresh))
    ids = pa.table({columns.node: np.arange(count)})
    told = supernodes.take(order)
    for name in told.column_names:
        ids = ids.append_column(name, codes.plain(told.column(name)))
    numbers = [superedges.column(place).to_numpy().astype(np.int64) for place in (0, 1)]
    ends, edge_order = _sorted_pairs(fresh[np.stack(numbers, axis=1)])
    edges = pa.table({columns.source: ends[:, 0], columns.target: ends[:, 1]})
    rest = superedges.take(pa.array(edge_order))
    for name in rest.column_names[2:]:
        edges = edges.append_column(name, codes.plain(rest.column(name)))
    return PublishedGraph(
        {"supernodes": ids, "superedges": edges},
        columns,
        Schema(()),
        release.sources,
        None if release.classes is None else fresh[release.classes],
    )


def _check(release: GraphRelease, count: int, names: list[str], columns: GraphColumns) -> None:
    for what, rows in (
        ("nodes", None if release.nodes is None else release.nodes.num_rows),
        ("sources", None if release.sources is None else len(release.sources)),
        ("classes", None if release.classes is None else len(release.classes)),
    ):
        if rows is not None and rows != count:
            raise ValueError(f"{what}: expected {count} rows, one a released node, got {rows}")
    if columns.node in names:
        raise ValueError(f"an attribute has the name of the node ids, {columns.node!r}")


def _sorted_pairs(ends: Integers) -> tuple[Integers, Integers]:
    """Pairs with the smaller id first, sorted, and the order that this took."""
    ends = np.sort(ends.reshape(-1, 2), axis=1)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    return ends[order], order
