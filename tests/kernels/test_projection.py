import numpy as np
import pytest

from distanon.data.graph import Graph
from distanon.kernels.projection import leading_basis, project, random_basis

GENERATOR = np.random.default_rng(11)
GRAPH = Graph.from_pairs(60, GENERATOR.integers(0, 60, (300, 2)))


def dense(graph):
    matrix = np.zeros((graph.nodes, graph.nodes))
    for a, b in graph.pairs():
        matrix[a, b] = matrix[b, a] = 1.0
    return matrix


def basis_of(graph, width, seed=0):
    first = np.random.default_rng(seed).random((graph.nodes, width)) - 0.5
    return leading_basis(graph.starts, graph.neighbors, first)


def squares(rows):
    gaps = rows[:, None, :] - rows[None, :, :]
    return (gaps * gaps).sum(axis=2)


def test_a_projection_is_the_product_with_the_adjacency():
    basis = GENERATOR.random((60, 5))
    found = project(GRAPH.starts, GRAPH.neighbors, basis)
    np.testing.assert_allclose(found, dense(GRAPH) @ basis)


def test_a_full_basis_keeps_every_distance():
    found = project(GRAPH.starts, GRAPH.neighbors, basis_of(GRAPH, 60))
    np.testing.assert_allclose(squares(found), squares(dense(GRAPH)), atol=1e-6)


def test_leading_vectors_keep_what_the_truncated_decomposition_keeps():
    # Two dense groups: two singular values stand out, so the iteration has come to its end.
    generator = np.random.default_rng(1)
    group = np.arange(80) < 30
    chance = np.where(group[:, None] == group[None, :], 0.6, 0.05)
    graph = Graph.from_pairs(80, np.argwhere(generator.random((80, 80)) < chance))
    left, values, _ = np.linalg.svd(dense(graph))
    basis = basis_of(graph, 2)
    np.testing.assert_allclose(basis.T @ basis, np.eye(2), atol=1e-12)
    found = project(graph.starts, graph.neighbors, basis)
    np.testing.assert_allclose(
        squares(found), squares(left[:, :2] * values[:2]), rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize(
    ("pairs", "rank"),
    [(np.empty((0, 2), np.int64), 0), (np.array([[0, i] for i in range(1, 9)]), 2)],
    ids=["no edges", "star"],
)
def test_columns_beyond_the_rank_are_zero(pairs, rank):
    graph = Graph.from_pairs(9, pairs)
    basis = basis_of(graph, 5)
    assert np.isfinite(basis).all()
    assert (np.abs(basis).max(axis=0) > 0).sum() == rank
    found = project(graph.starts, graph.neighbors, basis)
    np.testing.assert_allclose(squares(found), squares(dense(graph)), atol=1e-9)


def test_a_random_basis_keeps_squared_distances_in_the_mean():
    uniforms = np.random.default_rng(2).random((60, 400))
    basis = random_basis(uniforms)
    assert set(np.unique(np.abs(basis))) == {0.0, np.sqrt(3 / 400)}
    assert np.mean(basis == 0) == pytest.approx(2 / 3, abs=0.02)
    before, after = (
        squares(rows)[np.triu_indices(60, 1)]
        for rows in (dense(GRAPH), project(GRAPH.starts, GRAPH.neighbors, basis))
    )
    assert np.mean(after / before) == pytest.approx(1.0, abs=0.03)
    assert np.std(after / before) < 2 * np.sqrt(2 / 400)
