"""Figures from integer counts, against scikit-learn's."""

import numpy as np
import pytest
from sklearn import metrics

from distanon.kernels.first_chosen import SCALE
from distanon.methods.reconstruction.fitness import Fitness

RNG = np.random.default_rng(1)
TRUE, ANSWERED = RNG.integers(0, 3, 200), RNG.integers(0, 3, 200)
COUNTS = metrics.confusion_matrix(ANSWERED, TRUE)


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        ("hits", (TRUE == ANSWERED).sum()),
        ("accuracy", metrics.accuracy_score(TRUE, ANSWERED)),
        ("balanced_accuracy", metrics.balanced_accuracy_score(TRUE, ANSWERED)),
        ("macro_f1", metrics.f1_score(TRUE, ANSWERED, average="macro")),
    ],
)
def test_figures_are_those_of_scikit_learn(figure, expected):
    fitness = Fitness(figure, 1, is_number=False)
    assert fitness.value(COUNTS) == pytest.approx(expected)
    assert fitness.loss(COUNTS) == pytest.approx(-expected)


def test_labels_that_do_not_occur_count_for_nothing():
    padded = np.pad(COUNTS, (0, 2))
    for figure in ("balanced_accuracy", "macro_f1"):
        fitness = Fitness(figure, 1, is_number=False)
        assert fitness.value(padded) == pytest.approx(fitness.value(COUNTS))
        assert fitness.value(np.zeros((3, 3), np.int64)) == 0.0


def test_errors_are_made_small_and_expected_hits_large():
    assert Fitness("hits", 1, is_number=True).loss(np.array([[SCALE**2, 4]])) == 0.25
    assert Fitness("expected", 1, is_number=False).loss(np.array([[SCALE * 3, 4]])) == -0.75
