import numpy as np
import pytest

from distanon.data.graph import Graph
from distanon.data.streams import Streams
from distanon.methods.kmfc_gwo.features import Weights, features

GRAPH = Graph.from_pairs(40, np.random.default_rng(5).integers(0, 40, (90, 2)))
POINTS = np.random.default_rng(6).integers(0, 2, (40, 3)).astype(float)


def made(graph=GRAPH, points=POINTS, weights=(0.5, 2.0, 3.0), kind="auto", width=8, clusters=3):
    return features(graph, points, Weights(*weights), (kind, width), clusters, Streams(1))


def squares(rows):
    gaps = rows[:, None] - rows[None]
    return (gaps * gaps).sum(axis=2)


def whole(found):
    """The rows as one dense matrix."""
    rows = found.rows
    matrix = np.zeros((rows.nodes, rows.width))
    for node in range(rows.nodes):
        matrix[node, rows.columns[rows.starts[node] : rows.starts[node + 1]]] = rows.weight
    return np.hstack([matrix, rows.dense])


def by_hand(weights):
    adjacency = np.zeros((40, 40))
    for a, b in GRAPH.pairs():
        adjacency[a, b] = adjacency[b, a] = 1
    degree = np.log(1 + GRAPH.degrees())[:, None]
    return squares(np.hstack([adjacency * weights[0], POINTS * weights[1], degree * weights[2]]))


@pytest.mark.parametrize("weights", [(0.5, 2.0, 3.0), (1.0, 0.0, 0.0), (0.1, 5.0, 0.0)])
def test_exact_rows_have_the_distances_of_edges_attributes_and_degree(weights):
    found = made(weights=weights)
    assert found.edges == "exact"
    np.testing.assert_allclose(squares(whole(found)), by_hand(weights), atol=1e-9)


@pytest.mark.parametrize("kind", ["svd", "projection"])
def test_projected_rows_are_dense_and_near_in_distance(kind):
    found = made(kind=kind, width=40)
    assert found.edges == kind
    assert found.rows.width == 0
    assert found.guide is found.rows.dense
    other = np.triu_indices(40, 1)
    ratio = squares(found.rows.dense)[other] / by_hand((0.5, 2.0, 3.0))[other]
    assert np.mean(ratio) == pytest.approx(1, abs=0.1)


def test_many_nodes_times_clusters_are_projected_without_being_asked():
    assert made(clusters=2**21 // 40).edges == "exact"
    assert made(clusters=2**21 // 40 + 1).edges == "svd"
    assert made(clusters=2**21, kind="exact").edges == "exact"


@pytest.mark.parametrize("kind", ["auto", "svd", "projection"])
def test_without_edges_or_their_weight_no_column_stands_for_them(kind):
    empty = Graph.from_pairs(40, np.empty((0, 2), np.int64))
    for found in (made(empty, kind=kind), made(weights=(0.0, 1.0, 1.0), kind=kind)):
        assert found.edges == "none"
        assert found.rows.width == 0


def test_columns_in_which_all_nodes_agree_are_left_out():
    points = np.hstack([POINTS[:, :1], np.full((40, 1), 0.3)])
    assert made(points=points, weights=(0.0, 1.0, 0.0)).rows.dense.shape == (40, 1)
    cycle = Graph.from_pairs(40, np.stack([np.arange(40), (np.arange(40) + 1) % 40], axis=1))
    assert made(cycle, None, (0.0, 1.0, 1.0)).rows.dense.shape == (40, 0)


def test_a_missing_number_is_as_far_from_both_ends_as_they_from_each_other():
    points = np.tile([[0.0], [1.0], [np.nan], [np.nan], [0.5]], (8, 1))
    found = squares(made(points=points, weights=(0.0, 1.0, 0.0)).rows.dense)
    assert found[0, 1] == pytest.approx(1)
    assert found[0, 2] == pytest.approx(1)
    assert found[1, 2] == pytest.approx(1)
    assert found[2, 3] == 0
    assert found[4, 2] == pytest.approx(0.75)
