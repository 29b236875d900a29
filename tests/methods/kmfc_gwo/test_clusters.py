import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from distanon.data.graph import Graph
from distanon.data.streams import Streams
from distanon.data.table import MemoryScratch
from distanon.errors import InfeasibleError, SpecError
from distanon.kernels.structural_loss import normalized_structural_loss
from distanon.methods.base import Context
from distanon.methods.kmfc_gwo.clusters import (
    ClusterSettings,
    cluster,
    cluster_count,
    find_clusters,
)
from distanon.runtime.crew import SerialCrew

NO_EDGES = np.empty((0, 2), np.int64)


def check(labels, nodes, k, *, split=True):
    """They partition the nodes, each has K, and none 2 K after a split."""
    assert labels.shape == (nodes,)
    assert labels.dtype == np.int64
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    if split:
        assert sizes.max() < 2 * k
    _, first = np.unique(labels, return_index=True)
    assert (np.diff(first) > 0).all()  # numbered by their lowest nodes


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_clusters_partition_the_nodes_and_have_k_members(attributed, context, data):
    k = data.draw(st.integers(1, 9))
    nodes = data.draw(st.integers(k, 90))
    generator = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    pairs = generator.integers(0, nodes, (data.draw(st.integers(0, 3 * nodes)), 2))
    columns = data.draw(
        st.sampled_from(
            [
                None,
                {"a": pa.array(generator.choice(["x", "y", None], nodes).tolist(), pa.string())},
                {"n": pa.array(generator.choice([1.0, 2.5, None], nodes).tolist(), pa.float64())},
            ]
        )
    )
    dataset, space = attributed(Graph.from_pairs(nodes, pairs), columns)
    chosen = ClusterSettings(
        k,
        m=data.draw(st.sampled_from([1.05, 1.1, 2.0])),
        w_edges=data.draw(st.sampled_from([0.0, 0.1, 1.0])),
        w_degree=data.draw(st.sampled_from([0.0, 3.0])),
        representation=data.draw(st.sampled_from(["auto", "svd", "projection"])),
        dimensions=data.draw(st.sampled_from([1, 8])),
        start=data.draw(st.sampled_from(["balanced", "spread"])),
        truncate=data.draw(st.sampled_from([None, 1, 3, "auto"])),
        iterations=data.draw(st.sampled_from([1, 6])),
    )
    found = find_clusters(dataset, space, chosen, context)
    check(found.labels, nodes, k)
    sizes = np.bincount(found.labels)
    assert found.sizes == (sizes.min(), np.median(sizes), sizes.max())
    assert found.sought == cluster_count(nodes, k) <= found.count == len(sizes)
    assert found.chosen <= found.iterations <= chosen.iterations


STAR = np.array([[0, i] for i in range(1, 25)])
CLIQUE = np.array([[i, j] for i in range(25) for j in range(i)])
TWO_PARTS = np.array([[i, i + 1] for i in (*range(8), *range(10, 18))])


@pytest.mark.parametrize("pairs", [NO_EDGES, STAR[:1], STAR, CLIQUE, TWO_PARTS])
@pytest.mark.parametrize("k", [1, 3, 12, 13, 25])
@pytest.mark.parametrize("weights", [(0.1, 3.0), (1.0, 0.0)])
def test_graphs_of_one_shape_are_clustered(attributed, context, pairs, k, weights):
    dataset, space = attributed(Graph.from_pairs(25, pairs))
    chosen = ClusterSettings(k, w_edges=weights[0], w_degree=weights[1])
    check(cluster(dataset, space, chosen, context), 25, k)


def test_equal_nodes_are_dealt_out_without_a_revision(attributed, context):
    nodes = 400
    columns = {"a": pa.array(["x"] * nodes)}
    dataset, space = attributed(Graph.from_pairs(nodes, NO_EDGES), columns)
    found = find_clusters(dataset, space, ClusterSettings(10), context)
    check(found.labels, nodes, 10)
    assert found.moved == 0
    assert found.scatter == 0


@pytest.mark.parametrize("nodes", [7, 8, 13])
def test_fewer_than_twice_k_nodes_are_one_cluster(attributed, context, nodes):
    dataset, space = attributed(Graph.from_pairs(nodes, NO_EDGES))
    labels = cluster(dataset, space, ClusterSettings(7), context)
    assert (labels == 0).all()


def test_nodes_with_equal_attributes_and_degree_come_together(attributed, context):
    # Four kinds of 20 nodes: two values, and pairs or triangles.
    kinds = np.arange(80) // 20
    pairs = [(i, i + 1) for i in range(0, 40, 2)]
    pairs += [(i, 40 + (i + step) % 40) for i in range(40, 80) for step in (1, 2)]
    columns = {"a": pa.array([("x", "y", "x", "y")[kind] for kind in kinds])}
    dataset, space = attributed(Graph.from_pairs(80, np.array(pairs)), columns)
    labels = cluster(dataset, space, ClusterSettings(9), context)
    check(labels, 80, 9)
    assert all(len(set(kinds[labels == one])) == 1 for one in range(labels.max() + 1))


