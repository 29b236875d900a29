"""The text of a CSV file as a stream: UTF-8, in blocks of whole records, never as a whole."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, cast

from distanon.storage.csv_text import byte_order, guess_encoding, is_utf8, not_text, refuse_nul
from distanon.storage.store import Store
from distanon.storage.text_blocks import read_some

BLOCK = 1 << 23
"""Bytes of whole records that are parsed together."""
_READ = 1 << 23  # bytes that are read at a time, and from whose first the dialect is found
_GZIP = b"\x1f\x8b"


class NotUtf8Error(Exception):
    """A file that was taken for UTF-8 is not; no user meets this."""


class Watched(io.RawIOBase):
    """A stream that is read from its beginning, with the length and hash of what was read."""

    def __init__(self, stream: BinaryIO) -> None:
        """Of an open file."""
        self._stream = stream
        self._digest = hashlib.sha256()
        self.size = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: object) -> int:
        """As `io.RawIOBase.readinto`."""
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        content = self._stream.read(len(view))
        view[: len(content)] = content
        self._digest.update(content)
        self.size += len(content)
        return len(content)

    @property
    def sha256(self) -> str:
        """Of all bytes so far."""
        return self._digest.hexdigest()


@contextmanager
def watched(file: Store) -> Iterator[tuple[BinaryIO, bool, Watched]]:
    """The bytes of a file, those of a gzip file unpacked; whether it is one; and what was read."""
    with file.open() as stream:
        seen = Watched(stream)
        buffered = io.BufferedReader(seen, _READ)
        if buffered.peek(2)[:2] != _GZIP:
            yield cast("BinaryIO", buffered), False, seen
            return
        with gzip.GzipFile(fileobj=buffered) as inner:
            yield cast("BinaryIO", inner), True, seen


@dataclass(frozen=True, slots=True)
class Coding:
    """How the characters of a file are written.

    Attributes:
        name: of the encoding, as given or found.
        mark: bytes of the byte-order mark.
        is_guess: whether nothing said that it is UTF-8.
        has_nuls: whether its characters may hold NUL bytes.
    """

    name: str
    mark: int = 0
    is_guess: bool = False
    has_nuls: bool = False

    @staticmethod
    def of(head: bytes, given: str | None) -> Coding:
        """Judged by the first bytes, where it is not given."""
        mark, marked = byte_order(head)
        guessed = guess_encoding(head)
        name = given or marked or (guessed if guessed.startswith("utf-16") else "utf-8")
        has_nuls = name.startswith(("utf-16", "utf-32"))
        if marked and codecs.lookup(name).name.startswith(marked.partition("-")[0]):
            return Coding(marked, len(mark), has_nuls=has_nuls)
        return Coding(name, 0, is_guess=not given and name == "utf-8", has_nuls=has_nuls)

    @property
    def is_utf8(self) -> bool:
        """Whether nothing has to be decoded."""
        return codecs.lookup(self.name).name in ("utf-8", "ascii")

    @property
    def is_byte_wise(self) -> bool:
        """Whether a place in the text is a place in the file."""
        return codecs.lookup(self.name).name in ("utf-8", "ascii", "iso8859-1", "cp1252")

    def decoder(self) -> codecs.IncrementalDecoder:
        """What decodes it piece by piece."""
        name = codecs.lookup(self.name).name
        if name in ("utf-16", "utf-32"):  # without a mark: as this machine writes it
            name += "-le" if sys.byteorder == "little" else "-be"
        return codecs.getincrementaldecoder(name)()

    def size_of(self, data: bytes) -> int:
        """How many bytes of the file UTF-8 data stand for, where it is byte-wise."""
        return len(data) if self.is_utf8 else len(data.decode())


def read(stream: BinaryIO, file: str) -> bytes:
    """The next bytes of what `watched` gave; none at the end.

    Raises:
        InputError: the gzip file is damaged.
    """
    return read_some(stream, _READ, file)


def texts(stream: BinaryIO, head: bytes, coding: Coding, file: str) -> Iterator[bytes]:
    """The text in UTF-8, in pieces that end anywhere.

    Args:
        stream: after the head.
        head: the first bytes.
        coding: of all of them.
        file: its name in messages.

    Raises:
        InputError: it is not text in this encoding; or the gzip file is damaged.
    """
    decoder = None if coding.is_utf8 else coding.decoder()
    piece, lines, at = head, 0, coding.mark
    while piece:
        if not coding.has_nuls:
            refuse_nul(piece, file, lines)
            lines += piece.count(b"\n")
        yield piece[at:] if decoder is None else _decoded(decoder, piece[at:], coding, file)
        at = 0
        piece = read(stream, file)
    if decoder is not None:
        yield _decoded(decoder, b"", coding, file, final=True)


def _decoded(
    decoder: codecs.IncrementalDecoder,
    piece: bytes,
    coding: Coding,
    file: str,
    *,
    final: bool = False,
) -> bytes:
    try:
        data = decoder.decode(piece, final).encode()
    except (UnicodeError, ValueError):
        raise not_text(file, coding.name) from None
    if b"\0" in data:
        raise not_text(file, coding.name)
    return data


def checked(blocks: Iterator[bytes], coding: Coding, file: str) -> Iterator[bytes]:
    """Blocks that end between characters, each looked at whether it is UTF-8.

    Raises:
        NotUtf8Error: nothing had said that it is.
        InputError: it is not, and something had.
    """
    for block in blocks:
        if coding.is_utf8 and not is_utf8(block):
            raise NotUtf8Error if coding.is_guess else not_text(file, coding.name)
        yield block


def western(file: Store, shown: str) -> str:
    """Which Western European encoding a file is in that is not UTF-8."""
    found = "latin-1"
    with watched(file) as (stream, _, _):
        while piece := read(stream, shown):
            # Bytes 128 to 159 are control characters in Latin-1 and letters in Windows-1252.
            if re.search(rb"[\x80-\x9f]", piece):
                found = "cp1252"
    return found


def whole_records(pieces: Iterator[bytes], delimiter: str) -> Iterator[bytes]:
    """Cuts behind the last record that ends in what was read; line ends in quotes end none.

    Args:
        pieces: the text.
        delimiter: a quote opens a cell at its beginning alone.
    """
    pattern = _records(delimiter.encode())
    rest, enough = b"", 0
    for piece in _slices(pieces):
        rest += piece
        if len(rest) < enough:
            continue
        end = _end(rest, pattern)
        if end:
            yield rest[:end]
        rest, enough = rest[end:], 0 if end else 2 * len(rest)
    if rest:
        yield rest


def _slices(pieces: Iterator[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        for at in range(0, len(piece), BLOCK):
            yield piece[at : at + BLOCK]


def _end(data: bytes, pattern: re.Pattern[bytes]) -> int:
    """Where the last whole record ends."""
    if b'"' in data:
        found = pattern.match(data)
        return found.end() if found else 0
    end = data.rfind(b"\n") + 1
    return end or data.rfind(b"\r", 0, -1) + 1  # the last byte's newline may come next


def _records(delimiter: bytes) -> re.Pattern[bytes]:
    """As many whole records as there are, as Arrow's parser tells cells from one another."""
    mark = re.escape(delimiter)
    tail = rb"[^" + mark + rb"\r\n]*+"
    cell = rb'(?:"[^"]*+(?:""[^"]*+)*+"' + tail + rb'|[^"' + mark + rb"\r\n]" + tail + rb")?+"
    line = cell + rb"(?:" + mark + cell + rb")*+"
    return re.compile(rb"(?:" + line + rb"(?:\n|\r\n|\r(?!\n|\Z)))*+")
