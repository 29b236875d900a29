import math

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from distanon.data.graph import Graph, GraphColumns, GraphDataset
from distanon.data.graph_evidence import GraphEvidence
from distanon.data.schema import Schema
from distanon.data.streams import Streams
from distanon.runtime.crew import SerialCrew
from distanon.utility.topology import edit_loss, kolmogorov_smirnov, mean_path, measure

CREW, STREAMS = SerialCrew(), Streams(11)


def from_networkx(oracle):
    pairs = np.array(list(oracle.edges()), np.int64).reshape(-1, 2)
    return Graph.from_pairs(oracle.number_of_nodes(), pairs)


def evidence_of(original, released, sources=None, **more):
    sources = np.arange(released.nodes) if sources is None else sources
    before, after = (
        GraphDataset(graph, None, Schema(()), GraphColumns(), pa.array(range(graph.nodes)))
        for graph in (original, released)
    )
    return GraphEvidence.of(
        after.node_dataset(), released, "degree", original=before, sources=sources, **more
    )


def values(evidence, **settings):
    found = measure(evidence, crew=CREW, streams=STREAMS, **settings)
    return {m.name.removeprefix("topology."): m for m in found}


def test_the_same_graph_with_other_numbers_loses_nothing():
    graph = from_networkx(nx.connected_caveman_graph(12, 8))
    sources = np.random.default_rng(1).permutation(96)
    moved = Graph.from_pairs(96, np.argsort(sources)[graph.pairs()])
    found = values(evidence_of(graph, moved, sources))
    assert found["edges_kept"].value == 1.0
    assert found["edges_added"].value == 0.0
    assert found["degree_ks"].value == 0.0
    assert found["communities"].value == pytest.approx(1.0)
    for name in ("clustering", "transitivity", "mean_path", "modularity", "leading_eigenvalue"):
        assert found[name].value == pytest.approx(found[f"original.{name}"].value)


def test_edits_are_counted_by_the_original_edges():
    graph = from_networkx(nx.path_graph(6))
    released = graph.edited(np.array([[0, 1]]), np.array([[0, 5], [1, 5], [2, 5]]))
    found = values(evidence_of(graph, released))
    assert found["edges_kept"].value == 4 / 5
    assert found["edges_added"].value == 3 / 5


def test_what_tells_of_the_original_alone_is_not_public():
    graph = from_networkx(nx.karate_club_graph())
    found = values(evidence_of(graph, graph))
    private = {name for name, figure in found.items() if not figure.is_public}
    assert private == {name for name in found if name.startswith("original.")} | {
        "communities.floor"
    }


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 60), st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_the_mean_path_is_that_of_networkx_on_the_largest_component(nodes, seed, blocks):
    oracle = nx.gnp_random_graph(nodes, 0.06, seed=seed)
    found = mean_path(from_networkx(oracle), crew=CREW, streams=STREAMS, blocks=blocks)
    sizes = [len(component) for component in nx.connected_components(oracle)]
    assert found.component == max(sizes)
    if found.component < 2:
        assert math.isnan(found.mean)
        return
    lengths = [
        nx.average_shortest_path_length(oracle.subgraph(component))
        for component in nx.connected_components(oracle)
        if len(component) == found.component
    ]
    assert any(found.mean == pytest.approx(length) for length in lengths)
    assert found.error == 0.0


def test_a_sampled_mean_path_has_an_error_that_fits():
    graph = from_networkx(nx.barabasi_albert_graph(600, 2, seed=4))
    truth = mean_path(graph, crew=CREW, streams=STREAMS).mean
    away = []
    for seed in range(40):
        found = mean_path(graph, crew=CREW, streams=Streams(seed), exact_nodes=100, path_sources=80)
        assert found.sources == 80
        away.append((found.mean - truth) / found.error)
    assert 0.7 < np.std(away) < 1.3
    figure = values(evidence_of(graph, graph), exact_nodes=100, path_sources=80)["mean_path"]
    assert figure.ci_low < figure.value < figure.ci_high
    assert "standard error" in figure.note


@settings(max_examples=50)
@given(*[st.lists(st.integers(0, 9), min_size=1, max_size=30)] * 2)
def test_the_distance_of_degrees_is_that_of_scipy(one, other):
    expected = ks_2samp(one, other).statistic
    assert kolmogorov_smirnov(np.array(one), np.array(other)) == pytest.approx(expected)


def test_pagerank_finds_the_same_hubs_after_few_edits():
    graph = from_networkx(nx.barabasi_albert_graph(300, 3, seed=4))
    other = from_networkx(nx.barabasi_albert_graph(300, 3, seed=5))
    same = values(evidence_of(graph, graph), top=20)["pagerank_overlap"]
    assert (same.value, same.n) == (1.0, 20)
    assert (
        values(evidence_of(graph, other.edited(other.pairs(), graph.pairs()[:0])), top=20)[
            "pagerank_overlap"
        ].value
        < 0.9
    )


@pytest.mark.parametrize("pairs", [[], [[0, 1]]])
def test_graphs_of_hardly_any_edge_are_measured(pairs):
    graph = Graph.from_pairs(4, np.array(pairs, np.int64).reshape(-1, 2))
    found = values(evidence_of(graph, graph))
    assert found["clustering"].value == 0.0
    assert found["leading_eigenvalue"].value == pytest.approx(len(pairs))
    assert math.isnan(found["mean_path"].value) == (not pairs)


def test_an_empty_release_has_no_figures():
    empty = Graph.from_pairs(0, np.zeros((0, 2), np.int64))
    assert values(evidence_of(empty, empty)) == {}


@pytest.mark.timeout(120)
def test_ego_facebook_has_the_figures_that_others_found(shared_graph):
    graph = shared_graph("ego-facebook")
    found = values(evidence_of(graph, graph))
    assert found["clustering"].value == pytest.approx(0.6055, abs=5e-5)
    assert found["mean_path"].value == pytest.approx(3.6925, abs=5e-5)
    assert found["transitivity"].value == pytest.approx(0.5192, abs=5e-5)
    assert found["modularity"].value > 0.82


def test_the_loss_of_edges_is_what_was_lost_and_added():
    graph = from_networkx(nx.path_graph(6))
    released = graph.edited(np.array([[0, 1]]), np.array([[0, 5], [1, 5], [2, 5]]))
    assert edit_loss(graph, released, np.arange(6)) == 4 / 5
    sources = np.array([3, 1, 0, 5, 4, 2])
    moved = Graph.from_pairs(6, np.argsort(sources)[released.pairs()])
    assert edit_loss(graph, moved, sources) == 4 / 5
    none = Graph.from_pairs(6, np.empty((0, 2), np.int64))
    assert edit_loss(graph, none, np.arange(6)) == 1.0
    assert edit_loss(none, none, np.arange(6)) == 0.0
