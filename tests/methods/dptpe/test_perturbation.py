import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.streams import Streams
from distanon.kernels.neighbors import Neighborhoods
from distanon.methods.dptpe.perturbation import means as means_of
from distanon.methods.dptpe.perturbation import (
    medians,
    modes,
    moves,
    neighbor_values,
)

NAN = np.nan


def lists(*rows):
    """Neighborhoods of (point, weight) pairs."""
    starts = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    points = np.array([point for row in rows for point, _ in row], dtype=np.int64)
    weights = np.array([weight for row in rows for _, weight in row], dtype=np.int64)
    blank = np.zeros(len(rows))
    return Neighborhoods(starts, points, weights, np.zeros(len(points)), blank, blank)


def means(neighborhoods, column):
    return means_of(neighborhoods, column[:, None], np.array([0]))[0][:, 0]


def is_dominated(neighborhoods, column):
    values = np.column_stack((np.full(len(column), NAN), column))
    return means_of(neighborhoods, values, np.array([1]))[1][:, 0]


@st.composite
def cases(draw):
    seed = draw(st.integers(0, 2**32 - 1))
    generator = np.random.default_rng(seed)
    u = draw(st.integers(3, 12))
    rows = [
        [(int(p), int(generator.integers(1, 4))) for p in generator.permutation(u)[:size]]
        for size in draw(st.lists(st.integers(1, 3), min_size=1, max_size=5))
    ]
    column = generator.integers(0, 4, u).astype(float)
    column[generator.random(u) < 0.3] = NAN
    return rows, column


def repeated(row, column):
    return np.repeat(column[[p for p, _ in row]], [w for _, w in row])


@settings(max_examples=80, deadline=None)
@given(cases())
def test_means_and_lower_medians_are_those_of_the_present_neighbors(case):
    rows, column = case
    for found, median, row in zip(
        means(lists(*rows), column), medians(lists(*rows), column), rows, strict=True
    ):
        values = repeated(row, column)
        present = np.sort(values[~np.isnan(values)])
        if 2 * len(present) < len(values):
            assert np.isnan(found)
            assert np.isnan(median)
        else:
            assert found == pytest.approx(present.mean())
            assert median == present[(len(present) - 1) // 2]


@settings(max_examples=60, deadline=None)
@given(cases())
def test_a_mean_is_dominated_by_a_record_that_exceeds_all_others_together(case):
    rows, column = case
    for found, row in zip(is_dominated(lists(*rows), column), rows, strict=True):
        sizes = np.sort(np.nan_to_num(repeated(row, column)))
        assert found == (sizes[-1] > sizes[:-1].sum())


@settings(max_examples=60, deadline=None)
@given(cases())
def test_several_columns_have_the_means_that_each_has_alone(case):
    rows, column = case
    values = np.column_stack((column, -column, 7 * column))
    found, dominated = means_of(lists(*rows), values, np.array([2, 0]))
    for place, chosen in enumerate((7 * column, column)):
        assert found[:, place].tobytes() == means(lists(*rows), chosen).tobytes()
        assert dominated[:, place].tolist() == is_dominated(lists(*rows), chosen).tolist()


@settings(max_examples=60, deadline=None)
@given(cases())
def test_modes_are_the_most_frequent_and_then_lowest_categories(case):
    rows, column = case
    column = np.nan_to_num(column, nan=4.0)
    for found, row in zip(modes(lists(*rows), column), rows, strict=True):
        categories, votes = np.unique(repeated(row, column), return_counts=True)
        assert found == categories[np.argmax(votes)]


def test_equal_values_are_their_own_mean_to_the_last_bit():
    column = np.full(10, 0.1)
    rows = [(point, 1) for point in range(10)]
    assert means(lists(rows), column)[0] == 0.1


def test_half_missing_still_has_a_mean_and_more_than_half_has_none():
    column = np.array([2.0, NAN, NAN])
    assert means(lists([(0, 1), (1, 1)]), column)[0] == 2.0
    assert np.isnan(means(lists([(0, 1), (1, 2)]), column)[0])


def test_one_large_value_dominates_a_mean_and_copies_share_it():
    column = np.array([100.0, 10.0, 0.0])
    assert is_dominated(lists([(0, 1), (1, 9), (2, 4)]), column)[0]
    assert not is_dominated(lists([(0, 1), (1, 10)]), column)[0]
    assert not is_dominated(lists([(0, 2), (1, 1)]), column)[0]
    assert not is_dominated(lists([(2, 3)]), column)[0]


def test_a_random_neighbor_is_drawn_by_its_weight():
    neighborhoods = lists([(0, 1), (1, 1)], [(2, 1), (3, 3)])
    draws = (np.arange(1000) + 0.5) / 1000
    drawn = neighbor_values(neighborhoods, np.ones(1000, dtype=np.int64), np.arange(4.0), draws)
    assert (drawn == 2.0).sum() == 250
    assert (drawn == 3.0).sum() == 750


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["sphere", "paper", "ball"]),
    st.integers(1, 6),
    st.floats(0, 2),
    st.just(0.0) | st.floats(1e-6, 1),
    st.integers(0, 2**64),
)
def test_a_move_is_at_most_r_long_and_at_least_as_long_as_asked(draw, d, reach, least, seed):
    movable = np.random.default_rng(seed % 2**32).random((40, d)) < 0.8
    found = moves(Streams(seed), 5, np.full(40, reach), movable, draw, least)
    length = np.sqrt((found**2).sum(axis=1))
    assert (found[~movable] == 0).all()
    moved = movable.any(axis=1)
    highest = reach if least == 0 else max(reach, 2 * least)
    assert (length[moved] <= highest * (1 + 1e-9)).all()
    assert (length[moved] >= least * (1 - 1e-9)).all()
    if highest > 1e-9:
        assert (length[moved] > 0).all()


