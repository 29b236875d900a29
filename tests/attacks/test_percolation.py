import math
import pickle

import numpy as np
import pytest

from distanon.attacks.percolation import measure
from distanon.data.graph import Graph
from distanon.data.streams import Streams
from distanon.runtime.crew import SerialCrew

CREW, STREAMS = SerialCrew(), Streams(3)


def random_graph(nodes, density, seed=1):
    draw = np.random.default_rng(seed)
    pairs = np.stack(np.triu_indices(nodes, 1), axis=1)
    return Graph.from_pairs(nodes, pairs[draw.random(len(pairs)) < density])


def shuffled(graph, seed=2):
    sources = np.random.default_rng(seed).permutation(graph.nodes)
    return Graph.from_pairs(graph.nodes, np.argsort(sources)[graph.pairs()]), sources


def values(evidence, **settings):
    found = measure(evidence, crew=CREW, streams=STREAMS, **settings)
    return {figure.name: figure for figure in found}


def test_a_graph_without_its_names_is_found_again(graph_evidence):
    graph = random_graph(300, 0.1)
    found = values(graph_evidence(graph, *shuffled(graph)), draws=3)
    for seeds in (16, 64):
        figure = found[f"structural.percolation_{seeds}"]
        assert figure.value > 0.99
        assert figure.n == 3
        assert found[f"structural.percolation_{seeds}.revised"].value == 1.0
        removed = found[f"structural.percolation_{seeds}.identifiers_removed"]
        assert (removed.value > 0.99, removed.is_public) == (True, False)


def test_an_unrelated_graph_tells_nothing(graph_evidence):
    one, other = random_graph(300, 0.1), random_graph(300, 0.1, seed=9)
    found = values(graph_evidence(one, other, np.arange(300)), draws=3)
    assert found["structural.percolation_16"].value < 0.03
    assert found["structural.percolation_16.identifiers_removed"].value > 0.99


def test_equal_nodes_are_found_by_chance_alone_whatever_their_numbers(graph_evidence):
    # Ten hubs, all joined; every other node is a neighbor of all hubs: 90 nodes look alike.
    hubs = np.stack(np.triu_indices(10, 1), axis=1)
    rest = np.stack(np.meshgrid(np.arange(10), np.arange(10, 100)), axis=-1).reshape(-1, 2)
    graph = Graph.from_pairs(100, np.vstack([hubs, rest]))
    evidence = graph_evidence(graph, graph, np.arange(100))
    found = values(evidence, draws=20, seeds=(16,), revisions=0)
    assert found["structural.percolation_16"].value < 0.05


def test_only_released_people_are_seeds_and_targets(graph_evidence):
    graph = random_graph(200, 0.15)
    sources = np.sort(np.random.default_rng(5).choice(200, 150, replace=False))
    place = np.full(200, -1)
    place[sources] = np.arange(150)
    pairs = place[graph.pairs()]
    released = Graph.from_pairs(150, pairs[(pairs >= 0).all(axis=1)])
    found = values(graph_evidence(graph, released, sources), draws=2, seeds=(16,))
    assert found["structural.percolation_16"].value > 0.9


def test_fewer_people_than_seeds_are_not_attacked(graph_evidence):
    graph = random_graph(16, 0.5)
    found = values(graph_evidence(graph, graph, np.arange(16)), draws=2)
    assert math.isnan(found["structural.percolation_16"].value)
    assert "needs more than 16" in found["structural.percolation_16"].note


def test_the_same_seed_gives_the_same_figures_and_draws_differ(graph_evidence):
    one = random_graph(300, 0.03)
    kept = one.pairs()[np.random.default_rng(1).random(one.edges) < 0.7]
    evidence = graph_evidence(one, Graph.from_pairs(300, kept), np.arange(300))
    found = values(evidence, draws=4, seeds=(16,))
    assert found == values(evidence, draws=4, seeds=(16,))
    figure = found["structural.percolation_16"]
    assert figure.ci_low < figure.value < figure.ci_high


@pytest.mark.timeout(120)
def test_ego_facebook_without_identifiers_is_found_to_two_thirds(shared_graph, graph_evidence):
    graph = shared_graph("ego-facebook")
    found = values(graph_evidence(graph, *shuffled(graph)), draws=3, seeds=(16,))
    assert found["structural.percolation_16"].value == pytest.approx(0.67, abs=0.02)
    assert found["structural.percolation_16.revised"].value == pytest.approx(0.67, abs=0.02)


class PicklingCrew(SerialCrew):
    """Sends everything through pickle, as a crew of processes does."""

    def map(self, function, items, *, shared=None, keep=False, phase=""):
        function, items, shared = pickle.loads(pickle.dumps((function, list(items), shared)))
        return super().map(function, items, shared=shared, keep=keep, phase=phase)


def test_what_workers_get_travels_and_changes_nothing(graph_evidence):
    graph = random_graph(150, 0.1)
    evidence = graph_evidence(graph, *shuffled(graph))
    settings = {"streams": STREAMS, "draws": 2, "seeds": (16,)}
    found = measure(evidence, crew=PicklingCrew(), **settings)
    assert found == measure(evidence, crew=CREW, **settings)
