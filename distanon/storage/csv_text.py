"""CSV files as tables of text: delimiter, encoding and quotes, with every record accounted for."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections import Counter
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, field_validator

from distanon.errors import InputError
from distanon.storage.csv_records import (
    Dialect,
    is_unclosed,
    misread,
    parse_records,
    ragged_row,
    unclosed,
)

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE = 1 << 16  # bytes of text that show the delimiter
_SAMPLE_ROWS = 100
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NAMES = {"\t": "tab"}


class CsvSettings(BaseModel):
    """The `csv:` part of a job spec; null: detected and shown."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    delimiter: str | None = Field(
        default=None, min_length=1, max_length=1, description="what parts the cells of a row"
    )
    encoding: str | None = Field(default=None, description="as Python names it: utf-8, latin-1, …")
    decimal: Literal[".", ","] | None = Field(default=".", description="the decimal mark")
    missing: tuple[str, ...] = Field(
        default=(),
        description="marks of a missing value beside the empty cell, such as [NA, NULL]; a quoted "
        "cell is text",
    )

    @field_validator("encoding")
    @classmethod
    def _known(cls, name: str | None) -> str | None:
        if name is not None:
            try:
                codecs.lookup(name)
            except LookupError:
                message = f"no such encoding: {name!r}; expected one such as utf-8 or latin-1"
                raise ValueError(message) from None
        return name


@dataclass(frozen=True, slots=True)
class CsvText:
    """One file, parsed but not yet typed.

    Attributes:
        table: text columns; a missing value is null, a quoted empty cell is "".
        delimiter: as given or found.
        encoding: as given or found.
    """

    table: pa.Table
    delimiter: str
    encoding: str

    @property
    def settings_shown(self) -> str:
        """What was used, for the user."""
        return settings_shown(self.delimiter, self.encoding)


def settings_shown(delimiter: str, encoding: str) -> str:
    """What was used, for the user."""
    name = _NAMES.get(delimiter, f"'{delimiter}'")
    return f"delimiter {name}, encoding {encoding}"


def parse(content: bytes, settings: CsvSettings, file: str) -> CsvText:
    """Parses one file with a header.

    Args:
        content: of the file, gzip or not.
        settings: what is not given is detected.
        file: its name in messages.

    Raises:
        InputError: names file and row; never a value.
    """
    data, encoding = to_utf8(_unpacked(content, file), settings.encoding, file)
    if not data.strip():
        raise InputError(f"{file}: the file is empty; expected a header and at least one row")
    delimiter = settings.delimiter or find_delimiter(data)
    names = header(data, delimiter, file)
    dialect = Dialect(delimiter, tuple(names), settings.missing)
    table, ragged = parse_records(data, dialect, file, has_header=True)
    if ragged is not None:
        raise ragged_row(ragged, names, file)
    if table.column_names != names:
        raise misread(file)
    if table.num_rows and is_unclosed(table, data.count(b'"')):
        raise unclosed(table.num_rows, file)
    return CsvText(table, delimiter, encoding)


def rows(content: bytes, settings: CsvSettings, file: str) -> list[list[str]]:
    """All rows of a small file without a header, as text; empty lines are left out.

    Raises:
        InputError: it is empty, or not text.
    """
    data, _ = to_utf8(_unpacked(content, file), settings.encoding, file)
    delimiter = settings.delimiter or find_delimiter(data)
    reader = csv.reader(io.StringIO(data.decode(), newline=""), delimiter=delimiter)
    try:
        found = [row for row in reader if row]
    except csv.Error:
        raise InputError(f"{file}: row {reader.line_num} is not CSV; check its quotes") from None
    if not found:
        raise InputError(f"{file}: the file is empty")
    return found


