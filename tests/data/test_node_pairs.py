from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.node_pairs import numbers_of, others, pairs_of

FEW = np.array(list(combinations(range(9), 2)))


def test_each_pair_has_its_number_and_each_number_its_pair():
    numbers = numbers_of(FEW[:, ::-1])
    assert sorted(numbers.tolist()) == list(range(36))
    assert (pairs_of(numbers) == FEW).all()


@pytest.mark.parametrize("high", [1, 2, 94_906_267, 2**31 - 2, 2**31 - 1])
def test_large_numbers_lose_no_digit(high):
    ends = np.array([(0, high), (high - 1, high)])
    assert (pairs_of(numbers_of(ends)) == ends).all()


@settings(max_examples=50, deadline=None)
@given(st.sets(st.integers(0, 35)))
def test_the_others_are_all_pairs_that_are_not_taken(taken):
    pairs = pairs_of(np.array(sorted(taken), np.int64))
    rest = others(pairs, np.arange(36 - len(taken)))
    assert set(map(tuple, rest.tolist())) == set(combinations(range(9), 2)) - set(
        map(tuple, pairs.tolist())
    )
