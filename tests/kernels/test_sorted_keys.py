import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from distanon.kernels import sorted_keys


@njit
def ranks(keys, mask):
    return [sorted_keys.rank(keys, lane, mask) for lane in range(32) if mask >> lane & 1]


@njit
def inserted(keys, size, squares):
    for place in range(len(squares)):
        sorted_keys.insert(keys, 4, size, sorted_keys.packed(squares[place], place))
    return [
        (sorted_keys.square_of(keys[4 + j]), sorted_keys.place_of(keys[4 + j])) for j in range(size)
    ]


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.floats(0, 2.0**99, width=32), min_size=1, max_size=60), st.sampled_from([4, 8, 40])
)
def test_insertion_keeps_the_least_squares_in_order_and_ties_by_place(squares, size):
    keys = np.full(4 + size, 1e306)
    keys[:4] = 0.0
    squares = np.array(squares, np.float32)
    found = inserted(keys, size, squares)
    wanted = sorted((float(s), place) for place, s in enumerate(squares))[:size]
    assert [(float(s), place) for s, place in found[: len(wanted)]] == wanted


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-2, 4), min_size=32, max_size=32), st.integers(1, 2**32 - 1))
def test_ranks_place_keys_from_the_greatest_down_and_each_at_its_own(values, mask):
    keys = np.array(values, np.float32)
    named = [lane for lane in range(32) if mask >> lane & 1]
    order = sorted(named, key=lambda lane: (-keys[lane], -lane))
    assert ranks(keys, mask) == [order.index(lane) for lane in named]
