import numpy as np
from numba import njit

from distanon.kernels.elementary import LEAST_EXPONENT, exponential, logarithm


def over_arrays(function):
    @njit
    def of_each(numbers):
        found = np.empty_like(numbers)
        for i in range(len(numbers)):
            found[i] = function(numbers[i])
        return found

    return of_each


exponentials, logarithms = over_arrays(exponential), over_arrays(logarithm)


def units(found, exact):
    """How far apart, in units of the last place."""
    return float((np.abs(found - exact) / np.spacing(np.abs(found))).max())


def test_exponentials_are_within_a_unit_of_those_in_more_digits():
    random = np.random.default_rng(0)
    spread = random.uniform(LEAST_EXPONENT, 709, 100_000)
    near = -(10.0 ** random.uniform(-20, 0, 100_000))
    numbers = np.concatenate((spread, near, np.log(2) / 2 * np.arange(-2043, 2045)))
    assert units(exponentials(numbers), np.exp(numbers.astype(np.longdouble))) < 1
    assert exponentials(np.zeros(1)) == 1


def test_logarithms_are_within_a_unit_of_those_in_more_digits():
    random = np.random.default_rng(1)
    spread = np.exp(random.uniform(-708, 709, 100_000))
    near = 1 + random.uniform(-0.5, 0.5, 100_000) * 10.0 ** -random.uniform(0, 15, 100_000)
    edges = np.array([np.sqrt(0.5), np.sqrt(2), 2.0**-1022, 1.7e308, 0.5, 2, 10])
    numbers = np.concatenate((spread, near, edges, np.nextafter(edges, 1)))
    assert units(logarithms(numbers), np.log(numbers.astype(np.longdouble))) < 1
    assert logarithms(np.ones(1)) == 0


def test_loops_of_many_and_of_one_give_the_same_bits():
    numbers = np.random.default_rng(2).uniform(1e-3, 700, 1001)
    for function in (exponentials, logarithms):
        single = [function(numbers[i : i + 1])[0] for i in range(len(numbers))]
        np.testing.assert_array_equal(function(numbers), single, strict=True)
