"""The model of many workers keeps the bounds that any schedule has."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from replayed_work import Course, Item, Stage
from scaling_model import (
    Costs,
    by_phase,
    driver_of,
    forecast,
    limit,
    repeated,
    seconds_of,
    widened,
)

FREE = Costs(0.0, 0.0)
times = st.floats(1e-4, 2.0)
stages = st.builds(
    Stage,
    st.sampled_from(["wolves", "release"]),
    st.lists(st.builds(Item, times, st.just(0), st.just(0)), max_size=30).map(tuple),
    st.floats(0, 1),
    st.floats(0, 1),
)
courses = st.builds(Course, st.lists(stages, max_size=4).map(tuple), st.floats(0, 1), st.just(0))


@settings(max_examples=50)
@given(courses, st.integers(1, 40))
def test_no_course_is_shorter_than_its_driver_its_longest_items_or_a_fair_share(course, workers):
    took = seconds_of(course, FREE, workers)
    longest = sum(
        max((item.seconds for item in stage.items), default=0.0) for stage in course.stages
    )
    least = max(course.driver, longest, course.work / workers)
    assert took >= least - 1e-9
    assert took <= course.driver + course.work + 1e-9


@settings(max_examples=50)
@given(courses)
def test_one_worker_takes_work_and_driver_one_after_the_other_at_most(course):
    alone = seconds_of(course, FREE, 1)
    assert max(course.work, course.driver) - 1e-9 <= alone <= course.work + course.driver + 1e-9


@settings(max_examples=50)
@given(courses, st.integers(1, 40))
def test_stages_and_what_is_between_them_make_up_the_whole(course, workers):
    costs = Costs(1e-3, 1e-3, 1e-3, cores=2)
    parts = by_phase(course, costs, workers)
    assert [phase for phase, _ in parts if phase] == [stage.phase for stage in course.stages]
    assert sum(seconds for _, seconds in parts) == pytest.approx(seconds_of(course, costs, workers))
    assert all(seconds >= -1e-9 for _, seconds in parts)


@settings(max_examples=50)
@given(courses, st.integers(1, 40))
def test_fewer_cores_are_never_faster_and_all_cpu_time_fits_into_them(course, workers):
    costs = Costs(1e-3, 1e-3, 1e-3)
    shared = replace(costs, cores=1)
    took = seconds_of(course, shared, workers)
    assert took >= seconds_of(course, costs, workers) - 1e-9
    assert took >= course.driver + course.calls * 2e-3 - 1e-9


def test_equal_items_are_shared_out_and_each_call_costs():
    course = Course((Stage("release", (Item(1.0, 0, 0),) * 8, 0.5, 0.0),), 0.25, 0)
    assert seconds_of(course, FREE, 4) == pytest.approx(0.5 + 2.0 + 0.25)
    assert forecast(lambda _: course, FREE, 4).efficiency == pytest.approx(8.75 / 2.75 / 4)
    slow = Costs(2.0, 0.0)  # the driver can't keep one worker busy
    assert seconds_of(course, slow, 4) == pytest.approx(driver_of(course, slow, 4), rel=0.1)


def test_what_is_put_reaches_each_node_over_the_drivers_link():
    course = Course((), 0.0, 10_000_000)
    costs = Costs(0.0, 0.0, put=0.001, link=1e9, on_node=8)
    assert seconds_of(course, costs, 16) == pytest.approx(0.01 + 2 * 0.01)


def test_idle_workers_slow_all_down_that_share_their_cpus():
    course = Course((), 1.0, 0)
    costs = Costs(0.0, 0.0, cores=2, idle=0.01)
    assert seconds_of(course, costs, 20) == pytest.approx(1 / 0.9)


def test_large_results_cost_their_worker_and_kept_ones_who_opens_them():
    costs = Costs(0.0, 0.0, megabyte=1.0, stored=0.5, filled=0.1, opened=0.25)
    kept = Course((Stage("release", (Item(1.0, 0, 0, kept=1_000_000),), 0.0, 0.0),), 0.0, 0)
    assert seconds_of(kept, costs, 1) == pytest.approx(1.6)
    assert driver_of(kept, costs, 1) == 0
    given_it = Course((Stage("release", (Item(1.0, 0, 0, inputs=4),), 0.0, 0.0),), 0.0, 0)
    assert seconds_of(given_it, costs, 1) == pytest.approx(2.0)
    within = Course((Stage("release", (Item(1.0, 0, 50_000),), 0.0, 0.0),), 0.0, 0)
    assert seconds_of(within, costs, 1) == pytest.approx(1.1), "the worker's and the driver's"


def test_the_driver_is_the_limit_where_it_is_as_busy_as_each_worker():
    course = Course((Stage("release", (Item(1.0, 0, 0),) * 64, 2.0, 0.0),), 0.0, 0)
    assert limit(lambda _: course, FREE, (1, 16, 64)) == pytest.approx(32.0)
    assert limit(lambda _: course, FREE, (1, 8)) == pytest.approx(32.0)
    assert math.isinf(limit(lambda _: course, FREE, ()))


def test_a_longer_search_repeats_its_last_iteration_and_a_larger_table_its_items():
    made, counted = (Stage(name, (Item(1.0, 1, 1),), 0.1, 0.0) for name in ("children", "wolves"))
    course = Course((counted, made, counted), 0.0, 5)
    longer = repeated(course, "wolves", 3)
    assert [stage.phase for stage in longer.stages] == ["wolves", *["children", "wolves"] * 3]
    assert widened(course, 4).work == pytest.approx(4 * course.work)
    assert widened(course, 4).shared == 20
