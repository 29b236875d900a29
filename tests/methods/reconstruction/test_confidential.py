"""What is predicted: labels, compounds, numbers."""

import numpy as np
import pandas as pd

from distanon.data.schema import Role
from distanon.kernels.first_chosen import SCALE
from distanon.methods.reconstruction.confidential import MOST_LABELS, Confidential

S = Role.SENSITIVE


def test_several_attributes_are_one_compound_with_numbers_in_bins(dataset_of):
    frame = pd.DataFrame({"q": [0] * 8, "a": list("xyxyxyxy"), "b": np.arange(8.0)})
    found = Confidential.of(dataset_of(frame, a=S, b=S), bins=2)
    assert found.steps is None
    assert found.n_labels == 4
    assert len(set(zip(found.labels[:4].tolist(), list("xyxy"), strict=True))) == 2


def test_a_number_is_predicted_in_steps_of_its_range(dataset_of):
    frame = pd.DataFrame({"q": [0] * 5, "b": [10.0, 20.0, None, 15.0, 10.0]})
    found = Confidential.of(dataset_of(frame, b=S), bins=4)
    assert found.steps.tolist() == [0, SCALE, -1, SCALE // 2, 0]
    weights = found.weights(np.array([0, 0, 1, 1]), np.array([0, 1, 2, 3]), 2)
    half = SCALE // 2
    assert weights.tolist() == [[2, SCALE, SCALE**2], [1, half, half**2]]
    groups = np.array([0, 0, 1, 1, 2])
    assert found.answers(groups, 4, np.arange(4)).tolist() == [half, half, half, half]


def test_groups_answer_by_their_majority_or_by_everybodys(dataset_of):
    frame = pd.DataFrame({"q": [0] * 6, "a": list("yyxxxy")})
    found = Confidential.of(dataset_of(frame, a=S), bins=4)
    groups = np.array([0, 0, 0, 1, 1, 2])
    assert found.answers(groups, 4, np.arange(5)).tolist() == [1, 0, 0, 0]
    shares = found.shares(groups, 4, np.arange(5)) / SCALE
    assert np.allclose(shares, [[1 / 3, 2 / 3], [1, 0], [3 / 5, 2 / 5], [3 / 5, 2 / 5]], atol=1e-5)


def test_missing_is_a_label_and_rare_labels_are_joined(dataset_of):
    many = [f"v{i:04}" for i in range(400)] + ["v0000"] * 3 + [None] * 2
    frame = pd.DataFrame({"q": [0] * len(many), "a": many})
    found = Confidential.of(dataset_of(frame, a=S), bins=4)
    assert found.n_labels == MOST_LABELS
    assert found.labels[-1] == found.labels[-2] != found.labels[0]
    assert (found.labels == found.labels[0]).sum() == 4
