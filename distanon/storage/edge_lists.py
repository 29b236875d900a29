"""Edge lists from one or more files: which columns hold the ends, and where each edge stands."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import PurePosixPath

import pyarrow as pa
import pyarrow.parquet as pq

from distanon.data.graph_tables import Undeclared
from distanon.data.node_ids import Place, alike, read_ids
from distanon.errors import InputError
from distanon.storage.csv_text import CsvSettings
from distanon.storage.edge_text import EdgeText, find_layout, read_edge_text
from distanon.storage.parts import PartFile

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


def ending(path: str) -> str:
    """The ending of a file's name in small letters, that of a packed file's content."""
    name = PurePosixPath(path.rpartition("://")[2]).name.lower()
    return PurePosixPath(name.removesuffix(".gz")).suffix


class EdgeLists:
    """The edges of one or more files with the same columns, gathered in their order.

    Attributes:
        names: columns of both ends.
        attributes: other columns.
        has_header: whether the first line of a text file was taken for names.
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
        self.has_header = False
        self.is_directed = False
        self.notes: tuple[str, ...] = ()

    def add_text(self, part: PartFile) -> None:
        """A CSV, TSV or SNAP file."""
        kind, url, csv = ending(part.name), part.file.url, self._source.csv
        is_first = not self._places
        is_plain = kind not in (".csv", ".tsv")
        mark = csv.delimiter or ("\t" if kind == ".tsv" else None)
        layout = find_layout(part.file, mark, csv.encoding, plain=is_plain)
        chosen = (0, 1) if is_plain else self._choose(layout.names, f"{url}, line 1")
        text = read_edge_text(part.file, layout, chosen, csv.encoding)
        if not is_plain:
            self._named(layout.names, chosen, f"{url}, line 1")
        else:
            if not is_first and text.edges and len(layout.names) != 2 + len(self.attributes):
                line = text.line_of(0)
                raise InputError(
                    f"{url}, line {line}: {len(layout.names)} cells, and "
                    f"{2 + len(self.attributes)} in the parts before; expected as many in each"
                )
            if text.edges or is_first:
                self.attributes = layout.names[2:]
        self.has_header = layout.has_header
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
        self._named(names, chosen, url)
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

    def _named(self, names: Sequence[str], chosen: tuple[int, int], where: str) -> None:
        own = (names[chosen[0]], names[chosen[1]])
        if self._places and own != self.names:
            raise InputError(
                f"{where}: the ends of an edge are not called as in the parts before; give all "
                "parts the same header"
            )
        self.names = own
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
