"""Candidates of groups, and the tuples that one record alone has."""

import numpy as np

from distanon.methods.reconstruction.pool import Pool, equals_unique

NAN = np.nan


def test_equal_candidates_of_a_group_are_one_and_its_average_comes_first():
    averages = np.array([[5.0], [7.0]])
    moved = np.array([[1.0], [1.0], [5.0], [7.0], [8.0]])
    labels = np.array([0, 0, 0, 1, 1])
    pool = Pool.of(averages, moved, labels, np.array([[9.0]] * 5))
    assert pool.tuples.ravel().tolist() == [5, 1, 7, 8]
    assert pool.group_of.tolist() == [0, 0, 1, 1]
    assert pool.firsts.tolist() == [0, 2]
    assert pool.options.tolist() == [2, 2]


def test_unique_originals_are_left_out_where_there_is_another():
    originals = np.array([[1.0], [5.0], [5.0], [NAN], [7.0]])
    pool = Pool.of(
        np.array([[1.0], [7.0]]),
        np.array([[1.0], [5.0], [NAN], [7.0], [7.0]]),
        np.array([0, 0, 0, 1, 1]),
        originals,
    )
    assert pool.tuples.ravel().tolist() == [5, 7]
    assert pool.is_exact.tolist() == [False, True]
    assert equals_unique(np.array([[NAN], [5.0], [6.0]]), originals).tolist() == [
        True,
        False,
        False,
    ]
