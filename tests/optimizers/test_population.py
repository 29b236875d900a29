"""An individual travels whole, and small where few of its bits are set."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from distanon.optimizers.population import Individual, random_genome


@settings(deadline=None)
@given(
    genome=arrays(np.uint8, st.integers(0, 70), elements=st.sampled_from([0, 0, 0, 1, 128, 255])),
    extra=st.none() | st.text(),
)
def test_an_individual_arrives_as_it_was_sent(genome, extra):
    sent = Individual(genome, (0.0, 0.25), extra)
    arrived = pickle.loads(pickle.dumps(sent))
    assert arrived.genome.dtype == np.uint8
    assert arrived.genome.tolist() == genome.tolist()
    assert (arrived.fitness, arrived.extra) == (sent.fitness, sent.extra)


@pytest.mark.parametrize(("density", "share"), [(0.003, 0.16), (0.03, 0.36), (0.5, 1.05)])
def test_few_bits_take_little_room(density, share):
    genome = random_genome(170_000, density, np.random.default_rng(1))
    assert len(pickle.dumps(Individual(genome, (0.0,)))) < share * len(genome) + 400


def test_guides_of_many_steps_travel_once():
    guide = Individual(random_genome(80_000, 0.02, np.random.default_rng(2)), (0.0,))
    once = len(pickle.dumps((guide,)))
    assert len(pickle.dumps((guide,) * 10)) < once + 100
