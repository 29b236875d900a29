"""Sensitive values told by the nearest rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from distanon.attacks import attribute
from distanon.attacks.intervals import wilson
from distanon.data.streams import Streams
from distanon.runtime.crew import SerialCrew


def attack(evidence, **settings):
    found = attribute.measure(evidence, crew=SerialCrew(), streams=Streams(1), **settings)
    return {one.name.removeprefix("attribute."): one for one in found}


def test_four_rows_in_two_ranges_by_hand(sensitive_evidence):
    # First range: x x y guesses x, right for two of three. Second: y alone, right.
    original = {"age": [20, 24, 29, 40], "s": ["x", "x", "y", "y"]}
    release = {"age": ["[20, 29]"] * 3 + ["40"], "s": ["x", "x", "y", "y"]}
    control = {"age": [21, 41, 28], "s": ["x", "x", "y"]}  # right, wrong (nearest: 40), wrong
    found = attack(sensitive_evidence(original, release, control=control))
    assert found["inference.s"].value == 0.75
    assert (found["inference.s"].ci_low, found["inference.s"].ci_high) == wilson(3, 4)
    assert found["inference.s.blind_guess"].value == 0.5
    assert found["control.s"].value == pytest.approx(1 / 3)
    assert found["gain.s"].value == pytest.approx((3 / 4 - 1 / 3) / (1 - 1 / 3))
    assert found["gain.s"].ci_low < found["gain.s"].value < found["gain.s"].ci_high


def test_tied_values_share_a_hit_and_markers_are_no_votes(sensitive_evidence):
    original = {"age": [20, 24, 29, 40], "s": ["x", "y", "z", "x"]}
    release = {"age": ["[20, 29]"] * 3 + ["40"], "s": ["x", "y", "*", None]}
    found = attack(sensitive_evidence(original, release))
    # x and y tie for the three in the range: a half, a half, and z never; the last row says
    # nothing, so that the commonest of all is guessed: x, which is right.
    assert found["inference.s"].value == pytest.approx((1 / 2 + 1 / 2 + 0 + 1) / 4)
    assert "gain.s" not in found


def test_numbers_are_guessed_by_the_mean_within_five_percent(sensitive_evidence):
    original = {"age": [20, 21, 40, 41], "v": [0.0, 6.0, 100.0, 100.0]}
    release = {"age": ["[20, 21]"] * 2 + ["[40, 41]"] * 2, "v": [0.0, 6.0, 100.0, 100.0]}
    found = attack(sensitive_evidence(original, release))
    assert found["inference.v"].value == 1.0  # 3 is within 5 of 0 and of 6
    original["v"] = release["v"] = [0.0, 12.0, 100.0, 100.0]
    assert attack(sensitive_evidence(original, release))["inference.v"].value == 0.5


def test_values_are_those_of_scikit_learns_nearest_neighbor(sensitive_evidence):
    generator = np.random.default_rng(3)
    people, others = generator.random((200, 2)), generator.random((80, 2))

    def labelled(rows, labels):
        return {"a": rows[:, 0], "b": rows[:, 1], "s": [str(one) for one in labels]}

    labels, held = generator.integers(0, 3, 200), generator.integers(0, 3, 80)
    release = people + 0.05 * generator.normal(size=(200, 2))
    found = attack(
        sensitive_evidence(
            labelled(people, labels), labelled(release, labels), control=labelled(others, held)
        )
    )
    both = np.vstack([people, others])
    low, spread = both.min(axis=0), np.ptp(both, axis=0)
    oracle = KNeighborsClassifier(1).fit((release - low) / spread, labels)
    for name, rows, truth in (("inference.s", people, labels), ("control.s", others, held)):
        expected = oracle.score((rows - low) / spread, truth)
        assert found[name].value == pytest.approx(expected)


def test_blocks_and_sampling_change_nothing_but_the_sample(sensitive_evidence):
    generator = np.random.default_rng(4)
    age = generator.integers(0, 50, 300)
    shown = [f"[{one // 5 * 5}, {one // 5 * 5 + 4}]" for one in age]
    labels = ["x" if one else "y" for one in generator.random(300) < age / 50]
    given = sensitive_evidence({"age": age, "s": labels}, {"age": shown, "s": labels})
    whole, part = attack(given), attack(given, targets=100)
    assert (whole["inference.s"].n, part["inference.s"].n) == (300, 100)
    assert attack(given, targets=100, blocks=3) == part


def test_where_all_control_records_are_guessed_nothing_can_be_gained():
    value, low, high = attribute.gain((4, 4), (3, 3))
    assert math.isnan(value)
    assert (low, high) == (None, None)


def test_without_sensitive_columns_or_originals_the_list_is_empty(sensitive_evidence):
    assert attack(sensitive_evidence({"age": [1, 2]}, {"age": [1, 2]})) == {}
    given = sensitive_evidence({"age": [1], "s": ["x"]}, {"age": [1], "s": ["x"]})
    assert attack(type(given)(given.release)) == {}
