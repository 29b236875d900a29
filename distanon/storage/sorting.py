"""The rows of a release in their order, where no process should hold them all: through files.

Some rows of a sample cut the order into ranges; each range is gathered from all pieces, sorted by
itself and let go. Rows that tie are never in two ranges, so the order is that of the whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.ports import Partition
from distanon.data.release import order_for_release, sort_for_release
from distanon.data.schema import SOURCE
from distanon.storage.store import Store

Integers = NDArray[np.int64]

_FOLDER = "sorting"
_EACH = 1000  # one row of so many is in the sample


def can_be_cut(pieces: Sequence[Partition]) -> bool:
    """Whether ranges of rows can be sorted by themselves: dictionaries are the whole table's."""
    kinds = pieces[0].read().schema.types if pieces else []
    return not any(pa.types.is_dictionary(kind) for kind in kinds)


def sorted_parts(
    pieces: Sequence[Partition], folder: Store, rows: int
) -> Iterator[tuple[pa.Table, Integers]]:
    """The rows as `data.release.sort_for_release` gives them, in parts.

    Args:
        pieces: of the release, `SOURCE` their last column; no dictionaries.
        folder: where ranges are gathered; nothing is left there.
        rows: of a part, the last excepted; so many and as many again, about, are in memory.

    Yields:
        The published columns, and the source record's number of each row.
    """
    total = sum(piece.stop - piece.start for piece in pieces)
    sample, schema = _sampled(pieces)
    ranges = max(1, math.ceil(total / rows))
    chosen = np.linspace(0, sample.num_rows, ranges + 1).astype(np.int64)[1:-1]
    borders = sort_for_release(sample)[0].take(pa.array(chosen))
    try:
        groups = _gathered(pieces, schema, borders, folder, rows)
        yield from _in_parts(_ranges(folder, ranges, groups), rows)
    finally:
        folder.delete_all(_FOLDER)


def _sampled(pieces: Sequence[Partition]) -> tuple[pa.Table, pa.Schema]:
    """Rows from everywhere, and the types of all pieces together: some may lack all values."""
    some = []
    for piece in pieces:
        table = piece.read()
        some.append(table.take(pa.array(np.arange(0, table.num_rows, _EACH))))
    sample = pa.concat_tables(some, promote_options="default")
    return sample, sample.schema


def _gathered(
    pieces: Sequence[Partition], schema: pa.Schema, borders: pa.Table, folder: Store, rows: int
) -> int:
    """Writes the rows of each range, from about `rows` rows at a time; how many times that was."""
    held: list[pa.Table] = []
    groups = 0
    for place, piece in enumerate(pieces, 1):
        held.append(piece.read().cast(schema))
        if place < len(pieces) and sum(table.num_rows for table in held) < rows:
            continue
        table = pa.concat_tables(held)
        held.clear()
        range_of = _range_of(table, borders)
        order = np.argsort(range_of, kind="stable")
        ends = np.searchsorted(range_of[order], np.arange(borders.num_rows + 2))
        for number, (low, high) in enumerate(pairwise(ends)):
            if low < high:
                part = table.take(pa.array(order[low:high]))
                _put(folder, _name(number, groups), part)
        groups += 1
    return groups


def _range_of(table: pa.Table, borders: pa.Table) -> Integers:
    """For each row how many borders it lies behind; one that equals a border does not."""
    last = pa.array(np.full(borders.num_rows, np.iinfo(np.int64).max))
    marked = borders.append_column(SOURCE, last).select(table.column_names)
    order = order_for_release(pa.concat_tables([table, marked.cast(table.schema)])).to_numpy()
    is_border = order >= table.num_rows
    range_of = np.empty(len(order), np.int64)
    range_of[order] = np.cumsum(is_border)
    return range_of[: table.num_rows]


def _ranges(folder: Store, ranges: int, groups: int) -> Iterator[tuple[pa.Table, Integers]]:
    """Each range that has rows, sorted."""
    for number in range(ranges):
        names = [_name(number, group) for group in range(groups)]
        there = [name for name in names if folder.exists(name)]
        if there:
            yield sort_for_release(pa.concat_tables([_get(folder, name) for name in there]))
        for name in there:
            folder.delete(name)


def _in_parts(
    ranges: Iterator[tuple[pa.Table, Integers]], rows: int
) -> Iterator[tuple[pa.Table, Integers]]:
    """The same rows, so many at a time."""
    tables: list[pa.Table] = []
    sources = np.zeros(0, np.int64)
    for table, numbers in ranges:
        tables.append(table)
        sources = np.concatenate((sources, numbers))
        while len(sources) >= rows:
            whole = pa.concat_tables(tables)
            yield whole.slice(0, rows).combine_chunks(), sources[:rows]
            tables, sources = [whole.slice(rows)], sources[rows:]
    if len(sources):
        yield pa.concat_tables(tables).combine_chunks(), sources


def _name(number: int, group: int) -> str:
    return f"{_FOLDER}/{number:05d}-{group:05d}.arrow"


def _put(folder: Store, name: str, table: pa.Table) -> None:
    """As Arrow has it: parquet would change some types."""
    options = pa.ipc.IpcWriteOptions(compression="lz4")

    def write(stream: object) -> None:
        with pa.ipc.new_file(stream, table.schema, options=options) as writer:
            writer.write_table(table)

    folder.write_with(name, write)


def _get(folder: Store, name: str) -> pa.Table:
    return pa.ipc.open_file(pa.BufferReader(folder.read(name))).read_all()
