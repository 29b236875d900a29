"""Edge lists as text: CSV and TSV with a header, or lines of ids between spaces (SNAP).

Read block by block and parsed by Arrow in each, so that a large file takes seconds and the first
bad line ends the reading. An edge is one line: a quoted cell can't hold a line's end.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from distanon.errors import InputError
from distanon.storage.csv_text import find_delimiter
from distanon.storage.store import Store
from distanon.storage.text_blocks import Block, blocks

_COMMENT = re.compile(rb"^[ \t]*[#%][^\n]*\n", re.MULTILINE)
_DIRECTED = re.compile(rb"^[ \t]*[#%][ \t]*directed\b", re.MULTILINE | re.IGNORECASE)
_PIECE = 1 << 21  # bytes that one thread parses
_TO_SPACE = bytes.maketrans(b"\t", b" ")


@dataclass(frozen=True, slots=True)
class Layout:
    """How the lines of an edge list are cut into cells.

    Attributes:
        delimiter: between two cells; " ": any run of spaces and tabs, and `#` begins a comment.
        names: of the columns.
        has_header: whether the first line holds the names.
    """

    delimiter: str
    names: tuple[str, ...]
    has_header: bool

    @property
    def is_plain(self) -> bool:
        """Whether cells lie between spaces, without quotes."""
        return self.delimiter == " "


@dataclass(frozen=True, slots=True)
class _Span:
    """The edges that one block holds."""

    first_edge: int
    edges: int
    block: int
    first_line: int
    lines: int


@dataclass(frozen=True, slots=True, eq=False)
class EdgeText:
    """The chosen columns of an edge list.

    Attributes:
        file: where it is.
        columns: text or int64, one for each chosen name, in the order of the lines.
        spans: which block holds which edges.
        layout: of the lines.
        encoding: as given.
        is_directed: whether a comment says that the edges have a direction.
        comments: how many lines were comments.
    """

    file: Store
    columns: tuple[pa.ChunkedArray, ...]
    spans: tuple[_Span, ...]
    layout: Layout
    encoding: str | None
    is_directed: bool
    comments: int

    @property
    def edges(self) -> int:
        """How many edges there are."""
        return self.spans[-1].first_edge + self.spans[-1].edges if self.spans else 0

    def line_of(self, edge: int) -> int:
        """The line that an edge stands in, from 1; reads the file again where it must."""
        span = next(one for one in self.spans if edge < one.first_edge + one.edges)
        place = edge - span.first_edge
        if span.lines == span.edges:
            return span.first_line + place
        for number, block in enumerate(blocks(self.file, self.encoding)):
            if number == span.block:
                lines = _content_lines(block, self.layout, is_first=number == 0)
                return [line for line, _ in lines][place]
        return span.first_line


def find_layout(file: Store, delimiter: str | None, encoding: str | None, *, plain: bool) -> Layout:
    """Looks at the first lines.

    Args:
        file: the edge list.
        delimiter: as given; None: found, for CSV.
        encoding: as given; None: found.
        plain: ids between spaces, without a header.

    Raises:
        InputError: a file that needs a header is empty, or has none that can be used.
    """
    if plain:
        return _plain_layout(file, encoding)
    block = next(blocks(file, encoding), None)
    if block is None or not block.data.strip():
        raise InputError(f"{file.url}: the file is empty; expected a header and an edge in a row")
    mark = delimiter or find_delimiter(block.data)
    header = next((line for line in block.data.split(b"\n") if line.strip()), b"")
    names = tuple(next(csv.reader(io.StringIO(header.decode()), delimiter=mark)))
    return Layout(mark, names, has_header=True)


def _plain_layout(file: Store, encoding: str | None) -> Layout:
    """As many columns as the first line with an edge has; two where there is none."""
    ends = Layout(" ", ("source", "target"), has_header=False)
    for block in blocks(file, encoding):
        for line, text in _content_lines(block, ends, is_first=False):
            cells = len(text.split())
            if cells < 2:
                raise _ragged(file, line, cells, Layout(" ", (), has_header=False))
            if any(cell.endswith((",", ";")) for cell in text.split()):
                raise InputError(
                    f"{file.url}, line {line}: commas between cells, expected spaces or tabs; "
                    "name the file .csv, and give it a header"
                )
            more = (f"column {place}" for place in range(3, cells + 1))
            return Layout(" ", (*ends.names, *more), has_header=False)
    return ends


def read_edge_text(
    file: Store, layout: Layout, chosen: tuple[int, ...], encoding: str | None
) -> EdgeText:
    """Reads the chosen columns.

    Args:
        file: the edge list.
        layout: as `find_layout` found it.
        chosen: places of the columns, from 0.
        encoding: as given.

    Raises:
        InputError: a line has more or fewer cells than the first, or lacks an id; names file
            and line.
    """
    chunks: list[list[pa.Array]] = [[] for _ in chosen]
    spans: list[_Span] = []
    edges, comments, is_directed = 0, 0, False
    for number, block in enumerate(blocks(file, encoding)):
        data, is_first = block.data, number == 0
        if layout.is_plain:
            is_directed = is_directed or _DIRECTED.search(data) is not None
            data, found = _COMMENT.subn(b"", data)
            comments += found
            data = _tidy(data)
        try:
            table = _parsed(data, layout, chosen, skip_header=layout.has_header and is_first)
        except pa.ArrowInvalid:
            raise _first_bad(block, layout, file, is_first=is_first) from None
        count = 0 if table is None else table.num_rows
        spans.append(_Span(edges, count, number, block.first_line, block.data.count(b"\n")))
        edges += count
        if table is None:
            continue
        for at, place in enumerate(chosen):
            values = table.column(at)
            if values.null_count:
                where = _no_id(values, place, block, layout)
                advice = "give the node an id, or remove the line"
                raise InputError(f"{file.url}, {where}; {advice}")
            chunks[at].extend(_narrowed(values).chunks)
    columns = tuple(_joined(column) for column in chunks)
    return EdgeText(file, columns, tuple(spans), layout, encoding, is_directed, comments)


def _parsed(
    data: bytes, layout: Layout, chosen: tuple[int, ...], *, skip_header: bool
) -> pa.Table | None:
    """The chosen columns of a block as text; None where it holds no row.

    Raises:
        pa.ArrowInvalid: a line has more or fewer cells; its message quotes the line.
    """
    if not data.strip():
        return None
    names = [str(place) for place in range(len(layout.names))]
    wanted = [names[place] for place in chosen]
    table = pa_csv.read_csv(
        pa.BufferReader(data),
        read_options=pa_csv.ReadOptions(column_names=names, block_size=_PIECE),
        parse_options=pa_csv.ParseOptions(
            delimiter=layout.delimiter, quote_char=False if layout.is_plain else '"'
        ),
        convert_options=pa_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            include_columns=list(dict.fromkeys(wanted)),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
        ),
    ).select(wanted)
    if not layout.is_plain and b" " in data:
        columns = [pc.utf8_trim_whitespace(column) for column in table.columns]
        empty = pa.scalar(None, pa.string())
        columns = [pc.if_else(pc.equal(one, ""), empty, one) for one in columns]
        table = pa.table(columns, wanted)
    return table.slice(1) if skip_header else table


def _first_bad(block: Block, layout: Layout, file: Store, *, is_first: bool) -> InputError:
    """The first line of a block that can't be cut into the expected cells."""
    expected = len(layout.names)
    for line, text in _content_lines(block, layout, is_first=is_first):
        cells = len(_cells(text, layout))
        if "\ufffd" in text:
            return InputError(
                f"{file.url}, line {line}: not text in the encoding of the lines before; set "
                "csv.encoding to that of the file"
            )
        if cells != expected:
            return _ragged(file, line, cells, layout)
    return InputError(
        f"{file.url}, at or below line {block.first_line}: no edge list; check its quotes and "
        "csv.delimiter"
    )


