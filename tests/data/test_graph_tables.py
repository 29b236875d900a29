from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from distanon.data.graph import GraphColumns
from distanon.data.graph_tables import GraphTables, assemble, check_usable, remarks
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.errors import InputError

JOB = Attribute("job", Role.SENSITIVE, AttributeType.NOMINAL, pa.string())


def tables(pairs, ids=None, attributes=None, **more) -> GraphTables:
    ends = np.array(pairs).reshape(-1, 2)
    return GraphTables(
        pa.array(ends[:, 0]),
        pa.array(ends[:, 1]),
        None if ids is None else pa.array(ids),
        None if attributes is None else pa.table(attributes),
        GraphColumns("id", "a", "b"),
        lambda edge: f"e.csv, line {edge + 2}",
        lambda row: f"n.csv, row {row + 1}",
        "e.csv",
        **more,
    )


def test_loops_duplicates_and_both_directions_are_left_out_and_counted():
    found = assemble(tables([[1, 2], [1, 2], [2, 1], [3, 3], [4, 5], [5, 4], [5, 4]]), Schema(()))
    assert found.graph.pairs().tolist() == [[0, 1], [3, 4]]
    assert found.ids.to_pylist() == [1, 2, 3, 4, 5]
    assert found.counts == {
        "self_loops": 1,
        "duplicate_edges": 2,
        "directed_pairs_merged": 2,
        "isolated_nodes": 1,
        "components": 3,
        "nodes_without_attributes": 0,
        "dropped_node_attributes": 0,
        "dropped_edge_attributes": 0,
        "dropped_graph_attributes": 0,
    }


def test_nodes_keep_the_order_of_their_table_and_those_without_edges_stay():
    found = assemble(tables([[30, 10]], [30, 20, 10], {"job": ["x", None, "z"]}), Schema((JOB,)))
    assert found.graph.pairs().tolist() == [[0, 2]]
    assert found.nodes.to_pydict() == {"job": ["x", None, "z"]}
    assert found.counts["isolated_nodes"] == found.counts["nodes_without_attributes"] == 1


def test_edges_may_be_none_where_nodes_are_some():
    found = assemble(tables(np.zeros((0, 2), np.int64), [1, 2]), Schema(()))
    assert (found.graph.nodes, found.graph.edges, found.counts["components"]) == (2, 0, 2)


@pytest.mark.parametrize("ids", [None, []])
def test_a_graph_without_nodes_is_refused(ids):
    one = tables(np.zeros((0, 2), np.int64), None if ids is None else np.array([], np.int64))
    with pytest.raises(InputError, match=r"e\.csv: the graph is empty"):
        assemble(one, Schema(()))


def test_an_edge_that_names_an_unknown_node_is_refused_with_its_line():
    with pytest.raises(InputError) as caught:
        assemble(tables([[1, 2], [2, 991], [992, 1]], [1, 2]), Schema(()))
    assert str(caught.value).startswith(
        "e.csv, line 3, column 'b': the edge names a node that is not among the nodes "
        "(2 such edges in all); add"
    )
    assert "99" not in str(caught.value)


def test_an_unknown_node_among_ids_of_two_kinds_tells_that_they_are_of_two_kinds():
    one = tables([["1", "2"], ["2", "x"]], [1, 2])
    with pytest.raises(InputError, match="ids are text in one place and whole numbers in another"):
        assemble(one, Schema(()))
    found = assemble(tables([["1", "2"]], [1, 2]), Schema(()))
    assert found.graph.pairs().tolist() == [[0, 1]]


def test_nodes_of_one_id_are_refused_with_both_rows():
    with pytest.raises(InputError, match=r"n.csv, row 3, column 'id': the node id of n.csv, row 1"):
        assemble(tables([[1, 2]], [1, 2, 1]), Schema(()))


def test_undeclared_node_attributes_are_refused_or_dropped_and_counted():
    one = tables([[1, 2]], [1, 2], {"job": ["x", "y"], "age": [1, 2]})
    with pytest.raises(InputError, match=r"no role for the node attributes 'age'"):
        assemble(one, Schema((JOB,)))
    found = assemble(one, Schema((JOB,)), undeclared="drop")
    assert found.nodes.column_names == ["job"]
    assert found.counts["dropped_node_attributes"] == 1
    bare = assemble(one, Schema(()), undeclared="drop")
    assert bare.nodes is None
    assert bare.counts["dropped_node_attributes"] == 2


def test_a_declared_attribute_that_nodes_lack_is_refused():
    with pytest.raises(InputError, match="the nodes have no attribute 'job'"):
        assemble(tables([[1, 2]], [1, 2]), Schema((JOB,)))


def test_direction_and_attributes_of_edges_and_graph_are_refused_together_or_let_pass():
    one = tables(
        [[1, 2]], is_directed=True, edge_attributes=("weight",), graph_attributes=("year",)
    )
    with pytest.raises(InputError) as caught:
        check_usable(one, directed=False, undeclared="refuse")
    told = str(caught.value).splitlines()
    assert len(told) == 3
    assert "directed: ignore" in told[0]
    assert "'weight'" in told[1]
    assert "'year'" in told[2]
    check_usable(one, directed=True, undeclared="drop")
    found = assemble(one, Schema(()), undeclared="drop")
    assert found.counts["dropped_edge_attributes"] == found.counts["dropped_graph_attributes"] == 1


def test_remarks_tell_what_was_put_right_and_doubt_a_graph_that_looks_directed():
    told = "\n".join(remarks(assemble(tables([[1, 2], [2, 1], [2, 3], [3, 3]]), Schema(()))))
    assert "3 nodes, 2 edges, 1 components" in told
    assert "1 edges from a node to itself" in told
    assert "is it a directed graph?" in told
    plain = remarks(assemble(tables([[1, 2], [2, 1]]), Schema(())))
    assert not any("directed graph" in one for one in plain)
