"""Records of CSV files, from text to columns of text; every record is accounted for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.csv as pa_csv

from distanon.errors import InputError

_BLOCK = 1 << 24  # bytes of a parsing block; a record must fit in one


class Dialect(NamedTuple):
    """How the records of a file are read.

    Attributes:
        delimiter: what parts cells.
        names: of the columns.
        missing: what a missing value is, beside nothing.
    """

    delimiter: str
    names: tuple[str, ...]
    missing: tuple[str, ...]


class Ragged(NamedTuple):
    """Records with more or fewer cells than the header: the first, its cells, and how many."""

    row: int
    cells: int
    records: int


def parse_records(
    data: bytes,
    dialect: Dialect,
    file: str,
    *,
    has_header: bool,
    columns: Sequence[str] | None = None,
) -> tuple[pa.Table, Ragged | None]:
    """Parses whole records of a file.

    Args:
        data: UTF-8; not only space.
        dialect: of the file.
        file: its name in messages.
        has_header: whether the first record is the header.
        columns: which are wanted; None: all.

    Returns:
        Text columns; and which records, if any, had more or fewer cells than the header: the
        table lacks them.

    Raises:
        InputError: it is not CSV.
    """
    whole = data if data.endswith((b"\n", b"\r")) else data + b"\n"
    table, is_ragged = _arrow(whole, dialect, _BLOCK, file, columns, has_header=has_header)
    if is_ragged:
        return table, _first_ragged(whole, dialect, has_header=has_header)
    return table, None


def misread(file: str) -> InputError:
    """What is told where Arrow does not find the names of the header that Python finds."""
    return InputError(f"{file}: the header can't be read; check its quotes")


def is_unclosed(table: pa.Table, quotes: int) -> bool:
    """Whether the last of some records swallowed all that follows an unclosed quote.

    Args:
        table: text, the last records of a file.
        quotes: how many the whole file has.
    """
    if quotes % 2 == 0:
        return False
    last = table.slice(table.num_rows - 1).to_pylist()[0]
    return any("\n" in cell for cell in last.values() if cell)


def unclosed(row: int, file: str) -> InputError:
    """What is told of it."""
    return InputError(f"{file}: row {row} opens a quote that is never closed")


def ragged_row(found: Ragged, names: Sequence[str], file: str) -> InputError:
    """What is told of records that have more or fewer cells than the header."""
    more = f" ({found.records} such rows in all)" if found.records > 1 else ""
    return InputError(
        f"{file}: row {found.row} has {found.cells} cells, expected {len(names)} as in the "
        f"header{more}; check its quotes and csv.delimiter"
    )


def _arrow(
    data: bytes,
    dialect: Dialect,
    block: int,
    file: str,
    columns: Sequence[str] | None,
    *,
    has_header: bool,
) -> tuple[pa.Table, bool]:
    """Parses in parallel; also says whether a row had more or fewer cells than the header."""
    ragged: list[int] = []

    def note(row: pa_csv.InvalidRow) -> str:
        ragged.append(row.actual_columns)
        return "skip"

    names = list(dialect.names)
    try:
        table = pa_csv.read_csv(
            pa.BufferReader(data),
            read_options=pa_csv.ReadOptions(
                block_size=min(block, len(data) + 1), column_names=None if has_header else names
            ),
            parse_options=_parse_options(dialect, data, note),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=["", *dialect.missing],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                include_columns=None if columns is None else list(columns),
            ),
        )
    except pa.ArrowInvalid:
        # The parser's own message quotes the row. Rows longer than a block need a larger one.
        if block < len(data):
            return _arrow(data, dialect, len(data) + 1, file, columns, has_header=has_header)
        raise InputError(f"{file}: not CSV; check its quotes and csv.delimiter") from None
    return table, bool(ragged)


def _first_ragged(data: bytes, dialect: Dialect, *, has_header: bool) -> Ragged:
    """Which row it is: known only where one thread parses."""
    found: list[tuple[int, int]] = []

    def note(row: pa_csv.InvalidRow) -> str:
        found.append((row.number - has_header, row.actual_columns))
        return "skip"

    pa_csv.read_csv(
        pa.BufferReader(data),
        read_options=pa_csv.ReadOptions(
            use_threads=False,
            block_size=len(data) + 1,
            column_names=None if has_header else list(dialect.names),
        ),
        parse_options=_parse_options(dialect, data, note),
    )
    return Ragged(*found[0], len(found))


def _parse_options(dialect: Dialect, data: bytes, note: object) -> pa_csv.ParseOptions:
    return pa_csv.ParseOptions(
        delimiter=dialect.delimiter,
        newlines_in_values=b'"' in data,
        # In a single column an empty line is a record whose value is missing.
        ignore_empty_lines=len(dialect.names) > 1,
        invalid_row_handler=note,
    )
