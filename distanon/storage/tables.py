"""Tables from files: one file, a folder or a glob of parts, parquet or CSV, here or remote."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from distanon.data import codes
from distanon.data.ports import Partition
from distanon.data.schema import SOURCE
from distanon.data.table import cut
from distanon.errors import InputError
from distanon.storage.csv_text import CsvSettings, parse, rows
from distanon.storage.inference import infer, text_of_digits, uses_comma, uses_point
from distanon.storage.partitions import ParquetPartition, cut_ranges
from distanon.storage.parts import PartFile, find_parts
from distanon.storage.store import StorageSettings, Store

PARTITION_ROWS = 262_144
"""Records of a partition where nothing else sets their number."""
_GROUP_ROWS = 4 * PARTITION_ROWS  # a row group up to here is read whole: its pieces cost as much

_THREADS = 8  # footers and small files are read this many at a time


@dataclass(frozen=True, slots=True)
class Part:
    """Which records one file holds: `start` to `stop - 1`."""

    file: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class OpenedTable:
    """A table as it is in its files.

    Attributes:
        path: as the user wrote it.
        arrow_schema: names and types, without metadata.
        partitions: in record order, without gaps.
        records: how many.
        parts: which file holds which records.
        notes: what was detected, for the user to see.
        fingerprint: sha256 over names, sizes, versions and schema: for the resume check, private.
    """

    path: str
    arrow_schema: pa.Schema
    partitions: tuple[Partition, ...]
    records: int
    parts: tuple[Part, ...]
    notes: tuple[str, ...]
    fingerprint: str

    def locate(self, record: int) -> tuple[str, int]:
        """The file that holds a record, and the record's row there, from 1."""
        place = bisect_right([part.start for part in self.parts], record) - 1
        part = self.parts[place]
        return part.file, record - part.start + 1


def open_table(
    path: str,
    csv: CsvSettings | None = None,
    settings: StorageSettings | None = None,
    pieces: int | None = None,
) -> OpenedTable:
    """Opens a table: parquet lazily, CSV read into memory here.

    Args:
        path: a file, a folder or a glob; parts are taken in the order of their paths.
        csv: delimiter, encoding and decimal mark of CSV files.
        settings: of the storage.
        pieces: at most so many partitions; None: of `PARTITION_ROWS` records, or of a parquet
            file's larger row groups.

    Raises:
        AccessError: the place can't be read.
        InputError: what is there is no table, or has no records.
    """
    found = find_parts(path, settings or StorageSettings())
    if found.format == "parquet":
        opened = _open_parquet(path, found.parts, pieces)
    else:
        opened = _open_csv(path, found.parts, csv or CsvSettings(), pieces)
    return replace(opened, notes=(*found.notes, *opened.notes))


def read_text(path: str, settings: StorageSettings | None = None) -> str:
    """A small UTF-8 text file.

    Raises:
        AccessError: it can't be read.
        InputError: it is not UTF-8.
    """
    try:
        return Store(path, settings or StorageSettings()).read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: not text in UTF-8") from None


def read_rows(
    path: str, settings: StorageSettings | None = None, csv: CsvSettings | None = None
) -> list[list[str]]:
    """All rows of a small CSV file without a header, such as a hierarchy."""
    content = Store(path, settings or StorageSettings()).read()
    return rows(content, csv or CsvSettings(), path)


def _open_parquet(path: str, parts: Sequence[PartFile], pieces: int | None) -> OpenedTable:
    with ThreadPoolExecutor(min(_THREADS, len(parts))) as pool:
        footers = list(pool.map(_footer, parts))
    schema = _common_schema(parts, [one.schema for one in footers])
    records = sum(sum(one.groups) for one in footers)
    _refuse_empty(path, records)
    files = [
        (part.file.while_running(), one.groups) for part, one in zip(parts, footers, strict=True)
    ]
    partitions, start = [], 0
    for ranges in cut_ranges(files, pieces or _pieces(records, footers)):
        partitions.append(ParquetPartition(ranges, schema, start))
        start = partitions[-1].stop
    return OpenedTable(
        path,
        schema,
        tuple(partitions),
        records,
        _numbered(parts, [sum(one.groups) for one in footers]),
        (),
        _fingerprint(schema, [(part.name, part.size, part.tag) for part in parts]),
    )


