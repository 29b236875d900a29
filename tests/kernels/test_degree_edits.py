import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.graph import Graph
from distanon.kernels.degree_edits import realize


def edits(pairs, level, seed=0):
    graph = Graph.from_pairs(len(level), np.array(pairs).reshape(-1, 2))
    found, left = realize(graph.starts, graph.neighbors, np.array(level), seed)
    before, after = (set(map(tuple, one.tolist())) for one in (graph.pairs(), found))
    return before - after, after - before, left.tolist()


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_edges_are_a_simple_graph_and_what_is_open_is_told(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    graph = Graph.from_pairs(n, rng.integers(0, n, (int(rng.integers(0, 4 * n)), 2)))
    other = Graph.from_pairs(n, rng.integers(0, n, (int(rng.integers(0, 4 * n)), 2)))
    level = other.degrees()
    pairs, left = realize(graph.starts, graph.neighbors, level, seed)
    again = Graph.from_pairs(n, pairs)
    assert again.pairs().tolist() == pairs.tolist()
    assert (again.degrees() + left == level).all()


def test_an_edit_that_serves_both_ends_comes_first():
    assert edits([(0, 1), (2, 3)], [2, 1, 2, 1])[:2] == (set(), {(0, 2)})
    assert edits([(0, 1), (0, 2), (2, 3)], [1, 1, 1, 1])[:2] == ({(0, 2)}, set())


def test_an_end_is_moved_from_who_has_too_many_to_who_wants():
    removed, added, left = edits([(0, 1), (0, 2), (0, 3), (1, 4)], [2, 2, 1, 1, 2])
    assert (len(removed), len(added), left) == (1, 1, [0] * 5)


def test_a_bridge_serves_two_that_can_not_be_parted():
    removed, added, left = edits([(0, 1), (2, 3), (0, 4), (2, 5)], [1, 1, 1, 1, 1, 1])
    assert (len(removed), len(added), left) == (2, 1, [0] * 6)


def test_a_bridge_serves_two_that_are_joined_already():
    removed, added, left = edits([(0, 1), (2, 3)], [2, 2, 1, 1])
    assert (removed, len(added), left) == ({(2, 3)}, 2, [0] * 4)


def test_what_no_graph_has_is_left_open():
    assert edits([(0, 1)], [2, 0, 0])[2] != [0, 0, 0]
