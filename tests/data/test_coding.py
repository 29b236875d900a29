"""Integers as float64 codes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from distanon.data.coding import Coding

words = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(words, min_size=1, max_size=10))
def test_codes_are_exact_or_refused(values):
    low, high = min(values), max(values)
    coding = Coding.fitting(low, high)
    if coding is None:
        assert high - low > 2**53
        return
    integers = np.array(values, dtype=np.int64)
    codes = coding.encode(integers)
    assert coding.decode(codes).tolist() == values
    assert [coding.integer(code) for code in codes] == values
    assert [coding.code_of(value) for value in values] == codes.tolist()


@given(st.lists(st.integers(0, 2**53), min_size=1, max_size=10), st.integers(0, 2**63))
def test_unsigned_words_are_exact_relative_to_their_minimum(values, offset):
    values = [value + offset for value in values]
    coding = Coding.fitting(min(values), max(values))
    integers = np.array(values, dtype=np.uint64)
    assert coding.decode(coding.encode(integers), unsigned=True).tolist() == values


@given(
    st.lists(st.integers(-(2**50), 2**50), min_size=1, max_size=10),
    st.integers(-(2**61), 2**61),
    st.integers(0, 30),
)
def test_decimals_are_exact(values, offset, scale):
    values = [value // 2 + offset for value in values]
    coding = Coding.fitting(min(values), max(values), scale=scale)
    integers = np.array(values, dtype=np.int64)
    assert coding.decode(coding.encode(integers)).tolist() == values


def test_small_integers_are_their_own_codes():
    assert Coding.fitting(-5, 2**53) == Coding()
    assert Coding().encode(np.array([-5, 7])).tolist() == [-5.0, 7.0]


def test_whole_days_count_days():
    day = 86_400_000_000_000
    coding = Coding.fitting(-3 * day, 20_000 * day, step=day)
    assert coding.encode(np.array([-3 * day, 7 * day])).tolist() == [-3.0, 7.0]
    assert coding.encode(np.array([day // 2])).tolist() == [0.5]
    assert coding.decode(np.array([7.0])).tolist() == [7 * day]


def test_a_range_beyond_float64_is_refused():
    assert Coding.fitting(0, 2**53 + 1) is None
    assert Coding.fitting(2**61, 2**61 + 2**51, scale=2) is None


def test_a_value_between_two_whole_numbers_is_refused():
    with pytest.raises(ValueError, match="round it first"):
        Coding().decode(np.array([1.5]))
    with pytest.raises(ValueError, match="beyond 64 bits"):
        Coding().decode(np.array([1e19]))


def test_numbers_in_the_columns_unit_have_codes():
    coding = Coding(origin=2**60, step=1)
    assert coding.code(2.0**60 + 1024) == 1024
    assert coding.number(1024.0) == 2.0**60 + 1024
