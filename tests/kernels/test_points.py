import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from distanon.kernels.points import distinct

CELLS = st.sampled_from([0.0, -0.0, 1.0, -1.5, 1e-300, np.nan])


@st.composite
def matrices(draw):
    shape = draw(st.tuples(st.integers(0, 30), st.integers(1, 4)))
    return draw(hnp.arrays(np.float64, shape, elements=CELLS))


def test_equal_records_are_one_point_with_a_count():
    points = distinct(np.array([[2.0, 1.0], [0.0, 5.0], [2.0, 1.0], [2.0, 1.0]]))
    assert points.rows.tolist() == [[2.0, 1.0], [0.0, 5.0]]
    assert points.counts.tolist() == [3, 1]
    assert points.point_of.tolist() == [0, 1, 0, 0]
    assert points.records_of(0).tolist() == [0, 2, 3]
    assert len(points) == 2


def test_missing_equals_missing_whatever_its_bits_and_zero_has_no_sign():
    other_nan = np.array([0xFFF8_0000_0000_0123], dtype=np.uint64).view(np.float64)[0]
    points = distinct(np.array([[np.nan, 0.0], [other_nan, -0.0]]))
    assert points.counts.tolist() == [2]
    assert not np.signbit(points.rows[0, 1])


def test_the_given_matrix_stays_as_it_is_and_the_points_are_read_only():
    matrix = np.array([[-0.0, 1.0]])
    points = distinct(matrix)
    assert np.signbit(matrix[0, 0])
    assert matrix.flags.writeable
    arrays = (points.rows, points.counts, points.point_of, points.records, points.starts)
    assert not any(array.flags.writeable for array in arrays)


def test_records_without_columns_are_all_one_point():
    points = distinct(np.empty((3, 0)))
    assert points.counts.tolist() == [3]
    assert points.rows.shape == (1, 0)


@settings(max_examples=100, deadline=None)
@given(matrices(), st.booleans())
def test_points_agree_with_a_dictionary_of_rows(matrix, few):
    groups = {}
    for record, row in enumerate(matrix):
        key = tuple("missing" if np.isnan(v) else float(v) for v in row)
        groups.setdefault(key, []).append(record)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("distanon.kernels.points._MANY", 10_000 if few else 0)
        points = distinct(matrix)
    assert [points.records_of(p).tolist() for p in range(len(points))] == list(groups.values())
    assert points.counts.tolist() == [len(group) for group in groups.values()]
    for record, point in enumerate(points.point_of):
        np.testing.assert_array_equal(points.rows[point], matrix[record])


@pytest.mark.parametrize("values", [2, 50, 10**6])
def test_many_rows_are_numbered_alike_by_hashing_and_by_sorting(monkeypatch, values):
    matrix = np.random.default_rng(values).integers(0, values, (20_000, 3)) / 7.0
    hashed = distinct(matrix)
    monkeypatch.setattr("distanon.kernels.points._MANY", 10**9)
    by_sorting = distinct(matrix)
    for name in ("rows", "counts", "point_of", "records", "starts"):
        one, other = getattr(hashed, name), getattr(by_sorting, name)
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_find_the_same_points(threads):
    random = np.random.default_rng(1)
    matrix = random.integers(-2, 3, (6000, 3)) * random.choice([0.5, -0.0], (6000, 3))
    matrix[random.random(matrix.shape) < 0.1] = np.nan
    one, many = distinct(matrix), distinct(matrix.copy(), threads, is_given=True)
    for name in ("rows", "counts", "point_of", "records", "starts"):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name))
    assert not np.signbit(many.rows[many.rows == 0]).any()
    _, point_of = np.unique(np.nan_to_num(matrix, nan=9.0) + 0.0, axis=0, return_inverse=True)
    assert len(one) == point_of.max() + 1
    assert all(len(set(point_of[one.records_of(point)])) == 1 for point in range(len(one)))


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("width", [1, 3, 8])
def test_rows_begin_at_a_line_of_the_memory(copies, width):
    matrix = np.random.default_rng(0).random((40, width)).repeat(copies, axis=0)
    points = distinct(matrix)
    assert points.rows.ctypes.data % 64 == 0
    np.testing.assert_array_equal(points.rows, matrix[::copies])
