import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from distanon.kernels import lanes


@njit
def near(leaves, group, lane, width, bound, out, one):
    plain = lanes.near(leaves, 0, group, lane, width, bound, out)
    return plain, lanes.near_gapped(leaves, 0, group, lane, width, bound, out, one)


@njit
def greatest(values):
    return lanes.greatest(values)


def bits(mask):
    return [bool(mask >> j & 1) for j in range(32)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 99), width=st.integers(1, 40), missing=st.sampled_from([0.0, 0.3]))
def test_masks_say_which_points_are_within_a_bound(dtype, seed, width, missing):
    random = np.random.default_rng(seed)
    leaf, group = random.integers(0, 9, (2, width, 32)).astype(dtype)  # squares are exact
    leaf[random.random(leaf.shape) < missing] = np.nan
    x = group[:, 5:6].copy()
    away = np.where(
        np.isnan(leaf) | np.isnan(x), np.where(np.isnan(leaf) & np.isnan(x), 0, 1), leaf - x
    )
    squares = (away**2).sum(axis=0)
    bound = dtype(np.median(squares))
    out = np.empty(32, dtype)
    plain, gapped = near(leaf.ravel(), group.ravel(), 5, width, bound, out, dtype(1))
    assert bits(gapped) == (squares <= bound).tolist()
    assert (out[squares <= bound] == squares[squares <= bound]).all()
    if not missing:
        assert plain == gapped


def test_the_greatest_of_32_is_found():
    values = np.random.default_rng(0).permutation(32).astype(np.float32) - 40
    assert greatest(values) == -9
