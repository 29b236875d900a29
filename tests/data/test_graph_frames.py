from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from distanon.data.graph_frames import is_graph, read_graph, write_graph
from distanon.data.graph_release import GraphRelease, publishable_tables
from distanon.data.graph_tables import assemble, check_usable
from distanon.data.schema import Attribute, Role, Schema, infer_type
from distanon.data.streams import Streams
from distanon.errors import InputError


def dataset(data, **more):
    tables = read_graph(data, **more)
    return assemble(
        tables,
        Schema(
            tuple(
                Attribute(field.name, Role.SENSITIVE, infer_type(field.type), field.type)
                for field in tables.arrow_schema
            )
        ),
    )


def released(data, **more):
    """The same graph under fresh ids, as the kind that was put in, and its sources."""
    found = dataset(data, **more)
    release = GraphRelease(found.graph, found.nodes, found.schema, np.arange(len(found)))
    published = publishable_tables(release, found.columns, Streams(3))
    return write_graph(published, data), published.sources


def friends() -> nx.Graph:
    graph = nx.Graph()
    graph.add_node("x", job="a", age=3)
    graph.add_node("y", job="b")
    graph.add_node("z")
    graph.add_edges_from([("x", "y"), ("y", "y")])
    return graph


def test_a_networkx_graph_comes_back_as_one_under_fresh_ids():
    graph = friends()
    back, sources = released(graph)
    assert type(back) is nx.Graph
    names = dict(enumerate(np.array(["x", "y", "z"])[sources].tolist()))
    same = nx.relabel_nodes(back, names)
    assert sorted(map(sorted, same.edges)) == [["x", "y"]]
    assert dict(same.nodes(data=True)) == dict(graph.nodes(data=True))


@pytest.mark.parametrize("names", [["x", "y"], [7, 9], ["x", 7], [("a", 1), frozenset()]])
def test_nodes_may_be_called_anything(names):
    graph = nx.Graph()
    graph.add_edge(*names)
    found = dataset(graph)
    assert found.graph.pairs().tolist() == [[0, 1]]
    is_plain = len({type(name) for name in names}) == 1 and not isinstance(names[0], tuple)
    assert found.ids.to_pylist() == (names if is_plain else [0, 1])


def test_multigraphs_count_their_duplicates_and_directed_ones_are_refused_unless_told():
    many = nx.MultiGraph([(1, 2), (1, 2), (2, 3)])
    assert dataset(many).counts["duplicate_edges"] == 1
    one = read_graph(nx.DiGraph([(1, 2)]))
    with pytest.raises(InputError, match="the graph: the edges have a direction"):
        check_usable(one, directed=False, undeclared="refuse")
    check_usable(one, directed=True, undeclared="refuse")


def test_attributes_of_edges_and_of_the_graph_are_seen():
    graph = nx.Graph(year=2020)
    graph.add_edge(1, 2, weight=0.5)
    one = read_graph(graph)
    assert (one.edge_attributes, one.graph_attributes) == (("weight",), ("year",))


def test_an_empty_networkx_graph_is_refused():
    with pytest.raises(InputError, match="the graph is empty"):
        dataset(nx.Graph())


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"job": [{"a": 1}, 3]}, "attribute 'job' holds values of several kinds"),
        ({3: [1, 2]}, "the name of attribute 1 is no text"),
        ({"node": [1, 2]}, "an attribute is called 'node'"),
    ],
)
def test_attributes_that_tables_can_not_hold_are_refused(attributes, words):
    graph = nx.Graph([(0, 1)])
    for name, values in attributes.items():
        nx.set_node_attributes(graph, dict(enumerate(values)), name)
    with pytest.raises(InputError, match=words):
        read_graph(graph)


def test_two_data_frames_come_back_as_two_with_their_types():
    edges = pd.DataFrame({"a": ["x", "y"], "b": ["y", "z"]})
    nodes = pd.DataFrame(
        {
            "id": ["x", "y", "z", "w"],
            "job": pd.Categorical(["p", "q", None, "p"], categories=["unused", "q", "p"]),
            "age": np.array([1, 2, 3, 4], np.int16),
        }
    )
    (back, people), sources = released((edges, nodes))
    assert list(back.columns) == ["a", "b"]
    assert list(people.columns) == ["id", "job", "age"]
    assert people["id"].tolist() == [0, 1, 2, 3]
    assert people["age"].dtype == np.int16
    assert people["age"].tolist() == (sources + 1).tolist()
    assert list(people["job"].cat.categories) == ["q", "p"]
    assert {frozenset(sources[[a, b]]) for a, b in back.to_numpy().tolist()} == {
        frozenset([0, 1]),
        frozenset([1, 2]),
    }


def test_arrow_tables_come_back_as_arrow_tables_with_the_ids_of_all_nodes():
    (edges, nodes), _ = released((pa.table({"source": [5], "target": [7]}), None))
    assert (edges.to_pydict(), nodes.to_pydict()) == (
        {"source": [0], "target": [1]},
        {"node": [0, 1]},
    )


def test_columns_are_found_or_asked_for():
    edges = pd.DataFrame({"w": [1], "u": [5], "v": [7]})
    with pytest.raises(InputError, match="no column 'source'; name it with `source=`"):
        read_graph((edges, None))
    found = read_graph((edges, None), source="u", target="v")
    assert found.edge_attributes == ("w",)
    people = pd.DataFrame({"person": [5, 7]})
    with pytest.raises(InputError, match="name it with `node=`"):
        read_graph((edges, people), source="u", target="v")
    named = read_graph((edges, people), source="u", target="v", node="person")
    assert named.columns.node == "person"


def test_faults_name_the_row():
    edges = pd.DataFrame({"a": [1, 2], "b": [2, 9]})
    nodes = pd.DataFrame({"id": [1, 2]})
    with pytest.raises(InputError, match="the edges, row 2, column 'b': the edge names a node"):
        dataset((edges, nodes))
    nodes = pd.DataFrame({"id": [1, 2, 2]})
    with pytest.raises(InputError, match="the nodes, row 3, column 'id': the node id of"):
        dataset((edges, nodes))
    edges = pd.DataFrame({"a": [1, None], "b": [2, 9]})
    with pytest.raises(InputError, match="the edges, row 2, column 'a': no node id"):
        dataset((edges, None))


def test_what_is_no_graph_is_refused():
    assert not is_graph(pd.DataFrame({"a": [1]}))
    assert is_graph(nx.path_graph(2))
    with pytest.raises(InputError, match=r"expected a networkx.Graph, or a pair"):
        read_graph(pd.DataFrame({"a": [1]}))
