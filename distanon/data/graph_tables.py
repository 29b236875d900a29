"""A graph as tables, as every reader makes it, and the way from there to a `GraphDataset`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from distanon.data.graph import Graph, GraphColumns, GraphDataset
from distanon.data.node_ids import Place, alike, distinct_ids, number, repeated
from distanon.data.schema import Schema
from distanon.data.table import MemoryPartition
from distanon.errors import InputError

Undeclared = Literal["refuse", "drop"]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class GraphTables:
    """Edges as pairs of ids, and a table of the nodes or none.

    Attributes:
        source_ids: one end of each edge, int64 or large text, none missing.
        target_ids: the other end.
        node_ids: id of each node, none missing; None: the nodes are the ends of the edges.
        attributes: of the nodes, a row for each of `node_ids`, the ids left out; None: none.
        columns: names of the id columns in the input.
        edge_place: where an edge stands, for messages.
        node_place: where a node stands.
        source: what the graph is called in messages.
        edge_attributes: names of what edges have beside their ends.
        graph_attributes: names of what the graph itself has.
        is_directed: whether the input says that its edges have a direction.
        notes: what was detected, for the user to see.
    """

    source_ids: pa.Array
    target_ids: pa.Array
    node_ids: pa.Array | None
    attributes: pa.Table | None
    columns: GraphColumns
    edge_place: Place
    node_place: Place
    source: str = "the graph"
    edge_attributes: tuple[str, ...] = ()
    graph_attributes: tuple[str, ...] = ()
    is_directed: bool = False
    notes: tuple[str, ...] = field(default=())

    def __repr__(self) -> str:
        """Without values of the data."""
        return f"GraphTables({self.source}: {len(self.source_ids)} edges)"

    @property
    def arrow_schema(self) -> pa.Schema:
        """Names and types of the nodes' attributes."""
        return pa.schema([]) if self.attributes is None else self.attributes.schema

    @property
    def node_partitions(self) -> tuple[MemoryPartition, ...]:
        """The nodes' attributes; none where there are no attributes."""
        return () if self.attributes is None else (MemoryPartition(self.attributes),)


def check_usable(tables: GraphTables, *, directed: bool, undeclared: Undeclared) -> None:
    """Refuses what the spec has not allowed, all of it at once.

    Args:
        tables: the graph.
        directed: whether edges with a direction are taken as edges without.
        undeclared: whether attributes of edges and of the graph are refused or dropped.

    Raises:
        InputError: the graph is directed, or has such attributes.
    """
    faults = []
    if tables.is_directed and not directed:
        faults.append(
            f"{tables.source}: the edges have a direction, and a release has none; set "
            "`directed: ignore` to take each as an edge without"
        )
    if undeclared == "refuse":
        for what, names in (
            ("edges have attributes", tables.edge_attributes),
            ("the graph itself has attributes", tables.graph_attributes),
        ):
            if names:
                faults.append(
                    f"{tables.source}: {what} ({_listed(names)}), which a release does not keep; "
                    "set `undeclared: drop` to leave them out"
                )
    if faults:
        raise InputError("\n".join(faults))


def assemble(
    tables: GraphTables, schema: Schema, *, undeclared: Undeclared = "refuse"
) -> GraphDataset:
    """Numbers the nodes and makes the edges simple; what is put right is counted.

    Args:
        tables: the graph, as read.
        schema: role and type of the nodes' attributes.
        undeclared: whether attributes that the schema lacks are refused or dropped.

    Raises:
        InputError: there are no nodes, two have the same id, an edge names none of them, or an
            attribute is not declared.
    """
    dropped = _undeclared(tables, schema, undeclared)
    ids, pairs = _numbered(tables)
    nodes = len(ids)
    if not nodes:
        raise InputError(f"{tables.source}: the graph is empty; expected at least one node")
    graph = Graph.from_pairs(nodes, pairs)
    names = [attribute.name for attribute in schema]
    table = tables.attributes.select(names) if tables.attributes is not None and names else None
    counts = {
        **_edge_counts(pairs, graph),
        "isolated_nodes": int((graph.degrees() == 0).sum()),
        "components": int(graph.components().max()) + 1,
        "nodes_without_attributes": _bare(table),
        "dropped_node_attributes": dropped,
        "dropped_edge_attributes": len(tables.edge_attributes),
        "dropped_graph_attributes": len(tables.graph_attributes),
    }
    return GraphDataset(graph, table, schema, tables.columns, ids, tables.source, counts)


