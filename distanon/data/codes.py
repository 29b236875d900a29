"""Columns as exact numbers: which arrow types a table may hold, and their float64 codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
_EXACT = 2**53
_EXACT_SCALED = 2**50  # dividing by 10^scale and multiplying again costs up to three bits
_SECONDS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_SIGN = 2**63
_WORD = 2**64

Integers = NDArray[np.int64] | NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Coding:
    """How the integers behind a column become float64 codes, exactly.

    A code is (integer − origin) / step / 10^scale.

    Attributes:
        origin: 0, or the column's minimum where float64 can't hold the integers themselves.
        step: the coarsest of day, hour, minute, second, … that divides every instant of a
            column of dates or times, so that whole days stay whole days; 1 elsewhere.
        scale: digits after the point in a column of decimals; 0 elsewhere.
    """

    origin: int = 0
    step: int = 1
    scale: int = 0

    @staticmethod
    def fitting(low: int, high: int, step: int = 1, scale: int = 0) -> Coding | None:
        """The coding of integers in [low, high]; None where their range exceeds float64's."""
        exact = _EXACT_SCALED if scale else _EXACT
        if max(abs(low), abs(high)) // step <= exact:
            return Coding(0, step, scale)
        if (high - low) // step <= exact and high - low < _SIGN:
            return Coding(low, step, scale)
        return None

    def encode(self, integers: Integers) -> NDArray[np.float64]:
        """The codes of integers (exact inside the range that the coding was made for)."""
        if self.origin:
            words = integers.view(np.uint64) - np.uint64(self.origin % _WORD)
            integers = words.view(np.int64)
        if self.step > 1:
            whole, rest = np.divmod(integers, integers.dtype.type(self.step))
            codes = whole.astype(np.float64) + rest.astype(np.float64) / self.step
        else:
            codes = integers.astype(np.float64)
        return self._divided(codes)

    def decode(self, codes: NDArray[np.float64], *, unsigned: bool = False) -> Integers:
        """The integers of codes that lie on whole numbers (of the last digit, where scaled).

        Raises:
            ValueError: a code lies between two integers, or beyond 64 bits.
        """
        exact = codes * 10.0**self.scale if self.scale >= 0 else codes / 10.0**-self.scale
        whole = np.rint(exact)
        if (np.abs(whole - exact) > 1e-3 + np.abs(exact) * 2.0**-51).any():
            raise ValueError("a value between two whole numbers; round it first")
        if (np.abs(whole) * self.step >= _SIGN).any() and not unsigned:
            raise ValueError("a value beyond 64 bits")
        if unsigned and not self.origin:
            if (whole < 0).any() or (whole >= _WORD).any():
                raise ValueError("a value beyond the column's type")
            return whole.astype(np.uint64)
        words = (whole.astype(np.int64) * np.int64(self.step)).view(np.uint64)
        words = words + np.uint64(self.origin % _WORD)
        return words if unsigned else words.view(np.int64)

    def code(self, number: Any) -> Any:
        """The code of a number (or an array of them) in the column's own unit, as `top_code`."""
        return (number - self.origin / 10.0**self.scale) / self.step

    def number(self, codes: Any) -> Any:
        """Codes (a float or an array) in the column's own unit, rounded to float64."""
        return codes * self.step + self.origin / 10.0**self.scale

    def integer(self, code: float) -> int:
        """The exact integer behind one code."""
        return self.origin + round(code * 10.0**self.scale) * self.step

    def code_of(self, integer: int) -> float:
        """The code of one integer that the coding holds exactly."""
        whole = (integer - self.origin) // self.step
        return float(whole / 10**self.scale if self.scale > 0 else whole * 10**-self.scale)

    def _divided(self, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.scale == 0:
            return codes
        return codes / 10.0**self.scale if self.scale > 0 else codes * 10.0**-self.scale


@dataclass(frozen=True, slots=True)
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
        column = pa.array(values + kind.to_pandas_dtype()(0), kind, mask=np.isnan(values))
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
        floats = floats.astype(np.float64) + 0.0
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
