import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.graph import Graph
from distanon.kernels.degree_groups import grouped_by_degree, medians_cost
from distanon.kernels.degree_prices import cut_by_price, overpriced, rising


def sorted_classes(degrees, class_of):
    order = np.lexsort((np.arange(len(degrees)), degrees, class_of))
    return order, np.concatenate(([0], np.cumsum(np.bincount(class_of)))).astype(np.int64)


def cost_of(degrees, prices, level):
    lost, gained = np.maximum(degrees - level, 0), np.maximum(level - degrees, 0)
    return (prices * lost).sum() + 0.5 * gained.sum()


def cheapest(degrees, prices, least):
    """Over all cuts of ascending degrees into groups, and all degrees of each."""
    m = len(degrees)
    best = np.full(m + 1, np.inf)
    best[0] = 0.0
    for stop in range(least, m + 1):
        for start in range(stop - least + 1):
            part = slice(start, stop)
            costs = [cost_of(degrees[part], prices[part], own) for own in range(10)]
            best[stop] = min(best[stop], best[start] + min(costs))
    return best[m]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), least=st.integers(1, 4))
def test_no_cut_of_neighbors_by_degree_is_cheaper(seed, least):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(least, 9, 2)
    class_of = np.repeat([0, 1], sizes)
    degrees = rng.integers(0, 10, len(class_of))
    prices = rng.random(len(class_of))
    order, starts = sorted_classes(degrees, class_of)
    group_of, level, cost = cut_by_price(order, starts, degrees, prices, least)
    assert np.bincount(group_of).min() >= least
    for group in range(group_of.max() + 1):
        assert len({*class_of[group_of == group]}) == len({*level[group_of == group]}) == 1
    assert cost == pytest.approx(cost_of(degrees, prices, level))
    parts = [order[starts[place] : starts[place + 1]] for place in (0, 1)]
    assert cost == pytest.approx(sum(cheapest(degrees[o], prices[o], least) for o in parts))


def test_at_equal_prices_groups_cost_half_the_distance_from_their_medians():
    degrees = np.random.default_rng(1).integers(0, 40, 60)
    class_of = np.zeros(60, np.int64)
    order, starts = sorted_classes(degrees, class_of)
    cost = cut_by_price(order, starts, degrees, np.full(60, 0.5), 4)[2]
    assert cost == medians_cost(degrees, grouped_by_degree(degrees, class_of, 4)) / 2


def test_edges_are_overpriced_whose_ends_are_above_one_together():
    graph = Graph.from_pairs(4, np.array([(0, 1), (1, 2), (2, 3)]))
    count, excess = overpriced(graph.starts, graph.neighbors, np.array([0.5, 0.75, 0.5, 0.25]))
    assert count.tolist() == [1, 2, 1, 0]
    assert excess == 0.5


@settings(max_examples=40, deadline=None)
@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_rising_prices_are_the_isotonic_regression(values):
    from sklearn.isotonic import IsotonicRegression

    order, starts = np.arange(len(values)), np.array([0, len(values)])
    expected = IsotonicRegression().fit_transform(order, values)
    assert rising(order, starts, np.array(values)) == pytest.approx(expected, abs=1e-9)
