import numpy as np
import pyarrow as pa
import pytest

from distanon.data.graph import Graph, GraphColumns, GraphDataset
from distanon.data.graph_evidence import CLUSTER, DEGREE, GraphEvidence
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.table import Dataset, MemoryPartition
from distanon.errors import InputError
from distanon.promises import PROMISES

PATH = Graph.from_pairs(4, np.array([[0, 1], [1, 2], [2, 3]]))
RING = Graph.from_pairs(4, np.array([[0, 1], [1, 2], [2, 3], [0, 3]]))
SCHEMA = Schema(
    (
        Attribute("city", Role.QUASI_IDENTIFIER, AttributeType.NOMINAL, pa.string()),
        Attribute("job", Role.SENSITIVE, AttributeType.NOMINAL, pa.string()),
    )
)
NODES = pa.table({"city": ["a", "a", "b", "b"], "job": ["x", "y", "x", "x"]})
ORIGINAL = GraphDataset(PATH, NODES, SCHEMA, GraphColumns(), pa.array(range(4)))


def evidence(knowledge, graph=PATH, **more):
    nodes = Dataset(SCHEMA, (MemoryPartition(NODES),), "nodes")
    return GraphEvidence.of(nodes, graph, knowledge, **more)


def promise(name, given, **settings):
    return PROMISES[name](**settings).verify(given)


@pytest.mark.parametrize(
    ("knowledge", "known", "sizes"),
    [
        ("attributes", ("city",), [2, 2]),
        ("degree", (DEGREE,), [2, 2]),
        ("attributes+degree", ("city", DEGREE), [1, 1, 1, 1]),
    ],
)
def test_classes_are_those_of_the_knowledge(knowledge, known, sizes):
    given = evidence(knowledge)
    assert given.quasi_identifiers == known
    assert given.classes.sizes.tolist() == sizes
    assert promise("k_anonymity", given, k=2).measured["k"] == min(sizes)
    assert given.attributes == ("city",)


def test_diversity_is_judged_in_the_classes_of_the_knowledge():
    # Degrees 1, 2, 2, 1: nodes 0 and 3 have one job, so do 1 and 2 not.
    assert promise("l_diversity", evidence("degree"), l=2).measured == {"l": 1}
    assert promise("l_diversity", evidence("degree", RING), l=2).kept


def test_clusters_are_judged_where_they_are_known_and_never_as_if_from_the_files():
    given = evidence("cluster", clusters=np.array([5, 5, 5, 9]))
    assert given.quasi_identifiers == (CLUSTER,)
    verdict = promise("k_anonymity", given, k=2)
    assert (verdict.measured["k"], verdict.verified_from) == (1, "release+private")
    assert promise("l_diversity", given, l=2).verified_from == "release+private"


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("k_anonymity", {"k": 2}),
        ("l_diversity", {"l": 2}),
        ("t_closeness", {"t": 1.0}),
        ("alpha_k", {"alpha": 1.0, "k": 2}),
        ("link_confidence", {"at_most": 1.0}),
        ("k_degree", {"k": 2, "within": "classes"}),
    ],
)
def test_clusters_that_nobody_knows_are_asserted_at_best(name, settings):
    verdict = promise(name, evidence("cluster"), **settings)
    assert (verdict.kept, verdict.verified_from) == (False, "asserted")


def test_nodes_without_attributes_have_classes_too():
    none = GraphDataset(PATH, None, Schema(()), GraphColumns(), pa.array(range(4)))
    given = GraphEvidence.of(
        none.node_dataset(), RING, "attributes+degree", original=none, sources=np.arange(4)
    )
    assert given.classes.sizes.tolist() == [4]
    assert promise("k_anonymity", given, k=4).kept
    assert given.classes_known_by("attributes").sizes.tolist() == [4]


def test_the_degree_is_compared_with_the_original_degree():
    given = evidence("attributes+degree", RING, original=ORIGINAL, sources=np.arange(4))
    assert given.space.names == ("city", DEGREE)
    assert given.original_values[:, 1].tolist() == [1, 2, 2, 1]
    assert given.release_values[:, 1].tolist() == [2, 2, 2, 2]
    assert promise("unchanged", given, at_most=0.5).kept
    assert not promise("unchanged", given, at_most=0.4).kept


def test_another_release_of_the_same_graph_does_not_read_the_original_again():
    given = evidence("attributes+degree", original=ORIGINAL, sources=np.arange(4))
    table = given.original_table
    nodes = Dataset(SCHEMA, (MemoryPartition(NODES),))
    other = given.with_graph(nodes, RING, np.array([3, 2, 1, 0]))
    assert other.original_table is table
    assert other.graph is RING
    assert other.release_table.column(DEGREE).to_pylist() == [2] * 4
    assert other.original_graph is PATH


def test_files_that_do_not_fit_together_are_refused():
    larger = Graph.from_pairs(5, np.array([[0, 4]]))
    with pytest.raises(InputError, match=r"nodes: the edges are over 5 nodes, .* has 4 rows"):
        evidence("degree", larger)
    with pytest.raises(ValueError, match="a cluster for each of 4"):
        evidence("cluster", clusters=np.zeros(3, np.int64))
    schema = Schema((Attribute(DEGREE, Role.INSENSITIVE, AttributeType.NUMERIC, pa.int64()),))
    table = MemoryPartition(pa.table({DEGREE: [1, 2, 3, 4]}))
    with pytest.raises(InputError, match="'__degree__' has the name of a derived one"):
        GraphEvidence.of(Dataset(schema, (table,)), PATH, "degree")
