from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.attacks.assignment import assignment_scores, squared_distances


def test_the_assignment_finds_what_nearest_rows_confuse():
    # Both released rows lie nearest to the first original; together they must share.
    old, new = np.array([[0.0], [1.0]]), np.array([[-0.1], [0.4]])
    scores = assignment_scores(old, new, np.array([0, 1]), np.arange)
    assert scores.tolist() == [1.0, 1.0]


@settings(max_examples=30, deadline=None)
@given(st.permutations(range(6)), st.integers(0, 2**32))
def test_equal_rows_are_credited_with_the_mean_over_exchanges(order, seed):
    # Three equal records, two equal ones, one alone: 3·1/3 + 2·1/2 + 1 hits of 6.
    points = np.array([0.0, 0, 0, 5, 5, 9])[:, None]
    new = points[list(order)]
    shuffle = np.random.default_rng(seed).permutation
    scores = assignment_scores(points, new, np.array(order), shuffle)
    assert scores.sum() == pytest.approx(3.0)


def test_missing_values_are_one_away_from_values_and_at_none_from_each_other():
    one = np.array([[0.0, np.nan], [0.5, 0.25]])
    found = squared_distances(one, one)
    assert found.tolist() == [[0.0, 1.25], [1.25, 0.0]]
