import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

from distanon.data.graph import Graph
from distanon.kernels.communities import louvain, modularity, mutual_information


def rng():
    return np.random.default_rng(5)


def from_networkx(oracle):
    pairs = np.array(list(oracle.edges()), np.int64).reshape(-1, 2)
    return Graph.from_pairs(oracle.number_of_nodes(), pairs)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 40), st.integers(0, 2**32 - 1))
def test_modularity_is_that_of_networkx(nodes, seed):
    oracle = nx.gnp_random_graph(nodes, 0.2, seed=seed)
    graph = from_networkx(oracle)
    labels = np.random.default_rng(seed).integers(0, 4, nodes)
    found = modularity(graph.starts, graph.neighbors, labels)
    if not graph.edges:
        assert math.isnan(found)
        return
    groups = [set(np.flatnonzero(labels == label).tolist()) for label in range(4)]
    assert found == pytest.approx(nx.community.modularity(oracle, groups))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_communities_are_about_as_modular_as_those_of_networkx(seed):
    oracle = nx.planted_partition_graph(4, 15, 0.5, 0.05, seed=seed)
    graph = from_networkx(oracle)
    labels = louvain(graph.starts, graph.neighbors, rng())
    theirs = nx.community.louvain_communities(oracle, seed=1)
    ours = modularity(graph.starts, graph.neighbors, labels)
    assert ours >= nx.community.modularity(oracle, theirs) - 0.05


def test_cliques_joined_by_single_edges_are_the_communities():
    oracle = nx.ring_of_cliques(8, 6)
    graph = from_networkx(oracle)
    labels = louvain(graph.starts, graph.neighbors, rng())
    assert mutual_information(labels, np.arange(48) // 6) == pytest.approx(1.0)
    assert np.array_equal(labels, louvain(graph.starts, graph.neighbors, rng()))


def test_nodes_without_edges_are_alone():
    graph = Graph.from_pairs(5, np.array([[0, 1]]))
    assert louvain(graph.starts, graph.neighbors, rng()).tolist() == [0, 0, 1, 2, 3]
    empty = Graph.from_pairs(0, np.zeros((0, 2), np.int64))
    assert louvain(empty.starts, empty.neighbors, rng()).tolist() == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40))
def test_mutual_information_is_that_of_scikit_learn(pairs):
    one, other = np.array(pairs).T
    expected = normalized_mutual_info_score(one, other)
    assert mutual_information(one, other) == pytest.approx(expected, abs=1e-9)
