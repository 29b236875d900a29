import numpy as np
import pytest

from distanon.data.graph import Graph
from distanon.methods.kmfc_gwo.floor import EdgeFloor, floored, moving_order

LABELS = np.arange(60) // 6


@pytest.fixture(scope="module")
def graph():
    return Graph.from_pairs(60, np.random.default_rng(1).integers(0, 60, (300, 2)))


@pytest.mark.parametrize("kind", ["mates", "two_hop", "random"])
def test_so_many_edges_are_exchanged_for_others(graph, kind):
    floor = EdgeFloor(kind=kind, share=0.25)
    found = floored(graph, floor, LABELS, None, np.random.default_rng(2))
    assert len(found.removed) == len(found.added) == pytest.approx(graph.edges / 4, abs=1)
    assert graph.has(found.removed).all()
    assert not graph.has(found.added).any()
    assert found.graph.edges == graph.edges
    assert not found.graph.has(found.removed).any()


def test_ends_move_to_mates(graph):
    floor = EdgeFloor(kind="mates", share=0.2)
    found = floored(graph, floor, LABELS, None, np.random.default_rng(2))
    before, after = (np.bincount(LABELS[one.pairs()].ravel()) for one in (graph, found.graph))
    assert (before == after).all()  # each cluster keeps as many ends as it had


def test_moves_serve_what_nodes_want(graph):
    want = np.random.default_rng(3).integers(-2, 3, 60)
    floor = EdgeFloor(kind="mates", share=0.3)
    found = floored(graph, floor, LABELS, want, np.random.default_rng(2))
    left = want - (found.graph.degrees() - graph.degrees())
    assert np.abs(left).sum() < np.abs(want).sum()
    assert 2 * len(found.removed) + 0.65 * np.abs(left).sum() == pytest.approx(
        0.6 * graph.edges, abs=6
    )  # the last move settles up to four units beside its own two edits


def test_ends_move_to_friends_of_friends_where_they_can():
    rng = np.random.default_rng(4)
    inside = [(a, b) for c in range(10) for a in range(6 * c, 6 * c + 6) for b in range(a)]
    pairs = np.array([pair for pair in inside if pair[1] // 6 == pair[0] // 6])
    kept = pairs[rng.random(len(pairs)) < 0.6]
    graph = Graph.from_pairs(60, kept)
    floor = EdgeFloor(kind="mates", share=0.1)
    found = floored(graph, floor, LABELS, None, rng)
    rows = [set(graph.neighbors_of(node).tolist()) for node in range(60)]
    assert all(rows[a] & rows[b] for a, b in found.added.tolist())


def test_a_graph_where_no_end_can_move_stays():
    clique = Graph.from_pairs(5, np.array([(i, j) for i in range(5) for j in range(i)]))
    floor = EdgeFloor(share=0.5)
    found = floored(clique, floor, np.zeros(5, np.int64), None, np.random.default_rng(0))
    assert not len(found.removed)
    assert found.graph.pairs().tolist() == clique.pairs().tolist()


def test_edges_of_hubs_come_first_but_not_where_ends_go_anywhere():
    rng = np.random.default_rng(5)
    spokes = [(hub, other) for hub in (0, 1) for other in range(2, 42)]
    graph = Graph.from_pairs(60, np.array(spokes + rng.integers(2, 60, (150, 2)).tolist()))
    edges = graph.pairs()
    is_of_hub = (edges < 2).any(axis=1)
    early: dict[str, list[float]] = {"mates": [], "random": []}
    for kind, draw in ((kind, draw) for kind in early for draw in range(30)):
        order = moving_order(graph, edges, kind, np.random.default_rng(draw))
        assert sorted(order.tolist()) == list(range(len(edges)))
        early[kind].append(is_of_hub[order[: len(edges) // 4]].mean() / is_of_hub.mean())
    assert np.mean(early["mates"]) > 1.2
    assert np.mean(early["random"]) < 1.1
