import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from distanon.data.graph import Graph
from distanon.kernels import fuzzy
from distanon.kernels.fuzzy import Rows


def rows_of(nodes, columns, *, pairs=0, seed=0, weight=0.7):
    """Rows with both parts, and the same as a dense matrix."""
    generator = np.random.default_rng(seed)
    dense = generator.integers(0, 4, (nodes, columns)) / 3
    if not pairs:
        empty = np.zeros(nodes + 1, np.int64), np.empty(0, np.int32)
        return Rows(*empty, 1.0, 0, dense), dense
    graph = Graph.from_pairs(nodes, generator.integers(0, nodes, (pairs, 2)))
    matrix = np.zeros((nodes, nodes))
    for a, b in graph.pairs():
        matrix[a, b] = matrix[b, a] = weight
    rows = Rows(graph.starts, graph.neighbors, weight, nodes, dense)
    return rows, np.hstack([matrix, dense])


def squares_of(matrix, centroids):
    gaps = matrix[:, None, :] - centroids.T[None, :, :]
    return (gaps * gaps).sum(axis=2)


CASES = [rows_of(30, 3), rows_of(30, 3, pairs=90), rows_of(30, 0, pairs=90)]


@pytest.mark.parametrize(("rows", "matrix"), CASES)
def test_distances_are_those_of_the_dense_rows(rows, matrix):
    centroids = np.random.default_rng(5).random((matrix.shape[1], 7))
    nodes = np.array([4, 0, 29, 4])
    found = fuzzy.squares_between(rows, nodes, centroids)
    np.testing.assert_allclose(found, squares_of(matrix[nodes], centroids), atol=1e-12)


@pytest.mark.parametrize(("rows", "matrix"), CASES)
def test_a_node_is_at_distance_zero_from_itself(rows, matrix):
    centroids = fuzzy.columns_of(rows, np.arange(30))
    np.testing.assert_array_equal(centroids, matrix.T)
    assert (np.diag(fuzzy.squares_between(rows, np.arange(30), centroids)) == 0).all()


def filled_plainly(rows, labels, centroids, least, most):
    """As `fill_up`, step by step."""
    labels, moved = labels.copy(), 0
    sizes = np.bincount(labels, minlength=centroids.shape[1])
    for cluster in np.flatnonzero(sizes < least):
        donors = np.flatnonzero(sizes > most)
        gaps = np.zeros(len(donors))  # ties are decided by the last bit: added up column by column
        for row in centroids:
            gaps += (row[cluster] - row[donors]) ** 2
        for donor in donors[np.argsort(gaps, kind="stable")]:
            members = np.flatnonzero(labels == donor)
            count = min(least - sizes[cluster], len(members) - most)
            own = fuzzy.squares_between(rows, members, centroids[:, [cluster]])[:, 0]
            labels[members[np.argsort(own, kind="stable")[:count]]] = cluster
            sizes = np.bincount(labels, minlength=centroids.shape[1])
            moved += count
            if sizes[cluster] >= least:
                break
    return labels, moved


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([0, 40]))
def test_small_clusters_are_filled_as_step_by_step(seed, least, pairs):
    rows, matrix = rows_of(60, 2, pairs=pairs, seed=seed, weight=0.5)
    draw = np.random.default_rng(seed)
    labels = (12 * draw.random(60) ** 3).astype(np.int64)
    centroids = matrix[draw.integers(0, 60, 12)].T.copy()
    wanted = filled_plainly(rows, labels, centroids, least, least + 1)
    moved = fuzzy.fill_up(rows, labels, centroids, least, least + 1)
    assert moved == wanted[1]
    np.testing.assert_array_equal(labels, wanted[0])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(1e-8, 1e8), min_size=1, max_size=8), st.sampled_from([1.05, 1.1, 1.5, 2, 3])
)
def test_memberships_are_bezdeks(distances, m):
    distances = np.array(distances)
    found = fuzzy.memberships((distances**2)[None], np.ones(len(distances)), m)[0]
    logs = -2 / (m - 1) * np.log(distances)
    np.testing.assert_allclose(found, np.exp(logs - logsumexp(logs)), rtol=1e-9, atol=1e-300)
    assert found.sum() == pytest.approx(1.0)
    if m >= 1.5 and distances.max() / distances.min() < 1e6:
        ratios = (distances[:, None] / distances[None, :]) ** (2 / (m - 1))
        np.testing.assert_allclose(found, 1 / ratios.sum(axis=1), rtol=1e-9)


def test_extreme_distances_neither_overflow_nor_underflow():
    squares = np.array([[1e-300, 1e-290, 1e300], [1e300, 1e301, 1e299]])
    found = fuzzy.memberships(squares, np.ones(3), 1.01)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_distance_zero_is_shared_among_the_zero_centroids_alone():
    found = fuzzy.memberships(np.array([[0.0, 1.0, 0.0, 2.0]]), np.array([1.0, 1, 3, 1]), 1.1)
    np.testing.assert_allclose(found, [[0.25, 0, 0.25, 0]])


