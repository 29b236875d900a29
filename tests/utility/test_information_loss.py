from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import wasserstein_distance

from distanon.utility import information_loss


def measured(evidence):
    found = information_loss.measure(evidence)
    return {measurement.name.removeprefix("change."): measurement for measurement in found}


def test_three_records_by_hand(evidence):
    original = {"n": [0.0, 5.0, 10.0], "t": ["x", "y", "y"]}
    release = {"n": [1.0, 5.0, 8.0], "t": ["x", "x", "y"]}
    found = measured(evidence(original, release))
    assert found["mean_absolute.n"].value == pytest.approx(0.1)  # (1 + 0 + 2) / 3 of a range of 10
    assert found["rms"].value == pytest.approx(math.sqrt((0.01 + 0.04) / 3))
    assert found["earth_movers.n"].value == pytest.approx(0.1)
    assert found["mean.n"].value == pytest.approx(-1 / 30)
    assert found["share_changed.t"].value == pytest.approx(1 / 3)
    assert found["earth_movers.t"].value == pytest.approx(1 / 3)  # x: 1/3 -> 2/3
    assert found["unchanged"].value == 0.0


def test_a_release_that_changes_nothing_loses_nothing(evidence):
    generator = np.random.default_rng(0)
    original = {
        "a": generator.normal(size=50),
        "b": generator.normal(size=50),
        "t": list("abcde" * 10),
    }
    order = generator.permutation(50)
    release = {name: np.asarray(column)[order] for name, column in original.items()}
    found = measured(evidence(original, release, order))
    assert found.pop("unchanged").value == 1.0
    assert {name: figure.value for name, figure in found.items()} == pytest.approx(
        dict.fromkeys(found, 0.0), abs=1e-12
    )


def test_what_tells_the_originals_distribution_is_not_public(evidence):
    found = measured(evidence([[0, 1], [2, 5], [3, 3]], [[1, 1], [2, 4], [3, 2]]))
    private = {name for name, figure in found.items() if not figure.is_public}
    assert private == {"mean.a", "std.a", "mean.b", "std.b"}


def test_figures_are_those_of_numpy_and_scipy(evidence):
    generator = np.random.default_rng(1)
    original = generator.normal(size=(200, 3)) @ generator.normal(size=(3, 3))
    release = original + generator.normal(size=(200, 3))
    order = generator.permutation(200)[:150]  # 50 records are suppressed
    found = measured(evidence(original, release[order], order))
    spread = np.ptp(original, axis=0)
    assert found["earth_movers.a"].value == pytest.approx(
        wasserstein_distance(original[:, 0], release[order, 0]) / spread[0]
    )
    assert found["std.b"].value == pytest.approx(release[order, 1].std() / original[:, 1].std() - 1)
    away = np.corrcoef(release[order].T) - np.corrcoef(original.T)
    pairs = np.abs(away[np.triu_indices(3, 1)])
    assert found["correlation_mean"].value == pytest.approx(pairs.mean())
    assert found["correlation_max"].value == pytest.approx(pairs.max())
    square = (((release - original)[order] / spread) ** 2).sum(axis=1).mean()
    assert found["rms"].value == pytest.approx(math.sqrt(square))


def test_ranks_count_steps_of_all_categories(evidence):
    original, release = {"r": [1, 2, 3, 5]}, {"r": [2, 2, 3, 5]}
    found = measured(evidence(original, release, ordinal=("r",)))
    # One of four records moves one of the three steps between 1 2 3 5.
    assert found["mean_absolute.r"].value == pytest.approx(1 / 3 / 4)


def test_values_that_go_missing_count_one(evidence):
    original = {"n": pa.array([0.0, 10.0, None, None])}
    release = {"n": pa.array([0.0, None, 3.0, None])}
    found = measured(evidence(original, release))
    assert found["rms"].value == pytest.approx(math.sqrt(2 / 4))
    assert found["mean_absolute.n"].value == 0.0
    assert found["mean_absolute.n"].n == 1
    assert found["unchanged"].value == 0.5


def test_a_column_that_becomes_constant_has_lost_its_correlation(evidence):
    found = measured(evidence([[0, 0], [1, 1], [2, 2]], [[1, 0], [1, 1], [1, 2]]))
    assert found["correlation_max"].value == pytest.approx(1.0)
    constant = measured(evidence([[1, 0], [1, 1], [1, 2]], [[1, 0], [1, 1], [1, 2]]))
    assert "correlation_max" not in constant


def test_ranges_count_as_their_middle_and_sets_as_shares(sensitive_evidence):
    original = {"age": [0, 4, 10], "job": ["a", "b", "b"]}
    release = {"age": ["[0, 4]", "[0, 4]", "10"], "job": ["{a, b}", "{a, b}", "b"]}
    found = {
        one.name: one for one in information_loss.measure(sensitive_evidence(original, release))
    }
    assert found["change.mean_absolute.age"].value == pytest.approx((0.2 + 0.2 + 0) / 3)
    expected = wasserstein_distance([0, 0.4, 1.0], [0.2, 0.2, 1.0])
    assert found["change.earth_movers.age"].value == pytest.approx(expected)
    # 1/3 are a and 2/3 b; released: two rows share a and b, so the same with one a less half
    assert found["change.earth_movers.job"].value == pytest.approx(0.0, abs=1e-12)
    assert found["change.share_changed.job"].value == pytest.approx(2 / 3)
    assert found["change.unchanged"].value == pytest.approx(1 / 3)
