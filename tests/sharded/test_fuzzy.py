import itertools
import pickle

import numpy as np
import pytest
from sklearn.cluster import KMeans

from distanon.data.graph import Graph
from distanon.kernels import fuzzy
from distanon.kernels.fuzzy import Rows
from distanon.runtime import crew as ray_crew
from distanon.runtime.crew import SerialCrew
from distanon.runtime.settings import RuntimeSettings
from distanon.sharded.fuzzy import FuzzySettings, blocks, fuzzy_c_means, truncation


def dense_rows(dense):
    return Rows(np.zeros(len(dense) + 1, np.int64), np.empty(0, np.int32), 1.0, 0, dense)


def sparse_rows(nodes):
    generator = np.random.default_rng(3)
    graph = Graph.from_pairs(nodes, generator.integers(0, nodes, (nodes * 4, 2)))
    return Rows(graph.starts, graph.neighbors, 0.5, nodes, generator.random((nodes, 2)))


DENSE = dense_rows(np.random.default_rng(2).normal(size=(2500, 4)).round(2))
SPARSE = sparse_rows(2500)


class PicklingCrew(SerialCrew):
    """A crew whose function, items, shared value and results travel, as between processes."""

    def put(self, value):
        return super().put(pickle.loads(pickle.dumps(value, protocol=5)))

    def map(self, function, items, **settings):
        function, items = pickle.loads(pickle.dumps((function, list(items))))
        for result in super().map(function, items, **settings):
            yield pickle.loads(pickle.dumps(result))


def bits(crew, rows, settings, count=40):
    first = fuzzy.columns_of(rows, np.arange(count) * 7)
    found = list(fuzzy_c_means(crew, rows, first, settings))
    return b"".join(
        one.labels.tobytes() + one.centroids.tobytes() + np.float64(one.objective).tobytes()
        for one in found
    )


RUNS = [
    pytest.param(DENSE, FuzzySettings(iterations=3), id="dense"),
    pytest.param(DENSE, FuzzySettings(iterations=3, nearest=6), id="truncated"),
    pytest.param(SPARSE, FuzzySettings(iterations=3), id="sparse"),
]


def test_block_borders_depend_on_the_number_of_nodes_alone_and_cover_them():
    for nodes in (1, 1023, 1024, 1025, 16_384, 300_000):
        parts = blocks(nodes)
        assert len(parts) <= 16
        assert parts[0][0] == 0
        assert parts[-1][1] == nodes
        assert [stop for _, stop in parts[:-1]] == [start for start, _ in parts[1:]]


@pytest.mark.parametrize(("rows", "settings"), RUNS)
def test_travelling_changes_no_bit(rows, settings):
    assert len(blocks(rows.nodes)) == 3
    assert bits(PicklingCrew(), rows, settings) == bits(SerialCrew(), rows, settings)


@pytest.mark.ray
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_ray_changes_no_bit_with_any_number_of_workers(ray_address, workers):
    with ray_crew(RuntimeSettings(address=ray_address, workers=workers)) as crew:
        for run in RUNS:
            assert bits(crew, *run.values) == bits(SerialCrew(), *run.values)


def blobs():
    generator = np.random.default_rng(4)
    centers = generator.normal(size=(6, 3)) * 20
    return np.concatenate([center + generator.normal(size=(50, 3)) for center in centers])


def test_a_fuzzifier_near_one_ends_where_k_means_ends():
    matrix = blobs()
    first = matrix[::50]
    *_, found = fuzzy_c_means(
        SerialCrew(), dense_rows(matrix), first.T, FuzzySettings(m=1.01, tolerance=1e-9)
    )
    oracle = KMeans(6, init=first, n_init=1, tol=0).fit(matrix)
    np.testing.assert_array_equal(found.labels, oracle.labels_)
    np.testing.assert_allclose(found.centroids.T, oracle.cluster_centers_, atol=1e-6)
    assert found.objective == pytest.approx(oracle.inertia_)
    assert found.settled


@pytest.mark.parametrize("rows", [DENSE, SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("m", [1.1, 2.0])
def test_the_objective_never_rises_while_no_centroid_moves(rows, m):
    first = fuzzy.columns_of(rows, np.arange(12) * 200)
    run = list(fuzzy_c_means(SerialCrew(), rows, first, FuzzySettings(m, None, 12, 0.0)))
    fell = 0
    for before, after in itertools.pairwise(run):
        if not before.empty:
            assert after.objective <= before.objective * (1 + 1e-12)
            fell += after.objective < before.objective
    assert fell >= 3


def test_an_empty_centroid_moves_to_the_farthest_node():
    matrix = np.array([[0.0], [0.1], [0.2], [10.0], [10.1], [14.0]])
    first = np.array([[0.1, 10.0, 1e6]])
    run = list(fuzzy_c_means(SerialCrew(), dense_rows(matrix), first, FuzzySettings(iterations=9)))
    assert run[0].empty == 1
    assert run[0].labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert run[1].labels.tolist() == [0, 0, 0, 1, 1, 2]
    assert run[-1].settled


def test_equal_centroids_share_their_nodes_evenly():
    rows = dense_rows(np.ones((10, 2)))
    first, *_ = fuzzy_c_means(SerialCrew(), rows, np.ones((2, 3)), FuzzySettings())
    assert sorted(np.bincount(first.labels, minlength=3)) == [3, 3, 4]
    assert first.objective == 0
    *_, last = fuzzy_c_means(SerialCrew(), rows, np.ones((2, 12)), FuzzySettings())
    assert np.bincount(last.labels, minlength=12).max() == 1  # more centroids than nodes
    assert last.settled


def test_truncation_far_enough_changes_nothing_and_is_measured():
    first = fuzzy.columns_of(DENSE, np.arange(40) * 7)
    whole = list(fuzzy_c_means(SerialCrew(), DENSE, first, FuzzySettings(iterations=4)))
    near = FuzzySettings(iterations=4, nearest=20)
    found = list(fuzzy_c_means(SerialCrew(), DENSE, first, near))
    assert found[-1].objective == pytest.approx(whole[-1].objective, rel=1e-3)
    assert np.mean(found[-1].labels == whole[-1].labels) > 0.99
    left = [
        truncation(DENSE, found[-1], FuzzySettings(iterations=4, nearest=count))
        for count in (2, 8, 20)
    ]
    assert left[0].mean > left[1].mean > left[2].mean > 0
    for one in left:
        assert one.mean <= one.largest <= 1
    assert left[2].mean <= found[-1].omitted
    assert left[2].bound == found[-1].omitted


def test_nothing_is_truncated_without_a_limit_or_with_sparse_rows():
    first = fuzzy.columns_of(SPARSE, np.arange(8))
    settings = FuzzySettings(iterations=1, nearest=3)
    (found,) = fuzzy_c_means(SerialCrew(), SPARSE, first, settings)
    assert truncation(SPARSE, found, settings) is None
    assert found.omitted == 0
    first = fuzzy.columns_of(DENSE, np.arange(8))
    (found,) = fuzzy_c_means(SerialCrew(), DENSE, first, FuzzySettings(iterations=1))
    assert truncation(DENSE, found, FuzzySettings(iterations=1)) is None
