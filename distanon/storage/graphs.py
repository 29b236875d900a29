"""Graphs from files: edge lists with or without a node table, GraphML, GML and nauty's text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import pyarrow as pa
import pyarrow.compute as pc

from distanon.data.graph import GraphColumns, GraphDataset
from distanon.data.graph_tables import GraphTables, assemble, check_usable
from distanon.data.schema import Schema
from distanon.errors import AccessError, InputError
from distanon.storage.edge_lists import EdgeLists, GraphSource, ending
from distanon.storage.gml import read_gml
from distanon.storage.graphml import read_graphml
from distanon.storage.nauty import read_nauty
from distanon.storage.node_tables import NodeTable, open_nodes
from distanon.storage.parts import EDGES, PartFile, find_parts
from distanon.storage.store import StorageSettings, Store

__all__ = ["ONE_FILE", "GraphSource", "OpenedGraph", "ending", "open_graph"]

ONE_FILE = {".graphml": read_graphml, ".gml": read_gml, ".nauty": read_nauty}


@dataclass(frozen=True, slots=True, eq=False)
class OpenedGraph:
    """A graph as it is in its files.

    Attributes:
        tables: edges and nodes.
        source: where they came from.
        fingerprint: sha256 over names, sizes and versions of the files; private.
    """

    tables: GraphTables
    source: GraphSource
    fingerprint: str

    @property
    def arrow_schema(self) -> pa.Schema:
        """Names and types of the nodes' attributes, the ids left out."""
        return self.tables.arrow_schema

    @property
    def notes(self) -> tuple[str, ...]:
        """What was detected, for the user to see."""
        return self.tables.notes

    def dataset(self, schema: Schema) -> GraphDataset:
        """The graph under a schema of its nodes' attributes.

        Raises:
            InputError: as `assemble`.
        """
        return assemble(self.tables, schema, undeclared=self.source.undeclared)


def open_graph(source: GraphSource, settings: StorageSettings | None = None) -> OpenedGraph:
    """Reads a graph's files.

    Raises:
        AccessError: a file can't be read.
        InputError: what is there is no graph, or one that the source has not allowed; names
            file and line.
    """
    settings = settings or StorageSettings()
    reader = ONE_FILE.get(ending(source.edges))
    if reader is not None:
        tables, versions = _open_one(source, settings)
    else:
        tables, versions = _open_lists(source, settings)
    tables = replace(tables, source=source.name or source.edges)
    check_usable(tables, directed=source.directed, undeclared=source.undeclared)
    content = json.dumps([str(tables.arrow_schema), versions])
    return OpenedGraph(tables, source, hashlib.sha256(content.encode()).hexdigest())


def _open_one(source: GraphSource, settings: StorageSettings) -> tuple[GraphTables, list[str]]:
    """A file that holds nodes and edges."""
    if source.nodes is not None:
        raise InputError(
            f"{source.nodes}: {source.edges} holds nodes as well as edges; leave the node table out"
        )
    part = _one_file(source.edges, settings)
    tables = ONE_FILE[ending(source.edges)](part.file, source.node)
    names = GraphColumns(tables.columns.node, source.source or "source", source.target or "target")
    return replace(tables, columns=names), [*_version(part)]


def _open_lists(source: GraphSource, settings: StorageSettings) -> tuple[GraphTables, list[str]]:
    """An edge list, with a node table or without."""
    parts, left_out = _edge_files(source.edges, settings)
    edges = EdgeLists(source)
    for part in parts:
        if ending(part.name) == ".parquet":
            edges.add_parquet(part)
        else:
            edges.add_text(part)
    versions = [one for part in parts for one in _version(part)]
    nodes = NodeTable.of_none(source.node or "node")
    if source.nodes is not None:
        nodes = open_nodes(source.nodes, source.node, source.csv, settings)
        versions.append(nodes.fingerprint)
    ends = edges.joined()
    if source.source is None and edges.has_header:
        _refuse_data_as_names(edges.names, [*ends, nodes.ids], parts[0].file.url)
    tables = GraphTables(
        ends[0],
        ends[1],
        nodes.ids,
        nodes.attributes,
        GraphColumns(nodes.column, *edges.names),
        edges.place,
        nodes.place,
        source.edges,
        edges.attributes,
        is_directed=edges.is_directed,
        notes=(*left_out, *edges.notes, *nodes.notes),
    )
    return tables, versions


def _refuse_data_as_names(
    names: Sequence[str], columns: Sequence[pa.Array | None], file: str
) -> None:
    """A header that holds ids is none: an edge would be lost, and two ids published as names."""
    wanted = pa.array(names, pa.large_string())
    for column in columns:
        if column is None or column.type == pa.int64():
            continue
        if pc.any(pc.is_in(column, value_set=wanted)).as_py():
            raise InputError(
                f"{file}, line 1: names of columns that are ids of nodes as well; give the file a "
                "header, or name its columns with input.graph.source and input.graph.target"
            )


def _edge_files(path: str, settings: StorageSettings) -> tuple[Sequence[PartFile], tuple[str, ...]]:
    """The files of an edge list, in the order of their paths, and what was left out."""
    entry = Store(path, settings).find()
    if entry is None or entry.is_folder:
        found = find_parts(path, settings, EDGES)
        return found.parts, found.notes
    return [_one_file(path, settings)], ()


def _one_file(path: str, settings: StorageSettings) -> PartFile:
    place = Store(path, settings)
    entry = place.find()
    if entry is None:
        raise AccessError(f"{path}: there is nothing to read; check the path")
    if entry.is_folder:
        raise InputError(f"{path}: a folder; expected a file")
    return PartFile(place, PurePosixPath(path).name, entry.size, entry.tag)


def _version(part: PartFile) -> tuple[str, str, str]:
    return part.name, str(part.size), part.tag