def test_the_papers_revision_leaves_large_clusters(attributed, context):
    dataset, space = attributed(Graph.from_pairs(13, NO_EDGES))
    labels = cluster(dataset, space, ClusterSettings(6, revision="paper"), context)
    assert np.bincount(labels).tolist() == [13]
    labels = cluster(dataset, space, ClusterSettings(6), context)
    assert sorted(np.bincount(labels)) == [6, 7]


@pytest.mark.parametrize(
    ("nodes", "k", "hint"), [(4, 5, "largest k that works is 4"), (0, 1, "no k")]
)
def test_fewer_nodes_than_k_are_refused(attributed, context, nodes, k, hint):
    dataset, space = attributed(Graph.from_pairs(nodes, NO_EDGES))
    with pytest.raises(InfeasibleError, match=hint):
        cluster(dataset, space, ClusterSettings(k), context)


@pytest.mark.parametrize(
    "wrong",
    [
        {"k": 0},
        {"m": 1.0},
        {"m": float("nan")},
        {"w_edges": -1.0},
        {"w_attributes": float("inf")},
        {"w_degree": float("nan")},
        {"dimensions": 0},
        {"iterations": 0},
        {"tolerance": -0.1},
        {"truncate": 0},
    ],
)
def test_settings_without_a_meaning_are_refused_by_name(wrong):
    (name,) = wrong
    with pytest.raises(SpecError, match=name):
        ClusterSettings(**{"k": 3, **wrong})


class PicklingCrew(SerialCrew):
    """A crew whose function, items, shared value and results travel, as between processes."""

    def put(self, value):
        return super().put(pickle.loads(pickle.dumps(value, protocol=5)))

    def map(self, function, items, **settings):
        function, items = pickle.loads(pickle.dumps((function, list(items))))
        for result in super().map(function, items, **settings):
            yield pickle.loads(pickle.dumps(result))


def middling(attributed):
    generator = np.random.default_rng(8)
    columns = {"a": pa.array(generator.choice(list("abc"), 2200).tolist())}
    graph = Graph.from_pairs(2200, (2200 * generator.random((6000, 2)) ** 2).astype(np.int64))
    return attributed(graph, columns)


WAYS = [{}, {"representation": "svd", "truncate": 8}, {"w_edges": 1.0, "start": "spread"}]


def labels_by(crew, dataset, space, seed=3):
    context = Context(crew, MemoryScratch(), Streams(seed))
    return [cluster(dataset, space, ClusterSettings(12, **way), context).tobytes() for way in WAYS]


def test_travelling_changes_no_label(attributed):
    dataset, space = middling(attributed)
    assert labels_by(PicklingCrew(), dataset, space) == labels_by(SerialCrew(), dataset, space)


@pytest.mark.ray
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_ray_changes_no_label_with_any_number_of_workers(attributed, ray_address, workers):
    from distanon.runtime import crew
    from distanon.runtime.settings import RuntimeSettings

    dataset, space = middling(attributed)
    with crew(RuntimeSettings(address=ray_address, workers=workers)) as started:
        found = labels_by(started, dataset, space)
    assert found == labels_by(SerialCrew(), dataset, space)


def edits(dataset, space, labels):
    """Edges by which degrees differ from their cluster's median, and cells off its mode."""
    degrees, values = dataset.graph.degrees(), space.encode(dataset.nodes)
    units, cells = 0.0, 0
    for one in range(labels.max() + 1):
        members = labels == one
        units += np.abs(degrees[members] - int(np.median(degrees[members]))).sum() / 2
        for column in values[members].T:
            cells += len(column) - np.unique(column, return_counts=True)[1].max()
    return units / dataset.graph.edges, cells / values.size


def test_ego_facebook_needs_few_edits_for_attributes_and_degrees(ego_facebook, context):
    dataset, space = ego_facebook
    labels = cluster(dataset, space, ClusterSettings(10), context)
    check(labels, 4039, 10)
    units, cells = edits(dataset, space, labels)
    assert units <= 0.071
    assert cells <= 0.027


@pytest.mark.parametrize("representation", ["exact", "svd", "projection"])
def test_ego_facebook_keeps_its_structure(ego_facebook, context, representation):
    dataset, _ = ego_facebook
    chosen = ClusterSettings(10, w_edges=1.0, w_degree=0.0, representation=representation)
    labels = cluster(dataset, None, chosen, context)
    check(labels, 4039, 10)
    loss = normalized_structural_loss(dataset.graph.starts, dataset.graph.neighbors, labels)
    assert loss <= {"exact": 0.0200, "svd": 0.0210, "projection": 0.0240}[representation]
