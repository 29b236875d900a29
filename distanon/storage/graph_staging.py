"""A graph's release as files below the private prefix, and read back from there."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from distanon.data.graph import Graph, GraphColumns
from distanon.data.graph_release import PublishedGraph
from distanon.data.schema import SOURCE, Schema
from distanon.storage import staging
from distanon.storage.formats import OutputFormat, read_csv, reduced
from distanon.storage.graphml import write_graphml
from distanon.storage.partitions import conform
from distanon.storage.staging import Manifest, ReleasedFile
from distanon.storage.store import Store

GRAPHML = "graph.graphml"
GRAPHML_EDGES = 100_000
"""Graphs of more edges are published without a GraphML file, which few tools could open."""

_CLASS = "__class__"


@dataclass(frozen=True, slots=True)
class GraphManifest(Manifest):
    """What a graph's release consists of. All of it may be published.

    Attributes:
        ids: what the id columns are called: of a node, and of both ends of an edge.
        tables: name and type of the columns of each table, by its folder.
        rows: of each table.
    """

    ids: GraphColumns
    tables: Mapping[str, Mapping[str, str]]
    rows: Mapping[str, int]

    @property
    def records(self) -> int:
        """Released nodes, or supernodes."""
        return next(iter(self.rows.values()))

    def as_document(self) -> dict[str, Any]:
        """For release.json."""
        return {
            "format": self.format,
            **self.rows,
            "ids": asdict(self.ids),
            "columns": {name: dict(columns) for name, columns in self.tables.items()},
            "files": [asdict(file) for file in self.files],
        }


@dataclass(frozen=True, slots=True, eq=False)
class StagedGraph:
    """A graph's release, read back.

    Attributes:
        graph: over the released nodes, by their ids; None for supernodes.
        nodes: their attributes, by ids; None: they have none.
        schema: of `nodes`.
        tables: all tables as they are in the files.
        columns: names of the id columns.
        sources: int64, as in `PublishedGraph`; None: none were staged. Private.
        classes: likewise.
    """

    graph: Graph | None
    nodes: pa.Table | None
    schema: Schema
    tables: Mapping[str, pa.Table]
    columns: GraphColumns
    sources: NDArray[np.int64] | None = None
    classes: NDArray[np.int64] | None = None


def stage(published: PublishedGraph, folder: Store, kind: OutputFormat) -> GraphManifest:
    """Cuts the tables into parts and writes them, with the nodes' sources beside.

    Args:
        published: its tables are in the order in which they are written.
        folder: `private/staging/ATTEMPT`.
        kind: format of the tables' files.

    Raises:
        SpecError: CSV can't hold a table.
        StorageError: the storage failed.
    """
    files: list[ReleasedFile] = []
    tables = {name: reduced(table) for name, table in published.tables.items()}
    for name, table in tables.items():
        files += _put_parts(table, folder, name, kind)
        folder.write(f"types/{name}.arrow", table.schema.serialize().to_pybytes())
    files += _put_graphml(tables, published.columns, folder)
    private = {SOURCE: published.sources, _CLASS: published.classes}
    kept = {name: values for name, values in private.items() if values is not None}
    if kept:
        _put_parts(pa.table(kept), folder, "sources", "parquet")
    columns = {
        name: {field.name: str(field.type) for field in table.schema}
        for name, table in tables.items()
    }
    first = next(iter(columns.values()))
    rows = {name: table.num_rows for name, table in tables.items()}
    manifest = GraphManifest(kind, first, tuple(files), published.columns, columns, rows)
    folder.write(staging.MANIFEST, json.dumps(manifest.as_document()).encode())
    return manifest


def staged_manifest(folder: Store) -> Manifest | None:
    """The manifest of a finished staging, of a table or a graph; None where there is none."""
    if not folder.exists(staging.MANIFEST):
        return None
    document = json.loads(folder.read(staging.MANIFEST))
    if "ids" not in document:
        return staging.staged_manifest(folder)
    files = tuple(ReleasedFile(**file) for file in document["files"])
    tables = document["columns"]
    return GraphManifest(
        document["format"],
        next(iter(tables.values())),
        files,
        GraphColumns(**document["ids"]),
        tables,
        {name: document[name] for name in tables},
    )


def read_back(folder: Store, manifest: GraphManifest, schema: Schema) -> StagedGraph:
    """The staged files, after comparing every byte with what was written.

    Args:
        folder: where they are.
        manifest: what `stage` returned.
        schema: gives roles and types of the nodes' attributes; arrow types are the files'.

    Raises:
        StorageError: a file is not what was written, or ids are not 0 … n-1, edges not simple,
            or the GraphML file not the graph of the tables.
    """
    for file in manifest.files:
        staging.check_file(folder, file)
    tables = {name: _read_table(folder, manifest, name) for name in manifest.tables}
    sources, classes = _read_private(folder)
    columns = manifest.ids
    if "nodes" not in tables:
        return StagedGraph(None, None, Schema(()), tables, columns, sources, classes)
    nodes, edges = tables["nodes"], tables["edges"]
    graph = _graph(nodes, edges, columns)
    if graph is None:
        raise staging.differs(folder, manifest.files[0])
    _check_graphml(folder, manifest, tables)
    attributes = nodes.drop_columns([columns.node])
    kept = Schema(
        tuple(replace(schema[one.name], arrow_type=one.type) for one in attributes.schema)
    )
    named = attributes if attributes.num_columns else None
    return StagedGraph(graph, named, kept, tables, columns, sources, classes)


def _put_parts(table: pa.Table, folder: Store, name: str, kind: OutputFormat) -> list[ReleasedFile]:
    files = []
    for number, start in enumerate(range(0, max(1, table.num_rows), staging.PART_ROWS)):
        path = f"{name}/part-{number:05d}.{kind}"
        part = table.slice(start, staging.PART_ROWS)
        written = staging.put_table(folder, path, part, kind)
        files.append(ReleasedFile(path, written.size, written.sha256, part.num_rows))
    return files


def _put_graphml(
    tables: Mapping[str, pa.Table], columns: GraphColumns, folder: Store
) -> list[ReleasedFile]:
    """The GraphML file, where the graph is small enough and XML can hold its text."""
    content = _graphml(tables, columns)
    if content is None:
        return []

    def pour(stream: BinaryIO) -> None:
        stream.write(content)

    written = folder.write_with(GRAPHML, pour)
    rows = sum(table.num_rows for table in tables.values())
    return [ReleasedFile(GRAPHML, written.size, written.sha256, rows)]


def _graphml(tables: Mapping[str, pa.Table], columns: GraphColumns) -> bytes | None:
    if "nodes" not in tables or tables["edges"].num_rows > GRAPHML_EDGES:
        return None
    return write_graphml(tables["nodes"], tables["edges"], columns)


def _check_graphml(folder: Store, manifest: GraphManifest, tables: Mapping[str, pa.Table]) -> None:
    """The file is a function of the tables, so the tables that were read back tell its bytes."""
    staged = next((file for file in manifest.files if file.path == GRAPHML), None)
    content = _graphml(tables, manifest.ids)
    digest = None if content is None else hashlib.sha256(content).hexdigest()
    if digest != (None if staged is None else staged.sha256):
        raise staging.differs(folder, staged or manifest.files[0])


def _read_table(folder: Store, manifest: GraphManifest, name: str) -> pa.Table:
    types = pa.ipc.read_schema(pa.BufferReader(folder.read(f"types/{name}.arrow")))
    parts = []
    for file in manifest.files:
        if not file.path.startswith(f"{name}/"):
            continue
        content = folder.read(file.path)
        if manifest.format == "parquet":
            part = pq.read_table(io.BytesIO(content))
        else:
            part = read_csv(content, types, folder.place(file.path))
        if part.num_rows != file.rows or part.column_names != types.names:
            raise staging.differs(folder, file)
        parts.append(conform(part, types))
    return pa.concat_tables(parts).unify_dictionaries()


def _read_private(folder: Store) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]:
    names = [entry.name for entry in folder.list("sources")]
    if not names:
        return None, None
    table = pa.concat_tables([pq.read_table(io.BytesIO(folder.read(name))) for name in names])
    found = [
        np.ascontiguousarray(table.column(name).to_numpy(), dtype=np.int64)
        if name in table.column_names
        else None
        for name in (SOURCE, _CLASS)
    ]
    return found[0], found[1]


def _graph(nodes: pa.Table, edges: pa.Table, columns: GraphColumns) -> Graph | None:
    """The graph of the files; None where it is not as it must be written."""
    count = nodes.num_rows
    if (nodes.column(columns.node).to_numpy() != np.arange(count)).any():
        return None
    names = (columns.source, columns.target)
    pairs = np.stack([edges.column(name).to_numpy() for name in names], axis=1)
    if len(pairs) and (pairs.min() < 0 or pairs.max() >= count):
        return None
    graph = Graph.from_pairs(count, pairs)
    return graph if np.array_equal(graph.pairs(), pairs) else None
