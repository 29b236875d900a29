import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.graph import Graph
from distanon.errors import InfeasibleError
from distanon.kernels import cell_repair
from distanon.kernels.cell_repair import Rules
from distanon.methods.kmfc_gwo.bounds import (
    Bounds,
    bounds,
    closest,
    nearest,
    refuse_budget,
    refuse_degrees,
)


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


def ordered_cost(own, whole, order):
    gap = np.cumsum((own / own.sum() - whole / whole.sum())[order])
    return np.abs(gap).sum() / (len(order) - 1)


def hierarchical_cost(own, whole, ancestors):
    gap = own / own.sum() - whole / whole.sum()
    levels = [np.abs(np.bincount(one, weights=gap)).sum() / 2 for one in ancestors[:-1]]
    return sum(levels) / len(levels)


def rules_of(distance, t, order, ancestors):
    marker = np.zeros(len(order), np.bool_)
    return Rules(cell_repair.NONE, 1.0, 1.0, distance, t, 1, marker, order, ancestors)


@settings(max_examples=30, deadline=None)
@given(tally=st.lists(st.integers(1, 30), min_size=4, max_size=4), size=st.integers(1, 9))
def test_no_class_of_a_size_is_nearer_in_an_order_or_a_tree(tally, size):
    tally, order = np.array(tally), np.array([2, 0, 3, 1])
    ancestors = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])
    every = list(compositions(size, 4))
    rules = rules_of(cell_repair.ORDERED, 0.1, order, ancestors)
    least = min(ordered_cost(own, tally, order) for own in every)
    assert closest(rules, tally, size) == pytest.approx(least, abs=1e-12)
    rules = rules_of(cell_repair.HIERARCHICAL, 0.1, order, ancestors)
    least = min(hierarchical_cost(own, tally, ancestors) for own in every)
    assert closest(rules, tally, size) <= least + 1e-12


def test_a_star_is_refused_where_its_degrees_need_more_than_the_budget():
    star = Graph.from_pairs(41, np.array([(0, i) for i in range(1, 41)]))
    with pytest.raises(InfeasibleError, match=r"3 nodes of each degree need at least 3\d edits"):
        refuse_degrees(star, 3, 0.5)
    refuse_degrees(star, 3, 2.0)


def test_degrees_that_differ_need_half_their_differences_and_a_hub_more():
    path = Graph.from_pairs(8, np.array([(i, i + 1) for i in range(7)]))
    labels, one = np.array([0, 1, 1, 0, 0, 1, 1, 0]), np.zeros(8, np.int64)
    assert bounds(path, labels, one, 4, (), None, knows_degree=True).edges == 1
    star = Graph.from_pairs(6, np.array([(0, i) for i in range(1, 6)]))
    labels = np.array([0, 0, 0, 1, 1, 1])
    found = bounds(star, labels, np.zeros(6, np.int64), 3, (), None, knows_degree=True)
    assert found == Bounds(4, 4, 0, 0)  # one for each edge that the hub must lose alone
    unknown = bounds(star, labels, np.zeros(6, np.int64), 3, (), None, knows_degree=False)
    assert unknown.edges == 0


def test_a_budget_below_the_bound_names_the_least_one():
    with pytest.raises(InfeasibleError, match=r"at least 20 edits of 100 edges.*is 0.2"):
        refuse_budget(Bounds(30, 20, 0, 0), 0.1, 100, by_clusters=False)
    refuse_budget(Bounds(30, 20, 0, 0), 0.2, 100, by_clusters=False)
    with pytest.raises(InfeasibleError, match=r"is 0.3"):
        refuse_budget(Bounds(30, 20, 0, 0), 0.2, 100, by_clusters=True)
