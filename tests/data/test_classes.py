"""Equivalence classes against a dictionary of tuples."""

import datetime as dt
import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.classes import (
    ClassSizes,
    class_sizes,
    common_classes,
    encode,
    equal_rows,
    equivalence_classes,
    partition_of,
)

CELLS = {
    pa.float64(): st.sampled_from([0.0, -0.0, 1.0, math.nan, None, 1e300, -1.5]),
    pa.int64(): st.sampled_from([0, 1, -1, None, 2**62]),
    pa.string(): st.sampled_from(["", "*", "a", "b", None, "nan", "null"]),
    pa.bool_(): st.sampled_from([True, False, None]),
    pa.date32(): st.sampled_from([dt.date(2020, 1, 1), dt.date(2021, 1, 1), None]),
}


def cell(value):
    """What makes a cell the same: nothing, the one NaN, or the value (-0.0 is 0.0 in Python)."""
    return "NaN" if isinstance(value, float) and math.isnan(value) else ("value", value)


@st.composite
def tables(draw):
    kinds = draw(st.lists(st.sampled_from(list(CELLS)), min_size=1, max_size=4))
    rows = draw(st.integers(0, 30))
    columns = {
        str(place): pa.array(draw(st.lists(CELLS[kind], min_size=rows, max_size=rows)), kind)
        for place, kind in enumerate(kinds)
    }
    border = draw(st.integers(0, rows))
    whole = pa.table(columns)
    return pa.concat_tables([whole.slice(0, border), whole.slice(border)])


@given(tables())
@settings(max_examples=150, deadline=None)
def test_classes_are_the_distinct_tuples_in_order_of_first_appearance(table):
    columns = [table.column(name).to_pylist() for name in table.column_names]
    numbers, expected, firsts = {}, [], []
    for row, values in enumerate(zip(*columns, strict=True)):
        key = tuple(cell(value) for value in values)
        if key not in numbers:
            numbers[key] = len(numbers)
            firsts.append(row)
        expected.append(numbers[key])
    classes = equivalence_classes(table, table.column_names)
    assert classes.class_of.tolist() == expected
    assert classes.firsts.tolist() == firsts
    assert classes.sizes.tolist() == [expected.count(number) for number in range(len(numbers))]
    assert classes.class_of.dtype == classes.sizes.dtype == np.int64


@given(tables(), st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_permuting_the_rows_permutes_the_classes(table, random):
    order = list(range(table.num_rows))
    random.shuffle(order)
    before = equivalence_classes(table, table.column_names)
    after = equivalence_classes(table.take(pa.array(order, pa.int64())), table.column_names)
    assert sorted(before.sizes) == sorted(after.sizes)
    assert (before.sizes[before.class_of][order] == after.sizes[after.class_of]).all()


def test_missing_nan_empty_and_suppressed_are_four_values():
    text = pa.chunked_array([["", None], ["*", "", None, "nan"]])
    assert encode(text).code_of.tolist() == [0, 1, 2, 0, 1, 3]
    number = pa.chunked_array([[math.nan, None], [0.0, -0.0, math.nan]])
    assert encode(number).code_of.tolist() == [0, 1, 2, 2, 0]


def test_every_nan_is_the_same_nan():
    bits = np.array([0x7FF8000000000000, 0x7FF8000000000001, 0xFFF8000000000000], np.uint64)
    assert encode(pa.array(bits.view(np.float64))).code_of.tolist() == [0, 0, 0]


def test_markers_say_nothing_and_empty_text_says_something():
    codes = encode(pa.chunked_array([["", None, "*", "a"]]))
    assert codes.is_marker.tolist() == [False, True, True, False]
    assert encode(pa.chunked_array([[math.nan, None, 0.0]])).is_marker.tolist() == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    "column",
    [
        pa.chunked_array([pa.array(["a", "b"]).dictionary_encode(), pa.array(["b", "a"])
                          .dictionary_encode()]),
        pa.chunked_array([pa.array(["a", "b", "b", "a"], pa.string_view())]),
        pa.chunked_array([pa.array(["a", "b", "b", "a"], pa.large_string())]),
        pa.chunked_array([pa.array(np.array([1, 0, -0.0, 1], np.float16))]),
        pa.chunked_array([pa.array([Decimal("1.0"), Decimal("0.1"), Decimal("0.1"), 1])]),
        pa.chunked_array([pa.array([True, False, False, True])]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(["a", "b", "b"])),
    ],
)  # fmt: skip
def test_every_column_type_is_compared_by_value(column):
    assert encode(column).code_of.tolist() == [0, 1, 1, 0]


