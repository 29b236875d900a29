"""What type a text column has, judged by all of its values, without losing a digit.

A value with a leading zero ("00123", a postcode) is text, and so are all values of its column;
whole numbers beyond 64 bits are text as well. Only an empty cell is missing everywhere; "NaN" is
missing where all else is a number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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


_Cast = Callable[[pa.ChunkedArray], pa.ChunkedArray]
_TYPES = {str(kind): kind for _, kind in _TIMES}


@dataclass(frozen=True, slots=True)
class _Values:
    """A column without the space around its values, and its distinct values."""

    cells: pa.ChunkedArray
    distinct: pa.Array

    @staticmethod
    def of(column: pa.ChunkedArray) -> _Values:
        cells = pc.utf8_trim_whitespace(column)
        cells = pc.if_else(pc.equal(cells, ""), pa.scalar(None, pa.string()), cells)
        return _Values(cells, pc.unique(cells).drop_null())

    def all_match(self, pattern: str) -> bool:
        return bool(pc.all(pc.match_substring_regex(self.distinct, pattern)).as_py())

    def any_matches(self, pattern: str) -> bool:
        return bool(pc.any(pc.match_substring_regex(self.distinct, pattern)).as_py())


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What must be known of a text column to say its type: of all parts that of each, joined.

    Attributes:
        rows: how many.
        missing: how many are missing.
        has_values: whether any has more than space.
        all_are: what all values are: names of `_FORMS`, and types that all can be cast to.
        some_are: what at least one value is: names of `_MARKS`.
    """

    rows: int
    missing: int
    has_values: bool
    all_are: frozenset[str]
    some_are: frozenset[str]

    @staticmethod
    def of(column: pa.ChunkedArray, so_far: ColumnFacts | None = None) -> ColumnFacts:
        """The facts of a column.

        Args:
            column: text; some rows of a column.
            so_far: the facts of the rows before: what these deny is not asked again.

        Returns:
            The facts of these rows and those before.
        """
        among = _EVERYTHING if so_far is None else so_far.all_are
        values = _Values.of(column)
        forms, casts, marks = among, among, frozenset[str]()
        if len(values.distinct):
            forms = _forms(values, among)
            casts = _casts(values, forms, among)
            marks = _marks(values, forms, frozenset() if so_far is None else so_far.some_are)
        here = ColumnFacts(
            len(column), column.null_count, bool(len(values.distinct)), forms | casts, marks
        )
        return here if so_far is None else so_far | here

    def __or__(self, other: ColumnFacts) -> ColumnFacts:
        """The facts of both parts together."""
        return ColumnFacts(
            self.rows + other.rows,
            self.missing + other.missing,
            self.has_values or other.has_values,
            self.all_are & other.all_are,
            self.some_are | other.some_are,
        )

    def kind(self, decimal: Literal[".", ","]) -> pa.DataType:
        """The narrowest type that holds every value.

        Args:
            decimal: the decimal mark.

        Returns:
            int64, float64, bool, date32, timestamp (s or ns, UTC where a zone is given) or
            string; null where every value is missing.
        """
        if self.missing == self.rows:
            return pa.null()
        if not self.has_values:
            return pa.string()
        if "integer" in self.all_are:
            # Where it fails a value exceeds 64 bits: a float would lose digits, text does not.
            return pa.int64() if "int64" in self.all_are else pa.string()
        number = _AS_NUMBER[decimal]
        if number in self.some_are and f"float64 {number}" in self.all_are:
            return pa.float64()
        return next((_TYPES[name] for name in _TYPES if name in self.all_are), pa.string())

    @property
    def uses_comma(self) -> bool:
        """Whether the values are numbers, some with a decimal comma."""
        return self.has_values and "comma" in self.some_are and "comma or integer" in self.all_are

    @property
    def uses_point(self) -> bool:
        """Whether the values are numbers, some with a decimal point."""
        return self.has_values and "point" in self.some_are and "number" in self.all_are

    @property
    def text_of_digits(self) -> str:
        """Why whole numbers are no numbers; "" where the column holds anything else."""
        if not self.has_values or "digits" not in self.all_are:
            return ""
        if "leading zero" in self.some_are:
            return "digits with leading zeros (codes)"
        return "whole numbers beyond 64 bits"


def _forms(values: _Values, among: frozenset[str]) -> frozenset[str]:
    """Which of these forms all values have."""
    found = set[str]()
    for name, pattern in _FORMS.items():
        if name in among and (name in found or values.all_match(pattern)):
            found |= {name, *_IMPLIED.get(name, ())}
    return among & found


