"""Input against control, by the distance to the closest released row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors

from distanon.attacks import membership
from distanon.data.streams import Streams
from distanon.runtime.crew import SerialCrew


@pytest.fixture
def with_control(evidence):
    def make(original, release, control, sources=None, **settings):
        made = evidence(original, release, sources, **settings)
        return replace(made, control=evidence(control, control).release)

    return make


def attack(evidence, seed=1, **settings):
    (found,) = membership.measure(evidence, crew=SerialCrew(), streams=Streams(seed), **settings)
    return found


def test_five_people_by_hand(with_control):
    # Distances of the input .1 0 .1, of the control 0 and .5: pairs won 1, 1, 1; one tie, 2 lost.
    found = attack(with_control([[0], [5], [10]], [[1], [5], [9]], [[1], [14]]))
    assert found.value == pytest.approx((3 + 0.5) / 6)
    assert found.n == 5
    assert found.ci_low < found.value < found.ci_high


def test_the_original_as_its_release_tells_everybody(with_control):
    generator = np.random.default_rng(0)
    people = generator.normal(size=(300, 3))
    found = attack(with_control(people[:200], people[:200], people[200:]))
    assert found.value == 1.0
    assert 0.9 < found.ci_low < found.ci_high == 1.0


def test_a_release_of_strangers_tells_nothing(with_control):
    people = np.random.default_rng(0).normal(size=(900, 3))
    found = attack(with_control(people[:300], people[300:600], people[600:]))
    assert found.ci_low < 0.5 < found.ci_high


def test_the_area_is_that_of_scikit_learn(with_control):
    generator = np.random.default_rng(1)
    people = generator.random((400, 2))
    release = people[:250] + generator.normal(0, 0.05, (250, 2))
    found = attack(with_control(people[:250], release, people[250:]))
    low, spread = people.min(axis=0), np.ptp(people, axis=0)
    fitted = NearestNeighbors(n_neighbors=1).fit((release - low) / spread)
    away = fitted.kneighbors((people - low) / spread)[0][:, 0]
    expected = roc_auc_score(np.arange(400) < 250, -away)
    assert found.value == pytest.approx(expected)


def test_categories_and_numbers_that_only_control_records_have_are_far_away(with_control):
    original = {"n": [0.0, 1.0, 2.0], "t": ["x", "y", "x"]}
    control = {"n": [1.0, 50.0], "t": ["new", None]}
    found = attack(with_control(original, original, control))
    assert found.value == 1.0
    ranks = {"n": [0, 1, 2], "t": [0, 1, 2]}
    beyond = {"n": [7, 1], "t": [9, 1]}
    assert attack(with_control(ranks, ranks, beyond, ordinal=("t",))).value == 0.75


def test_types_of_numbers_may_differ(with_control):
    original = {"n": pa.array([0, 1, 2, 3], pa.int64())}
    control = {"n": pa.array([0.5, 9.5])}
    assert attack(with_control(original, original, control)).value == 1.0


def test_suppressed_records_are_no_members(with_control):
    # The record at 4 has no released row; ranked as a member it would lose.
    found = attack(with_control([[0], [4], [10]], [[0], [10]], [[3]], [0, 2]))
    assert found.value == 1.0
    assert found.n == 3


def test_many_people_are_sampled_and_blocks_change_nothing(with_control):
    generator = np.random.default_rng(2)
    people = generator.normal(size=(3000, 2))
    release = people[:2000] + 0.02 * generator.normal(size=(2000, 2))
    given = with_control(people[:2000], release, people[2000:])
    whole, part = attack(given), attack(given, targets=400)
    assert (whole.n, part.n) == (3000, 800)
    assert part.ci_low < whole.value < part.ci_high
    assert attack(given, targets=400, blocks=3) == part


def test_without_control_records_there_is_nothing_to_compare(evidence):
    given = evidence([[0], [1]], [[0], [1]])
    assert membership.measure(given, crew=SerialCrew(), streams=Streams(1)) == []


def test_generalized_rows_are_as_far_as_their_regions(sensitive_evidence):
    # Members lie inside: distance 0. Of the others one is inside too, one is not.
    given = sensitive_evidence(
        {"age": [20, 24, 30, 34]},
        {"age": ["[20, 24]", "[20, 24]", "[30, 34]", "[30, 34]"]},
        control={"age": [22, 27]},
    )
    assert attack(given).value == pytest.approx((4 * 0.5 + 4 * 1) / 8)
