from __future__ import annotations

import gzip

import pytest

from distanon.errors import InputError
from distanon.storage import text_blocks
from distanon.storage.store import Store
from distanon.storage.text_blocks import blocks


def written(tmp_path, content: bytes) -> Store:
    path = tmp_path / "f.txt"
    path.write_bytes(content)
    return Store(str(path))


def joined(store, encoding=None) -> bytes:
    return b"".join(block.data for block in blocks(store, encoding))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_blocks_are_whole_lines_in_order_whatever_their_size(tmp_path, monkeypatch, size):
    monkeypatch.setattr(text_blocks, "_BLOCK", size)
    monkeypatch.setattr(text_blocks, "_SAMPLE", size)
    store = written(tmp_path, b"one\r\ntwo\rthree\n\nfour")
    found = list(blocks(store))
    assert b"".join(block.data for block in found) == b"one\ntwo\nthree\n\nfour\n"
    line = 1
    for block in found:
        assert block.data.endswith(b"\n")
        assert block.first_line == line
        line += block.data.count(b"\n")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_text_comes_as_utf_8_without_a_mark(tmp_path, encoding):
    text = "é 1\nü 2\n"
    store = written(tmp_path, text.encode(encoding))
    assert joined(store) == text.encode()


def test_gzip_is_unpacked_and_told_when_damaged(tmp_path):
    packed = gzip.compress(b"1 2\n" * 1000)
    assert joined(written(tmp_path, packed)) == b"1 2\n" * 1000
    with pytest.raises(InputError, match="damaged or cut short"):
        joined(written(tmp_path, packed[:-9]))


def test_what_is_not_text_is_refused(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="not text"):
        joined(written(tmp_path, b"1 2\n\0\0\n"), "utf-8")
    monkeypatch.setattr(text_blocks, "_LONGEST_LINE", 10)
    with pytest.raises(InputError, match="a line of more than"):
        joined(written(tmp_path, b"x" * 100))


def test_an_empty_file_has_no_blocks(tmp_path):
    assert list(blocks(written(tmp_path, b""))) == []
