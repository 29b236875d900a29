import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.graph import Graph
from distanon.kernels.cluster_joins import JoinCosts, joined
from distanon.kernels.greedy_clusters import Qualities

TREE = np.array([[0, 0, 0], [1, 0, 0], [2, 1, 0], [3, 1, 0]])


def nodes_of(seed, n):
    draw = np.random.default_rng(seed)
    lines = draw.choice([0.0, 0.25, 0.5, 1.0, np.nan], (n, 2))
    trees = TREE[draw.integers(0, 4, n)][:, None, :]
    flat = np.stack([draw.integers(0, 3, n), np.full(n, 9), np.full(n, 9)], axis=1)[:, None, :]
    return Qualities(lines, np.concatenate([trees, flat], axis=1), np.array([2, 1]))


def covered(qualities, members):
    """NGIL by its definition."""
    total = 0.0
    for column in qualities.lines[members].T:
        known = column[~np.isnan(column)]
        if len(known):
            total += 1.0 if len(known) < len(column) else known.max() - known.min()
    for place, height in enumerate(qualities.heights):
        ways = qualities.trees[members, place]
        common = next(h for h in range(height + 1) if len(set(ways[:, h])) == 1)
        total += common / height
    return total / 4


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 999), n=st.integers(4, 20))
def test_costs_are_those_of_the_definitions(seed, n):
    draw = np.random.default_rng(seed)
    graph = Graph.from_pairs(n, draw.integers(0, n, (2 * n, 2)))
    matrix = np.zeros((n, n))
    matrix[tuple(graph.pairs().T)] = 1
    matrix += matrix.T
    labels = np.unique(draw.integers(0, 4, n), return_inverse=True)[1]
    qualities = nodes_of(seed, n)
    costs = JoinCosts(graph.starts, graph.neighbors, qualities, labels, 0.7, 0.4)
    for one in range(labels.max() + 1):
        found = costs.with_each(one)
        assert np.isinf(found[one])
        for other in set(range(labels.max() + 1)) - {one}:
            pairs = [
                sum(matrix[i, w] != matrix[j, w] for w in range(n) if w not in (i, j))
                for i in np.flatnonzero(labels == one)
                for j in np.flatnonzero(labels == other)
            ]
            both = np.flatnonzero((labels == one) | (labels == other))
            expected = 0.4 * np.mean(pairs) / (n - 2) + 0.7 * covered(qualities, both)
            assert found[other] == pytest.approx(expected)


def rule(values, least):
    """Sets with fewer than so many values break it."""

    def failing(nodes, set_of, count):
        kinds = {(one, value) for one, value in zip(set_of, values[nodes], strict=True)}
        return np.bincount([one for one, _ in kinds], minlength=count) < least

    return failing


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 999), n=st.integers(2, 30), least=st.integers(1, 3))
def test_joined_clusters_keep_the_rule_and_are_unions(seed, n, least):
    draw = np.random.default_rng(seed)
    graph = Graph.from_pairs(n, draw.integers(0, n, (2 * n, 2)))
    labels = np.unique(draw.integers(0, 6, n), return_inverse=True)[1]
    values = draw.choice(3, n, p=[0.8, 0.15, 0.05])
    qualities = nodes_of(seed, n)

    def costs(partition):
        return JoinCosts(graph.starts, graph.neighbors, qualities, partition, 1.0, 1.0)

    failing = rule(values, least)
    found = joined(labels, failing, costs)
    count = found.max() + 1
    assert set(found) == set(range(count))
    assert len({*zip(labels, found, strict=True)}) == labels.max() + 1
    assert count == 1 or not failing(np.arange(n), found, count).any()
    if not failing(np.arange(n), labels, labels.max() + 1).any():
        assert (found == labels).all()


def test_a_near_cluster_that_mends_it_comes_before_the_nearest():
    # Clusters 0 and 1 are at one place and have one value; cluster 2 is near, with another.
    labels = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    lines = np.array([0.0, 0, 0, 0, 0.1, 0.1, 1, 1])[:, None]
    qualities = Qualities(lines, np.empty((8, 0, 1), np.int64), np.empty(0, np.int64))
    empty = Graph.from_pairs(8, np.empty((0, 2), np.int64))
    values = np.array([0, 0, 1, 2, 1, 2, 1, 2])

    def costs(partition):
        return JoinCosts(empty.starts, empty.neighbors, qualities, partition, 1.0, 0.0)

    assert joined(labels, rule(values, 2), costs).tolist() == [0, 0, 0, 0, 1, 1, 2, 2]
    values[2:4] = 0
    assert joined(labels[[0, 1, 2, 3, 4, 5]], rule(values, 2), costs_of(lines, 6)).tolist() == [
        0, 0, 0, 0, 0, 0,
    ]  # fmt: skip


def costs_of(lines, n):
    empty = Graph.from_pairs(n, np.empty((0, 2), np.int64))
    qualities = Qualities(lines[:n], np.empty((n, 0, 1), np.int64), np.empty(0, np.int64))
    return lambda partition: JoinCosts(
        empty.starts, empty.neighbors, qualities, partition, 1.0, 0.0
    )
