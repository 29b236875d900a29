from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.graph import Graph
from distanon.kernels.structural_classes import (
    by_degree,
    by_degree_and_triangles,
    by_neighbor_degrees,
)


@st.composite
def graphs(draw, most=12):
    nodes = draw(st.integers(1, most))
    ends = st.integers(0, nodes - 1)
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=40))
    return Graph.from_pairs(nodes, np.array(pairs, np.int64).reshape(-1, 2))


def facts(graph, node):
    mine = set(graph.neighbors_of(node).tolist())
    corners = sum(len(mine & set(graph.neighbors_of(other).tolist())) for other in mine) // 2
    around = tuple(sorted(int(graph.degrees()[other]) for other in mine))
    return len(mine), (len(mine), corners), around


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_keys_are_equal_exactly_where_an_intruder_sees_no_difference(graph):
    keys = (
        by_degree(graph.starts),
        by_degree_and_triangles(graph.starts, graph.neighbors),
        by_neighbor_degrees(graph.starts, graph.neighbors),
    )
    seen = zip(*(facts(graph, node) for node in range(graph.nodes)), strict=True)
    for key, fact in zip(keys, seen, strict=True):
        pairs = set(zip(key.tolist(), fact, strict=True))
        assert len(pairs) == len(set(fact)) == len(set(key.tolist()))


def test_a_path_has_ends_that_look_alike():
    path = Graph.from_pairs(4, np.array([[0, 1], [1, 2], [2, 3]]))
    assert Counter(by_neighbor_degrees(path.starts, path.neighbors).tolist()) == {0: 2, 1: 2}
