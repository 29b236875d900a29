import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.graph import Graph
from distanon.kernels.shortest_paths import distance_sums


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 90), st.integers(0, 2**32 - 1), st.floats(0.0, 0.15))
def test_sums_of_distances_are_those_of_a_search_from_each_node(nodes, seed, density):
    oracle = nx.gnp_random_graph(nodes, density, seed=seed)
    pairs = np.array(list(oracle.edges()), np.int64).reshape(-1, 2)
    graph = Graph.from_pairs(nodes, pairs)
    sums, reached = distance_sums(graph.starts, graph.neighbors, np.arange(nodes))
    for node in range(nodes):
        lengths = nx.single_source_shortest_path_length(oracle, node)
        assert sums[node] == sum(lengths.values())
        assert reached[node] == len(lengths) - 1


def test_sources_may_be_any_nodes_in_any_order_and_more_than_64():
    ring = Graph.from_pairs(100, np.array([[i, (i + 1) % 100] for i in range(100)]))
    whole = distance_sums(ring.starts, ring.neighbors, np.arange(100))
    assert set(whole[0].tolist()) == {2500}
    assert set(whole[1].tolist()) == {99}
    some = np.array([7, 7, 3, 99])
    assert distance_sums(ring.starts, ring.neighbors, some)[0].tolist() == [2500] * 4
    none = distance_sums(ring.starts, ring.neighbors, np.zeros(0, np.int64))
    assert len(none[0]) == 0
