import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.graph import Graph
from distanon.errors import InfeasibleError
from distanon.methods.kmfc_gwo.bounds import Bounds, bounds, nearest, refuse_budget


def compositions(size, values):
    for cuts in itertools.combinations(range(size + values - 1), values - 1):
        ends = (-1, *cuts, size + values - 1)
        yield np.array([b - a - 1 for a, b in itertools.pairwise(ends)])


@settings(max_examples=30, deadline=None)
@given(tally=st.lists(st.integers(1, 30), min_size=2, max_size=4), size=st.integers(1, 9))
def test_no_class_of_a_size_is_nearer_to_the_whole(tally, size):
    tally = np.array(tally)
    share = tally / tally.sum()
    least = min(np.abs(own / size - share).sum() / 2 for own in compositions(size, len(tally)))
    assert nearest(tally, size) == pytest.approx(least, abs=1e-12)


def test_degrees_that_differ_need_half_their_differences():
    star = Graph.from_pairs(6, np.array([(0, i) for i in range(1, 6)]))
    labels = np.array([0, 0, 0, 1, 1, 1])
    found = bounds(star, labels, np.zeros(6, np.int64), 3, (), None, knows_degree=True)
    assert found == Bounds(2, 2, 0, 0)
    unknown = bounds(star, labels, np.zeros(6, np.int64), 3, (), None, knows_degree=False)
    assert unknown.edges == 0


def test_a_budget_below_the_bound_names_the_least_one():
    with pytest.raises(InfeasibleError, match=r"at least 20 edits of 100 edges.*is 0.2"):
        refuse_budget(Bounds(30, 20, 0, 0), 0.1, 100, by_clusters=False)
    refuse_budget(Bounds(30, 20, 0, 0), 0.2, 100, by_clusters=False)
    with pytest.raises(InfeasibleError, match=r"is 0.3"):
        refuse_budget(Bounds(30, 20, 0, 0), 0.2, 100, by_clusters=True)
