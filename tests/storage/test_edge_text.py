from __future__ import annotations

import pytest

from distanon.errors import InputError
from distanon.storage import text_blocks
from distanon.storage.edge_text import find_layout, read_edge_text
from distanon.storage.store import Store


def read(tmp_path, text, *, plain=True, delimiter=None, chosen=(0, 1)):
    path = tmp_path / ("f.txt" if plain else "f.csv")
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    store = Store(str(path))
    layout = find_layout(store, delimiter, None, plain=plain)
    return read_edge_text(store, layout, chosen, None)


def pairs(edges) -> list[tuple]:
    return list(zip(*(column.to_pylist() for column in edges.columns), strict=True))


def test_runs_of_spaces_and_tabs_part_ids_and_comments_are_left_out(tmp_path):
    edges = read(tmp_path, "# nodes: 4\n1 2\n  3\t \t4  \n\n% more\n #end\n4 1\r\n")
    assert pairs(edges) == [(1, 2), (3, 4), (4, 1)]
    assert edges.comments == 3
    assert not edges.is_directed
    assert [edges.line_of(edge) for edge in range(3)] == [2, 3, 7]


@pytest.mark.parametrize("size", [5, 16, 1 << 20])
def test_lines_are_found_again_whatever_the_blocks(tmp_path, monkeypatch, size):
    monkeypatch.setattr(text_blocks, "_BLOCK", size)
    monkeypatch.setattr(text_blocks, "_SAMPLE", size)
    text = "".join(f"# {n}\n\n{n} {n + 1}\n" if n % 3 == 0 else f"{n} {n + 1}\n" for n in range(20))
    edges = read(tmp_path, text)
    assert pairs(edges) == [(n, n + 1) for n in range(20)]
    lines = text.split("\n")
    assert [lines[edges.line_of(n) - 1] for n in range(20)] == [f"{n} {n + 1}" for n in range(20)]


def test_the_word_directed_in_a_comment_is_believed(tmp_path):
    assert read(tmp_path, "# Directed graph (each line is one edge)\n1 2\n").is_directed
    assert not read(tmp_path, "# Undirected graph\n1 2\n").is_directed


def test_cells_of_csv_may_be_quoted_spaced_and_further_columns_are_not_read(tmp_path):
    edges = read(tmp_path, 'a,when,b\n"x,1", 5 , y\n\nz,\xe9,w\n', plain=False, chosen=(0, 2))
    assert edges.layout.names == ("a", "when", "b")
    assert pairs(edges) == [("x,1", "y"), ("z", "w")]
    assert [edges.line_of(0), edges.line_of(1)] == [2, 4]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 2\n-3 40\n", [(1, 2), (-3, 40)]),
        ("1 2\n03 4\n", [(1, "2"), ("03", "4")]),
        ("1 2\nx 4\n", [("1", 2), ("x", 4)]),
        ("1 99999999999999999999\n", [(1, "99999999999999999999")]),
        ("-0 1\n", [("-0", 1)]),
    ],
)
def test_ids_are_numbers_only_where_nothing_is_lost(tmp_path, text, expected):
    edges = read(tmp_path, text)
    assert [tuple(map(str, pair)) for pair in pairs(edges)] == [
        tuple(map(str, pair)) for pair in expected
    ]
    is_text = [any(isinstance(pair[end], str) for pair in expected) for end in (0, 1)]
    if text != "1 2\n03 4\n":
        assert [column.type != "int64" for column in edges.columns] == is_text


@pytest.mark.parametrize(
    ("text", "plain", "delimiter", "words"),
    [
        ("1 2\n3\n", True, None, "f.txt, line 2: 1 cells, expected 2, as the first line has"),
        ("#c\n1 2\n\n3 4 5\n", True, None, "f.txt, line 4: 3 cells, expected 2"),
        ("1,2\n", True, None, "f.txt, line 1: 1 cells, expected 2 or more"),
        ("a,b\n1,2\n3;4\n", False, None, "f.csv, line 3: 1 cells, expected 2, as the header"),
        ("a;b\n1;2\n3;4;5\n", False, ";", "f.csv, line 3: 3 cells, expected 2"),
        ("a,b\n1,2\n3,\n", False, None, "f.csv, line 3, column 'b': no node id"),
        ("a,b\n1,2\n , 3\n", False, None, "f.csv, line 3, column 'a': no node id"),
        ("", False, None, "the file is empty"),
        (b"a,b\n1,2\n" * 1 + b"x" * 70000 + b",1\n\xff,3\n", False, None, "line 4: not text"),
    ],
)
def test_the_first_bad_line_is_named_and_never_quoted(tmp_path, text, plain, delimiter, words):
    with pytest.raises(InputError, match=words):
        read(tmp_path, text, plain=plain, delimiter=delimiter)


def test_a_file_of_comments_alone_has_no_edges(tmp_path):
    edges = read(tmp_path, "# nothing\n")
    assert edges.edges == 0
    assert [len(column) for column in edges.columns] == [0, 0]
