"""Columns as exact numbers: which arrow types a table may hold, and what stands behind them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from distanon.data.coding import Integers

_NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
_SECONDS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True, slots=True, repr=False)
class Numbers:
    """The numbers of a column: integers, exactly, or floats.

    Attributes:
        present: bool (n,).
        integers: int64 or uint64 (n,), arbitrary where missing; None for floats.
        floats: float64 (n,), NaN where missing; None for integers.
        scale: of a column of decimals.
    """

    present: NDArray[np.bool_]
    integers: Integers | None = None
    floats: NDArray[np.float64] | None = None
    scale: int = 0


class TooWideError(ValueError):
    """Numbers of more digits than float64 holds."""


class NotNumbersError(ValueError):
    """Cells of a text column that are no numbers.

    Attributes:
        first: place of the first, from 0.
        count: how many.
    """

    def __init__(self, first: int, count: int) -> None:
        super().__init__(f"row {first + 1}: text, expected number")
        self.first = first
        self.count = count


def value_type(kind: pa.DataType) -> pa.DataType:
    """The type of a column's values: of a dictionary its values, of text always the large form."""
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return value_type(kind.value_type)
    if is_text(kind):
        return pa.large_string()
    if pa.types.is_decimal32(kind) or pa.types.is_decimal64(kind):
        return pa.decimal128(kind.precision, kind.scale)
    return kind


def stored_type(kind: pa.DataType) -> pa.DataType:
    """The type as which a column is worked on and published: views and runs as plain values.

    Few readers know them, and Arrow itself can neither take rows of the ones nor compare the
    others.
    """
    if pa.types.is_run_end_encoded(kind):
        return stored_type(kind.value_type)
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, stored_type(kind.value_type), kind.ordered)
    return pa.large_string() if pa.types.is_string_view(kind) else kind


