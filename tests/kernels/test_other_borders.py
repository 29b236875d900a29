"""Cuts away from the median beside brute force over all borders."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.kernels.counts import Counts
from distanon.kernels.distributions import distinct_values
from distanon.kernels.other_borders import MOST, other_cuts
from distanon.kernels.partition import Limit, dictionary, partition, rows_of


@dataclass(frozen=True)
class AtLeast:
    """At least so many different values in each group."""

    least: int

    def __call__(self, counts: Counts) -> np.ndarray:
        return distinct_values(counts) >= self.least


@dataclass(frozen=True)
class Mixed:
    """No value has more than so large a share of a group."""

    most: float

    def __call__(self, counts: Counts) -> np.ndarray:
        largest = np.zeros(len(counts), np.int64)
        np.maximum.at(largest, counts.classes, counts.counts)
        return largest <= self.most * counts.totals


def most_even(values, column, people, minimum, keeps):
    """The most even border of one column, by trying all; None: there is none."""
    found = []
    for border in np.unique(column[~np.isnan(column)]):
        left = column <= border
        sides = [np.flatnonzero(left), np.flatnonzero(~left)]
        if all(len(set(people[side])) >= minimum and keeps(side) for side in sides):
            found.append((abs(2 * int(left.sum()) - len(values)), border))
    return min(found)[1] if found else None


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_the_border_is_the_most_even_one_that_stands(seed, shares) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 50))
    values = rng.integers(0, rng.choice([2, 6, 40]), (n, 1)).astype(float)
    values[rng.random((n, 1)) < rng.choice([0.0, 0.2])] = np.nan
    subjects = np.arange(n) if shares else rng.integers(0, 6, n)
    codes = np.sort(rng.integers(0, 4, n)).astype(np.int64)
    axes, numbers = dictionary(values, np.full(1, 40.0))
    rows = rows_of(numbers, None if shares else subjects)
    ends = np.zeros(1, np.int64), np.full(1, n, np.int64)
    limits = [Limit(codes, 4, AtLeast(2)), Limit(codes, 4, Mixed(0.7))]
    held = rows.codes, rows.records, rows.people
    attribute, border, middle = other_cuts(axes, *held, *ends, 2, limits)

    def keeps(side):
        counts = np.bincount(codes[side])
        return (counts > 0).sum() >= 2 and counts.max() <= 0.7 * len(side)

    wanted = most_even(values, values[:, 0], subjects, 2, keeps)
    if wanted is None:
        assert attribute.tolist() == [-1]
        return
    assert attribute.tolist() == [0]
    assert axes.values[border[0]] == wanted
    left = rows.records[: middle[0]]
    assert sorted(left.tolist()) == np.flatnonzero(values[:, 0] <= wanted).tolist()


def test_borders_never_part_a_child_of_the_lowest_common_ancestor() -> None:
    # Categories 0 1 | 2 3: only the border between the two parents may be cut.
    tree = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])
    values = np.repeat(np.arange(4.0), [1, 3, 20, 20])[:, None]
    codes = np.tile([0, 1], 22).astype(np.int64)
    limit = Limit(codes, 2, AtLeast(2))
    made = partition(values, np.full(1, 3.0), 3, limits=[limit], trees=[tree])
    groups = [set(values[made.labels == g, 0]) for g in range(len(made))]
    assert groups == [{0.0, 1.0}, {2.0}, {3.0}]


@pytest.mark.parametrize("kinds", [2, 3_000])
def test_of_many_borders_some_are_tried_that_are_spread_evenly(kinds) -> None:
    n = 3_000
    values = np.arange(float(n))[:, None]
    codes = (np.arange(n) % kinds).astype(np.int64)
    axes, numbers = dictionary(values, np.full(1, float(n)))
    rows = rows_of(numbers)
    ends = np.zeros(1, np.int64), np.full(1, n, np.int64)
    tried = []

    @dataclass(frozen=True)
    class Seen:
        def __call__(self, counts: Counts) -> np.ndarray:
            tried.append(counts.totals[0::2])
            return np.zeros(len(counts), np.bool_)

    limits = [Limit(codes, kinds, Seen())]
    found = other_cuts(axes, rows.codes, rows.records, rows.people, *ends, 10, limits)
    assert found[0].tolist() == [-1]
    assert len(tried[0]) == (MOST if kinds == 2 else 3)
    assert tried[0][[0, -1]].tolist() == [10, n - 10]
    assert np.ptp(np.diff(tried[0])) <= 1
