"""Tables from files: one file, a folder or a glob of parts, parquet or CSV, here or remote."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from distanon.data import codes
from distanon.data.ports import Partition
from distanon.data.schema import SOURCE
from distanon.data.table import cut
from distanon.errors import InputError
from distanon.storage.csv_partitions import cut_blocks
from distanon.storage.csv_scan import ScannedCsv, scan_csv
from distanon.storage.csv_text import CsvSettings, rows, settings_shown
from distanon.storage.inference import ColumnFacts, typed
from distanon.storage.partitions import ParquetPartition, cut_ranges, cut_rows
from distanon.storage.parts import PartFile, find_parts
from distanon.storage.store import StorageSettings, Store

PARTITION_ROWS = 262_144
"""Records of a partition where nothing else sets their number."""
_GROUP_ROWS = 4 * PARTITION_ROWS  # a row group up to here is read whole: its pieces cost as much

_KEPT = 1 << 25  # bytes of CSV text up to which its records stay in memory

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
    """Opens a table. CSV is read once here, since types are decided over all values.

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
    scanned: list[ScannedCsv] = []
    shown, room = set[str](), _KEPT
    for part in parts:
        one = scan_csv(part, csv, room)
        shown.add(settings_shown(one.file.dialect.delimiter, one.file.coding.name))
        plain_schema(pa.schema(dict.fromkeys(one.facts, pa.string())), part.shown)
        room -= sum(block.length for block in one.blocks)
        scanned.append(one if room >= 0 else replace(one, text=None))
    names = _common_schema(
        parts, [pa.schema(dict.fromkeys(one.facts, pa.string())) for one in scanned]
    ).names
    records = sum(one.rows for one in scanned)
    _refuse_empty(path, records)
    facts = {name: reduce(or_, (one.facts[name] for one in scanned)) for name in names}
    decimal, notes = _decimal_mark(facts, csv.decimal)
    schema = pa.schema([(name, one.kind(decimal)) for name, one in facts.items()])
    for field in schema:
        if pa.types.is_string(field.type):
            by_part = [one.facts[field.name].kind(decimal) for one in scanned]
            notes += _why_text(field.name, facts[field.name], by_part, parts)
    versions = [(part.name, *one.version) for part, one in zip(parts, scanned, strict=True)]
    return OpenedTable(
        path,
        schema,
        _csv_partitions(scanned, schema, decimal, pieces or -(-records // PARTITION_ROWS)),
        records,
        _numbered(parts, [one.rows for one in scanned]),
        (*(f"{path}: {one}" for one in sorted(shown)), *(f"{path}: {one}" for one in notes)),
        _fingerprint(schema, versions),
    )


def _csv_partitions(
    scanned: Sequence[ScannedCsv], schema: pa.Schema, decimal: Literal[".", ","], pieces: int
) -> tuple[Partition, ...]:
    """The records where they were kept, else where they stand in their files."""
    texts = [one.text for one in scanned if one.text is not None]
    if len(texts) == len(scanned):
        text = pa.concat_tables([one.select(schema.names) for one in texts])
        columns = [typed(text.column(field.name), field.type, decimal) for field in schema]
        table = pa.table(columns, schema=schema).combine_chunks()
        return tuple(cut(table, min(pieces, table.num_rows)))
    files = [(one.file, one.blocks) for one in scanned]
    ranges = cut_rows([[block.rows for block in blocks] for _, blocks in files], pieces)
    return cut_blocks(files, ranges, schema, decimal)


def _decimal_mark(
    facts: Mapping[str, ColumnFacts], given: Literal[".", ","] | None
) -> tuple[Literal[".", ","], list[str]]:
    """The decimal mark as given, or as the columns show it, and what to tell the user."""
    if given == ",":
        return given, []
    commas = [name for name, one in facts.items() if one.uses_comma]
    if given is not None or not commas:
        hint = "looks like numbers with a decimal comma, read as text; set csv.decimal: ','"
        return ".", [f"column {name} {hint}" for name in commas]
    points = [name for name, one in facts.items() if one.uses_point]
    if points:
        return ".", [f"decimal mark '.' (column {points[0]}); column {commas[0]} uses ','"]
    return ",", ["decimal mark ','"]


def _why_text(
    name: str, facts: ColumnFacts, by_part: Sequence[pa.DataType], parts: Sequence[PartFile]
) -> list[str]:
    """Why a column that looks like numbers, as a whole or in some parts, was read as text."""
    if facts.text_of_digits:
        return [f"column {name}: {facts.text_of_digits}, read as text"]
    texts = [place for place, kind in enumerate(by_part) if pa.types.is_string(kind)]
    typed_ = [
        place
        for place, kind in enumerate(by_part)
        if not pa.types.is_string(kind) and not pa.types.is_null(kind)
    ]
    if not typed_:
        return []
    where = f"{by_part[typed_[0]]} in {parts[typed_[0]].name}"
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
