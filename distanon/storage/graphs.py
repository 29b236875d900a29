"""Graphs from files: edge lists with or without a node table, GraphML and GML."""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import PurePosixPath

import pyarrow as pa
import pyarrow.parquet as pq

from distanon.data.graph import GraphColumns, GraphDataset
from distanon.data.graph_tables import GraphTables, Undeclared, assemble, check_usable
from distanon.data.node_ids import Place, alike, read_ids
from distanon.data.schema import Schema
from distanon.errors import AccessError, InputError
from distanon.storage.csv_text import CsvSettings
from distanon.storage.edge_text import EdgeText, find_layout, read_edge_text
from distanon.storage.gml import read_gml
from distanon.storage.graphml import read_graphml
from distanon.storage.node_tables import NodeTable, open_nodes
from distanon.storage.parts import PartFile, find_parts
from distanon.storage.store import StorageSettings, Store

ONE_FILE = {".graphml": read_graphml, ".gml": read_gml}
_NUMBER = re.compile(r"^\s*-?[0-9]+\s*$")


@dataclass(frozen=True, slots=True)
class GraphSource:
    """Where a graph lies, and what its columns are called.

    Attributes:
        edges: an edge list, or a GraphML or GML file, which holds its nodes too.
        nodes: a table of the nodes; None: the nodes are the ends of the edges.
        source: column of one end; None: found.
        target: column of the other end; None: found.
        node: column of the node ids; None: found.
        directed: whether edges with a direction are taken as edges without.
        undeclared: what becomes of attributes that nobody declared.
        csv: how text files are written.
        name: what the graph is called in messages; None: as its edges.
    """

    edges: str
    nodes: str | None = None
    source: str | None = None
    target: str | None = None
    node: str | None = None
    directed: bool = False
    undeclared: Undeclared = "refuse"
    csv: CsvSettings = field(default_factory=CsvSettings)
    name: str | None = None


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


def ending(path: str) -> str:
    """The ending of a file's name in small letters, that of a packed file's content."""
    name = PurePosixPath(path.rpartition("://")[2]).name.lower()
    return PurePosixPath(name.removesuffix(".gz")).suffix


def _open_one(source: GraphSource, settings: StorageSettings) -> tuple[GraphTables, list[str]]:
    """A GraphML or GML file."""
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
    parts, is_parquet = _edge_files(source.edges, settings)
    edges = _Edges(source)
    for part in parts:
        if is_parquet:
            edges.add_parquet(part)
        else:
            edges.add_text(part)
    versions = [one for part in parts for one in _version(part)]
    nodes = NodeTable.of_none(source.node or "node")
    if source.nodes is not None:
        nodes = open_nodes(source.nodes, source.node, source.csv, settings)
        versions.append(nodes.fingerprint)
    ends = edges.joined()
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
        notes=(*edges.notes, *nodes.notes),
    )
    return tables, versions


def _edge_files(path: str, settings: StorageSettings) -> tuple[Sequence[PartFile], bool]:
    """The files of an edge list, and whether they are parquet."""
    entry = Store(path, settings).find()
    if entry is None or entry.is_folder or ending(path) == ".parquet":
        found = find_parts(path, settings)
        return found.parts, found.format == "parquet"
    return [_one_file(path, settings)], False


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