def test_a_column_of_nothing_but_missing_is_one_value():
    assert encode(pa.chunked_array([pa.nulls(3)])).code_of.tolist() == [0, 0, 0]


def test_keys_of_two_hundred_wide_columns_do_not_overflow():
    random = np.random.default_rng(0)
    columns = {str(place): random.integers(0, 1000, 500) for place in range(200)}
    whole = pa.table(columns)
    table = pa.concat_tables([whole, whole.slice(100, 50), whole])
    classes = equivalence_classes(table, table.column_names)
    assert len(classes) == 500
    assert classes.sizes.tolist() == [3 if 100 <= row < 150 else 2 for row in range(500)]
    # two records that differ in the very first or last column alone are told apart
    for name in ("0", "199"):
        changed = whole.slice(0, 1).set_column(int(name), name, pa.array([5000]))
        both = pa.concat_tables([whole.slice(0, 1), changed])
        assert len(equivalence_classes(both, both.column_names)) == 2


def test_without_columns_all_records_are_one_class():
    table = pa.table({"x": [1, 2, 3]})
    assert equivalence_classes(table, []).sizes.tolist() == [3]
    assert len(equivalence_classes(table.slice(0, 0), ["x"])) == 0
    assert len(equivalence_classes(table.slice(0, 0), [])) == 0


def test_summary_of_sizes():
    classes = partition_of(np.array([7, 7, 7, 1, 1, 5, 7, 2, 2]))
    assert class_sizes(classes.sizes) == ClassSizes(4, 9, 1, 2, 4)
    assert class_sizes(np.empty(0, np.int64)) == ClassSizes(0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (pa.array([1, 2, None, None]), pa.array([1, 3, None, 4]), [True, False, True, False]),
        (pa.array([1, 2, None]), pa.array([1.0, 2.5, math.nan]), [True, False, True]),
        (pa.array([0.0, 1.0]), pa.array([-0.0, None]), [True, False]),
        (pa.array([17, 18, None, 2]), pa.array(["17", "[17, 25]", "*", "2.0"]),
         [True, False, False, True]),
        (pa.array([1.5, None]), pa.array([Decimal("1.5"), None]), [True, True]),
        (pa.array(["a", "", None]), pa.array(["a", None, "a"]).dictionary_encode(),
         [True, False, False]),
        (pa.array([dt.date(2020, 1, 1), None]), pa.array(["2020-01-01", "2020"]), [True, False]),
        (pa.array([True, False]), pa.array([1, 1]), [True, False]),
        (pa.array([1, None]), pa.nulls(2), [False, True]),
    ],
)  # fmt: skip
def test_equal_rows_compare_values_across_types(left, right, same):
    for one, other in ((left, right), (right, left)):
        got = equal_rows(pa.table({"x": one}), pa.table({"x": other}), ["x"])
        assert got.tolist() == same


def test_rows_are_equal_when_every_column_is():
    left = pa.table({"x": [1, 1, 2], "y": ["a", "b", "c"]})
    right = pa.table({"y": ["a", "c", "c"], "x": [1, 1, 3]})
    assert equal_rows(left, right, ["x", "y"]).tolist() == [True, False, False]


def test_classes_of_two_tables_have_common_numbers_whatever_their_types():
    one = pa.table({"n": [1, 2, 2], "t": pa.array(["a", "b", None]).dictionary_encode()})
    other = pa.table({"n": [2.0, 1.0], "t": pa.array(["b", "b"], pa.large_string())})
    ours, theirs = common_classes(one, other, ["n", "t"])
    assert ours.tolist() == [0, 1, 2]
    assert theirs.tolist() == [1, 3]
    ours, theirs = common_classes(one, other, [])
    assert (ours.tolist(), theirs.tolist()) == ([0, 0, 0], [0, 0])
