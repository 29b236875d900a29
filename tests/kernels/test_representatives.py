from __future__ import annotations

import statistics

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.kernels.representatives import group_tuples


@given(st.integers(0, 9_999), st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_averages_are_those_of_the_standard_library(seed, groups):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(groups), rng.integers(0, groups, 30)])
    values = rng.integers(0, 5, (len(labels), 3)).astype(float)
    tuples = group_tuples(values, labels, groups, ("mean", "median", "mode"))
    for group in range(groups):
        members = values[labels == group]
        assert np.isclose(tuples[group, 0], statistics.fmean(members[:, 0]))
        assert tuples[group, 1] == statistics.median_low(members[:, 1])
        assert tuples[group, 2] == min(statistics.multimode(members[:, 2]))


def test_missing_values_are_left_out_and_win_where_more_than_half_are():
    gap = np.nan
    labels = np.array([0, 0, 1, 1, 1, 2])
    values = np.array([[1.0, gap], [gap, 2.0], [gap, gap], [gap, gap], [7.0, 3.0], [gap, 4.0]])
    tuples = group_tuples(values, labels, 3, ("mean", "median"))
    np.testing.assert_array_equal(tuples, [[1.0, 2.0], [gap, gap], [gap, 4.0]])


def test_equal_values_are_their_own_mean_and_order_changes_no_bit():
    rng = np.random.default_rng(3)
    same = np.full((7, 1), 0.1 + 0.2)
    assert group_tuples(same, np.zeros(7, np.int64), 1, ("mean",))[0, 0] == 0.1 + 0.2
    values, labels = rng.random((200, 1)), rng.integers(0, 9, 200)
    order = rng.permutation(200)
    one = group_tuples(values, labels, 9, ("mean",))
    assert one.tobytes() == group_tuples(values[order], labels[order], 9, ("mean",)).tobytes()
