import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from distanon.errors import InputError
from distanon.storage import csv_records
from distanon.storage.csv_text import CsvSettings, parse, rows

PLAIN = "name;x\nZoë;1\nÅsa;2\n"


def table(content: bytes, **given):
    return parse(content, CsvSettings(**given), "f.csv").table.to_pydict()


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16-le"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-32", "utf-32-le"),
        ("latin-1", "latin-1"),
    ],
)
def test_the_encoding_is_found(encoding, shown):
    text = parse(PLAIN.encode(encoding), CsvSettings(), "f.csv")
    assert text.table.to_pydict() == {"name": ["Zoë", "Åsa"], "x": ["1", "2"]}
    assert text.settings_shown == f"delimiter ';', encoding {shown}"


def test_windows_quotes_are_told_from_latin_1():
    text = parse("a,b\n“x”,é\n".encode("cp1252"), CsvSettings(), "f.csv")
    assert text.encoding == "cp1252"
    assert text.table.to_pydict() == {"a": ["“x”"], "b": ["é"]}


def test_a_given_encoding_is_kept_to():
    assert table("a,b\né,1\n".encode("cp850"), encoding="cp850") == {"a": ["é"], "b": ["1"]}
    with pytest.raises(InputError, match=r"not text in the encoding utf-8; set csv\.encoding"):
        table("a,b\né,1\n".encode("latin-1"), encoding="utf-8")


def test_an_unknown_encoding_is_refused():
    with pytest.raises(ValidationError, match="no such encoding"):
        CsvSettings(encoding="utf-99")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_although_others_occur(delimiter):
    other = "; " if delimiter == "," else ", "
    content = f"a{delimiter}b\nx{other}y{delimiter}1\nz{delimiter}2\n".encode()
    assert table(content) == {"a": [f"x{other}y", "z"], "b": ["1", "2"]}


def test_a_gzip_file_is_unpacked():
    assert table(gzip.compress(b"a,b\n1,2\n")) == {"a": ["1"], "b": ["2"]}


def test_a_gzip_file_that_was_cut_is_refused():
    with pytest.raises(InputError, match="gzip file is damaged"):
        table(gzip.compress(b"a,b\n1,2\n" * 100)[:-20])


def test_missing_and_empty_differ():
    assert table(b'a,b\n,1\n"",2\n') == {"a": [None, ""], "b": ["1", "2"]}


def test_quotes_hold_line_breaks_and_delimiters():
    content = b'a,b\r\n"x\r\ny, ""z""",1\r\n2,3\r\n'
    assert table(content) == {"a": ['x\r\ny, "z"', "2"], "b": ["1", "3"]}


def test_an_empty_line_of_a_single_column_is_a_missing_value():
    assert table(b"a\n1\n\n3\n") == {"a": ["1", None, "3"]}


def test_a_last_line_without_an_end_counts():
    assert table(b"a,b\n1,2\n3,4") == {"a": ["1", "3"], "b": ["2", "4"]}


def test_a_ragged_row_is_named_by_number_and_never_quoted():
    with pytest.raises(InputError) as caught:
        table(b'a,b\n1,2\n"sec\nret",2\nsecret,2,3\nsecret\n')
    assert str(caught.value).startswith(
        "f.csv: row 3 has 3 cells, expected 2 as in the header (2 such rows in all)"
    )
    assert "secret" not in str(caught.value)


def test_a_quote_that_is_never_closed_does_not_swallow_records():
    with pytest.raises(InputError, match="row 2 opens a quote that is never closed"):
        table(b'a,b\n1,2\n3,"secret\n5,6\n7,8\n')


def test_a_lone_quote_inside_a_cell_is_text():
    assert table(b'a,b\n24" tube,1\n2,3\n') == {"a": ['24" tube', "2"], "b": ["1", "3"]}


@pytest.mark.parametrize("cell", ["x" * 500, '"' + "x\n" * 250 + '"'])
def test_a_cell_longer_than_a_block_is_read(cell, monkeypatch):
    monkeypatch.setattr(csv_records, "_BLOCK", 64)
    assert len(table(f"a,b\n1,2\n{cell},2\n3,4\n".encode())["a"][1]) == 500


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "the file is empty"),
        (b"a,b,a\n1,2,3\n", "found twice: a"),
        (b"a,,c\n1,2,3\n", "column 2 has no name"),
        (b"a,b\n1,\0\n", "a NUL byte in row 1: no text has one"),
    ],
)
def test_what_is_no_table_is_refused(content, message):
    with pytest.raises(InputError, match=message):
        table(content)


def test_rows_of_a_hierarchy_are_read_as_they_are():
    assert rows(b"01;0*;*\n\n02;0*;*\n", CsvSettings(), "h.csv") == [
        ["01", "0*", "*"],
        ["02", "0*", "*"],
    ]
    with pytest.raises(InputError, match=r"h\.csv: the file is empty"):
        rows(b"", CsvSettings(), "h.csv")


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), min_size=1, max_size=8)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=20), st.sampled_from(",;\t|"))
def test_every_cell_survives(records, delimiter):
    quoted = [delimiter.join('"' + cell.replace('"', '""') + '"' for cell in r) for r in records]
    content = "\n".join([f"first{delimiter}second", *quoted]).encode()
    found = table(content, delimiter=delimiter)
    assert list(zip(found["first"], found["second"], strict=True)) == records


def test_marks_of_missing_values_are_null_where_they_are_listed_and_not_quoted():
    content = b'a,b\nNA,x\n1,NULL\n"NA",NA\n,-\n'
    assert table(content) == {"a": ["NA", "1", "NA", None], "b": ["x", "NULL", "NA", "-"]}
    assert table(content, missing=["NA", "NULL"]) == {
        "a": [None, "1", "NA", None],
        "b": ["x", None, None, "-"],
    }
