"""A text file of any length in blocks of whole lines, as UTF-8; gzip or not."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from distanon.errors import InputError
from distanon.storage.csv_text import to_utf8
from distanon.storage.store import Store

_BLOCK = 1 << 24  # bytes: large enough to parse in parallel, small enough to fail early
_SAMPLE = 1 << 16
_LONGEST_LINE = 1 << 26
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Block:
    """Some lines of a file.

    Attributes:
        data: UTF-8; every line ends in a newline.
        first_line: number of the first, from 1.
    """

    data: bytes
    first_line: int


def blocks(file: Store, encoding: str | None = None) -> Iterator[Block]:
    """The lines of a file, a block at a time, so that the first fault ends the reading.

    Raises:
        AccessError: it can't be read.
        InputError: it is not text, or damaged; names the file.
    """
    line = 1
    for data in _whole_lines(_decoded(file, encoding), file.url):
        yield Block(data, line)
        line += data.count(b"\n")


def _whole_lines(pieces: Iterator[bytes], name: str) -> Iterator[bytes]:
    """Cuts after the last newline of each piece; a last line without one gets it."""
    rest = b""
    for piece in pieces:
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield rest + piece[:cut]
            rest = piece[cut:]
        else:
            rest += piece
        if len(rest) > _LONGEST_LINE:
            raise InputError(f"{name}: a line of more than {_LONGEST_LINE >> 20} MB; not text?")
    if rest:
        yield rest + b"\n"


def _decoded(file: Store, encoding: str | None) -> Iterator[bytes]:
    """The file in UTF-8, without a byte-order mark; line ends are newlines."""
    with unpacked(file) as stream:
        piece = read_some(stream, _SAMPLE, file.url)
        name = _encoding(piece, encoding, file.url)
        decoder = codecs.getincrementaldecoder(name)()
        is_utf8 = codecs.lookup(name).name in ("utf-8", "ascii")
        is_first, held = True, b""
        while piece:
            try:
                text = piece if is_utf8 else decoder.decode(piece).encode()
            except UnicodeError:
                raise _not_text(file.url, name) from None
            text = held + (text.removeprefix(codecs.BOM_UTF8) if is_first else text)
            held = b"\r" if text.endswith(b"\r") else b""  # its newline may come next
            yield _with_newlines(text[: len(text) - len(held)], file.url, name)
            is_first = False
            piece = read_some(stream, _BLOCK, file.url)
        if held:
            yield b"\n"


def _with_newlines(text: bytes, name: str, encoding: str) -> bytes:
    if b"\0" in text:
        raise _not_text(name, encoding)
    if b"\r" in text:
        return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return text


@contextmanager
def unpacked(file: Store) -> Iterator[BinaryIO]:
    """The bytes of a file, those of a gzip file unpacked."""
    with file.open() as stream:
        is_gzip = stream.read(2) == _GZIP
        stream.seek(0)
        if not is_gzip:
            yield stream
            return
        # By itself gzip reads a few thousand bytes at a time, on S3 each of them a request.
        buffered = io.BufferedReader(stream, _BLOCK)  # type: ignore[type-var]
        with gzip.GzipFile(fileobj=buffered) as inner:
            yield inner  # type: ignore[misc]


def read_some(stream: BinaryIO, size: int, name: str) -> bytes:
    """The next bytes of what `unpacked` gave; none at the end.

    Raises:
        InputError: the gzip file is damaged.
    """
    try:
        return stream.read(size)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(f"{name}: the gzip file is damaged or cut short") from None


def _encoding(head: bytes, given: str | None, name: str) -> str:
    """As given, or judged by the first lines."""
    wide = len(head) // 4 * 4  # whole characters of UTF-16 and UTF-32
    sample = head[:wide] if b"\0" in head else head[: head.rfind(b"\n") + 1] or head
    return to_utf8(sample, given, name)[1] if sample else "utf-8"


def _not_text(name: str, encoding: str) -> InputError:
    return InputError(
        f"{name}: not text in the encoding {encoding}; set csv.encoding to that of the file"
    )
