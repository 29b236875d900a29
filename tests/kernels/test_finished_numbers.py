import numpy as np
import pytest

from distanon.kernels.finished_numbers import finished_numbers, stay_the_same


@pytest.mark.parametrize("width", [1, 3, 8])
@pytest.mark.parametrize("digits", [0.0, 1.0, 10.0])
def test_who_stays_the_same_is_told_alike_with_and_without_the_values(width, digits):
    random = np.random.default_rng(5)
    values = random.integers(0, 4, (60, width)) / 2.0
    values[random.random(values.shape) < 0.1] = np.nan
    rows = random.integers(0, 60, 500)
    perturbed = values[rows] + random.choice([0.0, 0.0, 0.0, 0.01, 0.4, 9.0], (500, width))
    bounds = np.array([np.full(width, 0.5), np.full(width, 1.5)])
    powers, declared = np.full(width, digits), random.random(width) < 0.5
    _, _, unchanged = finished_numbers(values[rows], perturbed, bounds, bounds, powers, declared)
    same = stay_the_same(values, rows, perturbed, bounds, powers, declared)
    assert same.tolist() == unchanged.tolist()
    assert 0 < same.sum() < 500