def _casts(values: _Values, forms: frozenset[str], among: frozenset[str]) -> frozenset[str]:
    """To which of these types all values can be cast."""
    found = set[str]()
    for name, (form, cast) in _CASTS.items():
        if name in among and form in forms:
            # Whole numbers of 64 bits are floats as well.
            is_whole = "int64" in found and name.startswith("float64")
            if is_whole or _attempt(cast, values.cells):
                found.add(name)
    return frozenset(found)


def _marks(values: _Values, forms: frozenset[str], known: frozenset[str]) -> frozenset[str]:
    """What some value is, as far as what all values are leaves it open."""
    if "integer" in forms:
        return frozenset({"a number", "a number with comma"})
    return frozenset(
        name
        for name, (form, pattern) in _MARKS.items()
        if form in forms and (name in known or values.any_matches(pattern))
    )


def infer(column: pa.ChunkedArray, decimal: Literal[".", ","]) -> pa.ChunkedArray:
    """The column in the narrowest type that holds every value (`ColumnFacts.kind`).

    Args:
        column: text, all parts together.
        decimal: the decimal mark.
    """
    return typed(column, ColumnFacts.of(column).kind(decimal), decimal)


def typed(
    column: pa.ChunkedArray, kind: pa.DataType, decimal: Literal[".", ","]
) -> pa.ChunkedArray:
    """Text in a type that holds every value of it.

    Args:
        column: text, some rows of a column.
        kind: of the whole column, by `ColumnFacts.kind`.
        decimal: the decimal mark.

    Raises:
        pyarrow.ArrowInvalid: a value that the type does not hold.
    """
    if pa.types.is_null(kind):
        return pa.chunked_array([pa.nulls(len(column))])
    if pa.types.is_string(kind):
        return column
    cells = _Values.of(column).cells
    if pa.types.is_floating(kind):
        return _CASTS[f"float64 {_AS_NUMBER[decimal]}"][1](cells)
    return cells.cast(kind)


def _floats(cells: pa.ChunkedArray, *, comma: bool) -> pa.ChunkedArray:
    if comma:
        cells = pc.replace_substring(cells, ",", ".")
    if pc.any(pc.match_substring(cells, "n", ignore_case=True)).as_py():
        missing = pc.match_substring_regex(cells, _NOT_A_NUMBER)
        cells = pc.if_else(missing, pa.scalar(None, pa.string()), cells)
    return cells.cast(pa.float64())


def _attempt(cast: _Cast, cells: pa.ChunkedArray) -> bool:
    """Whether a cast works: a value may look right and not be (31 February, 2⁶⁴)."""
    try:
        cast(cells)
    except pa.ArrowInvalid:
        return False
    return True


_COMMA_NUMBER = _NUMBER.replace(r"\.", ",")
_AS_NUMBER = {".": "a number", ",": "a number with comma"}
_SPECIAL = f"(?:{_INFINITY})|(?:{_NOT_A_NUMBER})"
_FORMS: Mapping[str, str] = {
    "integer": _INTEGER,
    "digits": r"^-?[0-9]+$",
    "number": _NUMBER,
    "comma or integer": f"(?:{_COMMA})|(?:{_INTEGER})",
    "float": f"(?:{_NUMBER})|{_SPECIAL}",
    "float with comma": f"(?:{_COMMA_NUMBER})|{_SPECIAL}",
    **{f"like {kind}": pattern for pattern, kind in _TIMES},
}
"""What all values of a column may look like."""
_IMPLIED: Mapping[str, Sequence[str]] = {
    "integer": ("digits", "number", "comma or integer", "float", "float with comma"),
    "number": ("float",),
}
"""Forms that values of another form have as well."""
_MARKS: Mapping[str, tuple[str, str]] = {
    "a number": ("float", _NUMBER),
    "a number with comma": ("float with comma", _COMMA_NUMBER),
    "comma": ("comma or integer", _COMMA),
    "point": ("number", r"\.[0-9]"),
    "leading zero": ("digits", r"^-?0[0-9]"),
}
"""What some value of a column may be, each with the form without which it does not matter."""
_CASTS: Mapping[str, tuple[str, _Cast]] = {
    "int64": ("integer", lambda cells: cells.cast(pa.int64())),
    "float64 a number": ("float", lambda cells: _floats(cells, comma=False)),
    "float64 a number with comma": ("float with comma", lambda cells: _floats(cells, comma=True)),
    **{
        str(kind): (f"like {kind}", lambda cells, kind=kind: cells.cast(kind))  # type: ignore[misc]
        for _, kind in _TIMES
    },
}
"""Types, each with the form that its values have."""
_EVERYTHING = frozenset([*_FORMS, *_CASTS])
