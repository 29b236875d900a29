from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.stats import entropy

from distanon.kernels.potential import (
    best_sigma,
    dispersions,
    entropies,
    pairwise_distances,
    potential_entropy,
)


@st.composite
def neighborhoods(draw, least=1):
    """Compressed rows: starts, distances ascending inside a row, weights from 1 to 4."""
    sizes = draw(st.lists(st.integers(least, 15), min_size=1, max_size=8))
    seed = draw(st.integers(0, 2**32 - 1))
    generator = np.random.default_rng(seed)
    starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    scale = 10.0 ** generator.integers(-3, 3)
    distances = np.concatenate([np.sort(generator.random(size)) for size in sizes] or [[]]) * scale
    weights = generator.integers(1, 5, len(distances))
    return starts, distances, weights


def rows(starts, *arrays):
    for low, high in pairwise(starts):
        yield tuple(array[low:high] for array in arrays)


@settings(max_examples=60, deadline=None)
@given(neighborhoods(), st.floats(0.05, 20))
def test_entropy_is_that_of_the_potentials_as_weights(lists, sigma):
    starts, distances, weights = lists
    found = entropies(starts, distances, weights, sigma)
    for value, (d, w) in zip(found, rows(starts, distances, weights), strict=True):
        field = np.repeat(np.exp(-((d - d[0]) * (d + d[0])) / sigma**2), w)
        assert value == pytest.approx(entropy(field), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(neighborhoods(), st.floats(1e-6, 1e6))
def test_theorem_1_entropy_lies_between_0_and_the_logarithm_of_the_neighborhood(lists, sigma):
    starts, distances, weights = lists
    found = entropies(starts, distances, weights, sigma)
    limits = np.log([w.sum() for (w,) in rows(starts, weights)])
    assert (found >= 0).all()
    assert (found <= np.nextafter(limits, np.inf)).all()


@given(st.lists(st.integers(1, 5), min_size=1, max_size=9), st.floats(0, 100), st.floats(0.01, 9))
def test_corollary_1_equal_distances_give_exactly_the_maximum(weights, distance, sigma):
    starts = np.array([0, len(weights)])
    found = entropies(starts, np.full(len(weights), distance), np.array(weights), sigma)
    together = entropies(np.array([0, 1]), np.zeros(1), np.array([sum(weights)]), sigma)
    assert found[0] == together[0] == pytest.approx(np.log(sum(weights)), rel=1e-15)


def test_corollary_1_one_record_with_all_the_weight_gives_exactly_0():
    starts = np.array([0, 1, 3])
    found = entropies(starts, np.array([7.0, 0.0, 1e9]), np.array([1, 1, 5]), 1.0)
    assert found.tolist() == [0.0, 0.0]


def test_entropy_does_not_underflow_where_potentials_do():
    starts, distances = np.array([0, 2]), np.array([100.0, 100.0 + 1e-12])
    assert (np.exp(-np.square(distances)) == 0.0).all()
    assert entropies(starts, distances, np.array([1, 1]), 1.0)[0] == pytest.approx(np.log(2))


def test_a_weight_of_0_is_no_neighbor():
    starts = np.array([0, 3, 4])
    distances = np.array([0.0, 1.0, 1.0, 2.0])
    weights = np.array([0, 1, 1, 0])
    assert entropies(starts, distances, weights, 0.5).tolist() == [np.log(2.0), 0.0]


@settings(max_examples=40, deadline=None)
@given(neighborhoods(), st.floats(0.1, 3), st.data())
def test_where_queries_are_cut_changes_no_bit(lists, sigma, data):
    starts, distances, weights = lists
    m = len(starts) - 1
    cut = data.draw(st.integers(0, m))
    whole = entropies(starts, distances, weights, sigma)
    border = starts[cut]
    first = entropies(starts[: cut + 1], distances[:border], weights[:border], sigma)
    second = entropies(starts[cut:] - border, distances[border:], weights[border:], sigma)
    assert np.concatenate((first, second)).tobytes() == whole.tobytes()


@settings(max_examples=40, deadline=None)
@given(neighborhoods(least=0), st.floats(0.05, 20))
def test_compiled_entropies_and_means_are_those_of_whole_arrays(lists, sigma):
    starts, distances, weights = lists
    every = np.random.default_rng(len(weights)).random(9)
    points = np.arange(len(weights)) % 9
    own = np.ones(len(starts) - 1)
    found = entropies(starts, distances, weights, sigma)
    spread = dispersions(starts, points, weights, own, every)
    for i, (d, w, p) in enumerate(rows(starts, distances, weights, points)):
        if not len(d):
            assert (found[i], spread[i]) == (0.0, np.inf)
            continue
        y = d[0] ** 2 / sigma**2 - d**2 / sigma**2
        shares = w * np.exp(y)
        expected = np.log(shares.sum()) - (shares * y).sum() / shares.sum()
        assert found[i] == pytest.approx(max(0.0, expected), abs=1e-9)
        assert spread[i] == pytest.approx(1.0 / np.average(every[p], weights=w))


def test_dispersion_is_entropy_over_the_weighted_mean_of_the_neighbors():
    every = np.array([1.0, 2.0, 4.0])
    starts, points, weights = np.array([0, 2]), np.array([1, 2]), np.array([3, 1])
    found = dispersions(starts, points, weights, np.array([5.0]), every)
    assert found[0] == pytest.approx(5.0 / 2.5)


def test_dispersion_of_nothing_among_nothing_is_1_and_of_something_infinite():
    every = np.zeros(2)
    starts, points, weights = np.array([0, 1, 2]), np.array([0, 1]), np.array([2, 2])
    found = dispersions(starts, points, weights, np.array([0.0, 0.3]), every)
    assert found.tolist() == [1.0, np.inf]


def test_distances_are_the_same_bits_however_they_are_found(monkeypatch):
    points = np.random.default_rng(4).integers(0, 4, (60, 7)) / 3.0
    points[:, 2] = np.random.default_rng(5).normal(size=60)
    points[np.random.default_rng(6).random(points.shape) < 0.1] = np.nan
    found = pairwise_distances(points)
    monkeypatch.setattr("distanon.kernels.potential._NARROW", 0)
    assert pairwise_distances(points).tobytes() == found.tobytes()


def test_distances_are_euclidean_and_missing_is_a_value_of_its_own():
    points = np.random.default_rng(3).normal(size=(20, 3))
    np.testing.assert_allclose(pairwise_distances(points), cdist(points, points), atol=1e-12)
    holes = np.array([[0.0, np.nan], [0.0, 2.0], [3.0, np.nan]])
    expected = [[0, 1, 3], [1, 0, np.sqrt(10)], [3, np.sqrt(10), 0]]
    np.testing.assert_allclose(pairwise_distances(holes), expected)


@given(st.integers(0, 2**32 - 1), st.integers(1, 25), st.integers(1, 6), st.floats(0, 1))
def test_a_frequent_value_or_missing_one_changes_no_bit_of_a_distance(seed, rows, values, missing):
    random = np.random.default_rng(seed)
    points = random.integers(0, values, (rows, 4)) / 7
    points[random.random(points.shape) < missing] = np.nan
    expected = np.empty((rows, rows))
    for i, one in enumerate(points):
        for j, other in enumerate(points):
            gaps = np.where(np.isnan(one) != np.isnan(other), 1.0, one - other)
            gaps[np.isnan(gaps)] = 0.0
            expected[i, j] = np.sqrt(sum(gap * gap for gap in gaps))
    assert pairwise_distances(points).tobytes() == expected.tobytes()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 60), st.integers(1, 4))
@example(34049944, 31, 1)  # two valleys within one step of the grid
@example(507, 46, 1)  # two in different steps
def test_the_chosen_width_is_a_minimum_of_the_potential_entropy(seed, size, width):
    points = np.random.default_rng(seed).normal(size=(size, width))
    distances = pairwise_distances(points)
    best = potential_entropy(distances, best_sigma(points))
    tried = np.geomspace(distances[distances > 0].min() / 4, distances.max() * 2, 17)
    assert best <= min(potential_entropy(distances, sigma) for sigma in tried) + 1e-9


def test_the_chosen_width_follows_the_unit():
    points = np.random.default_rng(5).normal(size=(50, 2))
    assert best_sigma(points * 8.0) == pytest.approx(8.0 * best_sigma(points), rel=1e-3)


def test_equal_records_have_width_1():
    assert best_sigma(np.zeros((4, 2))) == 1.0
