"""Risks by the release's own classes and by a population's."""

from __future__ import annotations

import math

import pytest

from distanon.attacks.reidentification_risk import risks
from distanon.runtime.crew import SerialCrew

PEOPLE = {"age": [20, 24, 30, 34]}


def found(evidence):
    return {one.name.removeprefix("identity."): one for one in risks(evidence, crew=SerialCrew())}


def test_a_population_of_seven_by_hand(sensitive_evidence):
    rows = {"age": ["[20, 24]", "[20, 24]", "[30, 34]", "[30, 34]"]}
    population = {"age": [20, 21, 24, 25, 30, 34, 34, 90]}
    got = found(sensitive_evidence(PEOPLE, rows, population=population))
    assert got["journalist"].value == 0.5
    assert got["k_map"].value == 3  # 20 21 24, and 30 34 34
    assert got["journalist_in_population"].value == pytest.approx(1 / 3)
    assert got["marketer_in_population"].value == pytest.approx(1 / 3)
    assert not got["k_map"].is_public


def test_unchanged_values_are_found_by_equal_ones(sensitive_evidence):
    got = found(sensitive_evidence(PEOPLE, PEOPLE, population={"age": [20, 20, 24, 30, 34, 34]}))
    assert got["k_map"].value == 1
    assert got["marketer_in_population"].value == pytest.approx((1 / 2 + 1 + 1 + 1 / 2) / 4)


def test_changed_values_are_no_names_of_people_in_a_population(sensitive_evidence):
    moved = {"age": [22, 22, 32, 32]}
    got = found(sensitive_evidence(PEOPLE, moved, population={"age": [22, 22, 32]}))
    assert math.isnan(got["k_map"].value)
    assert "changed" in got["k_map"].note


def test_without_a_population_only_the_classes_count(sensitive_evidence):
    assert set(found(sensitive_evidence(PEOPLE, PEOPLE))) == {"journalist", "marketer"}
