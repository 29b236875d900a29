import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from distanon.attacks.auc import auc

scores = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=30)


@settings(max_examples=80, deadline=None)
@given(scores, scores)
def test_the_area_is_that_of_scikit_learn_and_lies_in_its_interval(positives, negatives):
    labels = [1] * len(positives) + [0] * len(negatives)
    area, low, high = auc(np.array(positives), np.array(negatives))
    assert area == pytest.approx(roc_auc_score(labels, positives + negatives))
    assert 0.0 <= low <= area <= high <= 1.0
    assert low < high


def test_the_variance_is_that_of_delong_worked_out_by_hand():
    # Wins of 3, 1 over 2, 0: 1 and 0.5; losses of 2, 0 to 3, 1: 0.5 and 1 → variance 0.125 / 2
    # twice, so half = 1.96 · √0.125.
    area, low, high = auc(np.array([3.0, 1.0]), np.array([2.0, 0.0]))
    assert area == 0.75
    assert low == pytest.approx(0.75 - 1.959964 * 0.125**0.5, abs=1e-6)
    assert high == 1.0


def test_the_interval_holds_the_truth_about_as_often_as_it_says():
    draw = np.random.default_rng(1)
    truth = 0.7602499389  # P(N(1, 1) > N(0, 1))
    hits = 0
    for _ in range(300):
        _, low, high = auc(draw.normal(1.0, 1.0, 60), draw.normal(0.0, 1.0, 60))
        hits += low <= truth <= high
    assert 0.90 <= hits / 300 <= 0.99
