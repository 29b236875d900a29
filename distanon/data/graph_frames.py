"""Graphs in memory: networkx graphs and (edges, nodes) tables, in and out in the same kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from distanon.data.frames import is_frame, read_frame, write_frame
from distanon.data.graph import GraphColumns, to_networkx
from distanon.data.graph_release import PublishedGraph
from distanon.data.graph_tables import GraphTables
from distanon.data.node_ids import read_ids
from distanon.errors import InputError

_EDGES = "the edges"
_NODES = "the nodes"


def is_networkx(data: Any) -> bool:
    """Whether something is a networkx graph; networkx is not imported to find out."""
    return any(
        kind.__name__ == "Graph" and kind.__module__.split(".")[0] == "networkx"
        for kind in type(data).__mro__
    )


def is_graph(data: Any) -> bool:
    """Whether something is a graph that `read_graph` takes."""
    return is_networkx(data) or (isinstance(data, tuple) and len(data) == 2)


def read_graph(
    data: Any,
    *,
    source: str | None = None,
    target: str | None = None,
    node: str | None = None,
) -> GraphTables:
    """A networkx graph, or a pair (edges, nodes) of pandas data frames or Arrow tables.

    Args:
        data: the graph; nodes may be None: then nodes have no attributes.
        source: column of one end; None: "source", or the first of two.
        target: column of the other end; None: "target", or the second of two.
        node: column of the node ids; None: "node" or "id".

    Raises:
        InputError: neither of these; ids that are missing; attributes of no common type.
    """
    if is_networkx(data):
        columns = GraphColumns(node or "node", source or "source", target or "target")
        return _of_networkx(data, columns)
    if not (isinstance(data, tuple) and len(data) == 2):
        raise InputError(
            "expected a networkx.Graph, or a pair (edges, nodes) of data frames, got "
            f"{type(data).__name__}"
        )
    edges, nodes = data
    return _of_tables(read_frame(edges), nodes, (source, target, node))


def write_graph(published: PublishedGraph, like: Any) -> Any:
    """A release as the kind of graph that `like` is.

    Args:
        published: the tables of the release.
        like: what `read_graph` was given.

    Returns:
        A `networkx.Graph` whose nodes are 0 … n-1; or a pair (edges, nodes), where the nodes'
        ids are a column even if `like` has no node table. Supernodes come as such a pair, too.
    """
    tables = dict(published.tables)
    if "nodes" in tables and is_networkx(like):
        return to_networkx(tables["nodes"], tables["edges"], published.columns)
    nodes, edges = tables.values()
    if is_networkx(like):
        return edges, nodes
    of_nodes = like[0] if like[1] is None else like[1]
    columns = published.columns
    return _as(edges, like[0], columns), _as(nodes, of_nodes, columns)


def _as(table: pa.Table, like: Any, columns: GraphColumns) -> Any:
    """A table as a frame where `like` is one; ids and new columns come in their own type."""
    if not is_frame(like):
        return table
    import pandas as pd

    ids = (columns.node, columns.source, columns.target)
    known = [name for name in table.column_names if name in like.columns and name not in ids]
    restored = write_frame(table.select(known), like)
    series = {
        name: restored[name] if name in known else table.column(name).to_pandas()
        for name in table.column_names
    }
    return pd.DataFrame(series, index=pd.RangeIndex(table.num_rows))


def _of_networkx(graph: Any, columns: GraphColumns) -> GraphTables:
    """Nodes in their order; ids that are not all whole numbers or all text become numbers."""
    names = list(graph.nodes)
    place_of = {name: place for place, name in enumerate(names)}
    pairs = [(place_of[one], place_of[other]) for one, other in graph.edges()]
    ids = _plain_ids(names)
    numbers = pa.array([one for pair in pairs for one in pair], pa.int64()).to_numpy()
    ends = numbers.reshape(-1, 2)
    attributes = _attributes([data for _, data in graph.nodes(data=True)], columns.node)
    return GraphTables(
        ids.take(pa.array(ends[:, 0])),
        ids.take(pa.array(ends[:, 1])),
        ids,
        attributes,
        columns,
        _place(_EDGES),
        _place(_NODES),
        edge_attributes=_names(data for *_, data in graph.edges(data=True)),
        graph_attributes=_names([graph.graph]),
        is_directed=graph.is_directed(),
    )


def _plain_ids(names: list[Any]) -> pa.Array:
    if names and all(type(name) is str for name in names):
        return pa.array(names, pa.large_string())
    is_whole = all(type(name) is int and -(2**63) <= name < 2**63 for name in names)
    return pa.array(names if is_whole else list(range(len(names))), pa.int64())


def _names(owners: Iterable[Mapping[Any, Any]]) -> tuple[str, ...]:
    return tuple(str(name) for name in dict.fromkeys(name for one in owners for name in one))


def _attributes(nodes: Sequence[Mapping[Any, Any]], reserved: str) -> pa.Table | None:
    names = list(dict.fromkeys(name for values in nodes for name in values))
    odd = [place for place, name in enumerate(names, 1) if not isinstance(name, str)]
    if odd:
        raise InputError(f"{_NODES}: the name of attribute {odd[0]} is no text; rename it")
    if reserved in names:
        raise InputError(
            f"{_NODES}: an attribute is called {reserved!r}, as the node ids are in the release; "
            "rename it"
        )
    columns = {}
    for name in names:
        try:
            values = pa.array([one.get(name) for one in nodes], from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            # The message of the cause quotes a value.
            raise InputError(
                f"{_NODES}: attribute {name!r} holds values of several kinds, or of one that "
                "tables can't hold; turn them into one type first"
            ) from None
        columns[name] = values
    return pa.table(columns) if columns else None


def _of_tables(
    edges: pa.Table, nodes: Any, wanted: tuple[str | None, str | None, str | None]
) -> GraphTables:
    source, target = _ends(edges.column_names, wanted[0], wanted[1])
    others = tuple(name for name in edges.column_names if name not in (source, target))
    ends = [read_ids(edges.column(name), name, _place(_EDGES)) for name in (source, target)]
    columns = GraphColumns(wanted[2] or "node", source, target)
    tables = GraphTables(
        ends[0],
        ends[1],
        None,
        None,
        columns,
        _place(_EDGES),
        _place(_NODES),
        edge_attributes=others,
    )
    if nodes is None:
        return tables
    table = read_frame(nodes)
    usual = [name for name in ("node", "id") if name in table.column_names]
    name = wanted[2] or next(iter(usual), "node")
    if name not in table.column_names:
        raise InputError(f"{_NODES}: no column {name!r} of node ids; name it with `node=`")
    rest = table.drop_columns([name])
    return replace(
        tables,
        node_ids=read_ids(table.column(name), name, _place(_NODES)),
        attributes=rest if rest.num_columns else None,
        columns=replace(columns, node=name),
    )


def _ends(names: Sequence[str], source: str | None, target: str | None) -> tuple[str, str]:
    if source is None and target is None and len(names) == 2 and "source" not in names:
        return names[0], names[1]
    wanted = (source or "source", target or "target")
    for name, argument in zip(wanted, ("source", "target"), strict=True):
        if name not in names:
            raise InputError(f"{_EDGES}: no column {name!r}; name it with `{argument}=`")
    return wanted


def _place(what: str) -> Any:
    return lambda row: f"{what}, row {row + 1}"
