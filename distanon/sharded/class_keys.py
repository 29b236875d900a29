"""Tuples of values as integers: equal tuples, equal words, whichever partition they stand in.

A number, a date or a truth value is its distance from the column's smallest; text is its place
among the column's distinct texts; a float is its bits. These fields are packed into as few 64-bit
words as hold them, so that tuples are grouped as integers, exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from distanon.data.classes import canonical, encode
from distanon.errors import InputError

Integers = NDArray[np.int64]

_LARGEST = 2**62
_NULL_BITS = np.int64(0x7FF8000000000001)
"""A NaN that no column holds: `canonical` makes all of them one."""
_NAN_BITS = np.int64(0x7FF8000000000000)


@dataclass(frozen=True, slots=True)
class ColumnPart:
    """What one partition says of a column.

    Attributes:
        low: the smallest integer; None: there is none, or the column has no integers.
        high: the largest.
        values: the distinct values in order of first appearance, where these are needed.
    """

    low: int | None = None
    high: int | None = None
    values: pa.Array | None = None


@dataclass(slots=True)
class Distinct:
    """The distinct values of a column, gathered partition by partition."""

    kind: pa.DataType
    _known: list[pa.Array] = field(default_factory=list)
    _unsorted: int = 0

    def add(self, values: pa.Array) -> None:
        """Values of the next partition."""
        self._known.append(values)
        self._unsorted += len(values)
        if self._unsorted > 2 * len(self._known[0]) + 1024:  # so each value is moved but twice
            self._known = [self.values()]
            self._unsorted = 0

    def values(self) -> pa.Array:
        """All of them in order of first appearance; a missing one is null."""
        if not self._known:
            return pa.array([], self.kind)
        return pc.unique(pa.concat_arrays(self._known))


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """How the values of a column become integers.

    Attributes:
        name: of the column.
        low: of integers: what is taken from each.
        radix: how many different fields there are, the one of missing values included; 0: a
            field takes a word of its own.
        values: of others than integers and floats: the distinct values by number.
    """

    name: str
    low: int = 0
    radix: int = 0
    values: pa.Array | None = None

    def fields(self, column: pa.ChunkedArray) -> list[tuple[Integers, int]]:
        """Integers in 0 … radix − 1 for each row, with their radix; 0: any 64 bits.

        Raises:
            InputError: a value that was not there when the column was surveyed.
        """
        if self.values is not None:
            return [(numbers(column, self.values, self.name), self.radix)]
        column = canonical(column)
        if pa.types.is_floating(column.type):
            return [(_bits(column), 0)]
        missing = np.asarray(pc.is_null(column).to_numpy(), dtype=np.bool_)
        whole = _integers(column)
        if self.radix:
            digits = np.where(missing, 0, whole - np.int64(self.low))
            if len(digits) and (digits.min() < 0 or digits.max() >= max(self.radix - 1, 1)):
                raise _changed(self.name)
            digits[missing] = self.radix - 1
            return [(digits, self.radix)]
        return [(np.where(missing, 0, whole), 0), (missing.astype(np.int64), 2)]


def survey(table: pa.Table, keys: Sequence[str], values: Sequence[str]) -> list[ColumnPart]:
    """What a partition says of its key columns, then of its value columns."""
    return [_part(table.column(name)) for name in keys] + [
        ColumnPart(values=encode(table.column(name)).values) for name in values
    ]


def key_column(name: str, kind: pa.DataType, parts: Iterable[ColumnPart]) -> KeyColumn:
    """The integers of a column, from what all partitions say of it."""
    kind = plain_type(kind)
    if pa.types.is_floating(kind):
        return KeyColumn(name)
    if not _is_integral(kind):
        gathered = Distinct(kind)
        for part in parts:
            gathered.add(part.values)
        values = gathered.values()
        return KeyColumn(name, radix=max(len(values), 1), values=values)
    ends = [(part.low, part.high) for part in parts if part.low is not None]
    low = min((one for one, _ in ends), default=0)
    high = max((one for _, one in ends if one is not None), default=low - 1)
    radix = high - low + 2
    return KeyColumn(name, low, radix if radix < _LARGEST else 0)


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of the values as `canonical` has them."""
    return canonical(pa.array([], kind)).type


def numbers(column: pa.ChunkedArray, values: pa.Array, name: str) -> Integers:
    """The number of each row's value among the distinct ones, shape (n,).

    Raises:
        InputError: a value that was not there when the column was surveyed.
    """
    codes = encode(column)
    found = pc.index_in(codes.values, value_set=values)
    if found.null_count:
        raise _changed(name)
    places: Integers = found.to_numpy(zero_copy_only=False).astype(np.int64)
    return places[codes.code_of]


def words(table: pa.Table, columns: Sequence[KeyColumn]) -> list[Integers]:
    """The tuples of a table's rows as words, each shape (n,); without columns all are equal."""
    packed = np.zeros(table.num_rows, np.int64)
    room, result = 1, []
    for column in columns:
        for digits, radix in column.fields(table.column(column.name)):
            if radix == 0:
                result.append(digits)
                continue
            if room * radix >= _LARGEST:
                result.append(packed)
                packed, room = np.zeros(table.num_rows, np.int64), 1
            packed = packed * radix + digits
            room *= radix
    return [packed, *result]


def _part(column: pa.ChunkedArray) -> ColumnPart:
    column = canonical(column)
    if pa.types.is_floating(column.type):
        return ColumnPart()
    if not _is_integral(column.type):
        return ColumnPart(values=encode(column).values)
    whole = _integers(column)[np.asarray(pc.is_valid(column).to_numpy(), dtype=np.bool_)]
    return ColumnPart(int(whole.min()), int(whole.max())) if len(whole) else ColumnPart()


def _changed(name: str) -> InputError:
    return InputError(f"column {name!r}: the files have changed while they were read; read again")


def _is_integral(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_boolean(kind) or _is_time(kind))


def _is_time(kind: pa.DataType) -> bool:
    is_point = pa.types.is_date(kind) or pa.types.is_time(kind) or pa.types.is_timestamp(kind)
    return bool(is_point or pa.types.is_duration(kind))


def _integers(column: pa.ChunkedArray) -> Integers:
    """Values as 64-bit integers, unsigned ones by their bits; 0 where one is missing."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    elif _is_time(column.type):
        column = column.cast(pa.int32() if column.type.bit_width == 32 else pa.int64())
    plain = pc.fill_null(column, pa.scalar(0, column.type)).to_numpy()
    return np.ascontiguousarray(plain).astype(np.int64, casting="unsafe", copy=False)


def _bits(column: pa.ChunkedArray) -> Integers:
    """The bits of floats, all NaN the same; a missing one has bits of its own."""
    missing = np.asarray(pc.is_null(column).to_numpy(), dtype=np.bool_)
    plain = pc.fill_null(column, pa.scalar(0.0, column.type)).to_numpy()
    wide = np.ascontiguousarray(plain.astype(np.float64))
    bits = np.where(np.isnan(wide), _NAN_BITS, wide.view(np.int64))
    return np.where(missing, _NULL_BITS, bits)
