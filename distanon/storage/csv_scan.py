"""One pass over a CSV file: what its columns hold, where its records stand, what is wrong."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

import pyarrow as pa

from distanon.errors import InputError
from distanon.storage.csv_partitions import CsvBlock, CsvFile
from distanon.storage.csv_records import (
    Dialect,
    Ragged,
    is_unclosed,
    misread,
    parse_records,
    ragged_row,
    unclosed,
)
from distanon.storage.csv_stream import (
    Coding,
    NotUtf8Error,
    checked,
    read,
    texts,
    watched,
    western,
    whole_records,
)
from distanon.storage.csv_text import CsvSettings, find_delimiter, header
from distanon.storage.inference import ColumnFacts
from distanon.storage.parts import PartFile


@dataclass(frozen=True, slots=True)
class ScannedCsv:
    """A file that was read once.

    Attributes:
        file: how it is read again.
        blocks: its records, in order.
        facts: of its columns, in their order.
        version: length and sha256.
        text: its records as text, where they were kept.
    """

    file: CsvFile
    blocks: tuple[CsvBlock, ...]
    facts: Mapping[str, ColumnFacts]
    version: tuple[int, str]
    text: pa.Table | None

    @property
    def rows(self) -> int:
        """How many records."""
        return sum(block.rows for block in self.blocks)


def scan_csv(part: PartFile, settings: CsvSettings, room: int) -> ScannedCsv:
    """Reads a file once.

    Args:
        part: the file.
        settings: what is not given is detected.
        room: bytes of text up to which the records are kept.

    Raises:
        InputError: names file and row; never a value. What is no text, or damaged, is told
            before a record that can't be read, wherever they stand.
    """
    try:
        return _scanned(part, settings, room)
    except NotUtf8Error:
        given = {"encoding": western(part.file, part.shown)}
        return _scanned(part, settings.model_copy(update=given), room)


def _scanned(part: PartFile, settings: CsvSettings, room: int) -> ScannedCsv:
    shown = part.shown
    with watched(part.file) as (stream, is_packed, seen):
        head = read(stream, shown)
        coding = Coding.of(head, settings.encoding)
        pieces = texts(stream, head, coding, shown)
        first = _first(pieces)
        delimiter = settings.delimiter or find_delimiter(first)
        pass_ = _Pass(shown, coding, room, start=coding.mark)
        if first.strip():
            pass_.begin(first, delimiter, settings.missing)
        for data in checked(whole_records(chain([first], pieces), delimiter), coding, shown):
            pass_.take(data)
        while read(stream, shown):  # what a gzip file has behind its end
            pass
        version = (seen.size, seen.sha256)
    if not first.strip():
        raise InputError(f"{shown}: the file is empty; expected a header and at least one row")
    pass_.end()
    file = CsvFile(part.file.while_running(), shown, coding, pass_.dialect, is_packed)
    return ScannedCsv(file, tuple(pass_.blocks), pass_.facts, version, pass_.text())


def _first(pieces: Iterator[bytes]) -> bytes:
    """The first piece, and as many more as have nothing but space."""
    first = b""
    for piece in pieces:
        first += piece
        if first.strip():
            break
    return first


@dataclass(slots=True)
class _Pass:
    """What is known of a file so far.

    Attributes:
        shown: the file's name in messages.
        coding: of its text.
        room: bytes of text that may be kept still.
        start: where the next block begins in the file.
        dialect: of the records.
        blocks: of them.
        facts: of their columns.
        place: where the next block begins in the text.
        rows: how many records there were.
        quotes: how many there were.
        fault: the first; nothing is parsed behind it.
        ragged: records with more or fewer cells than the header.
        is_misread: whether Arrow found other names than Python.
        kept: the records as text, while there is room.
        last: the last that were parsed.
    """

    shown: str
    coding: Coding
    room: int
    start: int
    dialect: Dialect = field(default_factory=lambda: Dialect(",", (), ()))
    blocks: list[CsvBlock] = field(default_factory=list)
    facts: dict[str, ColumnFacts] = field(default_factory=dict)
    place: int = 0
    quotes: int = 0
    rows: int = 0
    fault: InputError | None = None
    ragged: Ragged | None = None
    is_misread: bool = False
    kept: list[pa.Table] | None = field(default_factory=list)
    last: pa.Table | None = None

    def begin(self, first: bytes, delimiter: str, missing: tuple[str, ...]) -> None:
        """Reads the header."""
        try:
            self.dialect = Dialect(delimiter, tuple(header(first, delimiter, self.shown)), missing)
        except InputError as error:
            self.fault = error

    def take(self, data: bytes) -> None:
        """Reads the next whole records."""
        size = self.coding.size_of(data) if self.coding.is_byte_wise else 0
        check = zlib.crc32(data)
        is_first = not self.blocks
        block = CsvBlock(self.start, size, self.place, len(data), 0, check, is_first)
        self.start, self.place = self.start + size, self.place + len(data)
        self.quotes += data.count(b'"')
        if self.fault is None:
            try:
                self._parse(data, block)
            except InputError as error:
                self.fault = error

    def _parse(self, data: bytes, block: CsvBlock) -> None:
        if not data.strip() and len(self.dialect.names) > 1:
            return  # empty lines
        table, found = parse_records(data, self.dialect, self.shown, has_header=block.has_header)
        if found is not None:
            before = self.ragged or Ragged(self.rows + found.row, found.cells, 0)
            self.ragged = before._replace(records=before.records + found.records)
        self.rows += table.num_rows
        self.blocks.append(replace(block, rows=table.num_rows))
        self.is_misread |= block.has_header and table.column_names != list(self.dialect.names)
        if self.ragged is not None or self.is_misread:
            return
        self.last = table if table.num_rows else self.last
        for name in table.column_names:
            self.facts[name] = ColumnFacts.of(table.column(name), self.facts.get(name))
        self.room -= len(data)
        if self.kept is not None:
            self.kept.append(table)
            self.kept = self.kept if self.room >= 0 else None

    def end(self) -> None:
        """After the last record.

        Raises:
            InputError: what was wrong.
        """
        if self.fault is not None:
            raise self.fault
        if self.ragged is not None:
            raise ragged_row(self.ragged, self.dialect.names, self.shown)
        if self.is_misread:
            raise misread(self.shown)
        if self.last is not None and is_unclosed(self.last, self.quotes):
            raise unclosed(self.rows, self.shown)

    def text(self) -> pa.Table | None:
        """The records, where there was room."""
        return None if self.kept is None else pa.concat_tables(self.kept)
