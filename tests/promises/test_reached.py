import numpy as np
import pyarrow as pa
import pytest

from distanon.data.graph import Graph
from distanon.data.graph_evidence import GraphEvidence
from distanon.data.schema import Schema
from distanon.data.table import Dataset, MemoryPartition
from distanon.promises.reached import reached


@pytest.fixture(name="evidence")
def make_evidence(dataset):
    # A triangle 0 1 2 with a tail 2 3 4.
    graph = Graph.from_pairs(5, np.array([[0, 1], [1, 2], [0, 2], [2, 3], [3, 4]]))
    nodes = dataset({"city": ["a", "a", "a", "b", "b"]})
    return GraphEvidence.of(nodes, graph, "attributes", clusters=np.array([0, 0, 1, 1, 1]))


def test_each_kind_of_knowledge_has_its_k_promised_or_not(evidence):
    found = {fact.knowledge: (fact.k, fact.unique, fact.classes) for fact in reached(evidence)}
    assert found == {
        "cluster": (2, 0.0, 2),
        "attributes": (2, 0.0, 2),
        "degree": (1, 0.4, 3),
        "attributes+degree": (1, 0.6, 4),
        "degree and triangles": (1, 0.6, 4),
        "neighbor degrees": (1, 0.6, 4),
    }
    assert [fact.knowledge for fact in reached(evidence) if fact.is_promised] == ["attributes"]


def test_clusters_that_are_not_known_are_left_out(evidence, dataset):
    nodes = dataset({"city": ["a", "a", "a", "b", "b"]})
    other = GraphEvidence.of(nodes, evidence.graph, "degree")
    assert "cluster" not in {fact.knowledge for fact in reached(other)}


# Unique by degree, by degree and triangles, by the degrees of the neighbors.
KNOWN = {
    "ego-facebook": (0.007, 0.587, 0.932),
    "email-eu-core": (0.047, 0.634, 0.918),
    "lastfm-asia": (0.004, 0.092, 0.637),
}


@pytest.mark.parametrize("name", KNOWN)
def test_real_graphs_have_as_many_unique_nodes_as_others_found(shared_graph, name):
    graph = shared_graph(name)
    table = pa.table({"id": np.arange(graph.nodes)})
    nodes = Dataset(Schema(()), (MemoryPartition(table),))
    found = {fact.knowledge: fact for fact in reached(GraphEvidence.of(nodes, graph, "degree"))}
    for knowledge, unique in zip(
        ("degree", "degree and triangles", "neighbor degrees"), KNOWN[name], strict=True
    ):
        assert found[knowledge].unique == pytest.approx(unique, abs=0.0006)
        assert found[knowledge].k == 1
