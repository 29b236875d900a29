from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import DBSCAN, KMeans

from distanon.data.streams import Streams
from distanon.runtime.crew import SerialCrew
from distanon.utility import clustering
from distanon.utility.clustering import f_measure


def measured(evidence, **settings):
    found = clustering.measure(evidence, crew=SerialCrew(), streams=Streams(1), **settings)
    return {measurement.name.removeprefix("clustering."): measurement for measurement in found}


@pytest.fixture
def blobs():
    generator = np.random.default_rng(0)
    centers = generator.random((5, 2)) * 40
    return np.repeat(centers, 40, axis=0) + generator.normal(size=(200, 2))


def test_five_records_by_hand():
    # {0 1 2} against {0 1}: P = 1, R = 2/3, F = .8; {3 4} against {2 3 4}: P = 2/3, R = 1.
    assert f_measure(np.array([0, 0, 0, 1, 1]), np.array([5, 5, -1, -1, -1])) == pytest.approx(0.8)
    assert f_measure(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])) == 1.0
    # All in one cluster: P = 1/2, R = 1 for both.
    assert f_measure(np.array([0, 0, 1, 1]), np.zeros(4)) == pytest.approx(2 / 3)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=1, max_size=30))
def test_f_is_what_precision_and_recall_say(labels):
    original, release = np.array(labels).T
    total = 0.0
    for cluster in np.unique(original):
        members = original == cluster
        scores = []
        for other in np.unique(release):
            common = (members & (release == other)).sum()
            if common:
                precision, recall = common / (release == other).sum(), common / members.sum()
                scores.append(2 * precision * recall / (precision + recall))
        total += members.sum() / len(labels) * max(scores)
    assert f_measure(original, release) == pytest.approx(total)


def test_a_release_that_changes_nothing_keeps_every_cluster(evidence, blobs):
    order = np.random.default_rng(1).permutation(200)
    found = measured(evidence(blobs, blobs[order], order))
    for name in ("kmeans_f", "kmeans_f_analyst", "dbscan_f", "dbscan_f_analyst"):
        assert found[name].value == 1.0


def test_figures_are_those_of_scikit_learn(evidence, blobs):
    release = blobs + np.random.default_rng(2).normal(size=blobs.shape) * 3
    found = measured(evidence(blobs, release), clusters=4)
    low, spread = blobs.min(axis=0), np.ptp(blobs, axis=0)
    old, new = (blobs - low) / spread, (release - low) / spread
    analyst = (release - release.min(axis=0)) / np.ptp(release, axis=0)

    def kmeans(points, seed=0):
        return KMeans(4, n_init=4, random_state=seed).fit(points).labels_

    assert found["kmeans_f"].value == pytest.approx(f_measure(kmeans(old), kmeans(new)))
    assert found["kmeans_f_analyst"].value == pytest.approx(f_measure(kmeans(old), kmeans(analyst)))
    floor = [f_measure(kmeans(old), kmeans(old, seed)) for seed in clustering.FLOOR_SEEDS]
    assert found["kmeans_floor"].value == pytest.approx(np.mean(floor))
    away = np.sort(np.linalg.norm(old[:, None] - old[None], axis=2), axis=1)[:, 10]
    eps = np.quantile(away, clustering.EPS_QUANTILE, method="higher") * (1 + 1e-9)
    dbscan = [DBSCAN(eps=eps, min_samples=11).fit(points).labels_ for points in (old, new)]
    assert found["dbscan_f"].value == pytest.approx(f_measure(*dbscan))
    assert found["dbscan_clusters"].value == dbscan[0].max() + 1 >= 3
    assert not found["dbscan_clusters"].is_public


def test_rows_that_are_moved_elsewhere_lose_their_clusters(evidence, blobs):
    found = measured(evidence(blobs, np.random.default_rng(3).permutation(blobs)))
    assert found["kmeans_f"].value < 0.6
    assert found["kmeans_floor"].value > 0.9


def test_missing_values_take_their_columns_mean(evidence, blobs):
    original = blobs.copy()
    original[::9, 0] = np.nan
    assert measured(evidence(original, original))["kmeans_f"].value == 1.0


def test_large_tables_are_sampled(evidence, blobs):
    found = measured(evidence(blobs, blobs), kmeans_records=100, dbscan_records=50)
    assert found["kmeans_f"].n == 100
    assert found["dbscan_f"].n == 50
    assert found["dbscan_f"].note.endswith("a sample of the records")


def test_too_few_records_are_said(evidence):
    found = measured(evidence([[0], [1], [1]], [[0], [1], [1]]))
    assert math.isnan(found["kmeans_f"].value)
    assert math.isnan(found["dbscan_f"].value)
