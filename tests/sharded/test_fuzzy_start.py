import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.streams import Streams
from distanon.kernels.fuzzy import Rows
from distanon.runtime.crew import SerialCrew
from distanon.sharded import fuzzy_start
from distanon.sharded.fuzzy_start import balanced, median_cuts, spread


def dense_rows(dense):
    return Rows(np.zeros(len(dense) + 1, np.int64), np.empty(0, np.int32), 1.0, 0, dense)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 60), st.integers(0, 3), st.data())
def test_pieces_differ_by_one_node_at_most(nodes, columns, data):
    pieces = data.draw(st.integers(1, nodes))
    seed = data.draw(st.integers(0, 2**32 - 1))
    guide = np.random.default_rng(seed).integers(0, 3, (nodes, columns)).astype(float)
    sizes = np.bincount(median_cuts(guide, pieces), minlength=pieces)
    assert len(sizes) == pieces
    assert sizes.max() - sizes.min() <= 1


def test_pieces_are_cut_along_the_widest_column():
    guide = np.array([[0.0, 5.0], [0.1, 0.0], [0.2, 4.9], [0.3, 0.1]])
    assert median_cuts(guide, 2).tolist() == [1, 0, 1, 0]


def test_balanced_centroids_are_the_means_of_the_pieces():
    guide = np.array([[0.0], [9.0], [1.0], [7.0]])
    np.testing.assert_allclose(balanced(dense_rows(guide), guide, 2), [[0.5, 8.0]])


def test_a_spread_start_is_made_of_nodes_and_follows_the_seed():
    dense = np.random.default_rng(1).random((200, 3))
    rows = dense_rows(dense)
    starts = [spread(SerialCrew(), rows, dense, 20, Streams(seed)) for seed in (1, 1, 2)]
    assert starts[0].tobytes() == starts[1].tobytes() != starts[2].tobytes()
    nodes = {row.tobytes() for row in dense}
    assert all(column.tobytes() in nodes for column in np.ascontiguousarray(starts[0].T))


@pytest.mark.parametrize("clusters", [1, 3, 50, 200])
def test_many_nodes_are_spread_in_pieces_that_get_their_shares(monkeypatch, clusters):
    monkeypatch.setattr(fuzzy_start, "_PIECE", 30)
    dense = np.random.default_rng(1).random((200, 3))
    found = spread(SerialCrew(), dense_rows(dense), dense, clusters, Streams(5))
    assert found.shape == (3, clusters)
    assert len(np.unique(found.T, axis=0)) == clusters