class _Edges:
    """The edges of one or more files with the same columns, gathered in their order.

    Attributes:
        names: columns of both ends.
        attributes: other columns.
        is_directed: whether a file says that the edges have a direction.
        notes: what was detected.
    """

    def __init__(self, source: GraphSource) -> None:
        self._source = source
        self._starts: list[int] = [0]
        self._places: list[Place] = []
        self._ends: tuple[list[pa.Array], list[pa.Array]] = ([], [])
        self.names = (source.source or "source", source.target or "target")
        self.attributes: tuple[str, ...] = ()
        self.is_directed = False
        self.notes: tuple[str, ...] = ()

    def add_text(self, part: PartFile) -> None:
        """A CSV, TSV or SNAP file."""
        kind, url, csv = ending(part.name), part.file.url, self._source.csv
        is_plain = kind not in (".csv", ".tsv")
        mark = csv.delimiter or ("\t" if kind == ".tsv" else None)
        layout = find_layout(part.file, mark, csv.encoding, plain=is_plain)
        chosen = (0, 1) if is_plain else self._choose(layout.names, f"{url}, line 1")
        text = read_edge_text(part.file, layout, chosen, csv.encoding)
        if not is_plain:
            self._named(layout.names, chosen)
        elif len(layout.names) > 2:
            self.attributes = layout.names[2:]
        self.is_directed = self.is_directed or text.is_directed
        shown = {" ": "spaces", "\t": "tab"}.get(layout.delimiter, f"'{layout.delimiter}'")
        extra = f", {text.comments} comment lines" if text.comments else ""
        self.notes = (*self.notes, f"{url}: delimiter {shown}{extra}")
        self._extend(text.columns[0], text.columns[1], _lines_of(text))

    def add_parquet(self, part: PartFile) -> None:
        """A parquet file."""
        url = part.file.url
        with part.file.open() as stream:
            try:
                file = pq.ParquetFile(stream)
                names = tuple(file.schema_arrow.names)
                chosen = self._choose(names, url)
                table = file.read(columns=[names[place] for place in chosen])
            except (pa.ArrowInvalid, OSError) as error:
                if isinstance(error, OSError) and error.errno is not None:
                    raise  # the storage's; Arrow's own has no number
                raise InputError(f"{url}: not a parquet file, or damaged") from None
        self._named(names, chosen)
        self._extend(
            table.column(self.names[0]),
            table.column(self.names[1]),
            lambda row: f"{url}, row {row + 1}",
        )

    def place(self, edge: int) -> str:
        """Where an edge stands."""
        part = bisect_right(self._starts, edge, hi=len(self._places)) - 1
        return self._places[part](edge - self._starts[part])

    def joined(self) -> list[pa.Array]:
        """Both ends of all edges."""
        ends = [alike(*one) if one else [pa.array([], pa.int64())] for one in self._ends]
        return [pa.chunked_array(one).combine_chunks() for one in ends]

    def _extend(self, source: pa.ChunkedArray, target: pa.ChunkedArray, place: Place) -> None:
        for column, name, gathered in zip((source, target), self.names, self._ends, strict=True):
            gathered.append(read_ids(column, name, place))
        self._places.append(place)
        self._starts.append(self._starts[-1] + len(source))

    def _named(self, names: Sequence[str], chosen: tuple[int, int]) -> None:
        self.names = (names[chosen[0]], names[chosen[1]])
        others = (name for place, name in enumerate(names) if place not in chosen)
        self.attributes = tuple(dict.fromkeys([*self.attributes, *others]))

    def _choose(self, names: Sequence[str], where: str) -> tuple[int, int]:
        """Places of the columns that hold the ends."""
        wanted = (self._source.source, self._source.target)
        if None not in wanted:
            return _place(names, str(wanted[0]), where), _place(names, str(wanted[1]), where)
        if len(names) < 2:
            raise InputError(
                f"{where}: 1 column, expected those of both ends of an edge; check csv.delimiter"
            )
        if any(_NUMBER.match(name) for name in names):
            raise InputError(
                f"{where}: numbers where names of columns are expected; give the file a header, "
                "or name it .txt, which has none"
            )
        lower = [name.lower() for name in names]
        if "source" in lower and "target" in lower:
            return lower.index("source"), lower.index("target")
        if len(names) == 2 and wanted == (None, None):
            return 0, 1
        raise InputError(
            f"{where}: {len(names)} columns; say with input.graph.source and input.graph.target "
            "which of them hold the ends of an edge"
        )


def _place(names: Sequence[str], wanted: str, where: str) -> int:
    if names.count(wanted) == 1:
        return list(names).index(wanted)
    if wanted in names:
        raise InputError(f"{where}: more than one column {wanted!r}; rename the others")
    close = get_close_matches(wanted, names, 1)
    hint = f"; did you mean {close[0]!r}?" if close else f", but {len(names)} others"
    raise InputError(
        f"{where}: no column {wanted!r}{hint}; check csv.delimiter, and that there is a header"
    )


def _lines_of(text: EdgeText) -> Place:
    return lambda edge: f"{text.file.url}, line {text.line_of(edge)}"
