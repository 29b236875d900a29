"""Sparse counts and exact ratios."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from distanon.kernels.counts import Counts, Ratios, at_most, exact, from_triplets, segment_sums

MATRICES = hnp.arrays(
    np.int64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.integers(0, 5)
)


def counts_of(matrix):
    """Counts of a matrix, classes × values."""
    classes, values = np.nonzero(matrix)
    return from_triplets(classes, values, matrix[classes, values], *matrix.shape)


@given(MATRICES)
def test_counting_records_equals_the_matrix(matrix):
    classes, values = np.nonzero(matrix)
    class_of = np.repeat(classes, matrix[classes, values])
    value_of = np.repeat(values, matrix[classes, values])
    order = np.random.default_rng(0).permutation(len(class_of))
    counted = Counts.of(class_of[order], value_of[order], *matrix.shape)
    again = counts_of(matrix)
    for name in ("classes", "values", "counts", "starts", "totals"):
        assert (getattr(counted, name) == getattr(again, name)).all()
    dense = np.zeros_like(matrix)
    dense[counted.classes, counted.values] = counted.counts
    assert (dense == matrix).all()
    assert (counted.totals == matrix.sum(axis=1)).all()
    assert (counted.value_totals == matrix.sum(axis=0)).all()


def test_leaving_a_value_out_keeps_the_numbers_of_the_classes():
    counts = counts_of(np.array([[0, 3], [2, 1]]))
    rest = counts.without(np.array([False, True]))
    assert rest.totals.tolist() == [0, 2]
    assert rest.classes.tolist() == [1]


def test_renumbering_values_moves_the_columns():
    matrix = np.array([[1, 2, 0], [0, 3, 4]])
    renumbered = counts_of(matrix).renumbered(np.array([2, 0, 1]))
    expected = counts_of(np.array([[2, 0, 1], [3, 4, 0]]))
    assert (renumbered.values == expected.values).all()
    assert (renumbered.counts == expected.counts).all()


def test_sums_of_empty_segments_are_nothing():
    starts = np.array([0, 0, 2, 2, 3, 3])
    assert segment_sums(np.array([1, 2, 4]), starts).tolist() == [0, 3, 0, 4, 0]


@pytest.mark.parametrize(
    ("typed", "fraction"),
    [
        (0.3, Fraction(3, 10)),
        (0.1, Fraction(1, 10)),
        (3, Fraction(3)),
        (1e-7, Fraction(1, 10**7)),
        (1 / 3, Fraction(3333333333333333, 10**16)),
    ],
)
def test_a_limit_is_the_decimal_that_was_typed(typed, fraction):
    assert exact(typed) == fraction


def test_a_ratio_at_the_limit_keeps_it_and_the_next_integer_breaks_it():
    # 0.3 as a binary fraction is below 3/10; 0.1 + 0.2 is above it
    tenths = np.array([3, 30, 300_000_000_000_001, 299_999_999_999_999, 0])
    wholes = np.array([10, 100, 10**15, 10**15, 7])
    assert at_most(tenths, wholes, exact(0.3)).tolist() == [True, True, False, True, True]
    assert at_most(np.array([1]), np.array([3]), exact(1 / 3)).tolist() == [False]
    assert at_most(np.array([1]), np.array([3]), exact(0.3333333333333334)).tolist() == [True]
    assert at_most(np.array([0, 1]), np.array([1, 10**18]), exact(0)).tolist() == [True, False]


@given(st.integers(0, 10**18), st.integers(1, 10**18), st.integers(0, 99), st.integers(1, 99))
def test_comparisons_agree_with_fractions(numerator, denominator, over, under):
    limit = Fraction(over, under)
    expected = Fraction(numerator, denominator) <= limit
    for kind in (np.int64, object):
        parts = np.array([numerator], kind), np.array([denominator], kind)
        assert Ratios(*parts).at_most(limit).tolist() == [expected]
