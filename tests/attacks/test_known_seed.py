"""Perturbations taken back by who knows the seed."""

from __future__ import annotations

import numpy as np

from distanon.attacks import known_seed
from distanon.data.streams import Streams
from distanon.runtime.crew import SerialCrew


def attack(evidence, again):
    found = known_seed.measure(
        evidence, np.asarray(again, dtype=float), crew=SerialCrew(), streams=Streams(1)
    )
    return {one.name.removeprefix("inversion."): one.value for one in found}


def test_noise_that_does_not_depend_on_the_values_comes_off_exactly(evidence):
    generator = np.random.default_rng(0)
    original, noise = generator.random((50, 3)), 0.3 * generator.normal(size=(50, 3))
    release, order = original + noise, generator.permutation(50)
    found = attack(evidence(original, release[order], order), release + noise)
    assert found["known_seed"] == 1.0
    assert found["known_seed_linked"] == 1.0
    assert found["known_seed_as_released"] < 0.1


def test_four_records_by_hand(evidence):
    # Range 100, so within 1. Taken back: 1 (near 0), 12 (not near 10), 50, 98.5 (not near 100).
    original, release = [[0], [10], [50], [100]], [[2], [11], [60], [99]]
    found = attack(evidence(original, release), [[3], [10], [70], [99.5]])
    assert found == {
        "known_seed": 0.5,
        "known_seed_as_released": 0.5,
        "known_seed_linked": 1.0,
    }


def test_where_records_are_missing_or_nothing_is_a_number_there_is_no_attack(evidence):
    assert attack(evidence([[0], [1]], [[0]], [0]), [[0]]) == {}
    texts = {"t": ["a", "b"]}
    assert attack(evidence(texts, texts), [[0], [1]]) == {}
