from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pydantic import ValidationError

from distanon.data.hierarchy import Hierarchy
from distanon.data.schema import AttributeType, Role
from distanon.errors import SpecError
from distanon.spec import parse
from distanon.spec.graph_input import GraphInput
from distanon.spec.job_spec import InputPart, JobSpec
from distanon.storage.graphs import open_graph

SPEC = """
spec: 1
name: friends
input:
  graph:
    edges: edges.csv
    nodes: nodes.csv
    source: a
    target: b
    node: id
    columns: {job: sensitive, age: quasi_identifier}
    directed: ignore
    undeclared: drop
method: rbt
output: out/
"""


def faults(text):
    try:
        parse(text)
    except SpecError as error:
        return list(error.faults)
    return []


def refused(**settings) -> str:
    with pytest.raises(ValidationError) as caught:
        GraphInput.model_validate(settings)
    return str(caught.value)


def test_a_graph_needs_a_method_for_graphs():
    (fault,) = faults(SPEC)
    assert fault.startswith("method.name: rbt is for tables, and the input is a graph; methods")
    assert "kmfc_gwo" in fault
    assert faults(SPEC.replace("method: rbt", "method: kmfc_gwo")) == []


def test_faults_inside_a_graph_are_told_too():
    found = faults(SPEC.replace("undeclared: drop", "undeclred: drop"))
    assert found == [
        "input.graph.undeclred: no such setting; did you mean 'undeclared'?",
    ]


def test_an_output_around_the_edges_is_refused():
    found = faults(SPEC.replace("edges: edges.csv", "edges: out/edges.csv"))
    assert any(fault.startswith("output: the input 'out/edges.csv' lies inside") for fault in found)


def test_a_graph_shares_the_settings_of_a_table():
    graph = GraphInput.model_validate(
        {"path": "g.gml", "columns": {"job": "sensitive"}, "missing": "error"}
    )
    assert graph.columns["job"].role == "sensitive"
    assert (graph.undeclared, graph.directed) == ("refuse", None)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "missing: edges"),
        ({"nodes": "n.csv"}, "missing: edges"),
        ({"path": "g.gml", "edges": "e.csv"}, "path holds nodes and edges"),
        ({"path": "g.gml", "nodes": "n.csv"}, "path holds nodes and edges"),
        ({"path": "g.csv"}, r"ends in .graphml, .gml, .nauty; an edge list is given as edges"),
        ({"path": "builtin:lastfm"}, "did you mean 'lastfm-asia'"),
        ({"edges": "builtin:lastfm-asia"}, "edges: builtin:NAME is a whole graph"),
        ({"edges": "e.csv", "source": "a", "target": "a"}, "source and target are both 'a'"),
        ({"edges": "e.csv", "source": "a"}, "source and target come together"),
    ],
)
def test_settings_that_do_not_fit_together_are_refused(settings, words):
    assert words in refused(**settings)


def test_readers_get_all_that_the_spec_says():
    graph = GraphInput.model_validate(
        {
            "edges": "e.csv",
            "nodes": "n.csv",
            "source": "a",
            "target": "b",
            "node": "id",
            "directed": "ignore",
            "undeclared": "drop",
            "csv": {"delimiter": ";"},
        }
    )
    source = graph.graph_source
    assert (source.edges, source.nodes) == graph.files == ("e.csv", "n.csv")
    assert (source.source, source.target, source.node) == ("a", "b", "id")
    assert (source.directed, source.undeclared, source.csv.delimiter) == (True, "drop", ";")


def test_the_graph_of_a_spec_is_there_and_a_table_has_none():
    graph = GraphInput(edges="e.csv")
    spec = JobSpec.model_construct(input=InputPart.model_construct(graph=graph, table=None))
    assert spec.graph is graph
    with pytest.raises(SpecError, match=r"expected input.graph"):
        _ = JobSpec.model_construct(input=InputPart.model_construct(graph=None)).graph


def test_the_built_in_graph_opens_with_its_roles():
    graph = GraphInput.model_validate(
        {
            "path": "builtin:lastfm-asia",
            "columns": {"target": {"role": "sensitive", "type": "nominal"}, "id": "identifier"},
        }
    )
    opened = open_graph(graph.graph_source)
    schema = graph.schema_for(opened)
    assert [(one.name, one.role, one.type) for one in schema] == [
        ("target", Role.SENSITIVE, AttributeType.NOMINAL)
    ]
    found = opened.dataset(schema)
    assert (found.graph.nodes, found.graph.edges) == (7_624, 27_806)
    assert len(set(found.nodes.column("target").to_pylist())) == 18
    assert graph.files == ("builtin:lastfm-asia",)


@pytest.fixture
def opened(tmp_path):
    edges, nodes = tmp_path / "e.parquet", tmp_path / "n.parquet"
    pq.write_table(pa.table({"a": [1], "b": [2]}), edges)
    pq.write_table(pa.table({"id": [1, 2], "job": ["x", "y"], "age": [3, 4]}), nodes)

    def make(**settings):
        graph = GraphInput.model_validate(
            {"edges": str(edges), "nodes": str(nodes), "source": "a", "target": "b", **settings}
        )
        return graph, open_graph(graph.graph_source)

    return make


def test_undeclared_node_attributes_are_refused_or_dropped(opened):
    graph, files = opened(columns={"job": "sensitive"})
    with pytest.raises(SpecError, match=r"input.graph.columns: no role for age; .*input.graph"):
        graph.schema_for(files)
    graph, files = opened(columns={"job": "sensitive"}, undeclared="drop")
    found = files.dataset(graph.schema_for(files))
    assert found.nodes.column_names == ["job"]
    assert found.counts["dropped_node_attributes"] == 1


def test_columns_that_nodes_lack_are_refused_even_where_undeclared_ones_are_dropped(opened):
    graph, files = opened(columns={"job": "sensitive", "agee": "sensitive"}, undeclared="drop")
    with pytest.raises(SpecError, match=r"input.graph.columns.agee: .*did you mean 'age'"):
        graph.schema_for(files)


def test_a_default_role_declares_every_attribute_and_no_quasi_identifier_is_needed(opened):
    graph, files = opened(default_role="insensitive")
    assert [one.role for one in graph.schema_for(files)] == [Role.INSENSITIVE] * 2


def test_node_ids_have_no_other_role_than_identifier(opened):
    graph, files = opened(columns={"id": "quasi_identifier"}, default_role="sensitive")
    with pytest.raises(SpecError, match=r"input.graph.columns.id: the ids of the nodes"):
        graph.schema_for(files)


def test_hierarchies_reach_the_schema(opened):
    hierarchy = Hierarchy.from_rows([["x", "*"], ["y", "*"]], "h.csv")
    graph, files = opened(
        columns={"job": {"role": "quasi_identifier", "hierarchy": "h.csv"}, "age": "sensitive"}
    )
    assert graph.schema_for(files, {"job": hierarchy})["job"].hierarchy is hierarchy
