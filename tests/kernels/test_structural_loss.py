import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.graph import Graph
from distanon.kernels.structural_loss import normalized_structural_loss, structural_loss

PATH = Graph.from_pairs(4, np.array([[0, 1], [1, 2], [2, 3]]))


def losses(graph, labels):
    return structural_loss(graph.starts, graph.neighbors, np.array(labels))


def test_joined_pairs_lose_nothing_inside_and_one_edge_of_four_pairs_between():
    assert losses(PATH, [0, 0, 1, 1]) == (0.0, 2 * 1 * (1 - 1 / 4))


def test_one_cluster_of_a_path_loses_what_half_of_its_pairs_lose():
    assert losses(PATH, [0, 0, 0, 0]) == (2 * 3 * (1 - 3 / 6), 0.0)
    assert normalized_structural_loss(
        PATH.starts, PATH.neighbors, np.zeros(4, np.int64)
    ) == pytest.approx(1.0)


def test_ends_of_a_path_together_lose_inside_nothing_and_between_by_hand():
    # {0, 3}: no edge of 1 pair. {1, 2}: 1 of 1. Between: 2 edges of 4 pairs.
    assert losses(PATH, [0, 1, 1, 0]) == (0.0, 2 * 2 * (1 - 2 / 4))


def test_clusters_of_one_node_and_graphs_without_edges_lose_nothing():
    assert losses(PATH, [0, 1, 2, 3]) == (0.0, 0.0)
    empty = Graph.from_pairs(3, np.empty((0, 2), np.int64))
    assert losses(empty, [0, 0, 1]) == (0.0, 0.0)


@pytest.mark.parametrize("nodes", [0, 1])
def test_fewer_than_two_nodes_lose_nothing(nodes):
    graph = Graph.from_pairs(nodes, np.empty((0, 2), np.int64))
    labels = np.zeros(nodes, np.int64)
    assert normalized_structural_loss(graph.starts, graph.neighbors, labels) == 0.0


def by_pairs(graph, labels):
    """Expected wrong guesses, pair by pair, on the dense matrix."""
    n = len(labels)
    matrix = np.zeros((n, n))
    for a, b in graph.pairs():
        matrix[a, b] = matrix[b, a] = 1.0
    total = 0.0
    for a in range(n):
        for b in range(a + 1, n):
            one, other = labels == labels[a], labels == labels[b]
            block = matrix[np.ix_(one, other)]
            pairs = block.size - (one.sum() if labels[a] == labels[b] else 0)
            share = block.sum() / pairs
            total += matrix[a, b] * (1 - share) + (1 - matrix[a, b]) * share
    return total


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 12), st.integers(0, 40), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_the_loss_is_the_expected_number_of_pairs_thought_wrong(nodes, pairs, clusters, seed):
    generator = np.random.default_rng(seed)
    graph = Graph.from_pairs(nodes, generator.integers(0, nodes, (pairs, 2)))
    labels = generator.integers(0, clusters, nodes)
    found = normalized_structural_loss(graph.starts, graph.neighbors, labels)
    assert found == pytest.approx(by_pairs(graph, labels) / (nodes * (nodes - 1) / 4))
    assert 0.0 <= found <= 1.0
    other = normalized_structural_loss(graph.starts, graph.neighbors, clusters - labels)
    assert other == pytest.approx(found)
