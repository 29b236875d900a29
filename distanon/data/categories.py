"""The values of ordinal, nominal and binary columns, in an order that partitions can't change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from distanon.data import codes

Ordering = Literal["given", "natural", "sorted"]
"""given: by the spec; natural: numbers by size, also in text, else sorted; sorted: by value."""


def distinct(values: pa.Array) -> list[Any]:
    """The distinct present values of a plain array, as Python values.

    Times of day in nanoseconds, which Python can't hold, are whole numbers of nanoseconds.
    """
    unique = pc.drop_null(_hashable(values).unique())
    if pa.types.is_floating(values.type):
        return [float(value) for value in unique.to_pylist()]
    if pa.types.is_time64(values.type) and values.type.unit == "ns":
        unique = unique.view(pa.int64())
    return list(unique.to_pylist())


def arranged(values: Iterable[Any], ordering: Ordering) -> tuple[Any, ...]:
    """Distinct values in their order."""
    found = sorted(set(values))
    if ordering == "natural" and found and isinstance(found[0], str):
        texts = pa.array(found, pa.large_string())
        if codes.numeric_text(texts).all():
            found.sort(key=lambda text: (float(text), text))
    return tuple(found)


def given(order: Sequence[Any], kind: pa.DataType) -> tuple[Any, ...]:
    """The values that the spec's `order` names, as the column's own.

    Raises:
        ValueError: a value that the column's type can't hold, or that stands twice.
    """
    kind = codes.value_type(kind)
    values: list[Any]
    if codes.is_text(kind) or pa.types.is_null(kind):
        values = [value if isinstance(value, str) else str(value) for value in order]
    else:
        try:
            values = as_array(order, kind).to_pylist()
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            raise ValueError(f"`order` names values that are no {kind}") from None
        if pa.types.is_floating(kind):
            values = [float(value) for value in values]
    if len(set(values)) < len(values):
        raise ValueError("`order` names a value twice")
    return tuple(values)


def as_array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Categories as an array of the column's value type."""
    kind = codes.value_type(kind)
    if pa.types.is_null(kind):
        return pa.nulls(len(values))
    if pa.types.is_time64(kind) and kind.unit == "ns":
        return pa.array(values, pa.int64()).view(kind)
    if pa.types.is_float16(kind):
        return pa.array(np.array(values, dtype=np.float16), kind)
    return pa.array(values, kind)


def places(values: pa.Array, categories: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where the values of a plain array stand among the categories.

    Returns:
        int64 (n,), −1 where missing or not among them; bool (n,), present but not among them.
    """
    if not len(categories) or values.null_count == len(values):
        found = np.full(len(values), -1, dtype=np.int64)
    else:
        index = pc.index_in(_hashable(values), value_set=_hashable(categories))
        found = pc.fill_null(index, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    present = values.is_valid().to_numpy(zero_copy_only=False)
    found[~present] = -1
    return found, present & (found < 0)


def texts(values: Sequence[Any], kind: pa.DataType) -> list[str]:
    """Categories as a hierarchy's file writes them."""
    return [str(text) for text in codes.as_text(as_array(values, kind)).to_pylist()]


def _hashable(values: pa.Array) -> pa.Array:
    """Arrow can't look up float16."""
    return values.cast(pa.float32()) if pa.types.is_float16(values.type) else values
