import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.kernels.fuzzy import Rows
from distanon.methods.kmfc_gwo.revision import cuts, fill, numbered, split


def dense_rows(dense):
    return Rows(np.zeros(len(dense) + 1, np.int64), np.empty(0, np.int32), 1.0, 0, dense)


def means(dense, labels, clusters):
    return np.stack([dense[labels == c].mean(axis=0) for c in range(clusters)], axis=1)


def test_a_small_cluster_takes_the_nearest_members_of_the_nearest_large_one():
    # K = 2, C = 3: cluster 0 has one member at 0; clusters 1 (near) and 2 (far) have 4 each.
    dense = np.array([[0.0], [4.0], [5.0], [3.0], [6.0], [9.0], [9.5], [10.0], [8.0]])
    labels = np.array([0, 1, 1, 1, 1, 2, 2, 2, 2])
    found, moved = fill(dense_rows(dense), labels, means(dense, labels, 3), 2)
    assert found.tolist() == [0, 1, 1, 0, 1, 2, 2, 2, 2]
    assert moved == 1


def test_a_donor_that_has_come_down_to_its_limit_is_left_for_the_next_nearest():
    # K = 4: the near donor has 6 and gives 2; the third member comes from the far one.
    dense = np.array([[0.0], *[[2.0 + i] for i in range(6)]])
    far = np.array([[20.0 + i] for i in range(8)])
    dense = np.concatenate([dense, far])
    labels = np.array([0] + [1] * 6 + [2] * 8)
    found, moved = fill(dense_rows(dense), labels, means(dense, labels, 3), 4)
    assert np.flatnonzero(found == 0).tolist() == [0, 1, 2, 7]
    assert np.bincount(found).tolist() == [4, 4, 7]
    assert moved == 3


def test_an_empty_cluster_is_filled_around_its_centroid():
    dense = np.arange(12.0)[:, None]
    labels = np.zeros(12, np.int64)
    found, _ = fill(dense_rows(dense), labels, np.array([[5.0, 11.0]]), 3)
    assert np.flatnonzero(found == 1).tolist() == [9, 10, 11]


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 12), st.data())
def test_every_cluster_gets_k_members_and_only_surplus_is_given(k, data):
    nodes = data.draw(st.integers(k, 120))
    clusters = max(1, 9 * nodes // (10 * k))
    generator = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    skew = data.draw(st.sampled_from([1.0, 3.0, 20.0]))
    labels = (clusters * generator.random(nodes) ** skew).astype(np.int64)
    dense = generator.integers(0, 4, (nodes, 2)).astype(float)
    centroids = generator.integers(0, 4, (2, clusters)).astype(float)
    before = np.bincount(labels, minlength=clusters)
    found, moved = fill(dense_rows(dense), labels, centroids, k)
    after = np.bincount(found, minlength=clusters)
    assert len(after) == clusters
    assert after.min() >= k
    assert (after[before < k] == k).all()
    limit = k + k // 10
    assert (after[before > limit] >= limit).all()
    same = (before >= k) & (before <= limit)
    assert (after[same] == before[same]).all()
    assert moved == (found != labels).sum() == np.maximum(k - before, 0).sum()


def test_more_clusters_than_k_allows_are_refused():
    dense = np.zeros((10, 1))
    with pytest.raises(ValueError, match="do not fill 3 clusters of 4"):
        fill(dense_rows(dense), np.zeros(10, np.int64), np.zeros((1, 3)), 4)


def cost(values, parts):
    return sum(np.abs(values[a:b] - np.median(values[a:b])).sum() for a, b in parts)


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 4), st.lists(st.integers(0, 30), min_size=4, max_size=11))
def test_cuts_are_the_cheapest_of_all(k, values):
    values = np.sort(np.array(values, float))
    size = len(values)
    parts = cuts(values, k)
    assert [a for a, _ in parts] == [0, *(b for _, b in parts[:-1])]
    assert parts[-1][1] == size
    assert all(k <= b - a < 2 * k for a, b in parts)
    least = min(
        cost(values, itertools.pairwise((0, *borders, size)))
        for count in range(size)
        for borders in itertools.combinations(range(1, size), count)
        if all(b - a >= k for a, b in itertools.pairwise((0, *borders, size)))
    )
    assert cost(values, parts) == pytest.approx(least)


def test_only_clusters_of_twice_k_are_split_and_along_the_line():
    labels = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    line = np.array([1.0, 9, 1, 9, 2, 9, 1, 9, 1, 9, 5])[:, None]
    found = split(labels, line, 3)
    assert found.tolist() == [0, 2, 0, 2, 0, 2, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("columns", [0, 1, 2])
def test_parts_have_k_members_and_stay_inside_their_cluster(columns):
    generator = np.random.default_rng(3)
    labels = np.repeat([0, 1, 2], [7, 40, 14])
    line = generator.random((61, columns))
    found = split(labels, line, 7)
    sizes = np.bincount(found)
    assert sizes.min() >= 7
    assert sizes.max() < 14
    assert all(len(np.unique(labels[found == part])) == 1 for part in range(len(sizes)))


def test_clusters_are_numbered_by_their_lowest_nodes():
    assert numbered(np.array([7, 2, 7, 0, 2])).tolist() == [0, 1, 0, 2, 1]
