"""Two columns numbered alike: the true values and the released ones of one attribute."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.classes import canonical, encode, is_text

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CommonCodes:
    """Values of several columns, equal ones with equal numbers.

    Attributes:
        columns: int64, shape (n_j,), one array a column: the number of each cell's value.
        is_marker: bool, by number: whether it says nothing (missing, NaN or suppressed).
    """

    columns: tuple[Integers, ...]
    is_marker: NDArray[np.bool_]

    @property
    def says(self) -> NDArray[np.bool_]:
        """By number: whether it is a value."""
        return ~self.is_marker


def common_codes(*columns: pa.ChunkedArray) -> CommonCodes:
    """Numbers of the values of some columns; numbers compare as numbers, all else as text."""
    plain = [_chunked(canonical(column)) for column in columns]
    kinds = {column.type for column in plain}
    if len(kinds) > 1:
        kind = pa.float64() if all(_is_number(one) for one in kinds) else pa.large_string()
        plain = [column.cast(kind, safe=kind != pa.float64()) for column in plain]
    kind = plain[0].type
    codes = encode(pa.chunked_array([chunk for one in plain for chunk in one.chunks], kind))
    edges = np.cumsum([len(column) for column in columns])[:-1]
    return CommonCodes(tuple(np.split(codes.code_of, edges)), codes.is_marker)


def is_number(column: pa.ChunkedArray) -> bool:
    """Whether a column holds numbers, booleans left out."""
    kind = column.type
    return not is_text(kind) and _is_number(kind) and not pa.types.is_boolean(kind)


def _chunked(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray:
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def _is_number(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_boolean(kind)
    )
