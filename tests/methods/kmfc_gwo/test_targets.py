import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.methods.kmfc_gwo.targets import (
    DegreeGroups,
    classes_of,
    degree_groups,
    level_starts,
)


def test_nodes_with_equal_tuples_are_one_class_missing_ones_too():
    values = np.array([[1.0, np.nan], [0.0, 2.0], [1.0, np.nan], [0.0, 2.0]])
    assert classes_of(values).tolist() == [1, 0, 1, 0]
    assert classes_of(np.empty((3, 0))).tolist() == [0, 0, 0]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_chosen_degrees_add_up_to_an_even_sum_and_are_options_but_for_one_step(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 7, 5)
    group_of = np.repeat(np.arange(5), sizes)
    pairs = rng.integers(0, len(group_of), (30, 2))
    ends = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    degrees = np.bincount(ends.ravel(), minlength=len(group_of)).astype(np.int64)
    groups = DegreeGroups.of(degrees, group_of)
    choices = rng.integers(0, 8, 5)
    level = groups.chosen(choices, degrees)
    assert (level * sizes).sum() % 2 == 0
    away = np.abs(level - groups.options[np.arange(5), choices])
    assert away.sum() <= 1
    assert level.min() >= 0
    assert level.max() < len(degrees)


def test_the_first_option_is_the_median_and_all_are_degrees_of_members():
    groups = DegreeGroups.of(np.array([1, 5, 3, 9, 2]), np.zeros(5, np.int64))
    assert groups.options[0, 0] == 3
    assert set(groups.options[0].tolist()) <= {1, 5, 3, 9, 2}


def test_groups_are_the_clusters_or_cut_anew_within_classes():
    degrees = np.array([9, 1, 9, 1])
    labels = np.array([0, 0, 1, 1])
    class_of = np.zeros(4, np.int64)
    assert degree_groups(degrees, labels, class_of, 2, "clusters").group_of.tolist() == [0, 0, 1, 1]
    assert degree_groups(degrees, labels, class_of, 2, "classes").group_of.tolist() == [1, 0, 1, 0]


def test_a_class_has_room_for_each_degree_up_to_one_more_than_it_may_get():
    options = np.array([[2, 3], [7, 5]])
    starts = level_starts(np.array([0, 0, 1]), options, np.array([0, 0, 1]))
    assert starts.tolist() == [0, 5, 14]
