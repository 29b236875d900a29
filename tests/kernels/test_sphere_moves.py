import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from distanon.data.streams import Streams
from distanon.kernels.sphere_moves import move, normal_quantiles, uniforms
from distanon.methods.dptpe.perturbation import move_keys, move_limits, moves


@pytest.mark.parametrize("width", [1, 3, 4, 8, 9])
def test_draws_are_those_of_the_stream_to_the_bit(width):
    streams = Streams(2**100 + 7)
    for start in (0, 12_345, 10**12):
        found = uniforms(streams.key("purpose", width), start, start + 40, width)
        np.testing.assert_array_equal(
            found, streams.uniforms("purpose", start, start + 40, width), strict=True
        )


def test_quantiles_are_those_of_scipy():
    random = np.random.default_rng(0)
    low = 10.0 ** random.uniform(-16, 0, 20_000)
    shares = np.clip(np.concatenate((random.random(50_000), low, 1.0 - low)), 2**-54, 1 - 2**-53)
    found = np.empty_like(shares)
    normal_quantiles(shares, found, len(shares))
    np.testing.assert_allclose(found, ndtri(shares), rtol=1e-14, atol=1e-300)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.1]))
def test_moves_are_those_computed_column_by_column(seed, least):
    random, streams = np.random.default_rng(seed), Streams(seed)
    m, width, start = random.integers(1, 40), random.integers(1, 11), int(random.integers(10**6))
    original = random.normal(size=(m, width))
    original[random.random(original.shape) < random.choice([0.0, 0.3, 0.9])] = np.nan
    columns = np.sort(random.choice(width, random.integers(1, width + 1), replace=False))
    spreads, reach = random.random(len(columns)) * 10, random.random(m) * random.integers(0, 2, m)
    stays = random.random(m) < 0.4
    moved = np.flatnonzero(~stays)
    movable = ~np.isnan(original[:, columns])
    drawn = moves(streams, start, reach, movable, "sphere", least, moved)
    expected = np.full((m, width), 5.0)
    expected[np.ix_(moved, columns)] = original[np.ix_(moved, columns)] + drawn * spreads
    found = np.full((m, width), 5.0)
    limits, keys = np.stack(move_limits(reach, least)), move_keys(streams, len(columns))
    move(found, original, stays, limits, keys, start, columns, spreads)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-300)
