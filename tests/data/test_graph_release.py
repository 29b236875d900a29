from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.graph import Graph, GraphColumns
from distanon.data.graph_release import GraphRelease, publishable_tables
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.streams import Streams

COLUMNS = GraphColumns("id", "a", "b")
JOB = Attribute("job", Role.SENSITIVE, AttributeType.NOMINAL, pa.string())
NAME = Attribute("name", Role.IDENTIFIER, AttributeType.NOMINAL, pa.string())


def release(nodes, pairs, jobs=None, **more) -> GraphRelease:
    graph = Graph.from_pairs(nodes, np.array(pairs, np.int64).reshape(-1, 2))
    table = None if jobs is None else pa.table({"name": [f"P{j}" for j in jobs], "job": jobs})
    schema = Schema(()) if jobs is None else Schema((NAME, JOB))
    return GraphRelease(graph, table, schema, np.arange(nodes), **more)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**64), st.integers(2, 9), st.data())
def test_the_published_graph_is_the_released_one_under_a_permutation(seed, nodes, data):
    ends = st.integers(0, nodes - 1)
    pairs = data.draw(st.lists(st.tuples(ends, ends), max_size=20))
    jobs = [str(node) for node in range(nodes)]
    one = release(nodes, pairs, jobs, classes=np.arange(nodes) * 10)
    found = publishable_tables(one, COLUMNS, Streams(seed))
    people, edges = found.tables["nodes"], found.tables["edges"]
    assert people.column_names == ["id", "job"]
    assert people.column("id").to_pylist() == list(range(nodes))
    assert people.column("job").to_pylist() == [str(source) for source in found.sources]
    assert (found.classes == found.sources * 10).all()
    told = list(zip(*edges.to_pydict().values(), strict=True))
    assert told == sorted(told)
    assert all(small < large for small, large in told)
    back = {tuple(sorted(found.sources[list(pair)].tolist())) for pair in told}
    assert back == {tuple(pair) for pair in one.graph.pairs().tolist()}
    assert [attribute.name for attribute in found.schema] == ["job"]


def test_ids_depend_on_the_seed_and_on_nothing_else():
    one = release(50, [[0, 1]])
    first, again, other = (
        publishable_tables(one, COLUMNS, Streams(seed)).sources.tolist() for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other
    assert first != list(range(50))
    assert publishable_tables(one, COLUMNS, Streams(1)).tables["nodes"].column_names == ["id"]


def test_a_release_without_sources_has_none():
    one = GraphRelease(Graph.from_pairs(2, np.array([[0, 1]])), None, Schema(()), None)
    assert publishable_tables(one, COLUMNS, Streams(1)).sources is None


def test_dictionaries_hold_used_values_alone():
    jobs = pa.array(["z", "x", "y"]).dictionary_encode().take(pa.array([1, 1]))
    kind = Attribute("job", Role.SENSITIVE, AttributeType.NOMINAL, jobs.type)
    graph = Graph.from_pairs(2, np.array([[0, 1]]))
    one = GraphRelease(graph, pa.table({"job": jobs}), Schema((kind,)), np.arange(2))
    column = publishable_tables(one, COLUMNS, Streams(1)).tables["nodes"].column("job")
    assert column.chunk(0).dictionary.to_pylist() == ["x"]


def test_supernodes_get_fresh_ids_that_classes_and_superedges_share():
    supernodes = pa.table({"size": [3, 4, 5]})
    superedges = pa.table({"one": [2, 0], "other": [1, 2], "edges": [21, 2]})
    classes = np.array([0, 1, 2, 2])
    one = GraphRelease(None, None, Schema(()), np.arange(4), classes, supernodes, superedges)
    found = publishable_tables(one, COLUMNS, Streams(5))
    sizes = found.tables["supernodes"].column("size").to_pylist()
    assert found.tables["supernodes"].column("id").to_pylist() == [0, 1, 2]
    assert [sizes[place] for place in found.classes] == [3, 4, 5, 5]
    rows = found.tables["superedges"].to_pylist()
    assert rows == sorted(rows, key=lambda row: (row["a"], row["b"]))
    told = {(*sorted((sizes[row["a"]], sizes[row["b"]])), row["edges"]) for row in rows}
    assert told == {(4, 5, 21), (3, 5, 2)}


def test_parts_that_do_not_belong_together_are_refused():
    with pytest.raises(ValueError, match="classes: expected 2 rows"):
        publishable_tables(release(2, [], classes=np.arange(3)), COLUMNS, Streams(1))
    with pytest.raises(ValueError, match="name of the node ids"):
        publishable_tables(release(1, [], ["x"]), GraphColumns("job", "a", "b"), Streams(1))
    with pytest.raises(ValueError, match="expected a graph"):
        publishable_tables(GraphRelease(None, None, Schema(()), None), COLUMNS, Streams(1))
