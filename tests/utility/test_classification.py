"""Classifiers that learn from the release, against scikit-learn's own."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from distanon.data.streams import Streams
from distanon.runtime.crew import SerialCrew
from distanon.utility import classification
from distanon.utility.classification import difference


def measured(evidence, name="s", **settings):
    attribute = evidence.release.schema[name]
    found = classification.measure(
        evidence, attribute, crew=SerialCrew(), streams=Streams(1), **settings
    )
    return {one.name.removeprefix("classification.").removesuffix(f".{name}"): one for one in found}


def table(rows, labels):
    return {"a": rows[:, 0], "b": rows[:, 1], "s": ["yes" if one else "no" for one in labels]}


@pytest.fixture(scope="module")
def people():
    generator = np.random.default_rng(0)
    rows = generator.random((500, 2))
    labels = rows.sum(axis=1) + 0.2 * generator.normal(size=500) > 1
    release = np.round(rows * 5) / 5
    return rows, labels, release


def test_accuracies_are_those_of_scikit_learn_on_control_records(sensitive_evidence, people):
    rows, labels, release = people
    given = sensitive_evidence(
        table(rows[:400], labels[:400]),
        table(release[:400], labels[:400]),
        control=table(rows[400:], labels[400:]),
    )
    found = measured(given)
    low, spread = rows.min(axis=0), np.ptp(rows, axis=0)
    tested = (rows[400:] - low) / spread
    oracles = {
        "random_forest": RandomForestClassifier(100, min_samples_leaf=2, random_state=0),
        "logistic_regression": LogisticRegression(max_iter=500),
        "nearest_neighbor": KNeighborsClassifier(1),
    }
    for side, learnt in (("_original", rows), ("", release)):
        for name, oracle in oracles.items():
            fitted = oracle.fit((learnt[:400] - low) / spread, labels[:400])
            if side == "" and name == "nearest_neighbor":
                continue  # ties: scikit-learn takes any
            expected = fitted.score(tested, labels[400:])
            assert found[f"{name}{side}"].value == pytest.approx(expected), name
    for name in oracles:
        away = found[f"{name}_change"]
        assert away.value == pytest.approx(found[name].value - found[f"{name}_original"].value)
        assert away.ci_low < away.value < away.ci_high
        assert not found[f"{name}_original"].is_public
    assert found["commonest"].value == pytest.approx(
        max((labels[400:]).mean(), (~labels[400:]).mean()), abs=0.5
    )
    assert found["random_forest"].n == 100


def test_the_original_as_its_own_release_loses_nothing(sensitive_evidence, people):
    rows, labels, _ = people
    found = measured(sensitive_evidence(table(rows, labels), table(rows, labels)))
    for name in classification.CLASSIFIERS:
        assert found[f"{name}_change"].value == 0.0
        assert found[name].n == 500  # each person is tested once


def test_ties_go_to_the_first_record_however_the_rows_are_ordered(sensitive_evidence, people):
    rows, labels, release = people
    order = np.lexsort((labels, release[:, 1], release[:, 0]))
    straight = measured(sensitive_evidence(table(rows, labels), table(release, labels)))
    given = sensitive_evidence(table(rows, labels), table(release[order], labels[order]), order)
    assert measured(given) == straight


def test_ranges_and_sets_teach_by_their_middles_and_shares(sensitive_evidence):
    age = np.repeat([20, 30, 40, 50], 20)
    job = np.tile(["x", "x", "y", "z"], 20)
    labels = ["old" if one > 35 else "young" for one in age]
    original = {"age": age, "job": job, "s": labels}
    release = {
        "age": ["[20, 30]" if one < 35 else "[40, 50]" for one in age],
        "job": ["x" if one == "x" else "{y, z}" for one in job],
        "s": labels,
    }
    found = measured(sensitive_evidence(original, release))
    assert found["random_forest"].value == 1.0
    assert found["nearest_neighbor"].value == 1.0
    assert found["logistic_regression_change"].value == 0.0


def test_numbers_are_predicted_by_their_side_of_the_median(sensitive_evidence, people):
    rows, _, _ = people
    columns = {"a": rows[:, 0], "b": rows[:, 1], "v": rows[:, 0] * 100}
    found = measured(sensitive_evidence(columns, columns), "v")
    assert found["random_forest"].value > 0.95
    assert found["commonest"].value == pytest.approx(0.5, abs=0.1)


def test_missing_values_and_labels_are_borne(sensitive_evidence):
    age = [20.0, None, 30.0, None] * 10
    labels = ["u", "v", None, "v"] * 10
    columns = {"age": age, "s": labels}
    found = measured(sensitive_evidence(columns, columns))
    assert found["nearest_neighbor"].value == 1.0
    assert found["nearest_neighbor"].n == 30
    assert found["logistic_regression"].value == 1.0


def test_one_value_or_too_many_are_not_predicted(sensitive_evidence):
    for labels in (["u"] * 60, [str(one) for one in range(60)]):
        columns = {"age": list(range(60)), "s": labels}
        found = measured(sensitive_evidence(columns, columns))
        assert len(found) == 3
        assert all(math.isnan(one.value) for one in found.values())


def test_a_release_of_one_label_predicts_it_for_everybody(sensitive_evidence):
    columns = {"age": list(range(40)), "s": ["u", "v"] * 20}
    found = measured(sensitive_evidence(columns, columns | {"s": ["u"] * 40}))
    assert found["random_forest"].value == 0.5
    assert found["commonest"].value == 0.5


def test_the_originals_are_learnt_from_once(sensitive_evidence, people, monkeypatch):
    rows, labels, release = people
    given = sensitive_evidence(table(rows, labels), table(release, labels))
    first = measured(given)
    sides = []
    monkeypatch.setattr(
        classification,
        "_hits",
        lambda folds, item, real=classification._hits: sides.append(item[1]) or real(folds, item),
    )
    beside = given.beside(given.release, given.sources)
    assert measured(beside) == first
    assert set(sides) == {"release"}


def test_samples_bound_the_work(sensitive_evidence, people):
    rows, labels, release = people
    given = sensitive_evidence(table(rows, labels), table(release, labels))
    found = measured(given, records=100, tests=40)
    assert found["random_forest"].n == 40


def test_paired_differences_by_hand():
    one, other = np.array([True, True, False, True]), np.array([True, False, False, False])
    mean, low, high = difference(one, other)
    # differences 0 1 0 1: mean 1/2, variance 1/3
    assert mean == 0.5
    assert high == 1.0  # 0.5 + 1.96 √(1/12) is beyond
    assert low == pytest.approx(0.5 - 1.96 * math.sqrt(1 / 3 / 4), abs=1e-3)
    assert difference(one, one) == pytest.approx((0.0, -0.749, 0.749), abs=1e-3)
    assert difference(one[:1], other[:1]) == (0.0, None, None)
