import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.kernels import kd_tree, wide_nodes


def chain(length: int) -> np.ndarray:
    """A tree where each inner node has a leaf on its left and all the rest on its right."""
    child = np.zeros(2 * length + 1, np.int64)
    child[0 : 2 * length : 2] = np.arange(1, 2 * length, 2)
    return child


def over(child: np.ndarray) -> wide_nodes.WideNodes:
    boxes, gaps = np.zeros((len(child), 2, 1), np.float32), np.zeros((len(child), 1), bool)
    return wide_nodes.over(child, boxes, gaps)


def leaves_below(wide: wide_nodes.WideNodes, node: int) -> tuple[list[int], int]:
    """The leaves that are reached from a node, from left to right, and over how many levels."""
    inner = wide.number[node]
    if inner < 0:
        return [node], 0
    reached = [leaves_below(wide, lower) for lower in wide.below[inner, : wide.sizes[inner]]]
    return [leaf for leaves, _ in reached for leaf in leaves], 1 + max(own for _, own in reached)


@given(st.integers(0, 99), st.integers(1, 6000), st.integers(2, 60), st.sampled_from([0.0, 0.3]))
@settings(max_examples=30, deadline=None)
def test_each_leaf_is_reached_once_in_order_and_boxes_are_those_of_the_nodes(
    seed, n, values, missing
):
    random = np.random.default_rng(seed)
    rows = random.integers(0, values, (n, 3)).astype(np.float32)
    rows[random.random(rows.shape) < missing] = np.nan
    tree = kd_tree.build(np.unique(rows, axis=0))
    wide = tree.wide
    leaves, height = leaves_below(wide, 0)
    assert tree.leaf[leaves].tolist() == list(range(len(tree.borders) - 1))
    assert wide.height >= height
    assert ((wide.sizes >= 2) & (wide.sizes <= 32)).all()
    boxes = wide.boxes.reshape(len(wide.sizes), 2, 3, 32)
    gaps = wide.gaps.reshape(len(wide.sizes), 3, 32)
    for inner in range(len(wide.sizes)):
        below = wide.below[inner, : wide.sizes[inner]]
        told, size = boxes[inner], wide.sizes[inner]
        np.testing.assert_array_equal(told[0, :, :size], tree.boxes[below, 0].T)
        np.testing.assert_array_equal(told[1, :, :size], tree.boxes[below, 1].T)
        np.testing.assert_array_equal(gaps[inner, :, :size], tree.gaps[below].T)


@pytest.mark.parametrize("length", [1, 31, 32, 33, 5000])
def test_a_chain_of_any_length_is_taken_32_nodes_at_a_time(length):
    child = chain(length)
    wide = over(child)
    assert leaves_below(wide, 0)[0] == np.flatnonzero(child == 0).tolist()
    assert len(wide.sizes) == wide.height == -(-length // 31)
    assert (wide.sizes[:-1] == 32).all()


def test_wide_nodes_of_an_even_tree_are_full():
    child = np.zeros(2**11 - 1, np.int64)
    child[: 2**10 - 1] = np.arange(1, 2**11 - 1, 2)
    wide = over(child)
    assert (wide.sizes == 32).all()
    assert (len(wide.sizes), wide.height) == (33, 2)


def test_one_leaf_has_no_wide_node():
    wide = over(np.zeros(1, np.int64))
    assert wide.number.tolist() == [-1]
    assert len(wide.sizes) == 0
