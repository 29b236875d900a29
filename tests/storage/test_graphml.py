from __future__ import annotations

import gzip
import io

import networkx as nx
import pyarrow as pa
import pytest

from distanon.data.graph import GraphColumns
from distanon.errors import InputError
from distanon.storage.graphml import read_graphml, write_graphml
from distanon.storage.store import Store

HEAD = '<?xml version="1.0"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
KEYS = (
    '<key id="k0" for="node" attr.name="job" attr.type="string"><default>none</default></key>\n'
    '<key id="k1" for="node" attr.name="age" attr.type="int"/>\n'
    '<key id="k2" for="edge" attr.name="weight" attr.type="double"/>\n'
    '<key id="k3" for="graph" attr.name="year" attr.type="int"/>\n'
)


def read(tmp_path, body, head=HEAD + KEYS):
    path = tmp_path / "g.graphml"
    path.write_text(head + body + "</graphml>")
    return read_graphml(Store(str(path)))


def test_nodes_edges_defaults_and_attributes_are_read(tmp_path):
    found = read(
        tmp_path,
        '<graph edgedefault="undirected"><data key="k3">2020</data>\n'
        '<node id="n1"><data key="k0">a &amp; b</data><data key="k1"> 7 </data></node>\n'
        '<node id="n2"/>\n<edge source="n1" target="n2"><data key="k2">1.5</data></edge>\n'
        '<node id="n3"><data key="k1"></data></node></graph>',
    )
    assert found.node_ids.to_pylist() == ["n1", "n2", "n3"]
    assert found.attributes.to_pydict() == {
        "job": ["a & b", "none", "none"],
        "age": [7, None, None],
    }
    assert [str(kind) for kind in found.attributes.schema.types] == ["string", "int64"]
    assert (found.source_ids.to_pylist(), found.target_ids.to_pylist()) == (["n1"], ["n2"])
    assert (found.edge_attributes, found.graph_attributes) == (("weight",), ("year",))
    assert not found.is_directed
    assert found.edge_place(0).endswith("g.graphml, line 10")
    assert found.node_place(2).endswith("g.graphml, line 11")


@pytest.mark.parametrize(
    "graph",
    [
        '<graph edgedefault="directed"><node id="a"/><edge source="a" target="a"/></graph>',
        "<graph edgedefault='undirected'><edge source='a' target='a' directed='true'/></graph>",
    ],
)
def test_a_direction_is_seen(tmp_path, graph):
    assert read(tmp_path, graph).is_directed


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('<graph edgedefault="undirected"><node/></graph>', "line 7: <node> without id"),
        ("<graph><node id='a'/></graph>", "line 7: <graph> without edgedefault"),
        (
            "<graph edgedefault=''>\n<node id='a'><data key='k1'>secret</data></node></graph>",
            "line 8: attribute 'age': text, expected int",
        ),
        (
            "<graph edgedefault='undirected'><node id='a'><data key='k9'/></node></graph>",
            "a key that the file does not declare",
        ),
        (
            "<graph edgedefault=''><node id='a'><graph edgedefault=''/></node></graph>",
            "one flat graph",
        ),
        ("<graph edgedefault='directed'/><graph edgedefault='directed'/>", "a second <graph>"),
        ("<graph edgedefault='directed'><node id='a'></graph>", "line 7: not GraphML, or damaged"),
        ("", "no graph in here"),
        ("<key id='k4' for='all' attr.name='job'/>", "a second key for the attribute 'job'"),
    ],
)
def test_what_can_not_be_read_is_refused_with_its_line(tmp_path, body, words):
    with pytest.raises(InputError, match=words) as caught:
        read(tmp_path, body)
    assert "secret" not in str(caught.value)


def test_entities_are_refused(tmp_path):
    head = '<?xml version="1.0"?><!DOCTYPE graphml [<!ENTITY a "aaaa">]><graphml>'
    with pytest.raises(InputError, match="declares entities"):
        read(tmp_path, "<graph edgedefault='directed'/>", head)


def test_another_xml_file_is_no_graphml(tmp_path):
    with pytest.raises(InputError, match="expected <graphml>"):
        read(tmp_path, "", "<html><graphml>")


def test_what_networkx_writes_is_read(tmp_path):
    graph = nx.karate_club_graph()
    path = tmp_path / "k.graphml.gz"
    content = io.BytesIO()
    nx.write_graphml(graph, content)
    path.write_bytes(gzip.compress(content.getvalue()))
    found = read_graphml(Store(str(path)), node="member")
    assert len(found.node_ids) == 34
    assert len(found.source_ids) == 78
    assert found.columns.node == "member"
    assert found.attributes.column("club").to_pylist() == [graph.nodes[n]["club"] for n in graph]
    assert found.edge_attributes == ("weight",)


def table() -> pa.Table:
    return pa.table(
        {
            "id": [0, 1, 2],
            "text": pa.array(["<&>\"'", None, " two\r\nlines\t"]).dictionary_encode(),
            "flag": [True, None, False],
            "share": [0.1, -2.5e-300, None],
            "age": pa.array([1, 2, 3], pa.int8()),
            "bare": pa.nulls(3),
        }
    )


def test_what_is_written_is_read_by_networkx_and_by_us(tmp_path):
    edges = pa.table({"a": [0, 1], "b": [1, 2]})
    content = write_graphml(table(), edges, GraphColumns("id", "a", "b"))
    graph = nx.parse_graphml(content.decode())
    assert sorted(graph.edges) == [("0", "1"), ("1", "2")]
    assert graph.nodes["0"] == {"text": "<&>\"'", "flag": True, "share": 0.1, "age": 1}
    assert graph.nodes["1"] == {"share": -2.5e-300, "age": 2}
    path = tmp_path / "g.graphml"
    path.write_bytes(content)
    back = read_graphml(Store(str(path)))
    expected = table().drop_columns(["id", "bare"])
    assert back.attributes.to_pydict() == expected.to_pydict()


def test_equal_tables_are_equal_bytes_that_name_no_library():
    edges = pa.table({"a": [0], "b": [1]})
    columns = GraphColumns("id", "a", "b")
    chunked = pa.concat_tables([table().slice(0, 1), table().slice(1)])
    content = write_graphml(table(), edges, columns)
    assert content == write_graphml(chunked, edges, columns)
    assert b"distanon" not in content
    assert b"!--" not in content


def test_text_that_xml_can_not_hold_has_no_graphml():
    nodes = pa.table({"id": [0], "text": ["\x01"]})
    edges = pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.int64())})
    assert write_graphml(nodes, edges, GraphColumns("id", "a", "b")) is None
