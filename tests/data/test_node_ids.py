from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.node_ids import alike, distinct_ids, number, read_ids, repeated
from distanon.errors import InputError


def place(row: int) -> str:
    return f"f.csv, row {row + 1}"


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([1, 2], pa.int32()), pa.array([1, 2], pa.int64())),
        (pa.array([1, 2**63], pa.uint64()), pa.array(["1", str(2**63)], pa.large_string())),
        (pa.array([1.0, 3.0]), pa.array([1, 3], pa.int64())),
        (pa.array(["b", "a"]).dictionary_encode(), pa.array(["b", "a"], pa.large_string())),
        (pa.array([" b\t", "c"]), pa.array(["b", "c"], pa.large_string())),
        (pa.array(["b"], pa.string_view()), pa.array(["b"], pa.large_string())),
        (pa.array([], pa.null()), pa.array([], pa.int64())),
    ],
)
def test_ids_are_whole_numbers_or_text_whatever_the_file_holds(column, expected):
    assert read_ids(column, "id", place).equals(expected)
    assert read_ids(pa.chunked_array([column]), "id", place).equals(expected)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.array([1, None, None]), r"f.csv, row 2, column 'id': no node id \(2 such rows"),
        (pa.array(["a", "b", None]), "f.csv, row 3, column 'id': no node id; give"),
        (pa.array(["a", " "]), "f.csv, row 2, column 'id': no node id"),
        (pa.array([1.0, float("nan")]), "f.csv, row 2, column 'id': no node id"),
        (pa.array([1.0, 2.5]), "f.csv, row 2, column 'id': a number with decimals"),
        (pa.array([True]), "f.csv, column 'id': node ids of type bool"),
    ],
)
def test_a_column_that_holds_no_ids_is_refused_with_its_row(column, words):
    with pytest.raises(InputError, match=words):
        read_ids(column, "id", place)


def test_numbers_and_text_are_compared_as_text():
    one, other = alike(pa.array([7, 8]), pa.array(["7", "x"], pa.large_string()))
    assert number(one, other).tolist() == [0, -1]


@settings(max_examples=60, deadline=None)
@given(
    st.one_of(
        st.lists(st.integers(-20, 20), min_size=1),
        st.lists(st.integers(-(2**62), 2**62), min_size=1),
    ),
    st.booleans(),
)
def test_distinct_ids_ascend_and_number_finds_each(values, as_text):
    column = pa.array(values, pa.int64())
    if as_text:
        column = column.cast(pa.large_string())
    ids = distinct_ids(column, column)
    assert ids.to_pylist() == sorted(set(column.to_pylist()))
    places = number(column, ids)
    assert ids.take(pa.array(places)).equals(column)
    assert places.dtype == np.int64


def test_an_id_that_is_not_there_is_minus_one_inside_and_outside_of_the_range():
    ids = pa.array([5, 3, 9])
    assert number(pa.array([9, 4, 2, 10, 3]), ids).tolist() == [2, -1, -1, -1, 1]
    far = pa.array([5, 3, 2**40])
    assert number(pa.array([2**40, 4]), far).tolist() == [2, -1]
    assert number(pa.array([1]), pa.array([], pa.int64())).tolist() == [-1]


def test_a_repeated_id_is_told_with_its_first_row_and_count():
    assert repeated(pa.array([4, 5, 6])) is None
    assert repeated(pa.array([4, 5, 4, 5, 4])) == (2, 0, 3)
