"""Wilson's interval against scipy and by its own definition."""

import math
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from distanon.attacks.intervals import wilson, wilson_bounded


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_whole_hits_agree_with_scipy(pair):
    hits, n = pair
    theirs = binomtest(hits, n).proportion_ci(0.95, method="wilson")
    assert wilson(hits, n) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_ten_of_twenty_by_hand():
    # z = 1.959964, z² = 3.841459: centre .5, half = z·sqrt(.25/20 + z²/1600)/(1 + z²/20)
    assert wilson(10, 20) == pytest.approx((0.299298, 0.700702), abs=1e-6)


@given(
    st.integers(1, 1000).flatmap(lambda n: st.tuples(st.floats(0, n), st.just(n))),
    st.floats(0.5, 0.999),
)
def test_limits_solve_the_score_equation_for_fractional_hits(pair, confidence):
    hits, n = pair
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    limits = wilson(hits, n, confidence)
    assert 0.0 <= limits[0] <= hits / n <= limits[1] <= 1.0
    for limit in limits:
        # (rate - p)² = z² p (1 - p) / n at both ends
        assert (hits / n - limit) ** 2 == pytest.approx(z * z * limit * (1 - limit) / n, abs=1e-12)


def test_no_hits_leave_room_above_and_none_below():
    low, high = wilson(0, 100)
    assert low == 0.0
    assert high == pytest.approx(3.841459 / (100 + 3.841459), abs=1e-6)
    assert wilson(100, 100) == pytest.approx((1 - high, 1.0))


def test_no_targets_say_nothing():
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("hits", "n", "confidence"),
    [(-1, 10, 0.95), (11, 10, 0.95), (math.nan, 10, 0.95), (1, -1, 0.95), (1, 10, 1.0)],
)
def test_nonsense_is_refused(hits, n, confidence):
    with pytest.raises(ValueError, match="must"):
        wilson(hits, n, confidence)


def test_a_sum_of_shares_may_exceed_n_by_rounding():
    assert wilson(10 * (1 + 1e-12), 10)[1] == 1.0


def test_scores_that_can_be_one_in_k_at_the_most_stay_below_it():
    assert wilson_bounded(3.0, 30, 0.1, 30) == (pytest.approx(0.0886, abs=1e-3), 0.1)
    low, high = wilson_bounded(1.5, 30, 0.1, 30)
    assert (low, high) == pytest.approx(tuple(0.1 * limit for limit in wilson(15, 30)))
    assert wilson_bounded(7.0, 30, 1.0, 30) == wilson(7.0, 30)


def test_fewer_independent_targets_widen_the_interval():
    wide, narrow = wilson_bounded(5.0, 50, 0.2, 10), wilson_bounded(5.0, 50, 0.2, 50)
    assert wide[0] < narrow[0] < 0.1 < narrow[1] < wide[1] <= 0.2
    assert wilson_bounded(0.0, 0, 0.2, 0) == (0.0, 0.2)
