from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from distanon.kernels.label_tree import grow


def table(seed, n=120, width=3, classes=2, distinct=9):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, distinct, (n, width)).astype(float)
    score = values.sum(axis=1) + rng.normal(0, 2, n)
    return values, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


def impurity(labels, classes):
    """Σ n_leaf · Gini of the leaves."""
    total = 0.0
    for leaf in np.unique(labels):
        shares = np.bincount(classes[labels == leaf]) / (labels == leaf).sum()
        total += (labels == leaf).sum() * (1 - (shares**2).sum())
    return total


@given(st.integers(0, 9_999), st.integers(1, 30), st.integers(2, 4))
@settings(max_examples=40, deadline=None)
def test_every_leaf_has_the_minimum_and_new_records_land_where_theirs_did(seed, minimum, classes):
    values, labels = table(seed, classes=classes)
    tree = grow(values, labels, minimum)
    leaves = tree.locate(values)
    sizes = np.bincount(leaves)
    assert len(sizes) == (tree.attributes < 0).sum()
    assert sizes.min() >= minimum
    assert (tree.locate(values[::-1]) == leaves[::-1]).all()


@given(st.integers(0, 9_999))
@settings(max_examples=30, deadline=None)
def test_the_order_of_the_records_does_not_matter(seed):
    values, labels = table(seed)
    order = np.random.default_rng(seed).permutation(len(values))
    one, other = grow(values, labels, 5), grow(values[order], labels[order], 5)
    for name in ("attributes", "thresholds", "lefts", "rights", "groups"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_the_first_cut_is_the_best_of_all():
    values, labels = table(5)
    tree = grow(values, labels, 10)
    options = {}
    for place in range(3):
        for border in np.unique(values[:, place])[:-1]:
            left = values[:, place] <= border
            if 10 <= left.sum() <= len(values) - 10:
                options[place, border] = impurity(left, labels)
    attribute, border = min(options, key=options.get)
    assert (tree.attributes[0], tree.thresholds[0]) == (attribute, border + 0.5)


def test_leaves_are_as_pure_as_those_of_scikit_learn():
    values, labels = table(8, n=4_000, width=5, classes=3, distinct=40)
    ours = impurity(grow(values, labels, 20).locate(values), labels)
    theirs = DecisionTreeClassifier(min_samples_leaf=20, random_state=0).fit(values, labels)
    expected = impurity(theirs.apply(values), labels)
    assert abs(ours - expected) < 0.02 * expected


def test_what_can_t_be_cut_is_one_leaf():
    assert (
        grow(np.zeros((50, 2)), np.arange(50) % 2, 5).locate(np.zeros((3, 2))).tolist() == [0] * 3
    )
    assert len(grow(np.zeros((9, 0)), np.zeros(9, np.int64), 5).groups) == 1
    pure = grow(np.arange(50.0)[:, None], np.zeros(50, np.int64), 5)
    assert pure.attributes.tolist() == [-1]


def test_missing_is_a_value_beyond_all_others():
    values = np.concatenate([np.arange(40.0) % 4, np.full(20, np.nan)])[:, None]
    tree = grow(values, np.isnan(values[:, 0]).astype(np.int64), 5)
    assert tree.thresholds[0] == np.inf
    assert tree.locate(np.array([[99.0], [np.nan], [0.0]])).tolist() == [0, 1, 0]
