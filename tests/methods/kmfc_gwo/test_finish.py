import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.graph import Graph
from distanon.kernels.degree_repair import Levels
from distanon.methods.kmfc_gwo.finish import Finish

NONE = np.empty((0, 2), np.int64)


def levels_of(level, least):
    n = len(level)
    counts = np.bincount(level, minlength=n + 1).astype(np.int64)
    return Levels(np.zeros(n, np.int64), np.array([0, n + 1]), counts, least)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_all_nodes_get_the_degree_that_they_are_to_have(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 20))
    graph = Graph.from_pairs(n, rng.integers(0, n, (2 * n, 2)))
    common = int(rng.integers(0, n))
    level = np.full(n, common if n * common % 2 == 0 else common - 1, np.int64)
    want = level - graph.degrees()
    pairs = Finish(graph, NONE, levels_of(level, n), level, want, frozenset()).run()
    is_edge = graph.has(pairs)
    after = graph.edited(pairs[is_edge], pairs[~is_edge])
    assert (after.degrees() == level - want).all()
    assert not want.any()


def test_pairs_that_are_kept_are_touched_only_if_nothing_else_serves():
    path = Graph.from_pairs(4, np.array([(0, 1), (1, 2), (2, 3)]))
    level = np.ones(4, np.int64)
    want = level - path.degrees()
    kept = frozenset({(0, 1)})
    pairs = Finish(path, NONE, levels_of(level, 4), level, want, kept).run()
    assert pairs.tolist() == [[1, 2]]
    level = np.zeros(4, np.int64)
    want = level - path.degrees()
    pairs = Finish(path, NONE, levels_of(level, 4), level, want, kept).run()
    assert pairs.tolist() == [[0, 1], [1, 2], [2, 3]]


def test_the_highest_degree_of_a_class_gives_way_downwards():
    pairs = [(0, 1), *((i, j) for i in range(3, 9) for j in range(3, i))]
    graph = Graph.from_pairs(9, np.array(pairs))  # a clique of six, an edge, one node alone
    level = np.array([1, 0, 0, 5, 5, 5, 5, 5, 5])
    want = level - graph.degrees()
    counts = np.bincount(level, minlength=6).astype(np.int64)
    levels = Levels(np.zeros(9, np.int64), np.array([0, 6]), counts, 2)
    edited = Finish(graph, NONE, levels, level, want, frozenset()).run()
    is_edge = graph.has(edited)
    after = np.bincount(graph.edited(edited[is_edge], edited[~is_edge]).degrees())
    assert not want.any()
    assert after[after > 0].min() >= 2
