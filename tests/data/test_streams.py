"""Random numbers that depend on the seed, the purpose and the record alone."""

import pickle

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.streams import Streams


@given(
    st.integers(0, 2**128),
    st.integers(0, 200),
    st.integers(0, 40),
    st.integers(0, 40),
    st.integers(1, 9),
)
@settings(max_examples=100, deadline=None)
def test_a_records_draws_do_not_depend_on_the_range_asked(seed, start, first, second, width):
    streams = Streams(seed)
    middle, stop = start + first, start + first + second
    whole = streams.uniforms("noise", start, stop, width)
    parts = [
        streams.uniforms("noise", start, middle, width),
        streams.uniforms("noise", middle, stop, width),
    ]
    assert whole.shape == (stop - start, width)
    assert whole.tobytes() == np.concatenate(parts).tobytes()


def test_draws_are_uniform_in_the_open_interval():
    draws = Streams(7).uniforms("noise", 0, 50_000, 3)
    assert draws.min() > 0
    assert draws.max() < 1
    assert abs(draws.mean() - 0.5) < 0.005
    assert abs(draws.var() - 1 / 12) < 0.002
    assert abs(np.corrcoef(draws.T) - np.eye(3)).max() < 0.02
    assert len(np.unique(draws)) == draws.size


def test_purposes_widths_keys_and_seeds_have_streams_of_their_own():
    streams = Streams(7)
    assert (streams.uniforms("a", 0, 4, 2) != streams.uniforms("b", 0, 4, 2)).all()
    assert (streams.uniforms("a", 0, 4, 2) != Streams(8).uniforms("a", 0, 4, 2)).all()
    assert (streams.uniforms("a", 0, 4, 2) != streams.uniforms("a", 0, 4, 3)[:, :2]).all()
    draws = [streams.generator("wolf", *key).random() for key in ((), (1,), (2,), (1, 2), (2, 1))]
    assert len(set(draws)) == len(draws)
    assert streams.generator("wolf", 1).random() == streams.generator("wolf", 1).random()


def test_a_known_draw_never_changes():
    """A release must be made again from its seed by a later version."""
    found = Streams(7).uniforms("noise", 1_000_000, 1_000_001, 2)[0].tolist()
    assert found == [0.44747276157995114, 0.2967623629986888]
    assert Streams(7).generator("sigma sample").integers(10**6) == 536522


def test_the_seed_is_not_shown():
    assert "12345" not in repr(Streams(12345))
    assert "12345" not in str([Streams(12345)])


def test_streams_travel_to_workers():
    back = pickle.loads(pickle.dumps(Streams(3)))
    assert back == Streams(3)
    assert back.uniforms("a", 0, 1, 1) == Streams(3).uniforms("a", 0, 1, 1)


def test_a_sample_is_ascending_without_repetition_and_the_same_every_time():
    numbers = np.arange(0, 200, 2)
    found = Streams(3).sample(numbers, 20, "who")
    assert len(np.unique(found)) == 20
    assert (np.diff(found) > 0).all()
    assert np.isin(found, numbers).all()
    assert (found == Streams(3).sample(numbers, 20, "who")).all()
    assert Streams(3).sample(numbers, 100, "who") is numbers