@pytest.mark.parametrize("draw", ["sphere", "paper", "ball"])
def test_a_records_move_does_not_depend_on_the_range_it_is_asked_in(draw):
    reach, movable = np.linspace(0.1, 1, 30), np.ones((30, 3), dtype=bool)
    whole = moves(Streams(3), 0, reach, movable, draw)
    later = moves(Streams(3), 11, reach[11:], movable[11:], draw)
    assert later.tobytes() == whole[11:].tobytes()


def test_the_papers_draw_gives_half_a_quarter_and_the_rest():
    n = 20_000
    found = moves(Streams(1), 0, np.ones(n), np.ones((n, 3), dtype=bool), "paper")
    shares = (found**2).sum(axis=0) / (found**2).sum()
    np.testing.assert_allclose(shares, [0.5, 0.25, 0.25], atol=0.02)


def test_the_sphere_treats_all_attributes_alike_and_the_ball_fills_its_volume():
    n = 20_000
    every = np.ones((n, 3), dtype=bool)
    sphere = moves(Streams(1), 0, np.ones(n), every, "sphere")
    np.testing.assert_allclose((sphere**2).sum(axis=0) / (sphere**2).sum(), 1 / 3, atol=0.02)
    np.testing.assert_allclose(sphere.mean(axis=0), 0, atol=0.02)
    radius = np.sqrt((sphere**2).sum(axis=1))
    np.testing.assert_allclose(np.quantile(radius, [0.25, 0.5]), [0.25, 0.5], atol=0.02)
    ball = np.sqrt((moves(Streams(1), 0, np.ones(n), every, "ball") ** 2).sum(axis=1))
    np.testing.assert_allclose(np.quantile(ball**3, [0.25, 0.5]), [0.25, 0.5], atol=0.02)


def test_nothing_movable_means_no_move():
    assert moves(Streams(1), 0, np.ones(4), np.ones((4, 0), dtype=bool), "sphere").shape == (4, 0)
    still = moves(Streams(1), 0, np.ones(4), np.zeros((4, 2), dtype=bool), "paper")
    assert not still.any()
