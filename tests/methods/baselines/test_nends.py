from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from distanon.errors import InfeasibleError, SpecError
from distanon.methods.baselines.nends import (
    NeNDS,
    groups_of_one_column,
    groups_of_records,
    substitutes,
)


def cycles(successors):
    seen, found = set(), []
    for start in range(len(successors)):
        length, place = 0, start
        while place not in seen:
            seen.add(place)
            place = successors[place]
            length += 1
        if length:
            found.append(length)
    return sorted(found)


def test_seven_values_go_round_by_every_second_one():
    column = np.array([10.0, 20, 30, 40, 50, 60, 70])
    up = substitutes(column, np.zeros(7, dtype=np.int64), np.full(7, 0.1))
    # 10 -> 30 -> 50 -> 70 -> 60 -> 40 -> 20 -> 10
    assert column[up].tolist() == [30, 10, 50, 20, 70, 40, 60]
    down = substitutes(column, np.zeros(7, dtype=np.int64), np.full(7, 0.9))
    assert down[up].tolist() == list(range(7))


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.float64, st.integers(1, 60), elements=st.integers(0, 9).map(float)),
    st.integers(3, 8),
    st.integers(0, 2**32),
)
def test_each_group_is_one_cycle_of_at_least_three(column, size, seed):
    groups = groups_of_one_column(column, size)
    found = substitutes(column, groups, np.random.default_rng(seed).random(len(column)))
    assert sorted(found) == list(range(len(column)))
    assert (groups[found] == groups).all()
    sizes = np.bincount(groups)
    expected = [s for s in sizes if s >= 3] + [1] * int(sizes[sizes < 3].sum())
    assert cycles(found.tolist()) == sorted(expected)
    if len(column) >= size:
        assert size <= sizes.min() <= sizes.max() < 2 * size


@settings(max_examples=40, deadline=None)
@given(arrays(np.float64, st.integers(3, 7), elements=st.floats(0, 1)), st.booleans())
def test_no_cycle_through_a_group_has_a_smaller_largest_step(column, up):
    from itertools import permutations

    found = substitutes(
        column, np.zeros(len(column), dtype=np.int64), np.full(len(column), 0.2 if up else 0.8)
    )
    largest = abs(column[found] - column).max()
    best = min(
        max(abs(column[a] - column[b]) for a, b in zip(tour, tour[1:] + tour[:1], strict=True))
        for rest in permutations(range(1, len(column)))
        for tour in [(0, *rest)]
    )
    assert largest == best


def test_missing_values_take_no_part():
    column = np.array([1.0, np.nan, 2.0, 3.0, np.nan, 4.0])
    groups = groups_of_one_column(column, 3)
    assert groups.tolist() == [0, -1, 0, 0, -1, 0]
    found = substitutes(column, groups, np.full(6, 0.3))
    assert found[[1, 4]].tolist() == [1, 4]
    assert sorted(column[found[[0, 2, 3, 5]]]) == [1, 2, 3, 4]


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 200), st.integers(3, 12), st.integers(0, 2**32))
def test_groups_of_records_have_size_to_twice_size(n, size, seed):
    points = np.random.default_rng(seed).integers(0, 4, (n, 3)).astype(float)
    points[np.random.default_rng(seed + 1).random((n, 3)) < 0.1] = np.nan
    points[:, 2] = np.where(seed % 2, np.nan, points[:, 2])
    sizes = np.bincount(groups_of_records(points, size))
    assert sizes.sum() == n
    assert sizes.max() < 2 * size
    assert sizes.min() >= min(n, size)


def test_groups_of_records_are_near_ones():
    points = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], 5, axis=0)
    shuffled = np.random.default_rng(5).permutation(20)
    groups = groups_of_records(points[shuffled], 5)
    for group in range(4):
        assert len(np.unique(points[shuffled][groups == group], axis=0)) == 1


@pytest.fixture
def mixed(make):
    generator = np.random.default_rng(2)
    return make.dataset(
        {
            "a": np.round(generator.normal(size=60), 2),
            "b": pa.array(generator.integers(0, 100, 60), pa.int16()),
            "text": [f"t{i}" for i in generator.integers(0, 3, 60)],
            "gap": pa.array([None if i % 7 == 0 else float(i) for i in range(60)]),
        }
    )


@pytest.mark.parametrize("variant", ["attribute", "tuple"])
def test_a_release_holds_every_value_as_often_as_before(make, mixed, variant):
    table, release = make.released(NeNDS(variant=variant, group_size=5), mixed)
    original = mixed.read()
    assert table.schema.types == original.schema.types
    for name in table.column_names:
        assert Counter(table.column(name).to_pylist()) == Counter(original.column(name).to_pylist())
    missing = original.column("gap").is_null()
    assert table.column("gap").is_null().equals(missing)
    assert release.counts["missing_cells_kept"] == 9


def test_attributes_by_themselves_leave_nominal_ones(make, mixed):
    table, release = make.released(NeNDS(), mixed)
    assert table.column("text").equals(mixed.read().column("text"))
    assert release.counts["columns_kept"] == 1


def test_groups_of_records_move_nominal_values_too(make, mixed):
    table, release = make.released(NeNDS(variant="tuple"), mixed)
    assert not table.column("text").equals(mixed.read().column("text"))
    assert release.counts["columns_kept"] == 0
    assert release.counts["unchanged"] == 0


def test_the_seed_decides_and_nothing_else(make, mixed):
    again = make.dataset(mixed.read(), pieces=5)
    first = make.released(NeNDS(variant="tuple"), mixed)[0]
    assert make.released(NeNDS(variant="tuple"), again)[0].equals(first)
    assert not make.released(NeNDS(variant="tuple"), mixed, seed=8)[0].equals(first)


def test_a_top_code_holds(make):
    dataset = make.dataset({"a": [1.0, 2.0, 3.0, 4.0, 99.0]}, a={"top_code": 10.0})
    table, _ = make.released(NeNDS(group_size=3), dataset)
    assert max(table.column("a").to_pylist()) == 10.0


def test_what_can_not_work_is_refused(make):
    few = make.dataset({"a": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(InfeasibleError, match="largest that works is 4"):
        NeNDS(group_size=5).check(few, {})
    with pytest.raises(SpecError, match="use tuple"):
        NeNDS(group_size=3).check(make.dataset({"t": ["x", "y", "z"]}), {})
    NeNDS(group_size=3, variant="tuple").check(make.dataset({"t": ["x", "y", "z"]}), {})


@pytest.mark.parametrize("variant", ["attribute", "tuple"])
def test_bounds_that_the_spec_gives_hold_and_nothing_else_is_cut(make, variant):
    columns = {"x": list(range(20)), "y": [value * 0.5 for value in range(20)]}
    data = make.dataset(columns, x={"domain_bounds": (2, 10)})
    table, _ = make.released(NeNDS(group_size=4, variant=variant), data)
    assert (min(table["x"].to_pylist()), max(table["x"].to_pylist())) == (2, 10)
    assert sorted(table["y"].to_pylist()) == columns["y"]
