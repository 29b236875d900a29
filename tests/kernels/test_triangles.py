import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.graph import Graph
from distanon.kernels.triangles import average_clustering, transitivity, triangles


@st.composite
def graphs(draw, most=14):
    nodes = draw(st.integers(1, most))
    ends = st.integers(0, nodes - 1)
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=50))
    return Graph.from_pairs(nodes, np.array(pairs, np.int64).reshape(-1, 2))


def as_networkx(graph):
    result = nx.Graph()
    result.add_nodes_from(range(graph.nodes))
    result.add_edges_from(graph.pairs().tolist())
    return result


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_triangles_and_coefficients_are_those_of_networkx(graph):
    oracle = as_networkx(graph)
    corners = triangles(graph.starts, graph.neighbors)
    assert corners.tolist() == list(nx.triangles(oracle).values())
    degrees = graph.degrees()
    assert average_clustering(degrees, corners) == pytest.approx(nx.average_clustering(oracle))
    assert transitivity(degrees, corners) == pytest.approx(nx.transitivity(oracle))


def test_a_clique_is_closed_and_a_star_is_open():
    clique = Graph.from_pairs(5, np.array(np.triu_indices(5, 1)).T)
    corners = triangles(clique.starts, clique.neighbors)
    assert corners.tolist() == [6] * 5
    assert average_clustering(clique.degrees(), corners) == 1.0
    star = Graph.from_pairs(4, np.array([[0, 1], [0, 2], [0, 3]]))
    assert triangles(star.starts, star.neighbors).tolist() == [0] * 4
    assert transitivity(star.degrees(), np.zeros(4, np.int64)) == 0.0