def test_copies_count_as_often_as_they_stand_for():
    one = fuzzy.memberships(np.array([[1.0, 4.0, 4.0, 4.0]]), np.ones(4), 2.0)[0]
    other = fuzzy.memberships(np.array([[1.0, 4.0]]), np.array([1.0, 3.0]), 2.0)[0]
    np.testing.assert_allclose(one[:2], other)


@pytest.mark.parametrize("m", [1.1, 2.0])
@pytest.mark.parametrize(("rows", "matrix"), CASES)
def test_a_block_adds_what_bezdeks_formulas_say(rows, matrix, m):
    centroids = np.random.default_rng(6).random((matrix.shape[1], 5))
    copies = np.array([1.0, 2.0, 1.0, 1.0, 1.0])
    found = fuzzy.sum_block(rows, 10, 25, centroids, copies, m)
    squares = squares_of(matrix[10:25], centroids)
    weights = fuzzy.memberships(squares, copies, m) ** m
    np.testing.assert_allclose(found.totals, weights.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.sums, matrix[10:25].T @ weights, atol=1e-12)
    assert found.objective == pytest.approx((weights * copies * squares).sum())
    np.testing.assert_array_equal(found.labels, squares.argmin(axis=1))
    np.testing.assert_allclose(found.squares, squares.min(axis=1), atol=1e-12)
    assert (found.omitted == 0).all()


def listing(matrix, centroids, count):
    """The nearest centroids of each row, by sorting, and the distance of the first left out."""
    distances = np.sqrt(squares_of(matrix, centroids))
    order = np.argsort(distances, axis=1, kind="stable")
    ordered = np.take_along_axis(distances, order, axis=1)
    starts = np.arange(len(matrix) + 1) * count
    reach = ordered[:, min(count, ordered.shape[1] - 1)].copy()
    return starts, order[:, :count].ravel(), ordered[:, :count].ravel(), reach


def test_all_centroids_listed_is_the_whole_sum():
    rows, matrix = CASES[0]
    centroids = np.random.default_rng(7).random((3, 6))
    copies = np.array([1.0, 1, 2, 1, 1, 1])
    whole = fuzzy.sum_block(rows, 0, 30, centroids, copies, 1.3)
    found = fuzzy.sum_nearest(matrix, listing(matrix, centroids, 6), copies, 1.3)
    for name in ("sums", "totals", "objective", "labels", "squares", "omitted"):
        np.testing.assert_allclose(getattr(found, name), getattr(whole, name), atol=1e-12)


@pytest.mark.parametrize("m", [1.1, 2.0])
def test_what_truncation_omits_is_never_above_its_bound(m):
    _, matrix = CASES[0]
    centroids = np.random.default_rng(8).random((3, 20))
    copies = np.ones(20)
    listed = listing(matrix, centroids, 4)
    found = fuzzy.sum_nearest(matrix, listed, copies, m)
    shares = fuzzy.memberships(squares_of(matrix, centroids), copies, m)
    omitted = 1 - np.take_along_axis(shares, listed[1].reshape(30, 4), axis=1).sum(axis=1)
    assert (found.omitted >= omitted - 1e-12).all()
    assert (found.omitted <= 1).all()
    assert found.omitted.max() > 0


@pytest.mark.parametrize(("rows", "matrix"), CASES)
def test_scatter_is_the_sum_of_squares_around_the_means(rows, matrix):
    labels = np.random.default_rng(9).permutation(np.arange(30) % 4)
    means = np.stack([matrix[labels == c].mean(axis=0) for c in range(4)])
    assert fuzzy.scatter(rows, labels, 4) == pytest.approx(((matrix - means[labels]) ** 2).sum())
    sums = fuzzy.hard_sums(rows, labels, 4)
    np.testing.assert_allclose(sums / np.bincount(labels), means.T, atol=1e-12)
    assert fuzzy.scatter(rows, np.arange(30), 30) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("rows", "matrix"), CASES)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 20))
def test_spread_nodes_are_distinct_members(rows, matrix, seed, count):
    generator = np.random.default_rng(seed)
    members = np.sort(generator.permutation(30)[:20])
    chosen = fuzzy.spread_nodes(rows, members, generator.random(count))
    assert len(set(chosen.tolist())) == count
    assert set(chosen.tolist()) <= set(members.tolist())


def test_far_nodes_are_drawn_by_their_squared_distance():
    # Nodes at 0, 1 and 3: after 0 the chances are 1/10 and 9/10.
    dense = np.array([[0.0], [1.0], [3.0]])
    rows = Rows(np.zeros(4, np.int64), np.empty(0, np.int32), 1.0, 0, dense)
    everyone = np.arange(3)
    assert fuzzy.spread_nodes(rows, everyone, np.array([0.1, 0.09])).tolist() == [0, 1]
    assert fuzzy.spread_nodes(rows, everyone, np.array([0.1, 0.11])).tolist() == [0, 2]
    assert fuzzy.spread_nodes(rows, everyone, np.array([0.9, 0.5])).tolist() == [2, 0]


def test_equal_nodes_are_drawn_evenly():
    rows = Rows(np.zeros(6, np.int64), np.empty(0, np.int32), 1.0, 0, np.ones((5, 2)))
    chosen = fuzzy.spread_nodes(rows, np.arange(5), np.full(5, 0.99))
    assert chosen.tolist() == [4, 3, 2, 1, 0]
