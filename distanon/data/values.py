"""One column's values as float64 numbers, under the whole data set's domain, and back."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data import categories, codes
from distanon.data.coding import Coding
from distanon.data.domain import AttributeDomain
from distanon.data.schema import Attribute, AttributeType
from distanon.errors import InputError


def encode_column(
    column: pa.ChunkedArray, attribute: Attribute, domain: AttributeDomain
) -> NDArray[np.float64]:
    """Codes, ranks or category numbers of a column, float64 (n,); see `AttributeSpace.encode`.

    Raises:
        InputError: text that is no number, or values outside the domain's categories.
    """
    if attribute.type == AttributeType.NUMERIC:
        return _numeric_codes(column, attribute, domain.coding)
    return _category_codes(column, attribute, domain)


def decode_column(
    values: NDArray[np.float64],
    attribute: Attribute,
    domain: AttributeDomain,
    *,
    widen: bool = False,
) -> pa.Array:
    """A column of the attribute's arrow type; see `AttributeSpace.decode`.

    Raises:
        ValueError: a value that the column's type can't hold; names the column.
    """
    kind = attribute.arrow_type
    try:
        if attribute.type != AttributeType.NUMERIC:
            array = _categories_of(values, attribute, domain)
        else:
            array = _numbers_of(values, domain.coding, codes.value_type(kind), widen=widen)
    except ValueError as error:
        raise ValueError(f"column {attribute.name!r}: {error}") from None
    return array if widen and array.type == pa.float64() else codes.as_type(array, kind)


def _numeric_codes(
    column: pa.ChunkedArray, attribute: Attribute, coding: Coding
) -> NDArray[np.float64]:
    kind = codes.value_type(attribute.arrow_type)
    if codes.value_type(column.type) != kind and pa.types.is_temporal(kind):
        column = _cast(codes.plain(column), kind, attribute)
    try:
        numbers = codes.numbers(column)
    except codes.NotNumbersError as error:
        raise InputError(f"column {attribute.name!r}, {error}") from None
    except codes.TooWideError:
        raise InputError(f"column {attribute.name!r}: too many digits for float64") from None
    if numbers.floats is not None:
        return numbers.floats if coding == Coding() else coding.code(numbers.floats) + 0.0
    integers = numbers.integers if numbers.integers is not None else np.empty(0, np.int64)
    if numbers.scale == coding.scale:
        result = coding.encode(integers)
    else:
        result = coding.code(Coding(scale=numbers.scale).encode(integers))
    result[~numbers.present] = np.nan
    return result + 0.0


def _cast(values: pa.Array, kind: pa.DataType, attribute: Attribute) -> pa.Array:
    if values.type == kind:
        return values
    if values.null_count == len(values):  # of what has no value at all, any type will do
        return pa.nulls(len(values), kind)
    try:
        return values.cast(kind)
    except pa.ArrowException:  # its message quotes the value
        raise InputError(
            f"column {attribute.name!r}: {values.type} that can't be read as {kind}, "
            "the type that the original table has"
        ) from None


def _category_codes(
    column: pa.ChunkedArray, attribute: Attribute, domain: AttributeDomain
) -> NDArray[np.float64]:
    kind = codes.value_type(attribute.arrow_type)
    values = _cast(codes.plain(column), kind, attribute)
    found, strange = categories.places(values, categories.as_array(domain.categories, kind))
    if strange.any():
        raise InputError(
            f"column {attribute.name!r}: {int(strange.sum())} rows hold values that the "
            "original table does not have"
        )
    if attribute.type == AttributeType.ORDINAL:
        return np.where(found < 0, np.nan, found)
    return np.where(found < 0, len(domain.categories), found).astype(np.float64)


def _numbers_of(
    values: NDArray[np.float64], coding: Coding, kind: pa.DataType, *, widen: bool
) -> pa.Array:
    missing = np.isnan(values)
    present = np.where(missing, 0.0, values) if missing.any() else values
    if pa.types.is_null(kind):
        return pa.nulls(len(values))
    if codes.is_text(kind):
        return _texts_of(present, missing)
    if pa.types.is_floating(kind):
        with np.errstate(over="ignore"):
            stored = present.astype(kind.to_pandas_dtype(), copy=False)
        if not np.isfinite(stored).all():
            raise ValueError("a value beyond the column's type")
        return pa.array(stored, kind, mask=missing if missing.any() else None)
    if widen and not pa.types.is_temporal(kind):
        return pa.array(coding.number(present), pa.float64(), mask=missing)
    if widen:
        present = np.rint(present)
    if pa.types.is_decimal(kind):
        return codes.from_unscaled(coding.decode(present), missing, kind)
    is_unsigned = pa.types.is_uint64(kind)
    return codes.from_integers(coding.decode(present, unsigned=is_unsigned), missing, kind)


def _texts_of(present: NDArray[np.float64], missing: NDArray[np.bool_]) -> pa.Array:
    """Numbers in the shortest text that reads as them, without exponents."""
    distinct, places = np.unique(present, return_inverse=True)
    texts = [np.format_float_positional(value, trim="-") for value in distinct]
    return pa.array(texts, pa.large_string()).take(pa.array(places, mask=missing))


def _categories_of(
    values: NDArray[np.float64], attribute: Attribute, domain: AttributeDomain
) -> pa.Array:
    count = len(domain.categories)
    missing = np.isnan(values)
    numbers = np.where(missing, count, values)
    places = numbers.astype(np.int64)
    if (places != numbers).any() or (places < 0).any() or (places > count).any():
        raise ValueError("a number that stands for no category")
    if attribute.type == AttributeType.ORDINAL and (places[~missing] == count).any():
        raise ValueError("a rank that stands for no category")
    known = categories.as_array(domain.categories, attribute.arrow_type)
    indices = pa.array(places.astype(np.int32), mask=places == count)
    if pa.types.is_dictionary(attribute.arrow_type):
        return pa.DictionaryArray.from_arrays(indices, known)
    return known.take(indices)
