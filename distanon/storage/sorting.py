"""The rows of a release in their order, where no process should hold them all: through files.

Some rows of a sample cut the order into ranges; each range is gathered from all pieces, sorted by
itself and let go. Rows that tie are never in two ranges, so the order is that of the whole. Each
step is done by whoever is given to work; the order does not depend on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.ports import Partition
from distanon.data.release import order_for_release, sort_for_release
from distanon.data.schema import SOURCE
from distanon.storage.store import Store

Integers = NDArray[np.int64]

Each: TypeAlias = Callable[[Callable[[None, Any], Any], Sequence[Any]], Iterable[Any]]
"""Calls a pure function with None and each item, somewhere; what it returned, in their order."""

_FOLDER = "sorting"
_EACH = 1000  # one row of so many is in the sample
_FINE = 16  # parts


class Stretch(NamedTuple):
    """Rows `start` to `stop - 1` of the sorted range of this number."""

    number: int
    start: int
    stop: int


def here(function: Callable[[None, Any], Any], items: Sequence[Any]) -> Iterable[Any]:
    """`Each` in this process."""
    return (function(None, item) for item in items)


def can_be_cut(pieces: Sequence[Partition]) -> bool:
    """Whether ranges of rows can be sorted by themselves: dictionaries are the whole table's."""
    kinds = pieces[0].read().schema.types if pieces else []
    return not any(pa.types.is_dictionary(kind) for kind in kinds)


def sorted_parts(
    pieces: Sequence[Partition], folder: Store, rows: int, each: Each
) -> list[list[Stretch]]:
    """The rows as `data.release.sort_for_release` gives them, in parts, for `rows_of`.

    Args:
        pieces: of the release, `SOURCE` their last column; no dictionaries.
        folder: where ranges are gathered and sorted, until `forget`.
        rows: of a part, the last excepted; so many and as many again, about, are in memory.
        each: who works.

    Returns:
        For each part the stretches of sorted ranges that it consists of.
    """
    total = sum(piece.stop - piece.start for piece in pieces)
    # Ranges smaller than parts, so that workers end together; not where that means many files.
    size = max(1, rows // 2) if total <= _FINE * rows else rows
    some = pa.concat_tables(list(each(_some, pieces)), promote_options="default")
    ranges = max(1, math.ceil(total / size))
    chosen = np.linspace(0, some.num_rows, ranges + 1).astype(np.int64)[1:-1]
    borders = sort_for_release(some)[0].take(pa.array(chosen))
    groups = [
        (group, some.schema, borders, folder, number)
        for number, group in enumerate(_groups(pieces, size))
    ]
    counts = list(each(_gather, groups))
    gathered = [
        (folder, number, [group for group, found in enumerate(counts) if found[number]])
        for number in range(ranges)
    ]
    lengths = []
    for (_, number, there), length in zip(gathered, each(_sort, gathered), strict=True):
        lengths.append(length)
        for group in there:
            folder.delete(_name(number, group))
    return _cut(lengths, rows)


def rows_of(folder: Store, stretches: Sequence[Stretch]) -> tuple[pa.Table, Integers]:
    """The published columns of a part, and the source record's number of each row."""
    tables = [
        _get(folder, _sorted_name(one.number)).slice(one.start, one.stop - one.start)
        for one in stretches
    ]
    table = pa.concat_tables(tables).combine_chunks()
    sources: Integers = table.column(SOURCE).to_numpy()
    return table.drop_columns([SOURCE]), sources


def forget(folder: Store) -> None:
    """Deletes what was gathered and sorted."""
    folder.delete_all(_FOLDER)


def _groups(pieces: Sequence[Partition], rows: int) -> list[list[Partition]]:
    """Pieces of about so many rows together."""
    groups: list[list[Partition]] = [[]]
    held = 0
    for piece in pieces:
        if held >= rows:
            groups.append([])
            held = 0
        groups[-1].append(piece)
        held += piece.stop - piece.start
    return groups


def _cut(lengths: Sequence[int], rows: int) -> list[list[Stretch]]:
    """Ranges of so many rows, one after the other, as parts of `rows` each."""
    ends = np.cumsum(lengths)
    parts = []
    for start in range(0, int(ends[-1]), rows):
        stop = start + rows
        parts.append(
            [
                Stretch(number, max(0, start - end + length), min(length, stop - end + length))
                for number, (end, length) in enumerate(zip(ends.tolist(), lengths, strict=True))
                if length and start < end and stop > end - length
            ]
        )
    return parts


def _some(_: None, piece: Partition) -> pa.Table:
    """Rows from everywhere; with the types of all pieces once joined: some may lack all values."""
    table = piece.read()
    return table.take(pa.array(np.arange(0, table.num_rows, _EACH)))


def _gather(
    _: None, item: tuple[Sequence[Partition], pa.Schema, pa.Table, Store, int]
) -> list[int]:
    """Writes the rows of each range, from some pieces; how many each has."""
    pieces, schema, borders, folder, group = item
    table = pa.concat_tables([piece.read().cast(schema) for piece in pieces])
    range_of = _range_of(table, borders)
    order = np.argsort(range_of, kind="stable")
    ends = np.searchsorted(range_of[order], np.arange(borders.num_rows + 2))
    for number, (low, high) in enumerate(pairwise(ends)):
        if low < high:
            _put(folder, _name(number, group), table.take(pa.array(order[low:high])))
    return [int(count) for count in np.diff(ends)]


def _sort(_: None, item: tuple[Store, int, Sequence[int]]) -> int:
    """Sorts a range from what was gathered for it; how many rows it has."""
    folder, number, groups = item
    if not groups:
        return 0
    tables = [_get(folder, _name(number, group)) for group in groups]
    table, sources = sort_for_release(pa.concat_tables(tables))
    _put(folder, _sorted_name(number), table.append_column(SOURCE, pa.array(sources)))
    return len(sources)


def _range_of(table: pa.Table, borders: pa.Table) -> Integers:
    """For each row how many borders it lies behind; one that equals a border does not."""
    last = pa.array(np.full(borders.num_rows, np.iinfo(np.int64).max))
    marked = borders.append_column(SOURCE, last).select(table.column_names)
    order = order_for_release(pa.concat_tables([table, marked.cast(table.schema)])).to_numpy()
    is_border = order >= table.num_rows
    range_of = np.empty(len(order), np.int64)
    range_of[order] = np.cumsum(is_border)
    return range_of[: table.num_rows]


def _name(number: int, group: int) -> str:
    return f"{_FOLDER}/{number:05d}-{group:05d}.arrow"


def _sorted_name(number: int) -> str:
    return f"{_FOLDER}/{number:05d}.arrow"


def _put(folder: Store, name: str, table: pa.Table) -> None:
    """As Arrow has it: parquet would change some types."""
    options = pa.ipc.IpcWriteOptions(compression="lz4")

    def write(stream: object) -> None:
        with pa.ipc.new_file(stream, table.schema, options=options) as writer:
            writer.write_table(table)

    folder.write_with(name, write)


def _get(folder: Store, name: str) -> pa.Table:
    return pa.ipc.open_file(pa.BufferReader(folder.read(name))).read_all()
