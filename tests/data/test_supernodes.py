import inspect

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.graph import Graph, GraphColumns
from distanon.data.hierarchy import Hierarchy
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.supernodes import (
    Generalized,
    generalized,
    sample,
    with_ancestors,
)

JOB = Attribute("job", Role.SENSITIVE, AttributeType.NOMINAL, pa.string())


def told_of(graph, labels, numbers):
    kinds = pa.array(["p", "q"])
    return generalized(
        graph, labels, None, np.empty((labels.max() + 1, 0)), [(JOB, kinds, numbers)]
    )


def test_supernodes_are_counted():
    pairs = np.array([(0, 1), (1, 2), (2, 3), (0, 3), (3, 4)])
    told = told_of(Graph.from_pairs(5, pairs), np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1, 1, 0]))
    assert told.sizes.tolist() == [2, 3]
    assert told.inner.tolist() == [1, 2]
    assert told.ends.tolist() == [[0, 1]]
    assert told.between.tolist() == [2]
    nodes, edges = told.tables(GraphColumns())
    assert nodes.column("job").to_pylist() == ['[["p", 1], ["q", 1]]', '[["q", 2], ["p", 1]]']
    assert edges.to_pydict() == {"source": [0], "target": [1], "edges": [2]}


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_sample_has_the_counts_and_nothing_else_of_the_original(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40))
    graph = Graph.from_pairs(n, rng.integers(0, n, (3 * n, 2)))
    labels = np.sort(rng.integers(0, 3, n))
    labels = np.unique(labels, return_inverse=True)[1]
    told = told_of(graph, labels, rng.integers(0, 2, n))
    drawn, table, clusters = sample(told, rng)
    again = told_of(
        drawn, clusters, np.array([v == "q" for v in table.column("job").to_pylist()], np.int64)
    )
    for name in ("sizes", "inner", "ends", "between"):
        assert (getattr(again, name) == getattr(told, name)).all()
    assert (again.counts[0] == told.counts[0]).all()


def test_a_sample_is_drawn_from_the_supernodes_and_fresh_randomness_alone():
    assert list(inspect.signature(sample).parameters) == ["told", "generator"]
    assert set(Generalized.__slots__) == {
        "sizes",
        "inner",
        "ends",
        "between",
        "values",
        "categories",
        "counts",
        "schema",
    }


def test_every_pair_within_a_cluster_can_be_drawn():
    clique = Graph.from_pairs(5, np.array([(i, j) for i in range(5) for j in range(i)]))
    drawn, _, _ = sample(
        told_of(clique, np.zeros(5, np.int64), np.zeros(5, np.int64)), np.random.default_rng(0)
    )
    assert drawn.pairs().tolist() == clique.pairs().tolist()


def test_an_attribute_with_a_hierarchy_gets_the_lowest_node_above_all_members():
    rows = [("a", "ab", "*"), ("b", "ab", "*"), ("c", "c1", "*")]
    town = Attribute(
        "town",
        Role.QUASI_IDENTIFIER,
        AttributeType.NOMINAL,
        pa.string(),
        hierarchy=Hierarchy.from_rows(rows, "towns"),
    )
    sizes, none = np.array([2, 2, 1, 2, 1]), np.empty(0, np.int64)
    told = Generalized(
        sizes, none, none, none, (pa.array(["a", "a", "c", "a", None]),), (), (), Schema((town,))
    )
    labels = np.array([0, 0, 1, 1, 2, 3, 3, 4])
    originals = {"town": pa.array(["a", "b", "a", "c", "c", "a", None, None])}
    found = with_ancestors(told, labels, originals)
    assert found.values[0].to_pylist() == ["ab", "*", "c", "*", None]
