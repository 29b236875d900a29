import numpy as np
import pyarrow as pa
import pytest

from distanon.data.graph import Graph, GraphColumns, GraphDataset
from distanon.data.graph_evidence import GraphEvidence
from distanon.data.hierarchy import Hierarchy
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.supernode_evidence import SupernodeEvidence
from distanon.utility.cluster_loss import cluster_losses, supernode_losses

PATH = Graph.from_pairs(4, np.array([[0, 1], [1, 2], [2, 3]]))
LEVELS = [["bern", "west", "*"], ["biel", "west", "*"], ["chur", "east", "*"]]


def losses(columns, clusters, sources=None, **hierarchies):
    table = pa.table(columns)
    attributes = []
    for field in table.schema:
        text = pa.types.is_string(field.type)
        kind = AttributeType.NOMINAL if text else AttributeType.NUMERIC
        tree = hierarchies.get(field.name)
        attributes.append(
            Attribute(field.name, Role.QUASI_IDENTIFIER, kind, field.type, hierarchy=tree)
        )
    ids = pa.array(range(4))
    original = GraphDataset(PATH, table, Schema(tuple(attributes)), GraphColumns(), ids)
    sources = np.arange(4) if sources is None else np.array(sources)
    evidence = GraphEvidence.of(
        original.node_dataset().select(np.arange(4)),
        PATH,
        "attributes+degree",
        original=original,
        sources=sources,
        clusters=np.array(clusters),
    )
    return {m.name: m.value for m in cluster_losses(evidence)}


def test_structural_loss_is_worked_out_by_hand():
    # Clusters {0, 1} and {2, 3}: both joined inside, 1 of 4 pairs between: 2 · 1 · (1 − 1/4).
    found = losses({"age": [1, 1, 1, 1]}, [7, 7, 9, 9])
    assert found["topology.nsil"] == pytest.approx(1.5 / 3)


def test_generalization_covers_extents_of_numbers():
    found = losses({"age": [0, 5, 0, 10]}, [0, 0, 1, 1])
    assert found["topology.ngil"] == pytest.approx((2 * 0.5 + 2 * 1.0) / 4)


def test_generalization_of_names_is_all_or_nothing_without_a_hierarchy():
    columns = {"city": ["bern", "biel", "chur", "chur"]}
    assert losses(columns, [0, 0, 1, 1])["topology.ngil"] == pytest.approx(0.5)
    hierarchy = Hierarchy.from_rows(LEVELS, "levels")
    found = losses(columns, [0, 0, 1, 1], city=hierarchy)
    assert found["topology.ngil"] == pytest.approx(0.25)
    assert losses(columns, [0, 1, 1, 0], city=hierarchy)["topology.ngil"] == pytest.approx(1.0)


def test_missing_beside_a_value_covers_everything_and_alone_nothing():
    columns = {"age": [0.0, None, None, None], "other": [0.0, 0.0, 0.0, 1.0]}
    assert losses(columns, [0, 0, 1, 1])["topology.ngil"] == pytest.approx((1.0 + 0.0 + 0 + 1) / 4)


def test_clusters_belong_to_released_nodes_whose_sources_count():
    columns = {"age": [0, 5, 0, 10]}
    found = losses(columns, [0, 1, 0, 1], sources=[0, 2, 1, 3])
    assert found["topology.ngil"] == pytest.approx((2 * 0.5 + 2 * 1.0) / 4)


@pytest.mark.parametrize("is_known", [True, False])
def test_supernodes_lose_by_their_counts_what_their_clusters_lose(is_known):
    # The clusters of the first test, as supernodes 1 and 0.
    ages = pa.table({"age": [0.0, 5.0, 0.0, 10.0]})
    schema = Schema((Attribute("age", Role.QUASI_IDENTIFIER, AttributeType.NUMERIC, pa.float64()),))
    origin = GraphDataset(PATH, ages, schema, GraphColumns(), pa.array(range(4)))
    evidence = SupernodeEvidence.of(
        pa.table({"node": [0, 1], "size": [2, 2], "inner_edges": [1, 1], "age": [0.0, 0.0]}),
        pa.table({"source": [0], "target": [1], "edges": [1]}),
        GraphColumns(),
        schema,
        origin=origin if is_known else None,
        labels=np.array([1, 1, 0, 0]) if is_known else None,
    )
    found = {one.name: one.value for one in supernode_losses(evidence)}
    expected = losses({"age": [0.0, 5.0, 0.0, 10.0]}, [0, 0, 1, 1])
    if not is_known:
        del expected["topology.ngil"]
    assert found == pytest.approx(expected)
