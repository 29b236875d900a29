"""How many digits after the point a numeric column has."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.grid import decimals_seen, grid_limit

floats = st.floats(-1e12, 1e12, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-30)


def by_text(value, limit):
    """The outside oracle: digits after the point of the shortest text."""
    exponent = Decimal(str(value)).normalize().as_tuple().exponent
    return min(limit, max(0, -exponent))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.1, 0.25, 3.0], 2),
        ([1.0, 2.0], 0),
        ([0.0], 0),
        ([1090.84, 0.0], 2),
        ([123456.789, 1.5], 0),  # six significant digits of the largest
        ([1000000.01, 1000000.09], 2),  # the limit is 4: three digits of the range, .08
        ([1e-30, 2.5e-30], 31),
        ([0.1 + 0.2, 0.0], 6),
        ([0.125, 0.125], 3),
    ],
)
def test_worked_examples(values, expected):
    values = np.array(values)
    assert decimals_seen(values, grid_limit(values.min(), values.max())) == expected


def test_six_significant_digits_are_the_limit():
    assert grid_limit(0.0, 99.0) == 4
    assert grid_limit(0.0, 100.0) == 3
    assert grid_limit(-1e9, 5.0) == 0
    assert grid_limit(0.0, 0.0) == 0
    assert grid_limit(0.0, 0.00123) == 8


def test_a_narrow_range_keeps_three_digits():
    assert grid_limit(5_000_000.0, 5_000_000.5) == 3


@given(st.lists(floats, min_size=1, max_size=20), st.integers(0, 12))
@settings(max_examples=150, deadline=None)
def test_digits_are_those_of_the_shortest_text(values, limit):
    found = decimals_seen(np.array(values), limit) if max(map(abs, values)) < 1e3 else None
    if found is not None:
        assert found == max(by_text(value, limit) for value in values)


@given(st.lists(st.decimals(-999, 999, places=3), min_size=1, max_size=20))
def test_decimals_of_single_precision_are_those_that_were_written(values):
    stored = np.array([float(value) for value in values], dtype=np.float32)
    expected = max(by_text(value, 3) for value in stored)
    assert decimals_seen(stored.astype(np.float64), 3, np.float32) == expected


@given(st.lists(floats, min_size=1, max_size=8), st.lists(floats, min_size=1, max_size=8))
def test_a_limit_never_grows_with_the_range(first, second):
    both = first + second
    if any(first):
        assert grid_limit(min(both), max(both)) <= grid_limit(min(first), max(first))
