from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.kernels.degree_groups import evened, grouped_by_degree, medians_cost


def cheapest(degrees, least):
    """All cuts of the sorted degrees, one by one."""
    m = len(degrees)
    best = None
    for mask in range(2 ** max(m - 1, 0)):
        cuts = [0, *(i + 1 for i in range(m - 1) if mask >> i & 1), m]
        if min(b - a for a, b in pairwise(cuts)) < least:
            continue
        cost = sum(
            min(np.abs(degrees[a:b] - d).sum() for d in degrees[a:b]) for a, b in pairwise(cuts)
        )
        best = cost if best is None else min(best, cost)
    return best


@settings(max_examples=40, deadline=None)
@given(degrees=st.lists(st.integers(0, 12), min_size=3, max_size=10), least=st.integers(1, 3))
def test_no_cut_is_cheaper(degrees, least):
    degrees = np.array(degrees, np.int64)
    groups = grouped_by_degree(degrees, np.zeros(len(degrees), np.int64), least)
    assert np.bincount(groups).min() >= least
    assert medians_cost(degrees, groups) == cheapest(np.sort(degrees), least)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_groups_never_cross_classes(seed):
    rng = np.random.default_rng(seed)
    class_of = np.repeat(np.arange(3), rng.integers(4, 20, 3))
    degrees = rng.integers(0, 30, len(class_of))
    groups = grouped_by_degree(degrees, class_of, 4)
    for group in range(groups.max() + 1):
        assert len(np.unique(class_of[groups == group])) == 1
        assert np.count_nonzero(groups == group) in range(4, 8)


def test_a_class_that_is_too_small_is_refused():
    with pytest.raises(ValueError, match="fewer than 3"):
        grouped_by_degree(np.arange(5), np.array([0, 0, 0, 1, 1]), 3)


def test_equal_degrees_cost_nothing():
    degrees = np.full(7, 4)
    groups = grouped_by_degree(degrees, np.zeros(7, np.int64), 2)
    assert medians_cost(degrees, groups) == 0


def test_degrees_are_made_even_where_that_costs_least():
    groups = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    degrees = np.array([1, 1, 1, 3, 4, 4, 7, 7])
    assert evened(np.array([1, 4, 7]), groups, degrees).tolist() == [1, 3, 7]
    assert evened(np.array([1, 3, 7]), groups, degrees).tolist() == [1, 3, 7]


def test_degrees_stay_between_none_and_all_others_when_made_even():
    assert evened(np.array([4, 0]), np.array([0, 0, 0, 0, 1]), np.arange(5)).tolist() == [4, 0]
    assert evened(np.array([1]), np.zeros(3, np.int64), np.array([2, 2, 2])).tolist() == [2]
    assert evened(np.array([1]), np.zeros(3, np.int64), np.array([0, 0, 0])).tolist() == [0]
