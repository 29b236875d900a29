import math

import networkx as nx
import numpy as np
import pytest

from distanon.attacks.link import carried_over, measure
from distanon.data.graph import Graph
from distanon.data.graph_evidence import GraphEvidence
from distanon.data.schema import Schema
from distanon.data.streams import Streams
from distanon.data.table import Dataset

STREAMS = Streams(7)
CAVES = nx.relaxed_caveman_graph(30, 8, 0.05, seed=3)
ORIGINAL = Graph.from_pairs(240, np.array(list(CAVES.edges())))


def values(evidence, **settings):
    return {m.name: m for m in measure(evidence, streams=STREAMS, **settings)}


def edited(removed, added, seed=4):
    """The original with random edits, and its nodes numbered anew."""
    draw = np.random.default_rng(seed)
    pairs = ORIGINAL.pairs()
    less = pairs[draw.choice(len(pairs), removed, replace=False)]
    more = np.zeros((0, 2), np.int64)
    while len(more) < added:
        pair = np.sort(draw.choice(240, 2, replace=False))
        taken = ORIGINAL.has(pair[None]).any() or (more == pair).all(axis=1).any()
        more = more if taken else np.vstack([more, pair])
    sources = draw.permutation(240)
    number = np.argsort(sources)
    return Graph.from_pairs(240, number[ORIGINAL.edited(less, more).pairs()]), sources


def test_random_edges_stand_out_and_deleted_ones_show_in_what_is_left(graph_evidence):
    found = values(graph_evidence(ORIGINAL, *edited(80, 80)))
    for name in ("common_neighbors", "adamic_adar", "jaccard"):
        for kind in ("fake", "deleted"):
            figure = found[f"link.{kind}.{name}"]
            assert figure.value > 0.85
            assert figure.ci_low < figure.value < figure.ci_high
            assert figure.n == 160
    assert found["link.blind_guess"].value == 0.5


def test_edges_added_between_nodes_that_share_most_neighbors_are_not_seen(graph_evidence):
    pairs = ORIGINAL.pairs()
    cave = np.stack(np.triu_indices(240, 1), axis=1)
    cave = cave[(cave[:, 0] // 8 == cave[:, 1] // 8) & ~ORIGINAL.has(cave)]
    released = ORIGINAL.edited(pairs[:0], cave)
    found = values(graph_evidence(ORIGINAL, released, np.arange(240)))
    assert found["link.fake.common_neighbors"].value < 0.6
    assert math.isnan(found["link.deleted.jaccard"].value)


def test_a_release_without_edits_has_nothing_to_find(graph_evidence):
    found = values(graph_evidence(ORIGINAL, ORIGINAL, np.arange(240)))
    assert all(math.isnan(m.value) == (name != "link.blind_guess") for name, m in found.items())


def test_a_complete_graph_has_no_pairs_to_compare_with(graph_evidence):
    clique = Graph.from_pairs(6, np.stack(np.triu_indices(6, 1), axis=1))
    released = clique.edited(np.array([[0, 1]]), np.zeros((0, 2), np.int64))
    found = values(graph_evidence(clique, released, np.arange(6)))
    assert math.isnan(found["link.deleted.jaccard"].value)


def test_samples_are_seeded_and_bounded(graph_evidence):
    evidence = graph_evidence(ORIGINAL, *edited(80, 80))
    one, other = values(evidence, pairs=20), values(evidence, pairs=20)
    assert one == other
    assert one["link.fake.jaccard"].n == 40


def test_edges_are_carried_over_to_the_nodes_that_were_released():
    path = Graph.from_pairs(4, np.array([[0, 1], [1, 2], [2, 3]]))
    assert carried_over(path, np.array([3, 2, 0]), 3).pairs().tolist() == [[0, 1]]


def test_without_the_original_nothing_is_measured():
    nodes = Graph.from_pairs(0, np.zeros((0, 2), np.int64))
    evidence = GraphEvidence.of(Dataset(Schema(()), ()), nodes, "degree")
    assert measure(evidence, streams=STREAMS) == []


@pytest.mark.parametrize("seed", [1, 2])
def test_numbers_of_nodes_say_nothing(graph_evidence, seed):
    same = values(graph_evidence(ORIGINAL, *edited(60, 60)))
    graph, sources = edited(60, 60)
    number = np.random.default_rng(seed).permutation(240)
    moved = Graph.from_pairs(240, number[graph.pairs()])
    other = values(graph_evidence(ORIGINAL, moved, sources[np.argsort(number)]))
    name = "link.fake.common_neighbors"
    assert other[name].value == pytest.approx(same[name].value, abs=0.1)
