"""CSV files as partitions that a worker reads itself, by ranges of rows."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from distanon.errors import InputChangedError, InputError
from distanon.storage.csv_records import Dialect, parse_records
from distanon.storage.csv_stream import Coding, read, texts, watched
from distanon.storage.inference import typed
from distanon.storage.store import Store


@dataclass(frozen=True, slots=True)
class CsvBlock:
    """Some records of a file.

    Attributes:
        start: where it begins in the file; of no use where the text is decoded or unpacked.
        size: its bytes there.
        place: where it begins in the text, in UTF-8.
        length: its bytes there.
        rows: how many records.
        check: CRC-32 of the text.
        has_header: whether the header comes before them.
    """

    start: int
    size: int
    place: int
    length: int
    rows: int
    check: int
    has_header: bool


@dataclass(frozen=True, slots=True)
class CsvFile:
    """How a file is read again.

    Attributes:
        file: its URL, as a store of one file.
        shown: its name in messages.
        coding: of its text.
        dialect: of its records.
        is_packed: whether it is a gzip file, which can only be read from its beginning.
    """

    file: Store
    shown: str
    coding: Coding
    dialect: Dialect
    is_packed: bool

    def read(self, blocks: Sequence[CsvBlock], columns: Sequence[str]) -> Iterator[pa.Table]:
        """The records of neighboring blocks as text, block by block.

        Raises:
            InputChangedError: the file is not what it was when it was scanned.
        """
        is_direct = self.coding.is_byte_wise and not self.is_packed
        for block, data in zip(
            blocks, self._direct(blocks) if is_direct else self._from_start(blocks), strict=True
        ):
            if zlib.crc32(data) != block.check:
                raise self.changed()
            table, _ = parse_records(
                data, self.dialect, self.shown, has_header=block.has_header, columns=columns
            )
            if table.num_rows != block.rows:
                raise self.changed()
            yield table

    def changed(self) -> InputChangedError:
        """What is told of a file that has changed."""
        return InputChangedError(f"{self.shown}: the file has changed since the run began")

    def _direct(self, blocks: Sequence[CsvBlock]) -> Iterator[bytes]:
        with self.file.open() as stream:
            for block in blocks:
                stream.seek(block.start)
                data = stream.read(block.size)
                if not self.coding.is_utf8:
                    try:
                        data = data.decode(self.coding.name).encode()
                    except UnicodeError:
                        raise self.changed() from None
                yield data

    def _from_start(self, blocks: Sequence[CsvBlock]) -> Iterator[bytes]:
        with watched(self.file) as (stream, _, _):
            try:
                head = read(stream, self.shown)
                pieces = texts(stream, head, self.coding, self.shown)
                rest, place = b"", 0
                for block in blocks:
                    while place + len(rest) < block.place + block.length:
                        rest += next(pieces)
                        gone = min(len(rest), max(0, block.place - place))
                        rest, place = rest[gone:], place + gone
                    begin = block.place - place
                    yield rest[begin : begin + block.length]
                    rest, place = rest[begin + block.length :], block.place + block.length
            except (InputError, StopIteration):
                raise self.changed() from None


@dataclass(frozen=True, slots=True)
class CsvRange:
    """Rows of neighboring blocks of one file: `first` to `last - 1`, counted from the first."""

    file: CsvFile
    blocks: tuple[CsvBlock, ...]
    first: int
    last: int

    def read(self, columns: Sequence[str]) -> pa.Table:
        """The rows as text."""
        table = pa.concat_tables(list(self.file.read(self.blocks, columns)))
        return table.slice(self.first, self.last - self.first)


@dataclass(frozen=True, slots=True)
class CsvPartition:
    """Records `start` to `stop - 1` of a table, in ranges of its files.

    Attributes:
        ranges: in record order.
        schema: of the whole table, whose types were found over all records.
        decimal: the decimal mark.
        start: number of the first record.
    """

    ranges: tuple[CsvRange, ...]
    schema: pa.Schema
    decimal: Literal[".", ","]
    start: int = 0

    @property
    def stop(self) -> int:
        """One more than the number of the last record."""
        return self.start + sum(one.last - one.first for one in self.ranges)

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The records in order.

        Raises:
            InputChangedError: a file is not what it was when it was scanned.
        """
        names = self.schema.names if columns is None else list(columns)
        # Arrow takes no columns for all of them.
        parts = [one.read(names or self.schema.names[:1]) for one in self.ranges]
        text = pa.concat_tables(parts)
        kinds = pa.schema([self.schema.field(name) for name in names])
        arrays = [typed(text.column(field.name), field.type, self.decimal) for field in kinds]
        if not names:
            return text.select([])
        return pa.table(arrays, schema=kinds).combine_chunks()


def cut_blocks(
    files: Sequence[tuple[CsvFile, Sequence[CsvBlock]]],
    ranges: Sequence[Sequence[tuple[int, int, int]]],
    schema: pa.Schema,
    decimal: Literal[".", ","],
) -> tuple[CsvPartition, ...]:
    """Partitions of files.

    Args:
        files: each with its blocks.
        ranges: for each partition the places of its files, with their first row and the one
            behind the last.
        schema: of the whole table.
        decimal: the decimal mark.
    """
    partitions: list[CsvPartition] = []
    start = 0
    for parts in ranges:
        taken = tuple(_range(*files[place], first, last) for place, first, last in parts)
        partitions.append(CsvPartition(taken, schema, decimal, start))
        start = partitions[-1].stop
    return tuple(partitions)


def _range(file: CsvFile, blocks: Sequence[CsvBlock], first: int, last: int) -> CsvRange:
    """Rows of a file, with the blocks that hold them."""
    taken, skipped, at = [], 0, 0
    for block in blocks:
        if at < last and at + block.rows > first:
            taken.append(block)
        elif at + block.rows <= first:
            skipped = at + block.rows
        at += block.rows
    return CsvRange(file, tuple(taken), first - skipped, last - skipped)
