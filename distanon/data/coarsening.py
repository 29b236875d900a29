"""Values made coarser before they are published, whatever the method."""

from __future__ import annotations

import math
from decimal import ROUND_FLOOR, Decimal

import numpy as np
import pyarrow as pa

from distanon.data import codes
from distanon.errors import InputError


def top_coded(column: pa.ChunkedArray, top: float, name: str) -> pa.Array:
    """A column with every value above `top` replaced by it.

    Args:
        column: numbers, dates or times, or text that reads as numbers (other text is kept).
        top: in the unit of the column's arrow type (dates: days since 1970); rounded down to
            what the type can hold.
        name: the column's, for messages.

    Returns:
        The same arrow type, dictionaries apart from their order.

    Raises:
        InputError: the type holds no value as low as `top`.
    """
    kind = column.type
    values = codes.plain(column)
    if pa.types.is_boolean(values.type) or pa.types.is_null(values.type) or math.isinf(top):
        return column.combine_chunks()
    if codes.is_text(values.type):
        capped = _capped_text(values, top)
    elif pa.types.is_floating(values.type):
        floats = values.to_numpy(zero_copy_only=False)
        limit = floats.dtype.type(top)
        if float(limit) > top:  # as float64: numpy would round `top` to the column's type
            limit = np.nextafter(limit, floats.dtype.type(-np.inf))
        capped = pa.array(np.minimum(floats, limit), values.type, mask=np.isnan(floats))
    else:
        capped = _capped_exactly(values, top, name)
    return codes.as_type(capped, kind)


def _capped_exactly(values: pa.Array, top: float, name: str) -> pa.Array:
    """Integers, dates, times and decimals, by the integers behind them."""
    kind = values.type
    try:
        numbers = codes.numbers(values)
    except codes.TooWideError:
        raise InputError(
            f"column {name!r}: more digits than `top_code` can be compared with; store fewer"
        ) from None
    integers = numbers.integers if numbers.integers is not None else np.empty(0, np.int64)
    scaled = Decimal(repr(float(top))).scaleb(numbers.scale)
    limits = np.iinfo(integers.dtype)
    limit = min(int(scaled.to_integral_value(ROUND_FLOOR)), int(limits.max))
    if limit < int(limits.min):
        raise _too_low(name, kind)
    capped = np.minimum(integers, integers.dtype.type(limit))
    try:
        if pa.types.is_decimal(kind):
            return codes.from_unscaled(capped, ~numbers.present, kind)
        return codes.from_integers(capped, ~numbers.present, kind)
    except ValueError:
        raise _too_low(name, kind) from None


def _capped_text(values: pa.Array, top: float) -> pa.Array:
    """Cells that read as numbers above `top` become its text; all others stay as they are."""
    encoded = values.dictionary_encode()
    reads = codes.numeric_text(encoded.dictionary)
    limit = np.format_float_positional(float(top), trim="-")
    texts = [
        limit if is_number and float(text) > top else text
        for text, is_number in zip(encoded.dictionary.to_pylist(), reads, strict=True)
    ]
    return pa.array(texts, pa.large_string()).take(encoded.indices)


def _too_low(name: str, kind: pa.DataType) -> InputError:
    return InputError(f"column {name!r}: `top_code` is below every {kind}")
