import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.graph import Graph
from distanon.kernels.spectrum import leading_eigenvalue, pagerank


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.05, 0.2, 1.0]))
def test_pagerank_and_leading_eigenvalue_are_those_of_the_dense_matrix(nodes, seed, density):
    oracle = nx.gnp_random_graph(nodes, density, seed=seed)
    pairs = np.array(list(oracle.edges()), np.int64).reshape(-1, 2)
    graph = Graph.from_pairs(nodes, pairs)
    matrix = nx.to_numpy_array(oracle)
    largest = np.linalg.eigvalsh(matrix)[-1]
    assert leading_eigenvalue(graph.starts, graph.neighbors) == pytest.approx(largest, abs=1e-8)
    theirs = nx.pagerank(oracle, tol=1e-14, max_iter=1000)
    ours = pagerank(graph.starts, graph.neighbors)
    assert ours == pytest.approx([theirs[node] for node in range(nodes)], abs=1e-8)
