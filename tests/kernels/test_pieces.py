import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from distanon.kernels.neighbors import NeighborIndex, distinct
from distanon.kernels.piece_cuts import piece_cuts
from distanon.kernels.pieces import (
    Boxes,
    Piece,
    answer,
    ask,
    bounds_at,
    merge,
    wanted,
)


def cut_up(matrix, pieces, sample=None):
    cuts = piece_cuts(matrix if sample is None else matrix[:sample], pieces)
    place = cuts.locate(matrix + 0.0)
    gapped = bool(np.isnan(matrix).any())
    made = []
    for number in range(int(cuts.groups.max()) + 1):
        records = np.flatnonzero(place == number)
        if len(records):
            values = np.column_stack((records, matrix[records]))
            made.append(Piece.build(matrix[records], records, values, gapped=gapped))
    return made


def asked_of(pieces, at, queries, k, *, left_out):
    asked = ask(pieces[at], queries, k, left_out=left_out)
    poor = np.flatnonzero(np.isinf(asked.bounds))
    for place, other in enumerate(pieces):
        if place != at:
            rows = pieces[at].points.rows[asked.queries[poor]]
            asked.bounds[poor] = np.minimum(asked.bounds[poor], bounds_at(other, rows, k))
    return asked


def neighborhoods(pieces, k, ties, *, left_out=True):
    boxes = Boxes.join([piece.boxes for piece in pieces])
    found = []
    for at, piece in enumerate(pieces):
        asked = asked_of(pieces, at, np.arange(len(piece)), k, left_out=left_out)
        near = wanted(piece, asked, boxes)
        answers = [
            answer(other, piece, asked, k)
            for place, other in enumerate(pieces)
            if near[place] and place != at
        ]
        found.append(merge(piece, asked, answers, k, ties))
    return found


def assert_as_in_memory(matrix, pieces, k, ties, *, left_out=True):
    index = NeighborIndex.build(distinct(matrix))
    points = index.points
    leads = points.records[points.starts[:-1]]
    if left_out:
        whole = index.neighborhoods(0, len(points), k, ties)
    else:
        whole = index.nearest(points.rows, k, ties)
    seen = []
    for piece, found in zip(pieces, neighborhoods(pieces, k, ties, left_out=left_out), strict=True):
        numbers = points.point_of[piece.leads[found.queries]]
        seen += numbers.tolist()
        expected = whole.take(numbers)
        lists = found.lists
        assert lists.starts.tobytes() == expected.starts.tobytes()
        assert found.leads[lists.points].tolist() == leads[expected.points].tolist()
        assert lists.weights.tobytes() == expected.weights.tobytes()
        assert lists.distances.tobytes() == expected.distances.tobytes()
        assert lists.radius.tobytes() == expected.radius.tobytes()
        assert lists.next_distance.tobytes() == expected.next_distance.tobytes()
        # What travels with a point is its first record's.
        assert found.values[lists.points, 0].tolist() == leads[expected.points].tolist()
    assert sorted(seen) == list(range(len(points)))


@st.composite
def tables(draw):
    n, width = draw(st.integers(3, 120)), draw(st.integers(1, 5))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    levels = draw(st.sampled_from([2, 3, 7, 12, None]))
    if levels is None:
        matrix = generator.normal(size=(n, width))
    else:
        matrix = generator.integers(0, levels, (n, width)) / (levels - 1)
    gaps = draw(st.sampled_from([0.0, 0.0, 0.1, 0.6]))
    matrix[generator.random(matrix.shape) < gaps] = np.nan
    if draw(st.booleans()):
        matrix[generator.random(n) < 0.5] = matrix[0]
    k = draw(st.integers(1, min(n - 2, 15)) if draw(st.booleans()) else st.integers(1, n - 2))
    return matrix, k


@given(
    table=tables(),
    pieces=st.sampled_from([1, 2, 3, 7, 64]),
    ties=st.sampled_from(["include", "truncate"]),
    left_out=st.booleans(),
)
@settings(max_examples=120, deadline=None)
@example(table=(np.zeros((5, 2)), 3), pieces=4, ties="truncate", left_out=True)
@example(table=(np.full((6, 2), np.nan), 3), pieces=4, ties="include", left_out=True)
def test_pieces_find_what_one_index_finds(table, pieces, ties, left_out):
    matrix, k = table
    assert_as_in_memory(matrix, cut_up(matrix, pieces), k, ties, left_out=left_out)


@pytest.mark.parametrize("ties", ["include", "truncate"])
@pytest.mark.parametrize("scale", [1.0, 1e-7, 1e9])
def test_larger_pieces_with_rotated_and_plain_indexes_find_the_same(ties, scale):
    generator = np.random.default_rng(3)
    mixed = generator.normal(size=(6000, 6)) @ generator.normal(size=(6, 6))
    mixed[::50] = mixed[7]
    matrix = mixed * scale
    pieces = cut_up(matrix, 2, sample=500)
    assert len(pieces) == 2
    assert_as_in_memory(matrix, pieces, 10, ties)


def test_equal_rows_are_never_parted():
    matrix = np.random.default_rng(5).integers(0, 3, (400, 3)) / 2.0
    cuts = piece_cuts(matrix[:60], 16)
    place = cuts.locate(matrix)
    points = distinct(matrix)
    for point in range(len(points)):
        assert len(set(place[points.records_of(point)].tolist())) == 1


def test_pieces_of_continuous_rows_are_as_many_as_asked_for_and_nearly_equal():
    matrix = np.random.default_rng(6).normal(size=(5000, 4))
    for pieces in (1, 7, 64):
        sizes = np.bincount(piece_cuts(matrix, pieces).locate(matrix))
        assert len(sizes) == pieces
        assert sizes.max() <= 1.2 * len(matrix) / pieces + 1


def test_rows_that_the_sample_lacks_belong_to_a_piece():
    cuts = piece_cuts(np.array([[0.0], [1.0], [2.0], [3.0]]), 4)
    rows = np.array([[-9.0], [0.4], [1.6], [99.0], [np.nan]])
    assert cuts.locate(rows).tolist() == [0, 0, 2, 3, 3]


def test_missing_values_are_cut_from_all_others():
    sample = np.array([[1.0], [1.0], [np.nan], [np.nan]])
    cuts = piece_cuts(sample, 2)
    assert cuts.locate(np.array([[0.0], [7.0], [np.nan]])).tolist() == [0, 0, 1]


def test_cuts_across_wide_gaps_come_first():
    random = np.random.default_rng(9)
    fine, coarse = random.integers(0, 13, 900) / 12, random.integers(0, 4, 900) / 3
    cuts = piece_cuts(np.column_stack((fine, coarse)), 2)
    assert cuts.locate(np.array([[0.0, 0.4], [1.0, 0.4]])).tolist() == [0, 0]
    assert cuts.locate(np.array([[0.0, 0.6], [1.0, 0.6]])).tolist() == [1, 1]


def test_a_far_piece_is_not_asked():
    near, far = np.random.default_rng(8).random((2, 200, 2))
    matrix = np.concatenate((near, far + 100.0))
    pieces = cut_up(matrix, 2)
    boxes = Boxes.join([piece.boxes for piece in pieces])
    asked = ask(pieces[0], np.arange(200), 5, left_out=True)
    assert wanted(pieces[0], asked, boxes).tolist() == [True, False]
    found = neighborhoods(pieces, 5, "include")
    assert [one.visits for one in found] == [0, 0]
