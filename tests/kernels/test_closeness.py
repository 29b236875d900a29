"""Earth mover's distances against a linear programme over the ground distance itself."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linprog

from distanon.kernels.closeness import (
    equal_distances,
    hierarchical_distances,
    ordered_distances,
)
from distanon.kernels.counts import Counts, exact, from_triplets

MATRICES = hnp.arrays(
    np.int64, st.tuples(st.integers(1, 3), st.integers(1, 6)), elements=st.integers(0, 4)
)


def counts_of(matrix):
    """Counts of a matrix, classes × values."""
    classes, values = np.nonzero(matrix)
    return from_triplets(classes, values, matrix[classes, values], *matrix.shape)


def transported(one, other, ground):
    """The least work that turns one distribution into the other."""
    v = len(one)
    leaving = np.kron(np.eye(v), np.ones(v))
    arriving = np.kron(np.ones(v), np.eye(v))
    result = linprog(
        ground.ravel(),
        A_eq=np.vstack((leaving, arriving))[:-1],
        b_eq=np.concatenate((one / one.sum(), other / other.sum()))[:-1],
    )
    return result.fun


def line(v, markers):
    """|i − j| / (m − 1) among the ordered values; markers are 1 from all."""
    ranks = np.cumsum(~markers) - 1
    ground = np.abs(ranks[:, None] - ranks[None, :]) / max((~markers).sum() - 1, 1)
    ground[markers, :] = 1.0
    ground[:, markers] = 1.0
    np.fill_diagonal(ground, 0.0)
    return ground


def tree(ancestors):
    """Height of the lowest common ancestor over the height of the tree."""
    same = ancestors[:, :, None] == ancestors[:, None, :]
    return np.argmax(same, axis=0) / max(len(ancestors) - 1, 1)


def check(distances, matrix, ground):
    expected = [
        transported(row, matrix.sum(axis=0), ground) if row.any() else 0.0 for row in matrix
    ]
    assert distances.floats() == pytest.approx(expected, abs=1e-8)


@given(MATRICES)
@settings(max_examples=60, deadline=None)
def test_equal_distance_is_the_least_work(matrix):
    assume(matrix.any())
    distances = equal_distances(counts_of(matrix), matrix.sum(axis=0))
    check(distances, matrix, 1.0 - np.eye(matrix.shape[1]))


@given(MATRICES)
@settings(max_examples=100, deadline=None)
def test_ordered_distance_is_the_least_work(matrix):
    assume(matrix.any())
    distances = ordered_distances(counts_of(matrix), matrix.sum(axis=0))
    check(distances, matrix, line(matrix.shape[1], np.zeros(matrix.shape[1], np.bool_)))


@given(MATRICES, st.data())
@settings(max_examples=150, deadline=None)
def test_ordered_distance_with_markers_is_the_least_work(matrix, data):
    assume(matrix.any())
    markers = data.draw(hnp.arrays(np.bool_, matrix.shape[1]))
    distances = ordered_distances(counts_of(matrix), matrix.sum(axis=0), markers)
    check(distances, matrix, line(matrix.shape[1], markers))


@st.composite
def trees(draw, values):
    """Ancestors of a random tree of equal height, numbered anyhow."""
    levels = [np.arange(values)]
    for _ in range(draw(st.integers(0, 3))):
        nodes = int(levels[-1].max()) + 1
        parents = draw(hnp.arrays(np.int64, nodes, elements=st.integers(0, nodes - 1)))
        levels.append(parents[levels[-1]])
    levels.append(np.zeros(values, np.int64))
    return np.array(levels)


@given(MATRICES, st.data())
@settings(max_examples=150, deadline=None)
def test_hierarchical_distance_is_the_least_work(matrix, data):
    assume(matrix.any())
    ancestors = data.draw(trees(matrix.shape[1]))
    distances = hierarchical_distances(counts_of(matrix), matrix.sum(axis=0), ancestors)
    check(distances, matrix, tree(ancestors))


@given(MATRICES, st.data())
@settings(max_examples=30, deadline=None)
def test_python_integers_give_what_int64_gives(matrix, data):
    assume(matrix.any())
    ancestors = data.draw(trees(matrix.shape[1]))
    markers = data.draw(hnp.arrays(np.bool_, matrix.shape[1]))
    # so many records that N · n overflows int64
    many = matrix * 10**9
    for kernel, setting in (
        (equal_distances, ()),
        (ordered_distances, (markers,)),
        (hierarchical_distances, (ancestors,)),
    ):
        few = kernel(counts_of(matrix), matrix.sum(axis=0), *setting)
        lots = kernel(counts_of(many), many.sum(axis=0), *setting)
        for place in range(len(matrix)):
            assert Fraction(few.numerators[place], few.denominators[place]) == Fraction(
                lots.numerators[place], lots.denominators[place]
            )


def test_salaries_of_li_2007():
    # 3k … 11k once each; {3k, 4k, 5k}: 0.375; {6k, 8k, 11k}: 1/6 (section 4)
    everybody = np.ones(9, np.int64)
    low, spread = np.zeros(9, np.int64), np.zeros(9, np.int64)
    low[[0, 1, 2]] = 1
    spread[[3, 5, 8]] = 1
    distances = ordered_distances(counts_of(np.array([low, spread])), everybody)
    assert distances.floats() == pytest.approx([0.375, 1 / 6], abs=1e-15)


def test_salaries_of_li_2007_table_5_are_0_167_close():
    # classes {3, 5, 9}, {6, 11, 8}, {4, 7, 10}
    matrix = np.zeros((3, 9), np.int64)
    for row, salaries in enumerate(([3, 5, 9], [6, 11, 8], [4, 7, 10])):
        matrix[row, np.array(salaries) - 3] = 1
    distances = ordered_distances(counts_of(matrix), matrix.sum(axis=0))
    assert max(distances.floats()) == pytest.approx(0.167, abs=5e-4)
    assert distances.at_most(exact(0.167)).all()
    assert not distances.at_most(exact(0.166)).all()


# flu, pneumonia, bronchitis | pulmonary edema, pulmonary embolism || gastric ulcer, stomach cancer,
# gastritis | colitis, colon cancer   (Li 2007, figure 1)
DISEASES = np.array(
    [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        [0, 0, 0, 1, 1, 2, 2, 2, 3, 3],
        [0, 0, 0, 0, 0, 1, 1, 1, 1, 1],
        [0] * 10,
    ]
)


@pytest.mark.parametrize(
    ("other", "distance"), [(2, Fraction(1, 3)), (4, Fraction(2, 3)), (6, Fraction(1)), (0, 0)]
)
def test_diseases_of_li_2007_are_as_far_as_their_ancestor_is_high(other, distance):
    # flu to bronchitis 1/3, to pulmonary embolism 2/3, to stomach cancer 1
    flu, reference = np.zeros((1, 10), np.int64), np.zeros(10, np.int64)
    flu[0, 0] = reference[other] = 1
    distances = hierarchical_distances(counts_of(flu), reference, DISEASES)
    assert Fraction(distances.numerators[0], distances.denominators[0]) == distance


def test_diseases_of_a_three_class_table_by_hand():
    # {gastric ulcer, stomach cancer, pneumonia}: root 1/9, stomach 2/9 · 1/3, infections 2/9 · 1/3
    # {gastritis, flu, bronchitis}: root 2/9, stomach 1/9 · 1/3, infections 1/9 · 1/3
    # {gastritis, bronchitis, stomach cancer}: root 1/9, stomach 1/9 · 1/3, infections 1/9 · 1/3
    matrix = np.zeros((3, 10), np.int64)
    for row, diseases in enumerate(([5, 6, 1], [7, 0, 2], [7, 2, 6])):
        matrix[row, diseases] = 1
    distances = hierarchical_distances(counts_of(matrix), matrix.sum(axis=0), DISEASES)
    assert distances.at_most(Fraction(8, 27)).all()
    assert distances.floats() == pytest.approx([7 / 27, 8 / 27, 5 / 27], abs=1e-15)


def test_a_class_at_the_very_limit_keeps_it():
    # shares .8 / .2 against .5 / .5: the distance is 3/10, which floats miss (.8 − .5 > .3)
    matrix = np.array([[8, 2], [2, 8]])
    for kernel in (equal_distances, ordered_distances):
        distances = kernel(counts_of(matrix), matrix.sum(axis=0))
        assert distances.at_most(exact(0.3)).all()
        assert not distances.at_most(exact(0.29999999999999)).any()
    thirds = equal_distances(counts_of(np.array([[1, 1, 0]])), np.array([1, 1, 1]))
    assert not thirds.at_most(exact(1 / 3)).any()
    assert thirds.at_most(Fraction(1, 3)).all()


def test_one_class_and_one_value_are_at_distance_zero():
    for matrix in ([[3, 2, 1]], [[4], [1]]):
        counts = counts_of(np.array(matrix))
        flat = np.stack((np.arange(counts.n_values), np.zeros(counts.n_values, np.int64)))
        for distances in (
            equal_distances(counts, counts.value_totals),
            ordered_distances(counts, counts.value_totals),
            hierarchical_distances(counts, counts.value_totals, flat),
        ):
            assert (distances.floats() == 0.0).all()


def test_no_classes_have_no_distances():
    counts = counts_of(np.zeros((0, 0), np.int64))
    none = np.empty(0, np.int64)
    assert len(equal_distances(counts, none).floats()) == 0
    assert len(ordered_distances(counts, none).floats()) == 0
    assert len(hierarchical_distances(counts, none, np.empty((2, 0), np.int64)).floats()) == 0


def test_many_classes_times_many_values_stay_sparse():
    random = np.random.default_rng(0)
    class_of = np.repeat(np.arange(20_000), 10)
    value_of = random.integers(0, 10_000, 200_000)
    counts = Counts.of(class_of, value_of, 20_000, 10_000)
    reference = counts.value_totals
    parents = np.arange(10_000) // 100
    ancestors = np.stack((np.arange(10_000), parents, np.zeros(10_000, np.int64)))
    ordered = ordered_distances(counts, reference).floats()
    for place in (0, 777, 19_999):
        own = np.bincount(value_of[class_of == place], minlength=10_000)
        gap = np.cumsum(own / 10 - reference / 200_000)
        assert ordered[place] == pytest.approx(np.abs(gap[:-1]).sum() / 9999, abs=1e-12)
        share = np.bincount(parents, own / 10 - reference / 200_000)
        total = np.abs(own / 10 - reference / 200_000).sum() / 2
        tree = hierarchical_distances(counts, reference, ancestors).floats()[place]
        assert np.abs(share).sum() / 4 < tree < total
