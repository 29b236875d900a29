from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.graph import Graph
from distanon.data.graph_evidence import GraphEvidence
from distanon.promises.link_confidence import LinkConfidence


@st.composite
def graphs(draw):
    nodes = draw(st.integers(1, 9))
    ends = st.integers(0, nodes - 1)
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=25))
    cities = draw(st.lists(st.sampled_from("abc"), min_size=nodes, max_size=nodes))
    return Graph.from_pairs(nodes, np.array(pairs, np.int64).reshape(-1, 2)), cities


@settings(max_examples=80, deadline=None)
@given(graphs(), st.sampled_from([0.1, 0.25, 0.3, 0.5, 0.75, 1.0]))
def test_the_largest_share_of_joined_pairs_decides_exactly(dataset, drawn, limit):
    graph, cities = drawn
    shares = []
    for one, other in combinations_with_replacement(sorted(set(cities)), 2):
        possible = [
            (u, v)
            for u in range(graph.nodes)
            for v in range(u)
            if sorted((cities[u], cities[v])) == [one, other]
        ]
        if possible:
            shares.append(Fraction(int(graph.has(np.array(possible)).sum()), len(possible)))
    evidence = GraphEvidence.of(dataset({"city": cities}), graph, "attributes")
    verdict = LinkConfidence(at_most=limit).verify(evidence)
    largest = max(shares, default=Fraction(0))
    assert verdict.kept == (largest <= Fraction(str(limit)))
    assert verdict.measured["confidence"] == pytest.approx(float(largest))
    assert verdict.measured["class_pairs"] == len(shares)
    if shares:
        absent = sum(share == 0 for share in shares) / len(shares)
        assert verdict.measured["without_edges"] == pytest.approx(absent)


def test_a_failure_names_the_pairs_of_classes_and_their_counts(dataset):
    graph = Graph.from_pairs(4, np.array([[0, 1], [0, 2], [0, 3]]))
    nodes = dataset({"city": ["a", "a", "b", "b"]})
    verdict = LinkConfidence(at_most=0.5).verify(GraphEvidence.of(nodes, graph, "attributes"))
    assert verdict.reason == (
        "1 of 3 pairs of classes have more than 0.5 of their possible edges: "
        "within class 1 (1 of 1)"
    )
    verdict = LinkConfidence(at_most=0.4).verify(GraphEvidence.of(nodes, graph, "attributes"))
    assert "class 1 with class 2 (2 of 4)" in verdict.reason
