"""Records that make groups wide, beside a search over all single steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.kernels.partition import dictionary
from distanon.kernels.trimming import trimmed


def cost(values, widths, is_set, labels, kept) -> float:
    """Extents summed over kept records and attributes."""
    total = 0.0
    for group in np.unique(labels):
        rows = values[(labels == group) & kept]
        for j, width in enumerate(widths):
            column = rows[:, j]
            if is_set[j]:
                extent = (len(set(column)) - 1) / width
            else:
                present = column[~np.isnan(column)]
                mixed = 0 < len(present) < len(column)
                extent = 1.0 if mixed else (np.ptp(present) / width if len(present) else 0.0)
            total += extent * len(rows)
    return total


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 9999), st.integers(1, 4), st.integers(0, 12))
def test_the_budget_and_the_least_size_hold_and_groups_get_narrower(seed, minimum, budget):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 6, (40, 2)).astype(float)
    values[rng.random(40) < 0.1, 0] = np.nan
    labels = np.sort(rng.integers(0, 4, 40))
    labels = np.unique(labels, return_inverse=True)[1]
    widths, is_set = np.array([5.0, 5.0]), np.array([False, True])
    axes, codes = dictionary(values, widths, sets=is_set)
    groups = int(labels.max()) + 1
    kept = trimmed(axes, codes, labels, groups, minimum, budget)
    assert (~kept).sum() <= budget
    sizes = np.bincount(labels), np.bincount(labels[kept], minlength=groups)
    assert (sizes[1] >= np.minimum(sizes[0], minimum)).all()
    before = cost(values, widths, is_set, labels, np.ones(40, np.bool_))
    assert cost(values, widths, is_set, labels, kept) < before or kept.all()


def test_the_record_that_narrows_most_goes_first():
    values = np.array([[0.0], [1.0], [2.0], [90.0], [10.0], [11.0], [12.0], [20.0]])
    labels = np.repeat([0, 1], 4)
    axes, codes = dictionary(values, np.array([90.0]))
    assert np.flatnonzero(~trimmed(axes, codes, labels, 2, 2, 1)).tolist() == [3]
    assert np.flatnonzero(~trimmed(axes, codes, labels, 2, 2, 2)).tolist() == [3, 7]
    assert trimmed(axes, codes, labels, 2, 4, 5).all()


@pytest.mark.parametrize("place", [0, 3])
def test_a_missing_value_in_a_group_is_left_out(place):
    values = np.array([[5.0], [5.0], [5.0], [5.0], [8.0]])
    values[place] = np.nan
    axes, codes = dictionary(values, np.array([3.0]))
    labels = np.array([0, 0, 0, 0, 1])
    assert np.flatnonzero(~trimmed(axes, codes, labels, 2, 3, 1)).tolist() == [place]
