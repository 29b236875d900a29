from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.kernels.microaggregation import Mixed, join_nearest, microaggregate


def mixed(seed, n, lines=2, codes=2, missing=0.1):
    rng = np.random.default_rng(seed)
    numbers = np.round(rng.random((n, lines)), 2)
    numbers[rng.random((n, lines)) < missing] = np.nan
    weights = np.array([1.0, 0.75, 0.25, 0.5])[:codes]
    return Mixed(numbers, rng.integers(0, 4, (n, codes)), weights)


def squares(one, other):
    """All squared distances, from the definition."""
    away = np.abs(one.lines[:, None] - other.lines[None])
    gaps = np.isnan(one.lines)[:, None].astype(int) + np.isnan(other.lines)[None]
    away = np.where(gaps == 1, 1.0, np.where(gaps == 2, 0.0, away))
    differs = one.codes[:, None] != other.codes[None]
    return (away**2).sum(axis=2) + (differs * one.weights).sum(axis=2)


def by_the_book(records, k):
    """MDAV-generic on a matrix of distances, records in the order of their values."""
    lines = np.where(np.isnan(records.lines), -1.0, records.lines)
    keys = np.column_stack([lines, records.codes])
    order = np.lexsort(keys.T[::-1])
    away = np.round(squares(records, records), 9)
    left, groups = list(order), []

    def group_around(center):
        near = sorted(left, key=lambda record: away[center, record])[:k]
        groups.append(near)
        left[:] = [record for record in left if record not in near]

    while len(left) >= 2 * k:
        pair = len(left) >= 3 * k
        totals = [np.round(away[record, left].sum(), 7) for record in left]
        first = left[int(np.argmax(totals))]
        group_around(first)
        if pair:
            group_around(left[int(np.argmax(away[first, left]))])
    if left:
        groups.append(list(left))
    return groups


@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("seed", range(4))
def test_groups_are_those_of_the_algorithm_on_a_matrix_of_distances(seed, k):
    records = mixed(seed, 60, missing=0.1 if seed % 2 else 0.0)
    labels = microaggregate(records, k)
    expected = np.empty(60, int)
    for number, group in enumerate(by_the_book(records, k)):
        expected[group] = number
    assert labels.tolist() == expected.tolist()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 80), st.integers(1, 9))
def test_every_group_has_k_to_2k_minus_1_records(seed, n, k):
    if n < k:
        with pytest.raises(ValueError, match="can't be grouped"):
            microaggregate(mixed(seed, n), k)
        return
    sizes = np.bincount(microaggregate(mixed(seed, n), k))
    assert sizes.sum() == n
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.randoms(use_true_random=False))
def test_the_order_of_the_records_changes_no_group_of_tuples(seed, random):
    records = mixed(seed, 50)
    order = list(range(50))
    random.shuffle(order)

    def groups(some):
        rows = np.column_stack([np.nan_to_num(some.lines, nan=-1.0), some.codes])
        labels = microaggregate(some, 4)
        return [sorted(map(tuple, rows[labels == g].tolist())) for g in range(labels.max() + 1)]

    assert groups(records) == groups(records.take(np.array(order)))


def test_a_table_without_spread_and_one_without_columns_are_grouped():
    same = Mixed(np.zeros((9, 1)), np.zeros((9, 0), np.int64), np.zeros(0))
    assert sorted(np.bincount(microaggregate(same, 4))) == [4, 5]
    empty = Mixed(np.zeros((9, 0)), np.zeros((9, 0), np.int64), np.zeros(0))
    assert sorted(np.bincount(microaggregate(empty, 3))) == [3, 3, 3]
    assert len(microaggregate(same.take(np.empty(0, np.int64)), 3)) == 0


def test_who_fails_joins_the_nearest_that_rests_not():
    lines = np.array([[0.0], [0.1], [0.15], [0.9], [1.0]])
    line = Mixed(lines, np.zeros((5, 0), np.int64), np.zeros(0))
    assert join_nearest(line, np.zeros(5, bool)).tolist() == [0, 1, 2, 3, 4]
    one = np.array([False, True, False, False, False])
    assert join_nearest(line, one).tolist() == [0, 1, 1, 2, 3]
    # 1 takes 2, so that 0 takes the next one, and the last is left for another round.
    assert join_nearest(line, np.ones(5, bool)).tolist() == [0, 0, 1, 1, 2]
