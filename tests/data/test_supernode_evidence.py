import numpy as np
import pyarrow as pa
import pytest

from distanon.data.graph import GraphColumns
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.supernode_evidence import SupernodeEvidence
from distanon.errors import InputError, SpecError
from distanon.promises import PROMISES

COLUMNS = GraphColumns()
SCHEMA = Schema(
    (
        Attribute("city", Role.QUASI_IDENTIFIER, AttributeType.NOMINAL, pa.string()),
        Attribute("job", Role.SENSITIVE, AttributeType.NOMINAL, pa.string()),
        Attribute("age", Role.SENSITIVE, AttributeType.NUMERIC, pa.int64()),
    )
)
NODES = {
    "node": [0, 1],
    "size": [3, 2],
    "inner_edges": [2, 0],
    "city": ["a", "a"],
    "job": ['[["x", 2], ["y", 1]]', '[["x", 1], [null, 1]]'],
    "age": ['[["30", 2], ["31", 1]]', '[["30", 1], ["40", 1]]'],
}
EDGES = {"source": [0], "target": [1], "edges": [3]}


def evidence(nodes=None, edges=None):
    return SupernodeEvidence.of(
        pa.table(NODES | (nodes or {})), pa.table(EDGES | (edges or {})), COLUMNS, SCHEMA
    )


def verdict(name, **settings):
    return PROMISES[name](**settings).verify(evidence())


def test_each_supernode_is_a_class_of_its_members():
    given = evidence()
    assert given.classes.sizes.tolist() == [3, 2]
    assert given.release_table.column("age").to_pylist() == [30, 30, 31, 30, 40]
    found = verdict("k_anonymity", k=2)
    assert (found.kept, found.measured["k"], found.verified_from) == (True, 2, "release")
    assert found.reason == ""


def test_diversity_and_closeness_are_judged_on_the_counts():
    assert verdict("l_diversity", l=2).measured["columns"] == {"job": {"l": 1}, "age": {"l": 2}}
    # Ages 30 31 40 by rank; of all 3/5 1/5 1/5; in the second supernode 1/2 0 1/2.
    measured = verdict("t_closeness", t=1.0, distance="equal").measured
    assert measured["columns"]["age"]["t"] == pytest.approx(0.3)


def test_link_confidence_is_counted_on_superedges_and_inner_edges():
    found = verdict("link_confidence", at_most=0.6)
    # 2 of 3 pairs within the first, 0 of 1 within the second, 3 of 6 between.
    assert not found.kept
    assert found.measured["confidence"] == pytest.approx(2 / 3)
    assert found.measured["without_edges"] == pytest.approx(1 / 3)
    assert found.reason.endswith("within class 1 (2 of 3)")


def test_supernodes_have_no_degrees():
    with pytest.raises(SpecError, match="k_degree"):
        verdict("k_degree", k=2)


@pytest.mark.parametrize(
    ("nodes", "edges", "words"),
    [
        ({"size": [3, 1]}, {}, "column 'job', row 2: expected counts of values that add up"),
        ({"job": ['[["x", 3]]', "secret"]}, {}, "column 'job', row 2: expected counts"),
        ({"age": ['[["secret", 3]]', '[["1", 2]]']}, {}, "'age': a text is no value of type int64"),
        ({"size": [3.5, 2.0]}, {}, "column 'size' must hold whole numbers"),
        ({}, {"target": [2]}, "names a supernode that is not there"),
        ({}, {"edges": [-1]}, "column 'edges' holds a number below 0"),
        ({}, {"edges": [7]}, "more edges than its members allow"),
        ({"inner_edges": [2, 2]}, {}, "more edges than its members allow"),
    ],
)
def test_files_that_contradict_themselves_are_refused_without_their_values(nodes, edges, words):
    with pytest.raises(InputError, match=words) as caught:
        evidence(nodes, edges)
    assert "secret" not in str(caught.value)


def test_no_supernodes_are_no_classes():
    nodes = {name: pa.array([], pa.table(NODES).schema.field(name).type) for name in NODES}
    edges = {name: np.zeros(0, np.int64) for name in EDGES}
    given = evidence(nodes, edges)
    assert len(given.classes) == 0
    assert PROMISES["link_confidence"](at_most=0.5).verify(given).kept