def stored(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column in its `stored_type`."""
    if pa.types.is_run_end_encoded(column.type):
        chunks = [pc.run_end_decode(chunk) for chunk in column.chunks]
        column = pa.chunked_array(chunks, column.type.value_type)
    kind = stored_type(column.type)
    return column if column.type == kind else column.cast(kind)


def is_text(kind: pa.DataType) -> bool:
    """Whether values are text, dictionaries not looked into."""
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def is_whole(kind: pa.DataType) -> bool:
    """Whether integers stand behind the values: integers, booleans, dates and times."""
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or (pa.types.is_temporal(kind) and not pa.types.is_interval(kind))
    )


def is_supported(kind: pa.DataType) -> bool:
    """Whether a table may hold the type: one value a cell, which can be compared and sorted."""
    kind = value_type(kind)
    return bool(
        is_text(kind)
        or is_whole(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_null(kind)
    )


def plain(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """The values in one piece, of `value_type`: no dictionaries, NaN as null, -0.0 as 0.0."""
    if isinstance(column, pa.ChunkedArray) and pa.types.is_run_end_encoded(column.type):
        chunks = [pc.run_end_decode(chunk) for chunk in column.chunks]
        column = pa.chunked_array(chunks, column.type.value_type)
    elif pa.types.is_run_end_encoded(column.type):
        column = pc.run_end_decode(column)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = value_type(column.type)
    if column.type != kind:
        column = column.cast(kind)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_floating(kind):
        values = column.to_numpy(zero_copy_only=False)
        missing = np.isnan(values)
        if missing.any() or (np.signbit(values) & (values == 0)).any():  # else nothing is copied
            column = pa.array(values + kind.to_pandas_dtype()(0), kind, mask=missing)
    return column


def numbers(column: pa.ChunkedArray | pa.Array) -> Numbers:
    """The numbers of a column of any supported type, NaN as missing.

    Raises:
        NotNumbersError: text that is no number.
        TooWideError: decimals of more than 18 digits.
    """
    kind = value_type(column.type)
    if pa.types.is_floating(kind) and column.type == kind:
        floats = (
            column.to_numpy(zero_copy_only=False)
            if isinstance(column, pa.Array)
            else (column.to_numpy())
        )
        floats = floats.astype(np.float64, copy=False) + 0.0
        return Numbers(~np.isnan(floats), floats=floats)
    values = plain(column)
    if is_text(kind):
        return _text_numbers(values)
    present = values.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_null(kind):
        return Numbers(present, floats=np.full(len(values), np.nan))
    if pa.types.is_floating(kind):
        floats = values.to_numpy(zero_copy_only=False).astype(np.float64)
        return Numbers(present, floats=floats)
    if pa.types.is_decimal(kind):
        return Numbers(present, integers=_unscaled(values, present), scale=kind.scale)
    return Numbers(present, integers=_whole(values))


def as_text(values: pa.Array) -> pa.Array:
    """Plain values as text, instants in UTC."""
    if pa.types.is_timestamp(values.type) and values.type.tz is not None:
        values = values.view(pa.timestamp(values.type.unit))
    if pa.types.is_duration(values.type):
        values = values.view(pa.int64())
    return values.cast(pa.large_string())


def as_dictionary(indices: pa.Array, values: pa.Array, kind: pa.DataType) -> pa.DictionaryArray:
    """A dictionary column of `kind`, with wider indices where its own can't count the values."""
    index = kind.index_type
    if len(values) > np.iinfo(index.to_pandas_dtype()).max:
        index = pa.int32()
    if values.type != kind.value_type:
        values = values.cast(kind.value_type)
    return pa.DictionaryArray.from_arrays(indices.cast(index), values, ordered=kind.ordered)


def as_type(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Plain or dictionary values in the type that the file had."""
    if pa.types.is_run_end_encoded(kind):
        return pc.run_end_encode(as_type(array, kind.value_type), run_end_type=kind.run_end_type)
    if not pa.types.is_dictionary(kind):
        return array if array.type == kind else array.cast(kind)
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    return as_dictionary(array.indices, array.dictionary, kind)


def numeric_text(values: pa.Array) -> NDArray[np.bool_]:
    """Which present cells of a text array read as finite numbers; missing ones count as such."""
    matches = pc.match_substring_regex(pc.utf8_trim_whitespace(values), _NUMBER)
    reads: NDArray[np.bool_] = pc.fill_null(matches, True).to_numpy(zero_copy_only=False)
    return reads


def steps(kind: pa.DataType) -> tuple[int, ...]:
    """Calendar units of a date or time type, in its integers, each a divisor of the one before."""
    if pa.types.is_date64(kind):
        second = _SECONDS["ms"]
    elif pa.types.is_timestamp(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind):
        second = _SECONDS[kind.unit]
    else:
        return (1,)
    units = [86400 * second, 3600 * second, 60 * second]
    return (*units, *(second // 10**power for power in (0, 3, 6, 9) if second >= 10**power))


def from_integers(integers: Integers, missing: NDArray[np.bool_], kind: pa.DataType) -> pa.Array:
    """An array of a whole-number type.

    Raises:
        ValueError: an integer is beyond the type.
    """
    is_named = pa.types.is_integer(kind) or pa.types.is_boolean(kind)
    narrow = np.dtype(kind.to_pandas_dtype() if is_named else f"int{kind.bit_width}")
    if pa.types.is_boolean(kind):
        low, high = 0, 1
    elif pa.types.is_time(kind):
        low, high = 0, 86400 * _SECONDS[kind.unit] - 1
    else:
        low, high = int(np.iinfo(narrow).min), int(np.iinfo(narrow).max)
    seen = integers[~missing]
    if len(seen) and (int(seen.min()) < low or int(seen.max()) > high):
        raise ValueError("a value beyond the column's type")
    array = pa.array(integers.astype(narrow), mask=missing)
    return array if is_named else array.view(kind)


def from_unscaled(integers: Integers, missing: NDArray[np.bool_], kind: pa.DataType) -> pa.Array:
    """An array of decimals from their digits without the point.

    Raises:
        ValueError: more digits than the type has.
    """
    if len(integers) and int(np.abs(integers[~missing]).max(initial=0)) >= 10**kind.precision:
        raise ValueError("a value beyond the column's type")
    words = np.empty((len(integers), 2), dtype=np.int64)
    words[:, 0] = integers
    words[:, 1] = words[:, 0] >> 63
    valid = pa.array(~missing).buffers()[1]
    wide = pa.decimal128(max(19, min(38, kind.precision)), kind.scale)
    array = pa.Array.from_buffers(wide, len(integers), [valid, pa.py_buffer(words)])
    return array.cast(kind)


def _text_numbers(values: pa.Array) -> Numbers:
    good = numeric_text(values)
    if not good.all():
        raise NotNumbersError(int(np.argmin(good)), int((~good).sum()))
    bare = pc.utf8_ltrim(pc.utf8_trim_whitespace(values), characters="+")
    floats = bare.cast(pa.float64()).to_numpy(zero_copy_only=False) + 0.0
    return Numbers(~np.isnan(floats), floats=floats)


def _whole(values: pa.Array) -> Integers:
    kind = values.type
    if pa.types.is_boolean(kind):
        values = values.cast(pa.int8())
    elif not pa.types.is_integer(kind):
        values = values.view(pa.int64() if kind.bit_width == 64 else pa.int32())
    integers: Integers = pc.fill_null(values, 0).to_numpy(zero_copy_only=False)
    return integers if integers.dtype == np.uint64 else integers.astype(np.int64, copy=False)


def _unscaled(values: pa.Array, present: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Digits without the point."""
    if pa.types.is_decimal256(values.type):
        try:
            values = values.cast(pa.decimal128(38, values.type.scale))
        except pa.ArrowInvalid:  # its message quotes the value
            raise TooWideError from None
    start = 2 * values.offset
    words = np.frombuffer(values.buffers()[1], dtype=np.int64)[start : start + 2 * len(values)]
    low, high = words[0::2], words[1::2]
    if (present & (high != low >> 63)).any():
        raise TooWideError
    return np.where(present, low, 0)
