"""The identity attack as a promise."""

import numpy as np
import pytest

from distanon.attacks.intervals import wilson
from distanon.data.evidence import Evidence
from distanon.errors import SpecError
from distanon.promises import Linkage
from distanon.promises.gate import verify
from distanon.runtime.crew import SerialCrew


def test_a_release_that_equals_the_original_is_linked(dataset):
    table = {"x": [float(value) for value in range(40)]}
    evidence = Evidence(dataset(table), dataset(table), np.arange(40))
    verdict = Linkage(at_most=0.9).verify(evidence)
    assert not verdict.kept
    assert verdict.measured["rate"] == 1.0
    assert verdict.measured["records"] == 40
    assert "links 1.00" in verdict.reason
    assert Linkage(at_most=1).verify(evidence).kept


def test_the_upper_limit_counts_and_not_the_rate(dataset):
    # one point for everybody: each link is a guess among 40, and no luck makes it more
    original = {"x": [float(value) for value in range(40)]}
    evidence = Evidence(dataset({"x": [20.0] * 40}), dataset(original), np.arange(40))
    assert not Linkage(at_most=1 / 40 - 1e-9).verify(evidence).kept
    verdict = Linkage(at_most=1 / 40).verify(evidence)
    assert verdict.kept
    assert verdict.verified_from == "release+private"
    assert verdict.measured["upper_limit"] <= 1 / 40
    # the last is taken for the first, the others are found: three hits of four that might miss
    some = {"x": [0.0, 1.0, 2.0, 0.2]}
    evidence = Evidence(dataset(some), dataset({"x": [0.0, 1.0, 2.0, 3.0]}), np.arange(4))
    upper = wilson(3.0, 4)[1]
    assert not Linkage(at_most=upper - 1e-9).verify(evidence).kept
    assert Linkage(at_most=upper + 1e-9).verify(evidence).kept


@pytest.mark.parametrize("k", [2, 3, 7, 10])
def test_groups_of_k_are_linked_at_most_once_in_k_interval_included(dataset, k):
    # Each group's tuple is one member's own: its row is found among k, those of the others never.
    values = [float(value) for value in range(6 * k)]
    groups = [value - value % k for value in values]
    evidence = Evidence(dataset({"x": groups}), dataset({"x": values}), np.arange(6 * k))
    assert Linkage(at_most=1 / k).verify(evidence).kept
    assert not Linkage(at_most=0.9 / k).verify(evidence).kept


def test_a_verdict_is_the_same_every_time(dataset):
    random = np.random.default_rng(0)
    original = random.random((60, 5))
    release = original + random.normal(0, 0.2, original.shape)
    names = "abcde"
    evidence = [
        Evidence(
            dataset(dict(zip(names, release.T, strict=True))),
            dataset(dict(zip(names, original.T, strict=True))),
            np.arange(60),
        )
        for _ in range(2)
    ]
    assert Linkage(at_most=0.5).verify(evidence[0]) == Linkage(at_most=0.5).verify(evidence[1])


def test_without_the_originals_nothing_is_verified_and_nothing_kept(dataset):
    verdict = Linkage(at_most=1).verify(Evidence(dataset({"x": [1.0]})))
    assert not verdict.kept
    assert verdict.verified_from == "asserted"


class Counted(SerialCrew):
    """A crew that says how much it was given to do."""

    workers = 3
    items = 0

    def map(self, function, items, **settings):
        todo = list(items)
        self.items += len(todo)
        return super().map(function, todo, **settings)


def test_the_attack_is_spread_over_the_workers_and_they_change_no_verdict(dataset):
    random = np.random.default_rng(0)
    original = {name: random.random(90) for name in "ab"}
    release = {name: random.random(90) for name in "ab"}
    evidence = Evidence(dataset(release), dataset(original), np.arange(90))
    crew = Counted()
    (verdict,) = verify({"linkage": Linkage(at_most=0.5)}, evidence, crew)
    assert crew.items == 2 * 12  # both directions
    assert verdict == Linkage(at_most=0.5).verify(evidence)


@pytest.mark.parametrize("given", [{"at_most": 0}, {"at_most": 1.5}, {}])
def test_at_most_is_a_positive_share(given):
    with pytest.raises(SpecError):
        Linkage(**given)
