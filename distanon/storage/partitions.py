"""Parquet files as partitions that a worker opens itself, by ranges of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from distanon.errors import InputChangedError
from distanon.storage.store import Store


@dataclass(frozen=True, slots=True)
class ParquetRange:
    """Rows `first` to `last - 1` of one file."""

    file: Store
    first: int
    last: int

    def read(self, columns: Sequence[str]) -> pa.Table:
        """The rows, from the row groups that hold them.

        Raises:
            InputChangedError: the file is not what it was when it was opened first.
        """
        with self.file.open() as stream:
            try:
                source = pq.ParquetFile(stream, pre_buffer=True)
                groups, skipped = _groups(source.metadata, self.first, self.last)
                table = source.read_row_groups(groups, columns=list(columns))
            except (pa.ArrowInvalid, KeyError):
                raise self._changed() from None
        table = table.select(list(columns)).slice(self.first - skipped, self.last - self.first)
        if table.num_rows != self.last - self.first:
            raise self._changed()
        return table

    def _changed(self) -> InputChangedError:
        return InputChangedError(
            f"{self.file.url}: the file can't be read, or has changed since the run began"
        )


@dataclass(frozen=True, slots=True)
class ParquetPartition:
    """Records `start` to `stop - 1` of a table, in ranges of its files.

    Attributes:
        ranges: in record order.
        schema: of the whole table, which a part's all-missing column takes on.
        start: number of the first record.
    """

    ranges: tuple[ParquetRange, ...]
    schema: pa.Schema
    start: int = 0

    @property
    def stop(self) -> int:
        """One more than the number of the last record."""
        return self.start + sum(one.last - one.first for one in self.ranges)

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The records in order."""
        names = self.schema.names if columns is None else list(columns)
        schema = pa.schema([self.schema.field(name) for name in names])
        tables = [conform(one.read(names), schema) for one in self.ranges]
        table = pa.concat_tables(tables) if tables else schema.empty_table()
        return table.unify_dictionaries()


def conform(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The same values in the types of `schema`, without metadata.

    Parquet has no seconds, no 64-bit dates and dictionaries of text alone, and a part may have a
    column that is all missing: those take on the type that the whole table has.
    """
    columns = [
        _retyped(column, field.type) for column, field in zip(table.columns, schema, strict=True)
    ]
    return pa.table(columns, schema=schema)


def _retyped(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if column.type == kind:
        return column
    if pa.types.is_null(column.type):
        return pa.chunked_array([pa.nulls(len(column), kind)])
    if not pa.types.is_dictionary(kind):
        return column.cast(kind)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    encoded = column.cast(kind.value_type).combine_chunks().dictionary_encode()
    indices = encoded.indices.cast(kind.index_type)
    array = pa.DictionaryArray.from_arrays(indices, encoded.dictionary, ordered=kind.ordered)
    return pa.chunked_array([array], kind)


def cut_ranges(
    files: Sequence[tuple[Store, Sequence[int]]], pieces: int
) -> list[tuple[ParquetRange, ...]]:
    """Cuts files into at most `pieces` lists of ranges, as `cut_rows`."""
    cuts = cut_rows([groups for _, groups in files], pieces)
    return [
        tuple(ParquetRange(files[place][0], first, last) for place, first, last in parts)
        for parts in cuts
    ]


def cut_rows(files: Sequence[Sequence[int]], pieces: int) -> list[tuple[tuple[int, int, int], ...]]:
    """Cuts files into at most `pieces` lists of ranges of nearly equal size.

    A border moves to the end of a group of rows where one is near (a quarter of a piece), so that
    few groups are read twice.

    Args:
        files: the rows of the groups of each, in record order.
        pieces: at least 1.

    Returns:
        For each piece the places of its files, with their first row and the one behind the last.
    """
    rows = [sum(groups) for groups in files]
    ends = np.cumsum([size for groups in files for size in groups], dtype=np.int64)
    total = int(sum(rows))
    borders = np.linspace(0, total, max(1, min(pieces, total)) + 1).round().astype(np.int64)
    if len(ends):
        after = np.minimum(np.searchsorted(ends, borders), len(ends) - 1)
        before = np.maximum(after - 1, 0)
        near = np.where(borders - ends[before] < ends[after] - borders, ends[before], ends[after])
        is_near = np.abs(near - borders) * 4 <= total / max(1, len(borders) - 1)
        is_near[[0, -1]] = False
        borders = np.unique(np.where(is_near, near, borders))
    starts = np.concatenate([[0], np.cumsum(rows, dtype=np.int64)]).tolist()
    return [
        tuple(
            (place, max(low, start) - start, min(high, stop) - start)
            for place, (start, stop) in enumerate(pairwise(starts))
            if max(low, start) < min(high, stop)
        )
        for low, high in pairwise(borders.tolist())
    ]


def _groups(metadata: pq.FileMetaData, first: int, last: int) -> tuple[list[int], int]:
    """The row groups that hold the rows, and how many rows come before them."""
    groups, skipped, start = [], 0, 0
    for group in range(metadata.num_row_groups):
        stop = start + metadata.row_group(group).num_rows
        if start < last and stop > first:
            groups.append(group)
        elif stop <= first:
            skipped = stop
        start = stop
    return groups, skipped
