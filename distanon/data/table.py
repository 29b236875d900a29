"""A table with roles, as partitions that are read when they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.ports import Partition
from distanon.data.schema import Schema

if TYPE_CHECKING:
    from distanon.data.domain import Domain


@dataclass(frozen=True, slots=True)
class MemoryPartition:
    """Records that are held in memory."""

    table: pa.Table
    start: int = 0

    def __repr__(self) -> str:
        """Without values of the data: a log or a notebook may keep it."""
        return f"MemoryPartition(records {self.start} … {self.stop})"

    @property
    def stop(self) -> int:
        """One more than the number of the last record."""
        return self.start + int(self.table.num_rows)

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The records in order."""
        return self.table if columns is None else self.table.select(list(columns))

    def __reduce__(self) -> tuple[Any, ...]:
        """Its own rows alone: a pickled slice would carry the whole table's buffers."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.table.schema) as writer:
            writer.write_table(self.table)
        return _unpickled, (sink.getvalue(), self.start)


def _unpickled(stream: pa.Buffer, start: int) -> MemoryPartition:
    return MemoryPartition(pa.ipc.open_stream(stream).read_all(), start)


class MemoryScratch:
    """Named tables for the time of one process; a worker's copy forgets what it wrote."""

    def __init__(self) -> None:
        self._tables: dict[str, MemoryPartition] = {}

    def find(self, name: str) -> MemoryPartition | None:
        """The table of this name, if this process wrote it."""
        return self._tables.get(name)

    def write(self, name: str, table: pa.Table) -> MemoryPartition:
        """Keeps the table; what comes back holds it, wherever it travels."""
        self._tables[name] = MemoryPartition(table)
        return self._tables[name]


@dataclass(frozen=True, slots=True)
class SelectedPartition:
    """Some of the records of another partition, numbered anew."""

    whole: Partition
    rows: NDArray[np.int64]
    start: int

    def __repr__(self) -> str:
        """Without values of the data, nor which records were chosen."""
        return f"SelectedPartition(records {self.start} … {self.stop})"

    @property
    def stop(self) -> int:
        """One more than the number of the last record."""
        return self.start + len(self.rows)

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The chosen records in order."""
        return _without_views(self.whole.read(columns)).take(pa.array(self.rows, pa.int64()))


def _without_views(table: pa.Table) -> pa.Table:
    """String views as text: Arrow can't take rows of them."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string_view(field.type):
            text = table.column(place).cast(pa.large_string())
            table = table.set_column(place, field.name, text)
    return table


@dataclass(frozen=True, slots=True)
class Dataset:
    """A table: its schema, and its records in contiguous partitions.

    Attributes:
        schema: role and type of every column.
        partitions: in record order, without gaps, from record 0.
        source: what the table is called in messages: the path in the spec, or "the data frame".
        domain: of all records, once they were scanned; `scan` then returns it at once.
    """

    schema: Schema
    partitions: tuple[Partition, ...]
    source: str = "the table"
    domain: Domain | None = None

    def __repr__(self) -> str:
        """Without values of the data: a log or a notebook may keep it."""
        names = ", ".join(attribute.name for attribute in self.schema)
        return f"Dataset({self.source}: {len(self)} records of {names})"

    def __len__(self) -> int:
        return self.partitions[-1].stop if self.partitions else 0

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """All records, in one table."""
        if not self.partitions:
            names = [attribute.name for attribute in self.schema] if columns is None else columns
            kinds = [(name, self.schema[name].arrow_type) for name in names]
            return pa.schema(kinds).empty_table()
        if len(self.partitions) == 1:  # also: joining tables without columns loses their rows
            return self.partitions[0].read(columns)
        return pa.concat_tables([partition.read(columns) for partition in self.partitions])

    def select(self, rows: NDArray[np.int64]) -> Dataset:
        """The records of these numbers (ascending), numbered anew from 0."""
        partitions: list[Partition] = []
        start = 0
        for partition in self.partitions:
            low, high = np.searchsorted(rows, (partition.start, partition.stop))
            selected = SelectedPartition(partition, rows[low:high] - partition.start, start)
            partitions.append(selected)
            start = selected.stop
        return Dataset(self.schema, tuple(partitions), self.source)


def cut(table: pa.Table, pieces: int) -> tuple[MemoryPartition, ...]:
    """A table in memory as at most `pieces` partitions of nearly equal size."""
    count = max(1, min(pieces, table.num_rows))
    borders = [table.num_rows * piece // count for piece in range(count + 1)]
    return tuple(
        MemoryPartition(table.slice(low, high - low), low) for low, high in pairwise(borders)
    )
