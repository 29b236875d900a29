import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.attacks.structural import linked, measure
from distanon.data.graph import Graph
from distanon.data.streams import Streams
from distanon.kernels.neighbors import NeighborIndex, distinct
from distanon.runtime.crew import SerialCrew

CREW, STREAMS = SerialCrew(), Streams(3)
# A triangle 0 1 2 with a tail 2 3 4: degrees 2 2 3 2 1, triangles 1 1 1 0 0.
KITE = Graph.from_pairs(5, np.array([[0, 1], [1, 2], [0, 2], [2, 3], [3, 4]]))
SOURCES = np.array([4, 2, 0, 1, 3])
MOVED = Graph.from_pairs(5, np.argsort(SOURCES)[KITE.pairs()])


def values(evidence):
    found = measure(evidence, crew=CREW, streams=STREAMS, draws=1)
    return {m.name.removeprefix("structural."): m.value for m in found if m.value == m.value}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=12),
    st.lists(st.integers(0, 4), min_size=1, max_size=12),
    st.data(),
)
def test_a_target_counts_one_by_the_candidates_that_tie_as_nearest(candidates, queries, data):
    places = st.integers(0, len(candidates) - 1)
    truth = data.draw(st.lists(places, min_size=len(queries), max_size=len(queries)))
    index = NeighborIndex.build(distinct(np.array(candidates, float)[:, None]))
    asked = np.array(queries, float)[:, None]
    scores = linked(index, asked, np.array(truth), CREW)
    for score, query, place in zip(scores, queries, truth, strict=True):
        nearest = min(abs(candidate - query) for candidate in candidates)
        tied = [c for c in candidates if abs(c - query) == nearest]
        assert score == pytest.approx((candidates[place] in tied) / len(tied))


def test_a_graph_without_its_names_is_linked_as_far_as_nodes_differ(graph_evidence):
    found = values(graph_evidence(KITE, MOVED, SOURCES))
    assert found["degree"] == found["degree.identifiers_removed"] == 3 / 5
    assert found["degree_and_triangles"] == 4 / 5
    assert found["degree.unique"] == 2 / 5
    assert found["degree_and_triangles.unique"] == 3 / 5
    assert found["neighbor_degrees.unique"] == 3 / 5
    assert found["blind_guess"] == 1 / 5


def test_attributes_add_to_what_degrees_tell(graph_evidence):
    columns = {"city": ["a", "b", "a", "a", "a"]}
    found = values(graph_evidence(KITE, MOVED, SOURCES, columns=columns))
    # (a, 2) is shared by 0 and 3; all others are alone.
    assert found["degree_and_attributes"] == 4 / 5
    assert found["degree_and_attributes.unique"] == 3 / 5


def test_a_degree_that_was_changed_is_linked_to_the_nearest(graph_evidence):
    star = Graph.from_pairs(6, np.array([[0, 1], [0, 2], [0, 3], [0, 4]]))
    less = Graph.from_pairs(6, np.array([[0, 1], [0, 2], [0, 3]]))
    # Node 0 (4 → 3) is still the nearest; 4 now looks like 5. Known people to nodes:
    # 1 + 3 · 1/3 + 0 + 1/2; nodes to known people, the better: 1 + 3 · 1/4 + 0 + 1.
    found = values(graph_evidence(star, less, np.arange(6)))
    assert found["degree"] == pytest.approx(2.75 / 6)


def test_a_release_where_all_look_alike_is_linked_by_chance(graph_evidence):
    ring = Graph.from_pairs(5, np.array([[0, 1], [1, 2], [2, 3], [3, 4], [0, 4]]))
    found = values(graph_evidence(KITE, ring, SOURCES))
    assert found["degree"] == pytest.approx(1 / 5, abs=0.21)
    assert found["degree.unique"] == 0.0


def test_few_targets_are_a_seeded_sample(graph_evidence):
    evidence = graph_evidence(KITE, MOVED, SOURCES)
    one, other = (
        measure(evidence, crew=CREW, streams=STREAMS, draws=1, targets=2) for _ in range(2)
    )
    assert repr(one) == repr(other)
    assert {m.n for m in one if m.name == "structural.degree"} == {2}


def test_without_the_original_only_uniqueness_is_measured(graph_evidence):
    evidence = graph_evidence(KITE, MOVED, SOURCES)
    alone = type(evidence).of(evidence.release.__class__(*blank(evidence)), MOVED, "degree")
    found = measure(alone, crew=CREW, streams=STREAMS)
    assert {m.name for m in found} == {
        "structural.degree.unique",
        "structural.degree_and_triangles.unique",
        "structural.neighbor_degrees.unique",
    }


def blank(evidence):
    """A node table of as many rows with a column that means nothing."""
    import pyarrow as pa

    from distanon.data.schema import Schema
    from distanon.data.table import MemoryPartition

    return Schema(()), (MemoryPartition(pa.table({"id": range(evidence.graph.nodes)})),)
