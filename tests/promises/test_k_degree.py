from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.evidence import Evidence
from distanon.data.graph import Graph
from distanon.data.graph_evidence import GraphEvidence
from distanon.errors import SpecError
from distanon.promises.k_degree import KDegree


@st.composite
def graphs(draw):
    nodes = draw(st.integers(1, 8))
    ends = st.integers(0, nodes - 1)
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=20))
    cities = draw(st.lists(st.sampled_from("ab"), min_size=nodes, max_size=nodes))
    return Graph.from_pairs(nodes, np.array(pairs, np.int64).reshape(-1, 2)), cities


@settings(max_examples=60, deadline=None)
@given(graphs(), st.integers(2, 4), st.sampled_from(["attributes", "degree", "attributes+degree"]))
def test_k_is_the_smallest_number_of_nodes_with_one_degree(dataset, drawn, k, knowledge):
    graph, cities = drawn
    evidence = GraphEvidence.of(dataset({"city": cities}), graph, knowledge)
    degrees = graph.degrees().tolist()
    for within, tuples in (("graph", degrees), ("classes", zip(cities, degrees, strict=True))):
        verdict = KDegree(k=k, within=within).verify(evidence)
        smallest = min(Counter(tuples).values())
        assert verdict.measured["k"] == smallest
        assert verdict.kept == (smallest >= k)
        assert verdict.verified_from == "release"


@pytest.fixture(name="star")
def make_star(dataset):
    star = Graph.from_pairs(4, np.array([[0, 1], [0, 2], [0, 3]]))
    nodes = dataset(pa.table({"city": ["secret"] * 4}))
    clusters = np.array([0, 0, 1, 1])
    return GraphEvidence.of(nodes, star, "cluster", clusters=clusters)


def test_a_failure_names_classes_and_sizes_in_public_and_values_in_private(star):
    verdict = KDegree(k=2).verify(star)
    assert verdict.reason == "1 of 2 classes have fewer than 2 nodes: class 1 (1 record)"
    assert "secret" not in verdict.reason
    assert verdict.private["classes"][0]["values"] == {"__degree__": 3}


def test_within_classes_means_clusters_where_the_intruder_knows_clusters(star):
    verdict = KDegree(k=2, within="classes").verify(star)
    assert (verdict.measured["classes"], verdict.verified_from) == (3, "release+private")


def test_it_cannot_be_asked_of_a_table(dataset):
    evidence = Evidence(dataset({"city": ["a", "a"]}))
    with pytest.raises(SpecError, match="a promise about graphs, asked of a table"):
        KDegree(k=2).verify(evidence)
