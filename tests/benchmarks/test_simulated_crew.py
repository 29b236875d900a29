"""What a simulated crew does is what a crew does."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_crew import Cores, Leg, Map


def leg(work, send=0.0, take=0.0, go=0.0, end=0.0):
    return Leg(send, go, 0.0, work, end, take, 0.0)


def took(legs, workers, cores=None):
    shared = Cores(cores)
    Map(legs, workers, shared).run()
    return shared.now


def test_workers_sleep_at_once_but_share_cores():
    assert took([leg(1.0)] * 4, 4, cores=1) == pytest.approx(1.0)
    assert took([leg(0.0, go=1.0)] * 4, 4, cores=1) == pytest.approx(4.0)
    assert took([leg(0.0, go=1.0)] * 4, 4, cores=2) == pytest.approx(2.0)
    assert took([leg(0.0, go=1.0)] * 4, 4) == pytest.approx(1.0)


def test_a_second_short_call_travels_while_the_first_is_at_work():
    assert took([leg(0.2, go=0.1)] * 3, 1) == pytest.approx(0.1 + 3 * 0.2)
    assert took([leg(0.4, go=0.1)] * 3, 1) == pytest.approx(3 * 0.5), "long ones wait their turn"


def test_a_driver_sends_and_takes_in_one_after_the_other():
    assert took([leg(1.0, send=0.5)] * 4, 4) == pytest.approx(4 * 0.5 + 1.0)
    assert took([leg(1.0, take=0.5)] * 4, 4) == pytest.approx(1.0 + 4 * 0.5)


def test_an_item_that_takes_long_holds_back_those_far_behind_it():
    legs = [leg(1.0), *[leg(0.3)] * 12]
    assert took(legs[:8], 2) < 2.2
    assert took(legs, 2) == pytest.approx(2.1 + 0.3 * 2, abs=0.31), "four calls a worker at most"


@settings(max_examples=50)
@given(st.lists(st.floats(0.001, 0.9), min_size=1, max_size=30), st.integers(1, 9))
def test_every_call_is_done_once(works, workers):
    done = took([leg(work, take=0.5) for work in works], workers)
    assert done >= 0.5 * len(works) + min(works) - 1e-9
    assert done <= sum(works) + 0.5 * len(works) + 1e-9
