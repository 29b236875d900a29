from __future__ import annotations

import networkx as nx
import pytest

from distanon.errors import InputError
from distanon.storage.gml import read_gml
from distanon.storage.store import Store


def read(tmp_path, text):
    path = tmp_path / "g.gml"
    path.write_text(text)
    return read_gml(Store(str(path)))


def test_nodes_and_duplicate_edges_are_read_wherever_they_stand(tmp_path):
    found = read(
        tmp_path,
        'Creator "x [ y"\n# a comment ]\ngraph\n[\n  directed 0\n'
        "  edge [ source 1 target 2 value 3 ]\n"
        '  node [ id 1 label "a &amp; \nb" age 3 graphics [ x 1.5 y [ z 2 ] ] ]\n'
        "  node [ id 2 age 4.5 age 5 ]\n  edge [ source 1 target 2 ]\n]\n",
    )
    assert found.node_ids.to_pylist() == ["1", "2"]
    assert list(zip(found.source_ids.to_pylist(), found.target_ids.to_pylist(), strict=True)) == [
        ("1", "2"),
        ("1", "2"),
    ]
    assert found.attributes.to_pydict() == {
        "label": ["a & \nb", None],
        "age": [3.0, 4.5],
        "graphics": [None, None],
    }
    assert found.edge_attributes == ("value",)
    assert found.graph_attributes == ()
    assert not found.is_directed
    assert found.edge_place(1).endswith("g.gml, line 10")
    assert found.node_place(1).endswith("g.gml, line 9")


def test_a_direction_and_attributes_of_the_graph_are_seen(tmp_path):
    found = read(tmp_path, 'graph [ directed 1 comment "x" node [ id 1 ] ]')
    assert found.is_directed
    assert found.graph_attributes == ("comment",)
    assert found.attributes is None


def test_a_column_of_numbers_and_text_is_text(tmp_path):
    found = read(tmp_path, 'graph [ node [ id 1 v 1 ] node [ id 2 v "x" ] node [ id 3 w 99 ] ]')
    assert found.attributes.to_pydict() == {"v": ["1", "x", None], "w": [None, None, 99]}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("graph [ node [ id 1 ]", "line 1: the file ends inside"),
        ("graph [\n node [ label 1 ] ]", "line 2: node without id"),
        ("graph [\n edge [ source 1 ] ]", "line 2: edge without target"),
        ("graph [\n\n node ] ]", "line 3: a ] that closes nothing, or a key without a value"),
        ("graph [ 1 2 ]", "a value without a key"),
        ("graph [ node [ id 1 label secret ] ]", "text without quotes"),
        ('graph [ label "secret ]', "a quote that is never closed"),
        ("", "0 graphs"),
        ("graph [ ] graph [ ]", "2 graphs"),
    ],
)
def test_what_can_not_be_read_is_refused_with_its_line(tmp_path, text, words):
    with pytest.raises(InputError, match=words) as caught:
        read(tmp_path, text)
    assert "secret" not in str(caught.value)


def test_what_networkx_writes_is_read(tmp_path):
    graph = nx.karate_club_graph()
    path = tmp_path / "k.gml"
    nx.write_gml(graph, path)
    found = read_gml(Store(str(path)))
    assert (len(found.node_ids), len(found.source_ids)) == (34, 78)
    assert found.attributes.column("club").to_pylist() == [graph.nodes[n]["club"] for n in graph]
