"""Known people and the generalized rows that contain them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from distanon.attacks import containment, identity
from distanon.data.streams import Streams
from distanon.runtime.crew import SerialCrew
from distanon.sharded.people import ReleasedRegions, people_of, regions_of

PEOPLE = {"age": [20, 24, 30, 34], "job": ["a", "b", "a", "c"]}
ROWS = {
    "age": ["[20, 30]", "[20, 24]", "[20, 30]", "[30, 34]"],
    "job": ["{a, b}", "{a, b}", "{a, b}", "{a, c}"],
}


def attack(evidence, **settings):
    found = identity.measure(evidence, crew=SerialCrew(), streams=Streams(1), **settings)
    return {measurement.name.removeprefix("identity."): measurement for measurement in found}


def test_four_rows_by_hand(sensitive_evidence):
    # 20 a: rows 0 1 2; 24 b: rows 0 1 2; 30 a: rows 0 2 3; 34 c: row 3 alone.
    # Rows 0 and 2 are equal and contain 20 a, 24 b, 30 a, two of them their own: 2/3 by 2 rows.
    # Row 1 contains 20 a, 24 b; row 3 contains 30 a, 34 c.
    found = attack(sensitive_evidence(PEOPLE, ROWS))
    assert found["original_to_release"].value == pytest.approx((1 / 3 + 1 / 3 + 1 / 3 + 1) / 4)
    assert found["release_to_original"].value == pytest.approx((1 / 3 + 1 / 3 + 1 / 2 + 1 / 2) / 4)
    assert found["journalist"].value == 1.0
    assert found["marketer"].value == 0.75
    assert "exact_match" not in found


def test_claims_without_knowing_membership_by_hand(sensitive_evidence):
    # One of two others is contained: 33 a by row 3. Four targets at most two of each kind.
    control = {"age": [33, 90], "job": ["a", "z"]}
    given_rows = sensitive_evidence(PEOPLE, ROWS, control=control)
    found = attack(given_rows)["unknown_membership"]
    assert found.n == 3  # two members, and one of the others
    assert found.value in (
        pytest.approx((1 / 3 + 1 / 3) / 3),
        pytest.approx((1 / 3 + 1) / 3),
    )
    assert "unknown_membership" not in attack(sensitive_evidence(PEOPLE, ROWS))


def test_values_outside_the_original_lie_in_no_region_but_the_suppressed(sensitive_evidence):
    rows = {"age": ["[20, 34]"] * 4, "job": ["*", "*", "{a, b}", "{a, b, c}"]}
    control = {"age": [25, 25, 99], "job": ["z", "a", "a"]}
    evidence = sensitive_evidence(PEOPLE, rows, control=control)
    people = people_of(evidence)
    released = ReleasedRegions.of(people.space, regions_of(evidence))
    found = containment.claimed(SerialCrew(), released, people.control, 2)
    assert found.tolist() == [True, True, False]


@st.composite
def releases(draw):
    generator = np.random.default_rng(draw(st.integers(0, 10_000)))
    n = draw(st.integers(2, 12))
    ages, jobs = generator.integers(0, 6, n), generator.integers(0, 3, n)
    sources = generator.permutation(n)[: draw(st.integers(1, n))]
    low = np.maximum(0, ages[sources] - generator.integers(0, 3, len(sources)))
    high = ages[sources] + generator.integers(0, 3, len(sources))
    sets = [{jobs[source], generator.integers(0, 3)} & set(jobs.tolist()) for source in sources]
    return ages, jobs, sources, low, high, sets


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(given_release=releases(), blocks=st.integers(1, 4))
def test_both_directions_are_those_of_plain_loops(sensitive_evidence, given_release, blocks):
    ages, jobs, sources, low, high, sets = given_release
    texts = [sorted("abc"[one] for one in own) for own in sets]
    evidence = sensitive_evidence(
        {"age": ages, "job": ["abc"[job] for job in jobs]},
        {
            "age": [f"[{a}, {b}]" for a, b in zip(low, high, strict=True)],
            "job": ["{" + ", ".join(own) + "}" for own in texts],
        },
        sources,
    )
    inside = (low[:, None] <= ages) & (ages <= high[:, None])  # rows by people
    inside &= np.array([[job in own for job in jobs] for own in sets])
    people, crew = people_of(evidence), SerialCrew()
    released = ReleasedRegions.of(people.space, regions_of(evidence))
    targets = np.sort(sources)
    found = containment.people_to_rows(crew, people, released, sources, targets, blocks)
    row_of = {source: row for row, source in enumerate(sources)}
    expected = [inside[row_of[one], one] / max(1, inside[:, one].sum()) for one in targets]
    assert found.scores == pytest.approx(expected)
    rows = np.arange(len(sources))
    scores, regions = containment.rows_to_people(crew, people, released, sources, rows, blocks)
    own = [inside[row, source] / inside[row].sum() for row, source in enumerate(sources)]
    # equal rows share what they reach together
    assert scores.mean() == pytest.approx(np.mean(own))
    assert regions == len(np.unique(released.region_of))
