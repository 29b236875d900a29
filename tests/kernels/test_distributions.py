"""Diversity and likeness against their definitions, written out class by class."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import entropy

from distanon.kernels.counts import exact, from_triplets
from distanon.kernels.distributions import (
    disclosures,
    distinct_values,
    entropies,
    entropy_diverse,
    likeness_gains,
    recursive_diverse,
    recursive_ratios,
)

MATRICES = hnp.arrays(
    np.int64, st.tuples(st.integers(1, 5), st.integers(1, 6)), elements=st.integers(0, 5)
)


def counts_of(matrix):
    """Counts of a matrix, classes × values."""
    classes, values = np.nonzero(matrix)
    return from_triplets(classes, values, matrix[classes, values], *matrix.shape)


@given(MATRICES, st.integers(1, 5), st.sampled_from([0.5, 1, 1.5, 2, 3, 0.1]))
@settings(deadline=None)
def test_diversity_is_what_the_definitions_say(matrix, least, c):
    counts = counts_of(matrix)
    for place, row in enumerate(matrix):
        ranked = sorted((int(count) for count in row if count), reverse=True)
        assert distinct_values(counts)[place] == len(ranked)
        recursive = bool(ranked) and ranked[0] < Fraction(str(c)) * sum(ranked[least - 1 :])
        assert recursive_diverse(counts, exact(c), least)[place] == recursive
        if ranked:
            assert entropies(counts)[place] == pytest.approx(entropy(row), abs=1e-12)
            assert 0.0 <= entropies(counts)[place] <= math.log(len(ranked)) + 1e-12


@given(MATRICES, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_numbering_the_values_otherwise_changes_no_bit(matrix, random):
    order = list(range(matrix.shape[1]))
    random.shuffle(order)
    one, other = counts_of(matrix), counts_of(matrix[:, order])
    assert (entropies(one) == entropies(other)).all()
    assert (recursive_ratios(one, 2).floats() == recursive_ratios(other, 2).floats()).all()


@pytest.mark.parametrize("values", [2, 3, 5, 7, 10, 1000])
def test_equally_frequent_values_reach_their_own_entropy_diversity(values):
    counts = counts_of(np.full((1, values), 7))
    assert entropy_diverse(counts, values).all()
    assert not entropy_diverse(counts, values + 1e-6).any()


def test_hospital_table_of_machanavajjhala_2007_is_three_diverse():
    # Figure 3 of the paper: heart, viral infection, cancer in three classes of four
    matrix = np.array([[2, 1, 1], [1, 1, 2], [1, 1, 2]])
    counts = counts_of(matrix)
    assert distinct_values(counts).tolist() == [3, 3, 3]
    # H = 1.5 ln 2 each: entropy 2.83-diverse, so 2-diverse and not 3-diverse
    assert np.exp(entropies(counts)) == pytest.approx([2**1.5] * 3)
    assert entropy_diverse(counts, 2.8).all()
    assert not entropy_diverse(counts, 3).any()
    # r₁ = 2, r₂ + r₃ = 2: recursive (c, 2) for c above 1 and not for c = 1; r₃ = 1: (c, 3) above 2
    assert not recursive_diverse(counts, exact(1), 2).any()
    assert recursive_diverse(counts, exact(1.000001), 2).all()
    assert not recursive_diverse(counts, exact(2), 3).any()
    assert recursive_diverse(counts, exact(2.1), 3).all()


def test_hospital_table_that_is_only_four_anonymous_is_not_diverse():
    # Figure 2: the third class holds cancer alone
    counts = counts_of(np.array([[2, 2, 0], [1, 1, 2], [0, 0, 4]]))
    assert distinct_values(counts).tolist() == [2, 3, 1]
    assert entropies(counts)[2] == 0.0
    assert not recursive_diverse(counts, exact(1000), 2)[2]


def test_recursive_diversity_is_strict_where_floats_waver():
    # 3 < 0.3 · 10 is false; 0.1 · 30 as floats is 3.0000000000000004 in some orders
    counts = counts_of(np.array([[3, 2, 2, 2, 2, 2]]))
    assert not recursive_diverse(counts, exact(0.3), 2).any()
    assert recursive_diverse(counts, exact(0.3000000000000001), 2).all()


def test_a_class_without_values_has_no_diversity():
    counts = counts_of(np.array([[0, 0], [1, 1]]))
    assert distinct_values(counts).tolist() == [0, 2]
    assert not entropy_diverse(counts, 1)[0]
    assert not recursive_diverse(counts, exact(3), 2)[0]


@given(MATRICES)
@settings(deadline=None)
def test_gains_and_disclosures_are_what_the_definitions_say(matrix):
    counts = counts_of(matrix)
    reference = matrix.sum(axis=0)
    gains = likeness_gains(counts, reference)
    for place, (row, value) in enumerate(zip(counts.classes, counts.values, strict=True)):
        q = Fraction(int(matrix[row, value]), int(matrix[row].sum()))
        p = Fraction(int(reference[value]), int(reference.sum()))
        assert Fraction(int(gains.numerators[place]), int(gains.denominators[place])) == (q - p) / p
    for place, row in enumerate(matrix):
        if not row.any():
            continue
        shares = row / row.sum(), reference / reference.sum()
        with np.errstate(divide="ignore"):
            logs = [abs(np.log(q / p)) for q, p in zip(*shares, strict=True) if p > 0]
        assert disclosures(counts, reference)[place] == pytest.approx(max(logs), abs=1e-12)


def test_gains_of_enormous_tables_do_not_overflow():
    matrix = np.array([[3, 1], [1, 3]]) * 10**9
    gains = likeness_gains(counts_of(matrix), matrix.sum(axis=0))
    assert gains.floats().tolist() == [0.5, -0.5, -0.5, 0.5]