def _no_id(values: pa.ChunkedArray, place: int, block: Block, layout: Layout) -> str:
    """Where the first missing id of a block is."""
    row = pc.index(pc.is_null(values), True).as_py()
    lines = _content_lines(block, layout, is_first=block.first_line == 1)
    line = next(line for at, (line, _) in enumerate(lines) if at == row)
    return f"line {line}, column {layout.names[place]!r}: no node id"


def _ragged(file: Store, line: int, cells: int, layout: Layout) -> InputError:
    by = "spaces" if layout.is_plain else f"{layout.delimiter!r} (csv.delimiter)"
    what = "the header has" if layout.has_header else "the first line has"
    wanted = f"{len(layout.names)}, as {what}" if len(layout.names) > 1 else "2 or more"
    return InputError(
        f"{file.url}, line {line}: {cells} cells, expected {wanted}; check the line, and whether "
        f"cells are parted by {by}"
    )


def _content_lines(block: Block, layout: Layout, *, is_first: bool) -> Iterator[tuple[int, str]]:
    """The lines of a block that hold edges, with their numbers. For messages: it is slow."""
    skipped = layout.has_header and is_first
    for place, data in enumerate(block.data.split(b"\n")[:-1]):
        text = data.decode(errors="replace")
        content = text.strip() if layout.is_plain else text
        if not content or (layout.is_plain and content[0] in "#%"):
            continue
        if skipped:
            skipped = False
            continue
        yield block.first_line + place, content


def _cells(text: str, layout: Layout) -> list[str]:
    if layout.is_plain:
        return text.split()
    try:
        return next(csv.reader([text], delimiter=layout.delimiter))
    except csv.Error:
        return []


def _tidy(data: bytes) -> bytes:
    """Runs of spaces and tabs as one space, none at the ends of a line."""
    data = data.translate(_TO_SPACE)
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    if b" \n" in data:
        data = data.replace(b" \n", b"\n")
    if b"\n " in data or data.startswith(b" "):
        data = data.replace(b"\n ", b"\n").removeprefix(b" ")
    return data


def _narrowed(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Ids as int64 where each is a whole number written in the one way that numbers are."""
    if not len(values):
        return values
    if not re.fullmatch(r"-?[0-9]+", values[0].as_py()):
        return values
    padded = pc.and_(pc.starts_with(values, "0"), pc.greater(pc.binary_length(values), 1))
    if pc.any(padded).as_py() or pc.any(pc.starts_with(values, "-0")).as_py():
        return values
    try:
        return values.cast(pa.int64())
    except pa.ArrowInvalid:
        return values


def _joined(chunks: list[pa.Array]) -> pa.ChunkedArray:
    """Chunks in one type: text where any of them is."""
    if not chunks:
        return pa.chunked_array([], pa.int64())
    if all(chunk.type == pa.int64() for chunk in chunks):
        return pa.chunked_array(chunks)
    return pa.chunked_array([chunk.cast(pa.large_string()) for chunk in chunks])
