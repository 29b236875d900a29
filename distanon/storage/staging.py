"""A release as files below the private prefix, before anybody may see it."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from distanon.data.ports import Partition
from distanon.data.release import Release, sort_for_release
from distanon.data.schema import SOURCE, Schema
from distanon.data.table import Dataset, MemoryPartition
from distanon.errors import StorageError
from distanon.storage.abreast import abreast
from distanon.storage.formats import OutputFormat, check_csv, read_csv, reduced, write
from distanon.storage.partitions import ParquetPartition, ParquetRange
from distanon.storage.sorting import Each, Stretch, can_be_cut, forget, here, rows_of, sorted_parts
from distanon.storage.store import Store, Written

PART_ROWS = 1_000_000
"""Rows of a published file, whatever the partitions were."""

_TOGETHER = 2**25  # values of a release that are sorted in one piece: some 256 MB, and twice that

MANIFEST = "manifest.json"
_TYPES = "types.arrow"


@dataclass(frozen=True, slots=True)
class ReleasedFile:
    """One file of a release: path below the output, bytes, sha256 and rows."""

    path: str
    size: int
    sha256: str
    rows: int


_Put: TypeAlias = tuple[ReleasedFile, pa.Schema]
"""A file that was written, and its columns."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a release consists of. All of it may be published.

    Attributes:
        format: of the files.
        columns: name and type of every column.
        files: in the order of the rows.
    """

    format: OutputFormat
    columns: Mapping[str, str]
    files: tuple[ReleasedFile, ...]

    @property
    def records(self) -> int:
        """Rows of all files."""
        return sum(file.rows for file in self.files)

    def as_document(self) -> dict[str, Any]:
        """For release.json."""
        return {
            "format": self.format,
            "records": self.records,
            "columns": dict(self.columns),
            "files": [asdict(file) for file in self.files],
        }


def stage(release: Release, folder: Store, kind: OutputFormat, each: Each = here) -> Manifest:
    """Sorts the rows, cuts them into parts and writes them, with their sources beside.

    Args:
        release: its pieces in record order.
        folder: `private/staging/ATTEMPT`.
        kind: format of the files.
        each: who works where a process should not hold the rows; says nothing about the bytes.

    Raises:
        SpecError: CSV can't hold the table.
        StorageError: the storage failed.
    """
    names = [attribute.name for attribute in release.schema.published]
    rows = sum(piece.stop - piece.start for piece in release.pieces)
    if rows * len(names) > _TOGETHER and can_be_cut(release.pieces):
        written = _in_ranges(release, folder, kind, names, each)
    else:
        written = _at_once(release, folder, kind, names)
    types = written[-1][1]
    columns = {field.name: str(field.type) for field in types}
    manifest = Manifest(kind, columns, tuple(file for file, _ in written))
    folder.write(_TYPES, types.serialize().to_pybytes())
    folder.write(MANIFEST, json.dumps(manifest.as_document()).encode())
    return manifest


def _at_once(release: Release, folder: Store, kind: OutputFormat, names: list[str]) -> list[_Put]:
    """Writes the parts of a release that is sorted in one piece; at least one."""
    table, sources = sort_for_release(_joined(release))
    table = reduced(table.select(names))
    return [
        _put(
            folder,
            number,
            kind,
            table.slice(start, PART_ROWS),
            sources[start : start + PART_ROWS],
        )
        for number, start in enumerate(range(0, max(1, table.num_rows), PART_ROWS))
    ]


def _in_ranges(
    release: Release, folder: Store, kind: OutputFormat, names: list[str], each: Each
) -> list[_Put]:
    """Writes the parts of a release that no process holds."""
    if any(isinstance(piece, MemoryPartition) for piece in release.pieces):
        each = here  # rows that this process holds after all need not travel
    try:
        parts = sorted_parts(release.pieces, folder, PART_ROWS, each)
        items = [(folder, number, kind, names, part) for number, part in enumerate(parts)]
        return list(each(_put_part, items))
    finally:
        forget(folder)


def _put_part(_: None, item: tuple[Store, int, OutputFormat, list[str], Sequence[Stretch]]) -> _Put:
    folder, number, kind, names, stretches = item
    table, sources = rows_of(folder, stretches)
    return _put(folder, number, kind, reduced(table.select(names)), sources)


def _put(
    folder: Store, number: int, kind: OutputFormat, rows: pa.Table, sources: NDArray[np.int64]
) -> _Put:
    """Writes one part and its sources."""
    name = f"data/part-{number:05d}.{kind}"
    written = put_table(folder, name, rows, kind)
    kept = pa.table({SOURCE: sources})
    put_table(folder, f"sources/part-{number:05d}.parquet", kept, "parquet")
    return ReleasedFile(name, written.size, written.sha256, rows.num_rows), rows.schema


def _joined(release: Release) -> pa.Table:
    """All rows; nothing but the table holds them, so that who takes it can let them go."""
    pieces = [piece.read() for piece in release.pieces]
    return pa.concat_tables(pieces, promote_options="default")


def staged_manifest(folder: Store) -> Manifest | None:
    """The manifest of a finished staging; None where there is none."""
    if not folder.exists(MANIFEST):
        return None
    document = json.loads(folder.read(MANIFEST))
    files = tuple(ReleasedFile(**file) for file in document["files"])
    return Manifest(document["format"], document["columns"], files)


def read_back(folder: Store, manifest: Manifest, schema: Schema) -> Dataset:
    """The staged files as a data set, after comparing every byte with what was written.

    Args:
        folder: where they are.
        manifest: what `stage` returned.
        schema: gives roles and attribute types; arrow types are those of the files.

    Raises:
        StorageError: a file is not what was written.
    """
    types = pa.ipc.read_schema(pa.BufferReader(folder.read(_TYPES)))

    def check(file: ReleasedFile) -> None:
        check_file(folder, file)
        if manifest.format == "parquet":
            _check_parquet(folder, file, types.names)

    abreast(check, manifest.files)
    partitions: list[Partition] = []
    start = 0
    for file in manifest.files:
        if manifest.format == "parquet":
            part = ParquetRange(folder.child(file.path), 0, file.rows)
            partitions.append(ParquetPartition((part,), types, start))
        else:  # one after the other: each is held as text and as a table
            table = read_csv(folder.read(file.path), types, folder.place(file.path))
            if table.num_rows != file.rows:
                raise differs(folder, file)
            partitions.append(MemoryPartition(table, start))
        start += file.rows
    attributes = tuple(replace(schema[field.name], arrow_type=field.type) for field in types)
    return Dataset(Schema(attributes), tuple(partitions), "the staged release")


def read_sources(folder: Store, manifest: Manifest) -> NDArray[np.int64]:
    """The source record's number of every released row, int64, in release order."""
    return _numbers(folder, [f"sources/part-{at:05d}.parquet" for at in range(len(manifest.files))])


