import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.graph import Graph
from distanon.kernels.link_predictors import predictors


@st.composite
def graphs(draw, most=10):
    nodes = draw(st.integers(2, most))
    ends = st.integers(0, nodes - 1)
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=35))
    return Graph.from_pairs(nodes, np.array(pairs, np.int64).reshape(-1, 2))


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_scores_are_those_of_networkx_with_the_edge_itself_taken_out(graph):
    pairs = np.stack(np.triu_indices(graph.nodes, 1), axis=1)
    found = predictors(graph.starts, graph.neighbors, pairs)
    for place, (one, other) in enumerate(pairs.tolist()):
        oracle = nx.Graph()
        oracle.add_nodes_from(range(graph.nodes))
        oracle.add_edges_from(graph.pairs().tolist())
        shared = set(nx.common_neighbors(oracle, one, other))
        weights = [1 / math.log(oracle.degree(node)) for node in shared]
        assert found.common_neighbors[place] == len(shared)
        assert found.adamic_adar[place] == pytest.approx(sum(weights))
        if oracle.has_edge(one, other):
            oracle.remove_edge(one, other)
        jaccard = next(nx.jaccard_coefficient(oracle, [(one, other)]))[2]
        assert found.jaccard[place] == pytest.approx(jaccard)


def test_the_ends_of_a_pair_can_be_exchanged():
    graph = Graph.from_pairs(5, np.array([[0, 1], [0, 2], [1, 2], [2, 3], [3, 4]]))
    pairs = np.stack(np.triu_indices(5, 1), axis=1)
    one = predictors(graph.starts, graph.neighbors, pairs)
    other = predictors(graph.starts, graph.neighbors, pairs[:, ::-1])
    assert np.array_equal(np.array(one), np.array(other))
