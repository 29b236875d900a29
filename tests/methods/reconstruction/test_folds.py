"""Folds and the questions that they ask."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from distanon.data.streams import Streams
from distanon.kernels.neighbors import NeighborIndex, distinct
from distanon.methods.reconstruction.confidential import Confidential
from distanon.methods.reconstruction.folds import Asking, Folds, list_length


@given(st.integers(2, 500), st.floats(0.05, 0.95))
def test_every_record_is_in_one_fold(n, held_out):
    folds = Folds.of(n, held_out, Streams(1))
    parts = [folds.answers, folds.search, folds.stop]
    assert sorted(np.concatenate(parts).tolist()) == list(range(n))
    assert len(folds.search) >= 1
    assert len(folds.stop) >= 1
    assert len(folds.answers) + len(folds.search) + len(folds.stop) == n


def test_lists_grow_with_what_is_left_out_and_end_somewhere():
    assert list_length(1000, 100, 1) == 80
    assert list_length(1000, 100, 15) > 300
    assert list_length(10**6, 10, 1) == 320
    assert list_length(5, 1, 1) == 5


def test_equal_records_are_one_question_unless_candidates_are_of_records(context):
    points = np.array([[0.0], [0.0], [1.0], [0.0]])
    labels = Confidential(np.array([0, 1, 1, 0]), 2, None)
    index = NeighborIndex.build(distinct(points))
    records = np.arange(4)
    joined = Asking(points, index, labels, None, 3).questions(records, context())
    assert joined.weights.tolist() == [[2, 1], [0, 1]]
    own = np.arange(4, dtype=np.int32)
    apart = Asking(points, index, labels, own, 3).questions(records, context())
    assert apart.weights.tolist() == [[1, 0], [0, 1], [0, 1], [1, 0]]
    assert apart.lists.tolist() == [[1, 3, 2], [0, 3, 2], [0, 1, 3], [0, 1, 2]]