def read_mapping(private: Store) -> NDArray[np.int64] | None:
    """The same, from the mapping that a finished run has kept; None where it has not."""
    names = [entry.name for entry in private.list("mapping")]
    return _numbers(private, names) if names else None


def _numbers(folder: Store, names: Sequence[str]) -> NDArray[np.int64]:
    tables = abreast(lambda name: pq.read_table(io.BytesIO(folder.read(name))), names)
    joined = pa.concat_tables(tables).column(SOURCE).to_numpy()
    return np.ascontiguousarray(joined, dtype=np.int64)


def check_file(folder: Store, file: ReleasedFile) -> None:
    """Compares a file's length and hash with what was written.

    Raises:
        StorageError: they differ.
    """
    if folder.digest(file.path) != Written(file.size, file.sha256):
        raise differs(folder, file)


def _check_parquet(folder: Store, file: ReleasedFile, names: list[str]) -> None:
    with folder.open(file.path) as stream:
        source = pq.ParquetFile(stream)
        if source.metadata.num_rows != file.rows or source.schema_arrow.names != names:
            raise differs(folder, file)


def differs(folder: Store, file: ReleasedFile) -> StorageError:
    """What is told of a file that is not what was written."""
    return StorageError(
        f"{folder.place(file.path)}: read back, the file is not what was written; nothing was "
        "published from it. Check the storage, then `distanon resume`"
    )


def put_table(folder: Store, name: str, table: pa.Table, kind: OutputFormat) -> Written:
    """Writes one table, and checks it where the format could lose something."""
    if kind == "parquet":
        return folder.write_with(name, lambda stream: write(table, stream, "parquet"))
    content = io.BytesIO()
    write(table, content, "csv")
    check_csv(table, content.getvalue(), name)
    return folder.write_with(name, lambda stream: _pour(content, stream))


def _pour(content: io.BytesIO, stream: BinaryIO) -> None:
    stream.write(content.getbuffer())
