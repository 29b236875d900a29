import numpy as np
import pytest

from distanon.data.graph import Graph
from distanon.kernels.shared_neighbors import links_into, partners, shared_counts
from distanon.methods.kmfc_gwo.candidates import (
    edit_weights,
    enumerate_candidates,
    similarities,
)
from distanon.methods.kmfc_gwo.targets import DegreeGroups

NONE = np.empty((0, 2), np.int64)


@pytest.fixture(scope="module")
def graph():
    return Graph.from_pairs(40, np.random.default_rng(1).integers(0, 40, (120, 2)))


def dense(graph):
    matrix = np.zeros((graph.nodes, graph.nodes), np.int64)
    ends = graph.pairs()
    matrix[ends[:, 0], ends[:, 1]] = matrix[ends[:, 1], ends[:, 0]] = 1
    return matrix


def test_shared_neighbors_are_those_of_the_squared_matrix(graph):
    a, b = np.divmod(np.arange(1600), 40)
    squared = dense(graph) @ dense(graph)
    assert (shared_counts(graph.starts, graph.neighbors, a, b) == squared[a, b]).all()
    labels = np.arange(40) % 5
    wanted = b % 5
    expected = [
        (labels[np.flatnonzero(dense(graph)[x])] == y).sum() for x, y in zip(a, wanted, strict=True)
    ]
    assert (links_into(graph.starts, graph.neighbors, labels, a, wanted) == expected).all()


def test_partners_are_the_strangers_with_most_shared_neighbors(graph):
    rows = (graph.starts, graph.neighbors)
    nodes, keep = np.arange(40), np.full(40, 5)
    wanted = np.arange(40) % 2 == 0
    first, second = partners(*rows, *rows, nodes, keep, wanted)
    matrix = dense(graph)
    squared = matrix @ matrix
    for node in range(40):
        allowed = np.flatnonzero((matrix[node] == 0) & (squared[node] > 0) & wanted)
        allowed = allowed[allowed != node]
        order = np.lexsort((allowed, -squared[node][allowed]))
        assert second[first == node].tolist() == allowed[order][:5].tolist()


def groups_of(graph):
    order = np.argsort(graph.degrees(), kind="stable")
    group_of = np.empty(graph.nodes, np.int64)
    group_of[order] = np.arange(graph.nodes) // 5
    return DegreeGroups.of(graph.degrees(), group_of)


def test_candidates_are_removals_of_edges_and_additions_of_none_each_pair_once(graph):
    groups = groups_of(graph)
    found = enumerate_candidates(graph, groups, groups.group_of, 10**6, NONE)
    ends = found.inc.ends.astype(np.int64)
    assert (ends[:, 0] < ends[:, 1]).all()
    assert len(np.unique(ends, axis=0)) == len(ends)
    assert (graph.has(ends) == (found.inc.sign < 0)).all()
    for node in range(graph.nodes):
        for side, sign in ((0, -1), (1, 1)):
            span = slice(found.inc.starts[side, node], found.inc.starts[side, node + 1])
            listed = found.inc.ids[side, span]
            expected = np.flatnonzero((ends == node).any(axis=1) & (found.inc.sign == sign))
            assert sorted(listed.tolist()) == expected.tolist()


def test_the_list_is_capped_and_leaves_out_what_must_be_kept(graph):
    groups = groups_of(graph)
    kept = graph.pairs()[:30]
    every = enumerate_candidates(graph, groups, groups.group_of, 10**6, NONE)
    some = enumerate_candidates(graph, groups, groups.group_of, 50, NONE)
    assert len(some) == 50
    assert some.dropped == len(every) - 50
    without = enumerate_candidates(graph, groups, groups.group_of, 10**6, kept)
    left = set(map(tuple, without.inc.ends.tolist()))
    assert not left & set(map(tuple, kept.tolist()))


def test_weights_are_one_or_follow_the_shared_neighbors(graph):
    pairs = graph.pairs()[:4]
    sign = np.array([-1, 1, -1, 1], np.int8)
    likeness = similarities(graph, pairs)
    assert ((likeness >= 0) & (likeness <= 1)).all()
    assert edit_weights(sign, likeness, "uniform").tolist() == [1.0] * 4
    expected = [0.5 + likeness[0], 1.5 - likeness[1], 0.5 + likeness[2], 1.5 - likeness[3]]
    assert edit_weights(sign, likeness, "neighborhood") == pytest.approx(expected)
