"""Node ids: whole numbers or text, as the files have them, and the numbers 0 … n-1 for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from distanon.data import codes
from distanon.errors import InputError

Integers = NDArray[np.int64]

Place: TypeAlias = Callable[[int], str]
"""Where a row (from 0) stands, in words: "edges.csv, line 18"."""

_SPARSE = 8
"""Integers that span more than this times their count are looked up by hash."""


def read_ids(column: pa.ChunkedArray | pa.Array, name: str, place: Place) -> pa.Array:
    """A column of node ids, as int64 or large text without space around it.

    Args:
        column: whole numbers, floats that are whole (as pandas writes them), or text.
        name: of the column, for messages.
        place: of its rows.

    Raises:
        InputError: an id is missing, or of another kind; names place and column.
    """
    values = codes.plain(column)
    if codes.is_text(values.type):
        values = pc.utf8_trim_whitespace(values)
        values = pc.if_else(pc.equal(values, ""), pa.scalar(None, values.type), values)
    missing = values.is_null().to_numpy(zero_copy_only=False)
    if missing.any():
        raise InputError(
            _told(missing, name, place, "no node id", "give the node an id, or remove the row")
        )
    kind = values.type
    if codes.is_text(kind):
        return values
    if not len(values):
        return pa.array([], pa.int64())
    if pa.types.is_floating(kind):
        floats = values.to_numpy(zero_copy_only=False).astype(np.float64)
        broken = (floats != np.rint(floats)) | (np.abs(floats) > 2.0**53)
        if broken.any():
            raise InputError(
                _told(broken, name, place, "a number with decimals", "ids are whole or text")
            )
        return pa.array(floats.astype(np.int64))
    if pa.types.is_integer(kind):
        is_wide = pc.max(values).as_py() >= 2**63
        return values.cast(pa.large_string() if is_wide else pa.int64())
    raise InputError(
        f"{place(0).rpartition(', ')[0]}, column {name!r}: node ids of type {kind}; expected "
        "whole numbers or text"
    )


def alike(*columns: pa.Array) -> list[pa.Array]:
    """Id columns in one type: text where any is text, so that the number 7 is the text "7"."""
    if len({column.type for column in columns}) == 1:
        return list(columns)
    return [column.cast(pa.large_string()) for column in columns]


def repeated(ids: pa.Array) -> tuple[int, int, int] | None:
    """The first row whose id an earlier row has, that earlier row, and how many such rows."""
    distinct = pc.unique(ids)
    if len(distinct) == len(ids):
        return None
    places = pc.index_in(ids, value_set=distinct).to_numpy()
    _, first = np.unique(places, return_index=True)
    again = np.ones(len(ids), np.bool_)
    again[first] = False
    row = int(np.flatnonzero(again)[0])
    return row, int(first[places[row]]), int(again.sum())


def distinct_ids(source: pa.Array, target: pa.Array) -> pa.Array:
    """The ids that the ends of edges have, ascending: by number, or by the bytes of the text."""
    both = [source, target]
    if source.type == pa.int64() and len(source):
        low, high = _range(both)
        if high - low < _SPARSE * 2 * len(source) + 1024:
            seen = np.zeros(high - low + 1, np.bool_)
            for column in both:
                seen[column.to_numpy() - low] = True
            return pa.array(np.flatnonzero(seen) + low, pa.int64())
    values = pc.unique(pa.chunked_array(both))
    return values.take(pc.sort_indices(values))


def number(values: pa.Array, ids: pa.Array) -> Integers:
    """The place of each value in `ids`, int64; -1 for one that is not there.

    Args:
        values: of the type that `ids` have.
        ids: distinct.
    """
    if ids.type == pa.int64() and len(ids):
        low, high = _range([ids])
        if high - low < _SPARSE * len(ids) + 1024:
            return _by_table(values.to_numpy(), ids.to_numpy(), low, high)
    found = pc.index_in(values, value_set=ids).cast(pa.int64())
    places: Integers = found.fill_null(-1).to_numpy(zero_copy_only=False)
    return places


def _by_table(values: Integers, ids: Integers, low: int, high: int) -> Integers:
    table = np.full(high - low + 1, -1, np.int64)
    table[ids - low] = np.arange(len(ids))
    inside = (values >= low) & (values <= high)
    if inside.all():
        found: Integers = table[values - low]
        return found
    places = np.full(len(values), -1, np.int64)
    places[inside] = table[values[inside] - low]
    return places


def _range(columns: list[pa.Array]) -> tuple[int, int]:
    ends = [pc.min_max(column).as_py() for column in columns]
    return min(end["min"] for end in ends), max(end["max"] for end in ends)


def _told(wrong: NDArray[np.bool_], name: str, place: Place, what: str, advice: str) -> str:
    count = int(wrong.sum())
    more = f" ({count} such rows in all)" if count > 1 else ""
    return f"{place(int(np.argmax(wrong)))}, column {name!r}: {what}{more}; {advice}"
