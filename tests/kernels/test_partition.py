"""Median cuts beside a plain recursive twin, and what must hold of every partition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.kernels.counts import Counts
from distanon.kernels.distributions import distinct_values
from distanon.kernels.partition import (
    Limit,
    axes_of,
    dictionary,
    finished,
    grafted,
    grow,
    numbered,
    partition,
    rows_of,
)


@dataclass(frozen=True)
class AtLeast:
    """At least so many different values in each group."""

    least: int

    def __call__(self, counts: Counts) -> np.ndarray:
        return distinct_values(counts) >= self.least


@st.composite
def tables(draw: st.DrawFn, rows: int = 60) -> np.ndarray:
    n, q = draw(st.integers(1, rows)), draw(st.integers(1, 4))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    values = rng.integers(0, draw(st.sampled_from([1, 3, 10, 1000])), (n, q)).astype(float)
    values[rng.random((n, q)) < draw(st.sampled_from([0.0, 0.1, 0.5]))] = np.nan
    return values


def widths_of(values: np.ndarray) -> np.ndarray:
    filled = np.where(np.isnan(values), np.inf, values).min(axis=0)
    high = np.where(np.isnan(values), -np.inf, values).max(axis=0)
    return np.where(high > filled, high - filled, 0.0)


def extent(column: np.ndarray, width: float) -> float:
    present = column[~np.isnan(column)]
    if 0 < len(present) < len(column):
        return 1.0
    return (present.max() - present.min()) / width if len(present) and width > 0 else 0.0


def farther(values: np.ndarray, widths: np.ndarray, rows: np.ndarray):
    """Left sides of all borders, attribute by attribute, the most even first."""
    extents = [extent(values[rows, j], widths[j]) for j in range(values.shape[1])]
    for j in sorted(range(len(extents)), key=lambda at: (-extents[at], at)):
        column = np.where(np.isnan(values[rows, j]), np.inf, values[rows, j])
        borders = np.unique(column)[:-1] if extents[j] > 0 else []
        sides = [column <= border for border in borders]
        yield from sorted(sides, key=lambda left: abs(2 * int(left.sum()) - len(rows)))


def twin(values: np.ndarray, widths: np.ndarray, minimum: int, holds) -> list[np.ndarray]:
    """Groups by the rule as it stands in the docstring, one record after another."""

    def cuts(rows: np.ndarray):
        extents = [extent(values[rows, j], widths[j]) for j in range(values.shape[1])]
        for j in sorted(range(len(extents)), key=lambda at: (-extents[at], at)):
            if extents[j] <= 0:
                return
            column = np.where(np.isnan(values[rows, j]), np.inf, values[rows, j])
            if 0 < np.isinf(column).sum() < len(column):
                yield np.isfinite(column)
            borders = list(np.unique(column[np.isfinite(column)])[:-1])
            sizes = [int((column <= v).sum()) for v in borders]
            below = [v for v, s in zip(borders, sizes, strict=True) if 2 * s <= len(rows)][-1:]
            above = [v for v, s in zip(borders, sizes, strict=True) if 2 * s > len(rows)][:1]
            both = below + above
            both.sort(key=lambda v: abs(2 * int((column <= v).sum()) - len(rows)))
            yield from (column <= v for v in both)

    def split(rows: np.ndarray) -> list[np.ndarray]:
        for left in [*cuts(rows), *farther(values, widths, rows)]:
            sides = rows[left], rows[~left]
            if all(len(side) >= minimum and holds(side) for side in sides):
                return [*split(sides[0]), *split(sides[1])]
        return [rows]

    return split(np.arange(len(values)))


@settings(max_examples=150, deadline=None)
@given(tables(), st.integers(1, 8))
def test_the_groups_are_those_of_the_rule_written_out(values, minimum) -> None:
    widths = widths_of(values)
    made = partition(values, widths, minimum)
    wanted = twin(values, widths, minimum, lambda rows: True)
    assert [np.flatnonzero(made.labels == g).tolist() for g in range(len(made))] == [
        sorted(rows.tolist()) for rows in wanted
    ]


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(1, 5), st.integers(2, 3))
def test_with_a_limit_the_groups_are_those_of_the_rule_too(values, minimum, least) -> None:
    codes = (np.arange(len(values)) * 7919 % 4).astype(np.int64)
    widths = widths_of(values)
    made = partition(values, widths, minimum, limits=[Limit(codes, 4, AtLeast(least))])
    wanted = twin(values, widths, minimum, lambda rows: len(set(codes[rows])) >= least)
    assert [np.flatnonzero(made.labels == g).tolist() for g in range(len(made))] == [
        sorted(rows.tolist()) for rows in wanted
    ]


def test_a_cut_far_from_the_median_stands_where_limits_refuse_those_beside_it() -> None:
    # Borders after the first to the sixth of twenty values leave both kinds on both sides.
    values = np.arange(20.0)[:, None]
    codes = np.isin(np.arange(20), [0, 6]).astype(np.int64)
    made = partition(values, widths_of(values), 3, limits=[Limit(codes, 2, AtLeast(2))])
    assert made.labels.tolist() == [0] * 6 + [1] * 14


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(1, 6), st.integers(0, 99))
def test_the_order_of_the_records_changes_nothing(values, minimum, seed) -> None:
    order = np.random.default_rng(seed).permutation(len(values))
    widths = widths_of(values)
    plain = partition(values, widths, minimum).labels
    assert (partition(values[order], widths, minimum).labels == plain[order]).all()


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(1, 6))
def test_records_are_found_again_where_they_were_put(values, minimum) -> None:
    made = partition(values, widths_of(values), minimum)
    assert (made.locate(values) == made.labels).all()


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(2, 5), st.integers(0, 99))
def test_each_group_has_so_many_different_subjects(values, minimum, seed) -> None:
    subjects = np.random.default_rng(seed).integers(0, 12, len(values))
    made = partition(values, widths_of(values), minimum, subjects=subjects)
    least = min(minimum, len(set(subjects.tolist())))
    for group in range(len(made)):
        assert len(set(subjects[made.labels == group].tolist())) >= least


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(1, 5), st.integers(0, 20))
def test_groups_that_are_cut_in_pieces_are_the_same(values, minimum, largest) -> None:
    widths = widths_of(values)
    whole = partition(values, widths, minimum)
    axes, codes = dictionary(values, widths)
    rows = rows_of(codes)
    ends = np.zeros(1, np.int64), np.array([len(values)])
    top = grow(axes, rows, *ends, minimum, largest=largest)
    leaves = np.flatnonzero(top.attributes < 0)
    branches = []
    for leaf in leaves:
        start, stop = int(top.starts[leaf]), int(top.stops[leaf])
        part = rows.part(start, stop)
        own = np.zeros(1, np.int64), np.array([stop - start])
        branches.append(grow(axes, part, *own, minimum).shifted(start))
        rows.records[start:stop] = part.records
    made = finished(axes, rows, grafted(top, leaves, branches))
    assert (made.labels == whole.labels).all()
    assert (made.locate(values) == whole.labels).all()


@settings(max_examples=40, deadline=None)
@given(tables(), st.integers(1, 4))
def test_given_groups_are_cut_further_and_never_joined(values, minimum) -> None:
    widths = widths_of(values)
    outer = partition(values, widths, 3 * minimum)
    inner = partition(values, widths, minimum, within=outer.labels)
    for group in range(len(outer)):
        alone = outer.labels == group
        own = partition(values[alone], widths, minimum).labels
        nested = inner.labels[alone]
        assert (nested - nested.min() == own).all()
    assert (inner.locate(values, outer.labels) == inner.labels).all()


def test_categories_of_a_hierarchy_are_parted_between_its_branches() -> None:
    # Leaves 0 1 2 | 3 4, most records at 2: the median border lies inside the first branch.
    tree = np.array([[0, 1, 2, 3, 4], [0, 0, 0, 1, 1], [0, 0, 0, 0, 0]])
    values = np.repeat([0.0, 1.0, 2.0, 3.0, 4.0], [4, 4, 8, 2, 2])[:, None]
    made = partition(values, np.array([4.0]), 4, trees=[tree])
    groups = [sorted(set(values[made.labels == g, 0])) for g in range(len(made))]
    assert groups == [[0.0], [1.0], [2.0], [3.0, 4.0]]
    plain = partition(values, np.array([4.0]), 8)
    with_tree = partition(values, np.array([4.0]), 8, trees=[tree])
    assert (len(plain), len(with_tree)) == (2, 1)


def test_sets_are_as_wide_as_their_values_are_many() -> None:
    # Two far categories against three near ones: the range would cut the first column.
    values = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 1.0], [9.0, 1.0], [0.0, 2.0], [9.0, 2.0]])
    widths = np.array([9.0, 9.0])
    by_range = partition(values, widths, 2)
    by_count = partition(values, widths, 2, sets=np.ones(2, np.bool_))
    assert by_range.labels.tolist() == [0, 1, 0, 1, 0, 1]
    assert by_count.labels.tolist() == [0, 0, 1, 2, 1, 2]


def test_missing_values_are_parted_from_the_others_first() -> None:
    values = np.array([[1.0], [2.0], [3.0], [4.0], [np.nan], [np.nan]])
    assert partition(values, np.array([3.0]), 2).labels.tolist() == [0, 0, 1, 1, 2, 2]


def test_too_few_records_and_constant_columns_are_one_group() -> None:
    assert partition(np.zeros((3, 1)), np.zeros(1), 10).labels.tolist() == [0, 0, 0]
    assert partition(np.full((9, 2), np.nan), np.zeros(2), 2).labels.tolist() == [0] * 9
    assert partition(np.zeros((4, 0)), np.zeros(0), 1).labels.tolist() == [0] * 4


@pytest.mark.parametrize("column", [[3.0, 1.0, np.nan, 3.0], [0.5, 1e300, 0.25], [np.nan]])
def test_numbers_of_values_ascend_and_missing_is_last(column) -> None:
    column = np.array(column)
    distinct, found = numbered(column)
    assert distinct.tolist() == sorted({v for v in column if not np.isnan(v)})
    back = np.append(distinct, np.nan)[found]
    assert np.array_equal(back, column, equal_nan=True)


def test_sparse_and_dense_codes_are_cut_alike() -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 400, (300, 2)).astype(float)
    wide = np.arange(3000.0)  # the same ranks among ten times as many possible values
    axes = axes_of([wide, wide], np.full(2, 399.0))
    rows = rows_of(values.astype(np.int32))
    growth = grow(axes, rows, np.zeros(1, np.int64), np.array([300]), 5)
    sparse = finished(axes, rows, growth).labels
    assert (sparse == partition(values, np.full(2, 399.0), 5).labels).all()


@pytest.mark.parametrize("subjects", [None, np.arange(40)])
def test_a_part_of_rows_that_nobody_may_write_can_be_cut(subjects):
    rows = rows_of(np.arange(40, dtype=np.int32)[:, None].copy(), subjects)
    for one in (rows.codes, rows.records, rows.people):
        one.setflags(write=False)
    part = rows.part(10, 30)
    axes = axes_of([np.arange(40.0)], np.array([39.0]))
    ends = np.zeros(1, np.int64), np.full(1, 20, np.int64)
    grown = grow(axes, part, *ends, 5)
    assert int((grown.attributes < 0).sum()) == 4
