import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.graph import Graph
from distanon.kernels.percolation import percolate, revise


def graph_of(nodes, density, seed):
    draw = np.random.default_rng(seed)
    pairs = np.stack(np.triu_indices(nodes, 1), axis=1)
    return Graph.from_pairs(nodes, pairs[draw.random(len(pairs)) < density])


def renumbered(graph, seed):
    number = np.random.default_rng(seed).permutation(graph.nodes)
    return Graph.from_pairs(graph.nodes, number[graph.pairs()]), number


def matrix_of(graph):
    result = np.zeros((graph.nodes, graph.nodes), int)
    result[tuple(graph.pairs().T)] = 1
    return result + result.T


def best_of(order):
    """For each node of either graph the tuple that its best pair has."""
    best = {}
    for (u, v), key in order.items():
        for side, place, tie in ((0, u, v), (1, v, u)):
            best[side, place] = min(best.get((side, place), (*key, tie)), (*key, tie))
    return best


def by_the_letter(one, other, seeds, marks):
    """The rounds of `percolate`, with all marks of all pairs counted anew in each."""
    mate = dict(map(tuple, seeds.tolist()))
    while True:
        matched = np.zeros((one.nodes, other.nodes), int)
        matched[list(mate), list(mate.values())] = 1
        count = matrix_of(one) @ matched @ matrix_of(other)
        count[list(mate)] = 0
        count[:, list(mate.values())] = 0
        if count.max(initial=0) < marks:
            return mate
        apart = np.abs(one.degrees()[:, None] - other.degrees()[None, :])
        limit = max(marks, int(count.max() * 0.5))
        pairs = np.argwhere(count >= marks).tolist()
        order = {(u, v): (-count[u, v], apart[u, v]) for u, v in pairs}
        best = best_of(order)
        for (u, v), key in order.items():
            if -key[0] >= limit and best[0, u][2] == v and best[1, v][2] == u:
                mate[u] = v


@settings(max_examples=40, deadline=None)
@given(st.integers(4, 22), st.integers(0, 2**32 - 1), st.integers(1, 4), st.booleans())
def test_mates_are_those_of_counting_all_marks_of_all_pairs(nodes, seed, marks, edited):
    one = graph_of(nodes, 0.4, seed)
    other, number = renumbered(graph_of(nodes, 0.4, seed + 1) if edited else one, seed)
    known = np.random.default_rng(seed).choice(nodes, 4, replace=False)
    seeds = np.stack([known, number[known]], axis=1)
    found = percolate(one, other, seeds, marks)
    expected = by_the_letter(one, other, seeds, marks)
    assert {node: mate for node, mate in enumerate(found.tolist()) if mate >= 0} == expected


@settings(max_examples=30, deadline=None)
@given(st.integers(4, 60), st.integers(0, 2**32 - 1), st.integers(0, 3))
def test_a_matching_pairs_nobody_twice_and_keeps_the_seeds(nodes, seed, passes):
    one = graph_of(nodes, 0.2, seed)
    other, number = renumbered(graph_of(nodes, 0.2, seed + 1), seed)
    seeds = np.stack([np.arange(4), number[:4]], axis=1)
    mates = percolate(one, other, seeds, 2)
    mates = revise(one, other, seeds, mates, 2, passes)
    found = mates[mates >= 0]
    assert len(np.unique(found)) == len(found)
    assert mates[:4].tolist() == number[:4].tolist()


def test_a_random_graph_without_its_names_is_matched_entirely():
    one = graph_of(300, 0.1, 4)
    other, number = renumbered(one, 9)
    seeds = np.stack([np.arange(12), number[:12]], axis=1)
    assert np.array_equal(percolate(one, other, seeds), number)


def test_revision_mends_what_edits_made_wrong():
    one = graph_of(300, 0.06, 4)
    draw = np.random.default_rng(3)
    kept = one.pairs()[draw.random(one.edges) < 0.75]
    other, number = renumbered(Graph.from_pairs(300, kept), 9)
    seeds = np.stack([np.arange(20), number[:20]], axis=1)
    first = percolate(one, other, seeds)
    right = [int((mates == number).sum()) for mates in (first, revise(one, other, seeds, first))]
    assert right[1] > right[0]


@pytest.mark.parametrize(("one", "other"), [(0, 3), (3, 0), (3, 3)])
def test_graphs_without_edges_have_no_mates_but_the_seeds(one, other):
    graphs = [Graph.from_pairs(nodes, np.zeros((0, 2), np.int64)) for nodes in (one, other)]
    none = np.zeros((0, 2), np.int64)
    mates = revise(*graphs, none, percolate(*graphs, none))
    assert mates.tolist() == [-1] * one