def to_utf8(content: bytes, encoding: str | None, file: str) -> tuple[bytes, str]:
    """The text as UTF-8 without a byte-order mark, and the encoding that it was in."""
    mark, marked = byte_order(content)
    name = encoding or marked or guess_encoding(content)
    if not name.startswith(("utf-16", "utf-32")):
        refuse_nul(content, file)
    if marked and codecs.lookup(name).name.startswith(marked.partition("-")[0]):
        name, content = marked, content[len(mark) :]
    if codecs.lookup(name).name in ("utf-8", "ascii"):
        if is_utf8(content):
            return content, name
        raise not_text(file, name)
    try:
        data = content.decode(name).encode()
    except (UnicodeError, ValueError):
        raise not_text(file, name) from None
    if b"\0" in data:
        raise not_text(file, name)
    return data, name


def byte_order(content: bytes) -> tuple[bytes, str]:
    """The byte-order mark at the beginning of a file, and the encoding that it tells."""
    return next(((mark, name) for mark, name in _MARKS if content.startswith(mark)), (b"", ""))


def refuse_nul(content: bytes, file: str, lines: int = 0) -> None:
    """Refuses bytes of which no text consists.

    Args:
        content: some bytes of a file.
        file: its name in messages.
        lines: how many lines end before them.

    Raises:
        InputError: says in which row.
    """
    if b"\0" in content:
        row = lines + content[: content.index(b"\0")].count(b"\n")
        where = f"row {row}" if row else "the header"
        raise InputError(
            f"{file}: a NUL byte in {where}: no text has one. Take it out; or, if the file is in "
            "UTF-16 or UTF-32, set csv.encoding"
        )


def find_delimiter(data: bytes) -> str:
    """The mark that cuts most rows into as many cells as the first; "," for a single column."""
    text = data[:_SAMPLE].decode(errors="replace")
    if len(data) > _SAMPLE:
        text = text[: text.rfind("\n") + 1] or text
    best = (0.0, 0, ",")
    for delimiter in _DELIMITERS:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        try:
            widths = [len(row) for row, _ in zip(reader, range(_SAMPLE_ROWS), strict=False) if row]
        except csv.Error:
            continue
        if widths and widths[0] > 1:
            share = widths.count(widths[0]) / len(widths)
            best = max(best, (share, widths[0], delimiter), key=lambda one: one[:2])
    return best[2]


def _unpacked(content: bytes, file: str) -> bytes:
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        raise InputError(f"{file}: the gzip file is damaged or cut short") from None


def guess_encoding(content: bytes) -> str:
    """UTF-8 where it is valid, UTF-16 where every other byte is zero, else Western European."""
    sample = content[:_SAMPLE]
    if sample.count(0) > len(sample) // 4:
        return "utf-16-le" if sample[1::2].count(0) > sample[::2].count(0) else "utf-16-be"
    if is_utf8(content):
        return "utf-8"
    # Bytes 128 to 159 are control characters in Latin-1 and letters or quotes in Windows-1252.
    return "cp1252" if any(0x80 <= byte < 0xA0 for byte in set(content)) else "latin-1"


def is_utf8(content: bytes) -> bool:
    """Whether bytes are text in UTF-8."""
    try:
        pa.array([content], pa.large_binary()).cast(pa.large_string())
    except pa.ArrowInvalid:
        return False
    return b"\0" not in content


def not_text(file: str, encoding: str) -> InputError:
    """What is told of a file in another encoding."""
    return InputError(
        f"{file}: not text in the encoding {encoding}; set csv.encoding to that of the file"
    )


def header(data: bytes, delimiter: str, file: str) -> list[str]:
    """The column names.

    Raises:
        InputError: two are equal, or one is empty.
    """
    text = data[: 1 << 20].decode(errors="ignore")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    names = next((row for row in reader if row), [])
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"{file}: column names must differ; found twice: {', '.join(twice)}")
    if not all(name.strip() for name in names):
        place = next(place for place, name in enumerate(names, 1) if not name.strip())
        raise InputError(f"{file}: column {place} has no name; give it one in the header")
    return names
