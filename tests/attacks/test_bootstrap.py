import numpy as np
import pytest

from distanon.attacks.bootstrap import bootstrap


def test_the_interval_is_about_that_of_the_mean():
    values = np.random.default_rng(2).normal(0.5, 0.1, 100).tolist()
    low, high = bootstrap(values, np.random.default_rng(1))
    error = np.std(values) / 10
    assert low == pytest.approx(np.mean(values) - 1.96 * error, abs=0.004)
    assert high == pytest.approx(np.mean(values) + 1.96 * error, abs=0.004)


def test_equal_draws_leave_no_doubt_and_one_draw_says_nothing_of_it():
    assert bootstrap([0.3, 0.3, 0.3], np.random.default_rng(1)) == (0.3, 0.3)
    assert bootstrap([0.3], np.random.default_rng(1)) == (None, None)


def test_the_same_stream_gives_the_same_interval():
    one, other = (bootstrap([0.1, 0.5, 0.9], np.random.default_rng(4)) for _ in range(2))
    assert one == other
