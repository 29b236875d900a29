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
        modes = statistics.multimode(members[:, 2])
        most = max(int((values[:, 2] == mode).sum()) for mode in modes)
        assert tuples[group, 2] == min(m for m in modes if (values[:, 2] == m).sum() == most)


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


@given(st.integers(0, 9_999))
@settings(max_examples=60, deadline=None)
def test_a_value_of_one_record_stands_only_for_a_group_of_such_values(seed):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(8), 4))
    values = rng.integers(0, rng.choice([4, 20, 200]), 32).astype(float)
    shared = {value for value in values if (values == value).sum() > 1}
    for group, mode in enumerate(group_tuples(values[:, None], labels, 8, ("mode",))[:, 0]):
        assert mode in shared or not shared & set(values[labels == group])
