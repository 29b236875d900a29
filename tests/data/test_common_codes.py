"""True and released values of one attribute, numbered alike."""

from __future__ import annotations

import pyarrow as pa
import pytest

from distanon.data.common_codes import common_codes, is_number


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pa.array([1, 2, None]), pa.array([1.0, 2.0, None])),
        (pa.array(["u", "v", None]), pa.array(["u", "v", None]).dictionary_encode()),
        (pa.array(["1", "2", None]), pa.array([1, 2, None])),
    ],
)
def test_equal_values_have_equal_numbers_whatever_their_types(one, other):
    codes = common_codes(pa.chunked_array([one]), pa.chunked_array([other]))
    left, right = codes.columns
    assert left.tolist() == right.tolist()
    assert len(set(left.tolist())) == 3
    assert codes.says[left].tolist() == [True, True, False]


def test_suppressed_cells_say_nothing():
    codes = common_codes(pa.chunked_array([["u", "*"]]), pa.chunked_array([["v", None]]))
    assert codes.is_marker[codes.columns[0]].tolist() == [False, True]
    assert codes.is_marker[codes.columns[1]].tolist() == [False, True]


def test_booleans_and_text_are_no_numbers():
    kinds = [pa.array([1]), pa.array([1.5]), pa.array([True]), pa.array(["1"])]
    assert [is_number(pa.chunked_array([one])) for one in kinds] == [True, True, False, False]
