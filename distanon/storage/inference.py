"""What type a text column has, judged by all of its values, without losing a digit.

A value with a leading zero ("00123", a postcode) is text, and so are all values of its column;
whole numbers beyond 64 bits are text as well. Only an empty cell is missing everywhere; "NaN" is
missing where all else is a number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

_DIGITS = r"(?:0|[1-9][0-9]*)"
_INTEGER = rf"^-?{_DIGITS}$"
_NUMBER = rf"^-?(?:{_DIGITS}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
_INFINITY = r"^-?(?i:inf|infinity)$"
_NOT_A_NUMBER = r"^-?(?i:nan)$"
_COMMA = rf"^-?{_DIGITS}?,[0-9]+(?:[eE][+-]?[0-9]+)?$"
_BOOLEAN = r"^(?:true|True|TRUE|false|False|FALSE)$"
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2})?"
_FRACTION = r"(?:\.[0-9]{1,9})?"
_ZONE = r"(?:Z|[+-][0-9]{2}:?[0-9]{2})"

_TIMES: tuple[tuple[str, pa.DataType], ...] = (
    (_BOOLEAN, pa.bool_()),
    (rf"^{_DAY}$", pa.date32()),
    (rf"^{_DAY}(?:{_CLOCK})?$", pa.timestamp("s")),
    (rf"^{_DAY}(?:{_CLOCK}{_FRACTION})?$", pa.timestamp("ns")),
    (rf"^{_DAY}{_CLOCK}{_ZONE}$", pa.timestamp("s", "UTC")),
    (rf"^{_DAY}{_CLOCK}{_FRACTION}{_ZONE}$", pa.timestamp("ns", "UTC")),
)


@dataclass(frozen=True, slots=True)
class _Values:
    """A column without the space around its values, and its distinct values."""

    cells: pa.ChunkedArray
    distinct: pa.Array

    def all_match(self, pattern: str) -> bool:
        return bool(pc.all(pc.match_substring_regex(self.distinct, pattern)).as_py())

    def any_matches(self, pattern: str) -> bool:
        return bool(pc.any(pc.match_substring_regex(self.distinct, pattern)).as_py())


def infer(column: pa.ChunkedArray, decimal: Literal[".", ","]) -> pa.ChunkedArray:
    """The column in the narrowest of these types that holds every value.

    Args:
        column: text, all parts together.
        decimal: the decimal mark.

    Returns:
        int64, float64, bool, date32, timestamp (s or ns, UTC where a zone is given) or text as
        it was; null where every value is missing.
    """
    if column.null_count == len(column):
        return pa.chunked_array([pa.nulls(len(column))])
    values = _stripped(column)
    if not len(values.distinct):
        return column
    number = _numbers(values, decimal)
    if number is not None:
        return number
    for pattern, kind in _TIMES:
        if values.all_match(pattern):
            typed = _attempt(lambda kind=kind: values.cells.cast(kind))  # type: ignore[misc]
            if typed is not None:
                return typed
    return column


def uses_comma(column: pa.ChunkedArray) -> bool:
    """Whether a text column's values are numbers, some with a decimal comma."""
    values = _stripped(column)
    either = f"(?:{_COMMA})|(?:{_INTEGER})"
    return bool(len(values.distinct)) and values.any_matches(_COMMA) and values.all_match(either)


def uses_point(column: pa.ChunkedArray) -> bool:
    """Whether a text column's values are numbers, some with a decimal point."""
    values = _stripped(column)
    return (
        bool(len(values.distinct)) and values.any_matches(r"\.[0-9]") and values.all_match(_NUMBER)
    )


def text_of_digits(column: pa.ChunkedArray) -> str:
    """Why whole numbers are no numbers; "" where the column holds anything else."""
    values = _stripped(column)
    if not len(values.distinct) or not values.all_match(r"^-?[0-9]+$"):
        return ""
    if values.any_matches(r"^-?0[0-9]"):
        return "digits with leading zeros (codes)"
    return "whole numbers beyond 64 bits"


def _stripped(column: pa.ChunkedArray) -> _Values:
    cells = pc.utf8_trim_whitespace(column)
    cells = pc.if_else(pc.equal(cells, ""), pa.scalar(None, pa.string()), cells)
    return _Values(cells, pc.unique(cells).drop_null())


def _numbers(values: _Values, decimal: str) -> pa.ChunkedArray | None:
    """The column as int64 or float64, where all of its values are numbers."""
    if values.all_match(_INTEGER):
        # Where it fails a value exceeds 64 bits: a float would lose digits, text does not.
        return _attempt(lambda: values.cells.cast(pa.int64()))
    number = _NUMBER.replace(r"\.", ",") if decimal == "," else _NUMBER
    if not values.any_matches(number):
        return None
    if not values.all_match(f"(?:{number})|(?:{_INFINITY})|(?:{_NOT_A_NUMBER})"):
        return None
    cells = values.cells
    if decimal == ",":
        cells = pc.replace_substring(cells, ",", ".")
    if values.any_matches(_NOT_A_NUMBER):
        missing = pc.match_substring_regex(cells, _NOT_A_NUMBER)
        cells = pc.if_else(missing, pa.scalar(None, pa.string()), cells)
    return _attempt(lambda: cells.cast(pa.float64()))


def _attempt(cast: Callable[[], pa.ChunkedArray]) -> pa.ChunkedArray | None:
    """A cast, or None where a value looks right and is not (31 February, 2⁶⁴)."""
    try:
        return cast()
    except pa.ArrowInvalid:
        return None