def remarks(dataset: GraphDataset) -> tuple[str, ...]:
    """What was found and put right, in words for the user."""
    words = {
        "self_loops": "edges from a node to itself left out",
        "duplicate_edges": "repeated edges left out",
        "directed_pairs_merged": "edges given in both directions count once",
        "isolated_nodes": "nodes without an edge",
        "nodes_without_attributes": "nodes whose attributes are all missing",
        "dropped_node_attributes": "undeclared node attributes dropped",
        "dropped_edge_attributes": "edge attributes dropped",
        "dropped_graph_attributes": "graph attributes dropped",
    }
    graph, counts = dataset.graph, dataset.counts
    size = f"{graph.nodes} nodes, {graph.edges} edges, {counts.get('components', 0)} components"
    found = [f"{counts[name]} {text}" for name, text in words.items() if counts.get(name)]
    merged = counts.get("directed_pairs_merged", 0)
    if 0 < merged < graph.edges:
        found.append("some edges stand in both directions and some in one: is it a directed graph?")
    return tuple(f"{dataset.source}: {text}" for text in (size, *found))


def _undeclared(tables: GraphTables, schema: Schema, undeclared: Undeclared) -> int:
    """How many node attributes are dropped since nobody declared them."""
    names = tables.arrow_schema.names
    extra = [name for name in names if name not in schema]
    lacking = [attribute.name for attribute in schema if attribute.name not in names]
    if lacking:
        raise InputError(f"{tables.source}: the nodes have no attribute {_listed(lacking)}")
    if extra and undeclared == "refuse":
        raise InputError(
            f"{tables.source}: no role for the node attributes {_listed(extra)}; declare them, or "
            "set `undeclared: drop` to leave them out"
        )
    return len(extra)


def _numbered(tables: GraphTables) -> tuple[pa.Array, Integers]:
    """The ids in node order, and the edges as pairs of node numbers, int64 (p, 2)."""
    if tables.node_ids is None:
        source, target = alike(tables.source_ids, tables.target_ids)
        ids = distinct_ids(source, target)
    else:
        source, target, ids = alike(tables.source_ids, tables.target_ids, tables.node_ids)
        _refuse_repeated(ids, tables)
    ends = [number(end, ids) for end in (source, target)]
    _refuse_unknown(ends, tables)
    return ids, np.stack(ends, axis=1)


def _refuse_repeated(ids: pa.Array, tables: GraphTables) -> None:
    twice = repeated(ids)
    if twice is not None:
        row, earlier, count = twice
        more = f" ({count} such nodes in all)" if count > 1 else ""
        raise InputError(
            f"{tables.node_place(row)}, column {tables.columns.node!r}: the node id of "
            f"{tables.node_place(earlier)} again{more}; give every node one row and an id of "
            "its own"
        )


def _refuse_unknown(ends: Sequence[Integers], tables: GraphTables) -> None:
    unknown = (ends[0] < 0) | (ends[1] < 0)
    if not unknown.any():
        return
    edge = int(np.argmax(unknown))
    is_source = ends[0][edge] < 0
    name = tables.columns.source if is_source else tables.columns.target
    count = int(unknown.sum())
    more = f" ({count} such edges in all)" if count > 1 else ""
    kinds = {
        "text" if array.type != pa.int64() else "whole numbers"
        for array in (tables.source_ids, tables.target_ids, tables.node_ids)
        if array is not None
    }
    mixed = "; ids are text in one place and whole numbers in another" if len(kinds) > 1 else ""
    raise InputError(
        f"{tables.edge_place(edge)}, column {name!r}: the edge names a node that is not among "
        f"the nodes{more}{mixed}; add the node, or remove the edge"
    )


def _edge_counts(pairs: Integers, graph: Graph) -> dict[str, int]:
    """Loops, edges given again in the same direction, and edges given in both."""
    one_way = pairs[pairs[:, 0] != pairs[:, 1]]
    directed = len(one_way)
    if directed > graph.edges:
        keys = np.sort((one_way[:, 0] << 32) | one_way[:, 1])
        directed = 1 + int(np.count_nonzero(keys[1:] != keys[:-1]))
    return {
        "self_loops": len(pairs) - len(one_way),
        "duplicate_edges": len(one_way) - directed,
        "directed_pairs_merged": directed - graph.edges,
    }


def _bare(table: pa.Table | None) -> int:
    """Nodes whose attributes are all missing, where nodes have any."""
    if table is None:
        return 0
    bare = np.ones(table.num_rows, np.bool_)
    for column in table.columns:
        bare &= pc.is_null(column, nan_is_null=True).to_numpy()
    return int(bare.sum())


def _listed(names: Sequence[str], most: int = 20) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(repr(name) for name in names[:most]) + more
