from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from distanon.attacks import identity
from distanon.attacks.intervals import wilson
from distanon.data.streams import Streams
from distanon.runtime.crew import SerialCrew


def attack(evidence, seed=1, **settings):
    found = identity.measure(evidence, crew=SerialCrew(), streams=Streams(seed), **settings)
    return {measurement.name.removeprefix("identity."): measurement for measurement in found}


def test_four_records_by_hand(evidence):
    # Released 7 lies nearer to 5 than to its source 10; every target finds its own row.
    found = attack(evidence([[0], [1], [5], [10]], [[0.4], [0.6], [5], [7]]))
    assert found["release_to_original"].value == 0.75
    assert found["original_to_release"].value == 1.0
    assert found["highest"].value == 1.0
    assert found["highest"].note == "the best attack: original to release"
    assert found["assignment"].value == 1.0
    assert found["blind_guess"].value == 0.25
    low, high = wilson(3, 4)
    assert (found["release_to_original"].ci_low, found["release_to_original"].ci_high) == (
        low,
        high,
    )
    assert found["release_to_original"].n == 4


def test_candidates_that_tie_share_a_hit(evidence):
    # 0 0 10 10 unchanged: each of two equal records is found half of the time.
    found = attack(evidence([[0], [0], [10], [10]], [[0], [0], [10], [10]]))
    for name in ("release_to_original", "original_to_release", "assignment"):
        assert found[name].value == 0.5
    # Released 5 is as near to 0 as to 10: half a hit; 3 originals tie at 10.
    found = attack(evidence([[0], [10], [10], [10]], [[5], [10], [10], [10]]))
    assert found["release_to_original"].value == pytest.approx((1 / 4 + 3 * 1 / 3) / 4)


def test_released_rows_in_another_order_are_linked_the_same(evidence):
    generator = np.random.default_rng(0)
    original = generator.normal(size=(60, 3))
    release = original + 0.3 * generator.normal(size=(60, 3))
    order = generator.permutation(60)
    straight = attack(evidence(original, release))
    shuffled = attack(evidence(original, release[order], order))
    for name in ("release_to_original", "original_to_release", "assignment"):
        assert 0.1 < straight[name].value < 0.9
        assert shuffled[name].value == straight[name].value


def test_rates_are_those_of_scikit_learn(evidence):
    generator = np.random.default_rng(5)
    original = generator.normal(size=(300, 4))
    release = original + 0.4 * generator.normal(size=(300, 4))
    low, spread = original.min(axis=0), np.ptp(original, axis=0)
    old, new = (original - low) / spread, (release - low) / spread

    def rate(fitted, queries):
        found = NearestNeighbors(n_neighbors=1).fit(fitted).kneighbors(queries)[1][:, 0]
        return (found == np.arange(300)).mean()

    found = attack(evidence(original, release), choices=10)
    assert found["release_to_original"].value == pytest.approx(rate(old, new))
    assert found["original_to_release"].value == pytest.approx(rate(new, old))
    three = [rate(new[:, known], old[:, known]) for known in combinations(range(4), 3)]
    assert found["known_3"].value == pytest.approx(np.mean(three))
    assert found["known_3"].n == 300
    assert "known_4" not in found  # that would be all of them
    _, assigned = linear_sum_assignment(cdist(new, old, "sqeuclidean"))
    assert found["assignment"].value == pytest.approx((assigned == np.arange(300)).mean())


def test_all_at_once_is_left_out_beyond_the_records_that_are_allowed(evidence):
    given_rows = evidence([[0], [1], [5], [10]], [[0.4], [0.6], [5], [7]])
    assert attack(given_rows, assignment=4)["assignment"].value == 1.0
    found = attack(given_rows, assignment=3)["assignment"]
    assert math.isnan(found.value)
    assert found.note == "measured up to 3 records"


def test_several_rows_of_one_record_are_all_its_own(evidence):
    # Two copies of 0 and two of 10; 4 is suppressed and not attacked.
    given_rows = [[0], [0], [10], [9]]
    found = attack(evidence([[0], [4], [10]], given_rows, [0, 0, 2, 2], replicates=True))
    assert found["original_to_release"].value == 1.0
    assert found["original_to_release"].n == 2
    assert found["release_to_original"].value == 1.0
    assert math.isnan(found["assignment"].value)


def test_nominal_attributes_count(evidence):
    original = {"n": [0.0, 0.0, 4.0, 4.0], "t": ["x", "y", "x", "y"]}
    release = {"n": [1.0, 1.0, 3.0, 3.0], "t": ["x", "y", "x", "y"]}
    assert attack(evidence(original, release))["highest"].value == 1.0
    release["t"] = ["x", "x", "x", "x"]
    found = attack(evidence(original, release))
    assert found["release_to_original"].value == 0.5
    assert found["original_to_release"].value == 0.5


def test_many_targets_are_sampled(evidence):
    generator = np.random.default_rng(2)
    original = generator.normal(size=(3000, 2))
    release = original + 0.02 * generator.normal(size=(3000, 2))
    whole = attack(evidence(original, release))["release_to_original"]
    part = attack(evidence(original, release), targets=500)["release_to_original"]
    assert (whole.n, part.n) == (3000, 500)
    assert part.ci_low < whole.value < part.ci_high
    again = attack(evidence(original, release), targets=500, blocks=3)["release_to_original"]
    assert again == part


def test_what_equal_rows_show_needs_no_original(evidence):
    given_rows = evidence([[0], [0], [1], [1], [1]], [[0], [0], [1], [1], [1]])
    alone = attack(type(given_rows)(given_rows.release))
    assert {name: found.value for name, found in alone.items()} == {
        "journalist": 0.5,
        "marketer": 0.4,
    }


def test_exact_matches_are_equal_rows(evidence):
    found = attack(evidence([[1], [1], [2], [9]], [[1], [1], [2], [3]]))["exact_match"]
    assert found.value == pytest.approx((1 / 2 + 1 / 2 + 1 + 0) / 4)


def test_who_does_not_know_membership_claims_in_vain_for_half_of_the_targets(sensitive_evidence):
    people = {"age": [0, 1, 5, 10]}
    found = attack(sensitive_evidence(people, people, control={"age": [3, 7]}))
    assert found["unknown_membership"].value == 0.5
    assert found["unknown_membership"].n == 4


def test_rows_of_equal_groups_share_a_hit_and_no_limit_exceeds_one_in_k(evidence):
    # Each of three groups of two has one member's own value: found by 1 of 2.
    found = attack(evidence([[0], [1], [10], [11], [20], [21]], [[0], [0], [10], [10], [20], [20]]))
    for name in ("release_to_original", "original_to_release", "assignment", "highest"):
        assert found[name].value == 0.5
        assert found[name].ci_high == 0.5
