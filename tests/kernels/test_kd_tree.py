import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.kernels import kd_tree


def rows_of(seed: int, n: int, values: int, missing: float) -> np.ndarray:
    random = np.random.default_rng(seed)
    rows = random.integers(0, values, (n, 3)).astype(float)
    rows[random.random(rows.shape) < missing] = np.nan
    return np.unique(rows, axis=0)


@given(st.integers(0, 99), st.integers(1, 400), st.integers(1, 60), st.sampled_from([0.0, 0.3]))
@settings(max_examples=30, deadline=None)
def test_each_point_lies_in_one_leaf_and_inside_the_tight_boxes_above_it(seed, n, values, missing):
    rows = rows_of(seed, n, values, missing)
    tree = kd_tree.build(rows)
    leaves = np.flatnonzero(tree.child == 0)
    places = np.concatenate([np.arange(tree.first[leaf], tree.last[leaf]) for leaf in leaves])
    assert sorted(places) == list(range(len(rows)))
    assert sorted(tree.order) == list(range(len(rows)))
    assert (tree.last - tree.first)[leaves].max() <= kd_tree.LEAF
    for node in range(len(tree.child)):
        inside = rows[tree.order[tree.first[node] : tree.last[node]]]
        gaps = np.isnan(inside)
        np.testing.assert_array_equal(tree.gaps[node], gaps.any(axis=0))
        low = np.where(gaps, np.inf, inside).min(axis=0)
        high = np.where(gaps, -np.inf, inside).max(axis=0)
        np.testing.assert_array_equal(tree.boxes[node], [low, high])


def test_a_cut_keeps_equal_values_on_one_side():
    rows = rows_of(7, 3000, 12, 0.0)
    tree = kd_tree.build(rows)
    for node in np.flatnonzero(tree.child):
        left, right = tree.boxes[tree.child[node]], tree.boxes[tree.child[node] + 1]
        assert (left[1] < right[0]).any()


def depth_of(child: np.ndarray) -> int:
    levels = np.zeros(len(child), int)
    for node in np.flatnonzero(child):
        levels[child[node] : child[node] + 2] = levels[node] + 1
    return levels.max()


def seconds(column: np.ndarray) -> float:
    rows, spent = np.ascontiguousarray(column[:, None]), []
    for _ in range(3):
        started = time.perf_counter()
        kd_tree.build(rows)
        spent.append(time.perf_counter() - started)
    return min(spent)


@pytest.mark.parametrize("shape", ["rises and falls", "falls and rises", "falls", "saw"])
def test_no_order_of_the_records_makes_building_quadratic(shape):
    n = 40_000
    up = np.arange(n, dtype=np.float64)
    shapes = {
        "rises and falls": np.concatenate((up[::2], up[1::2][::-1])),
        "falls and rises": np.concatenate((up[::2][::-1], up[1::2])),
        "falls": up[::-1],
        "saw": np.concatenate([up[start::200] for start in range(200)]),
    }
    kd_tree.build(up[:100, None].copy())
    assert seconds(shapes[shape]) < 30 * seconds(up)


@pytest.mark.parametrize("others", [0, 1])
def test_a_nominal_attribute_of_many_categories_makes_no_deep_tree(others):
    random = np.random.default_rng(1)
    categories = random.integers(0, 500, 3000)
    rows = np.sqrt(0.5) * np.eye(500)[categories]
    rows = np.hstack([rows, random.integers(0, 80, (3000, others)) / 79])
    tree = kd_tree.build(np.unique(rows, axis=0))
    assert depth_of(tree.child) <= 4 * np.log2(len(tree.order))


@pytest.mark.parametrize("values", [7, 10**6])
def test_threads_grow_the_same_tree_and_it_is_one_over_all_points(monkeypatch, values):
    monkeypatch.setattr(kd_tree, "_WHOLE", 500)
    rows = np.unique(np.random.default_rng(3).integers(0, values, (5000, 4)) / 1.0, axis=0)
    one, other = kd_tree.build(rows, 1), kd_tree.build(rows, 3)
    for mine, its in zip((*one[:-1], *one.wide), (*other[:-1], *other.wide), strict=True):
        assert np.asarray(mine).tobytes() == np.asarray(its).tobytes()
    inner = np.flatnonzero(one.child)
    children = np.concatenate((one.child[inner], one.child[inner] + 1))
    assert sorted(children) == list(range(1, len(one.child)))
    assert (one.child[inner] > inner).all()
    assert (one.last[one.child[inner]] == one.first[one.child[inner] + 1]).all()
    assert (one.first[one.child[inner]] == one.first[inner]).all()
    assert (one.last[one.child[inner] + 1] == one.last[inner]).all()
    assert sorted(one.order) == list(range(len(rows)))
