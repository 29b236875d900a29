from __future__ import annotations

import math

import numpy as np
import pytest

from distanon.attacks import inversion
from distanon.data.streams import Streams
from distanon.runtime.crew import SerialCrew

GENERATOR = np.random.default_rng(0)
ORIGINAL = GENERATOR.normal(size=(400, 4)) * [1, 10, 100, 1000]
MAP = GENERATOR.normal(size=(4, 4))


def attack(evidence, **settings):
    found = inversion.measure(evidence, crew=SerialCrew(), streams=Streams(1), **settings)
    return {measurement.name.removeprefix("inversion."): measurement for measurement in found}


def test_two_columns_by_hand():
    # Released (y, x + 1): three known records in general position give the map away.
    known = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    released = known[:, ::-1] + [0.0, 1.0]
    recovered = inversion.invert(known, released, np.array([[7.0, 4.0]]))
    assert recovered[0] == pytest.approx([3.0, 7.0])


def test_any_affine_map_is_undone_by_d_plus_one_records(evidence):
    release = ORIGINAL @ MAP + [5, -3, 2, 1]
    order = GENERATOR.permutation(400)
    found = attack(evidence(ORIGINAL, release[order], order))
    assert found["known_sample"].value == pytest.approx(1.0, abs=1e-3)
    assert found["known_sample"].n == 10
    assert found["known_sample"].note.startswith("5 known records")
    assert found["as_released"].value < 0.1


def test_independent_noise_is_not_undone(evidence):
    noise = GENERATOR.normal(size=ORIGINAL.shape) * np.ptp(ORIGINAL, axis=0) * 0.1
    found = attack(evidence(ORIGINAL, ORIGINAL + noise))
    assert found["known_sample"].value < 0.15
    assert found["known_sample"].ci_low <= found["known_sample"].value
    assert found["known_sample"].ci_high >= found["known_sample"].value


def test_a_release_that_changes_nothing_needs_no_attack(evidence):
    assert attack(evidence(ORIGINAL, ORIGINAL))["as_released"].value == 1.0


def test_constant_columns_and_incomplete_records_are_left_out(evidence):
    original = np.column_stack((ORIGINAL, np.full(400, 3.0)))
    original[:50, 1] = np.nan
    release = np.column_stack((np.nan_to_num(original[:, :4]) @ MAP, np.full(400, 3.0)))
    found = attack(evidence(original, release))
    assert found["known_sample"].value == pytest.approx(1.0, abs=1e-3)
    assert found["as_released"].n == 350


def test_too_little_to_attack_is_said(evidence):
    found = attack(evidence(ORIGINAL[:5], ORIGINAL[:5]))
    assert math.isnan(found["known_sample"].value)
    nominal = attack(evidence({"t": ["x", "y", "z"]}, {"t": ["x", "y", "z"]}))
    assert math.isnan(nominal["known_sample"].value)
    assert "numeric" in nominal["known_sample"].note