def _pieces(records: int, footers: Sequence[_Footer]) -> int:
    """How many partitions: a row group is decoded whole, however little of it is asked for."""
    largest = max(max(one.groups, default=0) for one in footers)
    return -(-records // min(max(largest, PARTITION_ROWS), _GROUP_ROWS))


@dataclass(frozen=True, slots=True)
class _Footer:
    schema: pa.Schema
    groups: tuple[int, ...]


def _footer(part: PartFile) -> _Footer:
    """Schema and rows of the row groups of one file."""
    with part.file.open() as stream:
        try:
            source = pq.ParquetFile(stream)
        except (pa.ArrowInvalid, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # the storage's; Arrow's own, of a damaged footer, has no number
            raise InputError(f"{part.shown}: not a parquet file, or damaged") from None
        metadata = source.metadata
        sizes = tuple(metadata.row_group(i).num_rows for i in range(metadata.num_row_groups))
        return _Footer(plain_schema(source.schema_arrow, part.shown), sizes)


def plain_schema(schema: pa.Schema, file: str) -> pa.Schema:
    """Names and types alone.

    Raises:
        InputError: names that are not unique or reserved, or nested columns.
    """
    names = schema.names
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"{file}: column names must differ; found twice: {', '.join(twice)}")
    if SOURCE in names:
        raise InputError(f"{file}: the column name {SOURCE} is reserved; rename the column")
    for field in schema:
        if pa.types.is_nested(field.type) or isinstance(field.type, pa.BaseExtensionType):
            raise InputError(
                f"{file}, column {field.name}: a table of plain values was expected, found "
                f"{field.type}; flatten or drop the column first"
            )
    return pa.schema([pa.field(field.name, codes.stored_type(field.type)) for field in schema])


def _common_schema(parts: Sequence[PartFile], schemas: Sequence[pa.Schema]) -> pa.Schema:
    """One schema for all parts; a column that is all missing in a part takes the others' type.

    Raises:
        InputError: names two parts and the columns that differ.
    """
    first = schemas[0]
    types: dict[str, tuple[pa.DataType, PartFile]] = {
        field.name: (field.type, parts[0]) for field in first
    }
    for part, schema in zip(parts, schemas, strict=True):
        odd = sorted(set(first.names) ^ set(schema.names))
        if odd:
            raise InputError(
                f"{parts[0].shown} and {part.shown} do not have the same columns; only one "
                f"of them has: {', '.join(odd)}"
            )
        for field in schema:
            kind, since = types[field.name]
            if pa.types.is_null(kind):
                types[field.name] = (field.type, part)
            elif not pa.types.is_null(field.type) and field.type != kind:
                raise InputError(
                    f"{since.shown} and {part.shown} have different types in column "
                    f"{field.name}: {kind} and {field.type}; write all parts with one schema"
                )
    return pa.schema([pa.field(name, types[name][0]) for name in first.names])


def _open_csv(
    path: str, parts: Sequence[PartFile], csv: CsvSettings, pieces: int | None
) -> OpenedTable:
    texts, versions, shown = [], [], set[str]()
    for part in parts:
        content = part.file.read()
        text = parse(content, csv, part.shown)
        shown.add(text.settings_shown)
        plain_schema(text.table.schema, part.shown)
        texts.append(text.table)
        versions.append((part.name, len(content), hashlib.sha256(content).hexdigest()))
    schema = _common_schema(parts, [text.schema for text in texts])
    whole = pa.concat_tables([text.select(schema.names) for text in texts])
    _refuse_empty(path, whole.num_rows)
    decimal, notes = _decimal_mark(whole, csv.decimal)
    columns = {name: infer(whole.column(name), decimal) for name in schema.names}
    for name in (name for name, column in columns.items() if pa.types.is_string(column.type)):
        by_part = [infer(text.column(name), decimal).type for text in texts]
        notes += _why_text(name, whole.column(name), by_part, parts)
    table = pa.table(columns).combine_chunks()
    pieces = pieces or -(-table.num_rows // PARTITION_ROWS)
    return OpenedTable(
        path,
        table.schema,
        tuple(cut(table, min(pieces, table.num_rows))),
        table.num_rows,
        _numbered(parts, [text.num_rows for text in texts]),
        (*(f"{path}: {one}" for one in sorted(shown)), *(f"{path}: {one}" for one in notes)),
        _fingerprint(table.schema, versions),
    )


def _decimal_mark(
    table: pa.Table, given: Literal[".", ","] | None
) -> tuple[Literal[".", ","], list[str]]:
    """The decimal mark as given, or as the columns show it, and what to tell the user."""
    if given == ",":
        return given, []
    commas = [name for name in table.column_names if uses_comma(table.column(name))]
    if given is not None or not commas:
        hint = "looks like numbers with a decimal comma, read as text; set csv.decimal: ','"
        return ".", [f"column {name} {hint}" for name in commas]
    points = [name for name in table.column_names if uses_point(table.column(name))]
    if points:
        return ".", [f"decimal mark '.' (column {points[0]}); column {commas[0]} uses ','"]
    return ",", ["decimal mark ','"]


def _why_text(
    name: str, column: pa.ChunkedArray, by_part: Sequence[pa.DataType], parts: Sequence[PartFile]
) -> list[str]:
    """Why a column that looks like numbers, as a whole or in some parts, was read as text."""
    reason = text_of_digits(column)
    if reason:
        return [f"column {name}: {reason}, read as text"]
    texts = [place for place, kind in enumerate(by_part) if pa.types.is_string(kind)]
    typed = [
        place
        for place, kind in enumerate(by_part)
        if not pa.types.is_string(kind) and not pa.types.is_null(kind)
    ]
    if not typed:
        return []
    where = f"{by_part[typed[0]]} in {parts[typed[0]].name}"
    where += f", text in {parts[texts[0]].name}" if texts else ""
    return [f"column {name}: {where}, so it was read as text; mend the parts, or declare its type"]


def _numbered(parts: Sequence[PartFile], records: Sequence[int]) -> tuple[Part, ...]:
    numbered, start = [], 0
    for part, count in zip(parts, records, strict=True):
        if count:
            numbered.append(Part(part.shown, start, start + count))
        start += count
    return tuple(numbered)


def _refuse_empty(path: str, records: int) -> None:
    if not records:
        raise InputError(f"{path}: no records; expected at least one row below the column names")


def _fingerprint(schema: pa.Schema, versions: Sequence[tuple[Any, ...]]) -> str:
    content = json.dumps([str(schema), [list(one) for one in versions]])
    return hashlib.sha256(content.encode()).hexdigest()
