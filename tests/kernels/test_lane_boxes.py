import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from distanon.kernels import lane_boxes


@njit
def near_box(box, group, width, bounds, gaps, one):
    plain = lane_boxes.near_box(box, 0, group, width, bounds)
    return plain, lane_boxes.near_box_gapped(box, 0, group, width, bounds, gaps, 0, one)


@njit
def near_boxes(boxes, low, high, width, top, keys):
    return lane_boxes.near_boxes(boxes, 0, low, high, width, top, keys)


@njit
def near_boxes_gapped(boxes, low, high, width, top, keys, gaps, missing, one):
    return lane_boxes.near_boxes_gapped(
        boxes, 0, low, high, width, top, keys, gaps, 0, missing, one
    )


def bits(mask):
    return [bool(mask >> j & 1) for j in range(32)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 99), width=st.integers(1, 40))
def test_masks_say_which_queries_are_within_their_bounds_of_a_box(dtype, seed, width):
    random = np.random.default_rng(seed)
    group = random.integers(0, 9, (width, 32)).astype(dtype)
    low, high = np.full(width, 3, dtype), np.full(width, 4, dtype)
    least = (np.maximum(0, np.maximum(3 - group, group - 4)) ** 2).sum(axis=0)
    bounds = random.integers(0, 5 * width, 32).astype(dtype)
    box = np.concatenate((low, high))
    plain, _ = near_box(box, group.ravel(), width, bounds, np.zeros(width, bool), dtype(1))
    assert bits(plain) == (least <= bounds).tolist()
    least = (np.minimum(1, np.maximum(0, np.maximum(3 - group, group - 4))) ** 2).sum(axis=0)
    _, gapped = near_box(box, group.ravel(), width, bounds, np.ones(width, bool), dtype(1))
    assert bits(gapped) == (least <= bounds).tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 99), width=st.integers(1, 40))
def test_masks_say_which_boxes_are_near_and_keys_how_near(dtype, seed, width):
    random = np.random.default_rng(seed)
    least = random.integers(0, 9, (width, 32)).astype(dtype)  # squares are exact
    most = (least + random.integers(0, 4, least.shape)).astype(dtype)
    low = random.integers(0, 9, width).astype(dtype)
    high = (low + random.integers(0, 4, width)).astype(dtype)
    away = np.maximum(0, np.maximum(least - high[:, None], low[:, None] - most))
    squares = (away**2).sum(axis=0)
    off = ((least + most - (low + high)[:, None]) ** 2).sum(axis=0)
    top, keys = dtype(np.median(squares)), np.empty(32, dtype)
    mask = near_boxes(np.concatenate((least, most)).ravel(), low, high, width, top, keys)
    assert bits(mask) == (squares <= top).tolist()
    within = squares <= top
    np.testing.assert_allclose(
        keys[within], np.where(squares > 0, squares, -1 / (1 + off))[within], rtol=1e-6
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 99), width=st.integers(1, 20), share=st.sampled_from([0.2, 0.8]))
def test_boxes_with_missing_values_are_as_near_as_what_may_lie_in_them(dtype, seed, width, share):
    random = np.random.default_rng(seed)
    points = random.integers(0, 9, (32, 5, width)).astype(dtype)  # five in each box
    points[random.random(points.shape) < share] = np.nan
    asking = random.integers(0, 9, (4, width)).astype(dtype)
    asking[random.random(asking.shape) < share / 4] = np.nan

    def bounds(of, axis):
        gaps = np.isnan(of)
        low = np.where(gaps, np.inf, of).min(axis=axis).astype(dtype)
        high = np.where(gaps, -np.inf, of).max(axis=axis).astype(dtype)
        return low, high, gaps.any(axis=axis)

    (least, most, gaps), (low, high, missing) = bounds(points, 1), bounds(asking, 0)
    one, keys, top = dtype(2), np.empty(32, dtype), dtype(3e38)
    boxes = np.concatenate((least.T, most.T)).ravel()
    mask = near_boxes_gapped(boxes, low, high, width, top, keys, gaps.T.ravel(), missing, one)
    assert mask == 2**32 - 1
    squares = np.maximum(keys, 0)

    def column(c, box):  # from every kind of value here to every kind there
        away = (
            []
            if np.isinf(low[c]) or np.isinf(least[box, c])
            else [max(0, least[box, c] - high[c], low[c] - most[box, c])]
        )
        away += [one] if missing[c] and not np.isinf(least[box, c]) else []
        away += [one] if gaps[box, c] and not np.isinf(low[c]) else []
        away += [0] if missing[c] and gaps[box, c] else []
        return min(away)

    wanted = [sum(column(c, box) ** 2 for c in range(width)) for box in range(32)]
    assert squares.tolist() == wanted
    few = dtype(np.median(squares))
    mask = near_boxes_gapped(boxes, low, high, width, few, keys, gaps.T.ravel(), missing, one)
    assert bits(mask) == (squares <= few).tolist()
