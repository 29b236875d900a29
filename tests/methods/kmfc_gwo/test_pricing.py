import itertools

import numpy as np
import pytest

from distanon.data.graph import Graph
from distanon.methods.kmfc_gwo.pricing import cheapest_groups, lower_bound, priced
from distanon.runtime.crew import SerialCrew

NODES = 5
PAIRS = np.array(list(itertools.combinations(range(NODES), 2)))
EVERY = np.array(list(itertools.product((0, 1), repeat=len(PAIRS))))
DEGREES = np.stack([EVERY[:, (node == PAIRS).any(axis=1)].sum(axis=1) for node in range(NODES)], 1)


def fewest_edits(own, class_of, least):
    """Over all graphs of five nodes in which each class shares its degrees."""
    key = class_of * NODES + DEGREES
    shared = (key[:, :, None] == key[:, None, :]).sum(axis=2) >= least
    return (EVERY[shared.all(axis=1)] != own).sum(axis=1).min()


@pytest.mark.parametrize("seed", range(60))
def test_no_graph_with_shared_degrees_is_nearer_than_the_bound(seed):
    rng = np.random.default_rng(seed)
    own = EVERY[rng.integers(len(EVERY))]
    graph = Graph.from_pairs(NODES, PAIRS[own > 0])
    class_of = np.array([0, 0, 0, 1, 1]) * int(rng.integers(2))
    least = 2 if class_of.any() else int(rng.integers(2, 4))
    assert lower_bound(graph, class_of, least) <= fewest_edits(own, class_of, least)


def test_a_hub_costs_an_edit_for_each_edge_that_nobody_else_may_lose():
    star = Graph.from_pairs(41, np.array([(0, i) for i in range(1, 41)]))
    one_class = np.zeros(41, np.int64)
    first = next(priced(star, one_class, 3, is_rising=True))
    assert first.value == 19.5  # half of 40 − 1
    assert lower_bound(star, one_class, 3) > 35


def test_groups_stay_within_classes_have_enough_nodes_and_an_even_sum_of_degrees():
    rng = np.random.default_rng(3)
    graph = Graph.from_pairs(60, rng.integers(0, 60, (200, 2)))
    class_of, labels = np.arange(60) % 2, np.arange(60) // 6
    groups = cheapest_groups(graph, labels, class_of, 4, 10**5, SerialCrew())
    assert groups.sizes.min() >= 4
    parts = [class_of[groups.group_of == group] for group in range(len(groups.sizes))]
    assert all(len(np.unique(part)) == 1 for part in parts)
    assert (groups.options[:, 0] * groups.sizes).sum() % 2 == 0
