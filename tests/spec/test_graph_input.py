from distanon.errors import SpecError
from distanon.spec import parse
from distanon.spec.graph_input import GraphInput

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


def test_a_graph_is_recognised_and_refused_for_now():
    assert faults(SPEC) == [
        "input.graph: graphs come with a later version; this one releases tables"
    ]


def test_faults_inside_a_graph_are_told_too():
    found = faults(SPEC.replace("undeclared: drop", "undeclred: drop"))
    assert found == [
        "input.graph.undeclred: no such setting; did you mean 'undeclared'?",
    ]


def test_a_graph_shares_the_settings_of_a_table():
    graph = GraphInput.model_validate(
        {"path": "g.gml", "columns": {"job": "sensitive"}, "missing": "error"}
    )
    assert graph.columns["job"].role == "sensitive"
    assert (graph.undeclared, graph.directed) == ("refuse", None)
