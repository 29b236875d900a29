from __future__ import annotations

import pickle

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.domain import scan
from distanon.data.graph import Graph, GraphColumns, GraphDataset
from distanon.data.schema import Attribute, AttributeType, Role, Schema


@st.composite
def pair_lists(draw):
    nodes = draw(st.integers(1, 12))
    ends = st.integers(0, nodes - 1)
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=40))
    return nodes, np.array(pairs, np.int64).reshape(-1, 2)


def oracle(nodes, pairs):
    graph = nx.Graph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from((a, b) for a, b in pairs.tolist() if a != b)
    return graph


@settings(max_examples=60, deadline=None)
@given(pair_lists())
def test_a_graph_has_the_edges_degrees_and_components_that_networkx_finds(case):
    nodes, pairs = case
    graph, other = Graph.from_pairs(nodes, pairs), oracle(nodes, pairs)
    assert graph.nodes == nodes
    assert graph.edges == other.number_of_edges()
    assert graph.pairs().tolist() == sorted(sorted(edge) for edge in other.edges)
    assert graph.degrees().tolist() == [other.degree(node) for node in range(nodes)]
    assert graph.components().max() + 1 == nx.number_connected_components(other)
    for node in range(nodes):
        assert graph.neighbors_of(node).tolist() == sorted(other.neighbors(node))
    every = np.stack(np.meshgrid(np.arange(nodes), np.arange(nodes)), axis=-1).reshape(-1, 2)
    assert graph.has(every).tolist() == [other.has_edge(a, b) for a, b in every.tolist()]


@settings(max_examples=40, deadline=None)
@given(pair_lists(), st.randoms(use_true_random=False))
def test_an_edited_graph_is_the_graph_of_the_edited_pairs(case, random):
    nodes, pairs = case
    graph = Graph.from_pairs(nodes, pairs)
    edges = [tuple(edge) for edge in graph.pairs().tolist()]
    others = [(a, b) for a in range(nodes) for b in range(a) if (b, a) not in set(edges)]
    removed = random.sample(edges, random.randint(0, len(edges)))
    added = random.sample(others, random.randint(0, len(others)))
    as_pairs = [np.array(one, np.int64).reshape(-1, 2) for one in (removed, added)]
    expected = [edge for edge in edges if edge not in removed] + added
    edited = graph.edited(as_pairs[0][:, ::-1], as_pairs[1])
    wanted = Graph.from_pairs(nodes, np.array(expected, np.int64).reshape(-1, 2))
    assert edited.starts.tolist() == wanted.starts.tolist()
    assert edited.neighbors.tolist() == wanted.neighbors.tolist()
    assert edited.neighbors.dtype == np.int32


@pytest.mark.parametrize(
    ("removed", "added", "words"),
    [
        ([[0, 2]], [], "no edge"),
        ([], [[1, 0]], "edge of the graph already"),
        ([], [[2, 2]], "with itself"),
        ([[0, 1], [1, 0]], [], "removed: a pair is given twice"),
        ([], [[0, 2], [2, 0]], "added: a pair is given twice"),
        ([], [[0, 3]], "outside"),
    ],
)
def test_edits_that_do_not_fit_the_graph_are_refused(removed, added, words):
    graph = Graph.from_pairs(3, np.array([[0, 1], [1, 2]]))
    with pytest.raises(ValueError, match=words):
        graph.edited(np.array(removed, np.int64), np.array(added, np.int64))


def test_pairs_outside_the_graph_are_refused():
    for pairs in ([[0, 2]], [[-1, 0]]):
        with pytest.raises(ValueError, match="outside 0 … 1"):
            Graph.from_pairs(2, np.array(pairs))
    with pytest.raises(ValueError, match="shape"):
        Graph.from_pairs(2, np.array([0, 1]))
    with pytest.raises(ValueError, match="nodes"):
        Graph.from_pairs(2**31, np.zeros((0, 2), np.int64))


def test_components_are_numbered_by_their_lowest_nodes():
    graph = Graph.from_pairs(6, np.array([[5, 1], [3, 2]]))
    assert graph.components().tolist() == [0, 1, 2, 2, 3, 1]


def test_a_graph_without_nodes_and_one_without_edges_are_graphs():
    empty, bare = (Graph.from_pairs(n, np.zeros((0, 2), np.int64)) for n in (0, 3))
    assert (empty.nodes, empty.edges, empty.components().tolist()) == (0, 0, [])
    assert (bare.nodes, bare.edges, bare.degrees().tolist()) == (3, 0, [0, 0, 0])
    assert bare.has(np.array([[0, 1]])).tolist() == [False]


def test_a_graph_travels_as_its_arrays_alone():
    graph = Graph.from_pairs(1000, np.stack([np.arange(999), np.arange(1, 1000)], axis=1))
    sent = pickle.dumps(graph, protocol=5)
    assert len(sent) < graph.starts.nbytes + graph.neighbors.nbytes + 500
    assert pickle.loads(sent).pairs().tolist() == graph.pairs().tolist()


def test_node_attributes_are_a_data_set_and_their_absence_is_one_without_columns():
    graph = Graph.from_pairs(3, np.array([[0, 1]]))
    job = Attribute("job", Role.SENSITIVE, AttributeType.NOMINAL, pa.string())
    table = pa.table({"job": ["x", None, "y"]})
    ids = pa.array([7, 8, 9])
    dataset = GraphDataset(graph, table, Schema((job,)), GraphColumns(), ids)
    assert len(dataset) == 3
    assert dataset.node_dataset().read().to_pydict() == table.to_pydict()
    assert scan(dataset.node_dataset())["job"].missing == 1
    bare = GraphDataset(graph, None, Schema(()), GraphColumns(), ids).node_dataset()
    assert (len(bare), bare.read().num_rows, bare.read().num_columns) == (3, 3, 0)
