import pickle
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from distanon.errors import InfeasibleError
from distanon.kernels.candidates import Proposer
from distanon.kernels.neighbors import Neighborhoods, NeighborIndex, distinct

TIES = ("include", "truncate")


# The oracle: brute force over records, written from the definitions.
def distances_to(matrix, query):
    total = np.zeros(len(matrix))
    for c in range(matrix.shape[1]):
        away = matrix[:, c] - query[c]
        one, other = np.isnan(matrix[:, c]), np.isnan(query[c])
        total += np.where(one & other, 0.0, np.where(one | other, 1.0, away * away))
    return np.sqrt(total)


def tie(distance):
    return distance * (1 + 1e-9) + 1e-12


def expected(matrix, query, k, ties, left_out=None):
    """(record numbers, radius, next distance) of one query."""
    d = distances_to(matrix, query)
    others = np.array([r for r in range(len(matrix)) if r != left_out])
    ranked = np.sort(d[others])
    radius = ranked[k - 1]
    within = [r for r in others if d[r] <= tie(radius)]
    if ties == "include":
        beyond = ranked[ranked > tie(radius)]
        return sorted(within), radius, beyond[0] if len(beyond) else radius
    copies = [] if left_out is None else [r for r in within if same(matrix[r], query)]
    closer = [r for r in within if tie(d[r]) < radius]
    in_turn = dict.fromkeys([*sorted(closer), *sorted(copies), *sorted(within)])
    further = ranked[k] if k < len(ranked) and ranked[k] > tie(radius) else radius
    return sorted(list(in_turn)[:k]), radius, further


def same(row, other):
    return np.array_equal(row, other, equal_nan=True)


def check_entries(found, points, matrix, queries):
    """Entries are ordered, exact and positive."""
    number = np.array([points.records_of(p)[0] for p in range(len(points))])
    for i in range(len(found)):
        part = slice(found.starts[i], found.starts[i + 1])
        who, near = found.points[part], found.distances[part]
        keys = list(zip(near, number[who], strict=True))
        assert keys == sorted(keys)
        assert len(set(who)) == len(who)
        assert (near == distances_to(points.rows, queries[i])[who]).all()
        assert (found.weights[part] >= 1).all()


@st.composite
def tables(draw, least=2):
    """Lattices that round, with duplicates, constant columns and missing values."""
    n, width = draw(st.integers(least, 40)), draw(st.integers(1, 8))
    seed = draw(st.integers(0, 2**32 - 1))
    values = draw(st.sampled_from([1, 2, 3, 13, 1_000_000]))
    missing = draw(st.sampled_from([0.0, 0.0, 0.1, 0.6]))
    random = np.random.default_rng(seed)
    matrix = random.integers(0, values, (n, width)) / random.choice([1, 3, 7, 12, 1e-3, 1e6], width)
    matrix[:, random.random(width) < 0.15] = 0.7
    matrix[random.random((n, width)) < missing] = np.nan
    copied = random.random(n) < draw(st.sampled_from([0.0, 0.3, 0.8]))
    matrix[copied] = matrix[random.integers(0, n, int(copied.sum()))]
    return matrix


@settings(max_examples=150, deadline=None)
@given(tables(), st.data(), st.sampled_from(TIES))
def test_neighborhoods_agree_with_brute_force_over_records(matrix, data, ties):
    k = data.draw(st.integers(1, len(matrix) - 1))
    points = distinct(matrix)
    found = NeighborIndex.build(points).neighborhoods(0, len(points), k, ties)
    check_entries(found, points, matrix, points.rows)
    for record, point in enumerate(points.point_of):
        numbers, radius, beyond = expected(matrix, matrix[record], k, ties, left_out=record)
        assert found.records(point, points, record).tolist() == numbers
        assert found.sizes()[point] == len(numbers)
        assert found.radius[point] == radius
        assert found.next_distance[point] == beyond


@settings(max_examples=100, deadline=None)
@given(tables(), tables(), st.data(), st.sampled_from(TIES))
def test_nearest_agrees_with_brute_force_for_other_queries(matrix, queries, data, ties):
    k = data.draw(st.integers(1, len(matrix)))
    width = min(matrix.shape[1], queries.shape[1])
    matrix, queries = matrix[:, :width], np.vstack((queries[:, :width], matrix[:3, :width]))
    points = distinct(matrix)
    found = NeighborIndex.build(points).nearest(queries, k, ties)
    check_entries(found, points, matrix, queries)
    for i, query in enumerate(queries):
        numbers, radius, beyond = expected(matrix, query, k, ties)
        assert found.records(i, points).tolist() == numbers
        assert found.radius[i] == radius
        assert found.next_distance[i] == beyond


@pytest.mark.parametrize("engine", ["tree", "rotated", "brute"])
def test_queries_that_lack_values_are_answered_by_every_engine(engine):
    draw = np.random.default_rng(3)
    matrix = draw.normal(size=(200, 4)) @ draw.normal(size=(4, 4))
    queries = draw.normal(size=(30, 4))
    queries[::3, 1] = np.nan
    queries[::5, 3] = np.nan
    points = distinct(matrix)
    found = NeighborIndex.build(points, engine).nearest(queries, 7, "include")
    for i, query in enumerate(queries):
        numbers, radius, _ = expected(matrix, query, 7, "include")
        assert found.records(i, points).tolist() == numbers
        assert found.radius[i] == radius


@settings(max_examples=40, deadline=None)
@given(tables(), st.data(), st.sampled_from(TIES))
def test_block_cuts_change_no_byte(matrix, data, ties):
    k = data.draw(st.integers(1, len(matrix) - 1))
    points = distinct(matrix)
    index = NeighborIndex.build(points)
    whole = index.neighborhoods(0, len(points), k, ties)
    cuts = sorted({0, len(points), *data.draw(st.lists(st.integers(0, len(points)), max_size=5))})
    parts = [index.neighborhoods(a, b, k, ties) for a, b in pairwise(cuts)]
    assert_same(Neighborhoods.join(parts), whole)


@settings(max_examples=40, deadline=None)
@given(tables(), st.data())
def test_permuting_the_records_permutes_their_neighborhoods(matrix, data):
    k = data.draw(st.integers(1, len(matrix) - 1))
    moved_to = np.array(data.draw(st.permutations(range(len(matrix)))))
    permuted = np.empty_like(matrix)
    permuted[moved_to] = matrix
    before, after = distinct(matrix), distinct(permuted)
    one = NeighborIndex.build(before).neighborhoods(0, len(before), k, "include")
    other = NeighborIndex.build(after).neighborhoods(0, len(after), k, "include")
    for record in range(len(matrix)):
        p, q = before.point_of[record], after.point_of[moved_to[record]]
        assert one.radius[p] == other.radius[q]
        assert one.next_distance[p] == other.next_distance[q]
        there = set(other.records(q, after, moved_to[record]).tolist())
        assert {int(moved_to[r]) for r in one.records(p, before, record)} == there


@settings(max_examples=40, deadline=None)
@given(tables(), st.data(), st.sampled_from(TIES))
def test_lists_of_many_records_equal_those_of_each(matrix, data, ties):
    k = data.draw(st.integers(1, len(matrix) - 1))
    points = distinct(matrix)
    found = NeighborIndex.build(points).neighborhoods(0, len(points), k, ties)
    asking = np.array(data.draw(st.lists(st.integers(0, len(matrix) - 1), max_size=9)), np.int64)
    starts, numbers = found.record_lists(points, points.point_of[asking], asking)
    for i, record in enumerate(asking):
        alone = found.records(points.point_of[record], points, record)
        assert numbers[starts[i] : starts[i + 1]].tolist() == alone.tolist()


def assert_same(one, other):
    for name in Neighborhoods.__slots__:
        first, second = getattr(one, name), getattr(other, name)
        assert first.dtype == second.dtype
        assert first.tobytes() == second.tobytes(), name


@pytest.mark.parametrize("width", [1, 3, 10, 40])
def test_distances_agree_with_scipy_beyond_one_leaf(width):
    matrix = np.random.default_rng(5).normal(size=(700, width))
    points = distinct(matrix)
    found = NeighborIndex.build(points).neighborhoods(0, 700, 9, "include")
    ranked = np.sort(cdist(matrix, matrix), axis=1)  # the first is the record itself
    np.testing.assert_allclose(found.radius, ranked[:, 9], rtol=1e-12)
    np.testing.assert_allclose(found.next_distance, ranked[:, 10], rtol=1e-12)
    np.testing.assert_allclose(found.distances.reshape(700, 9), ranked[:, 1:10], rtol=1e-12)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_deep_trees_on_lattices_agree_with_brute_force(ties, missing):
    random = np.random.default_rng(11)
    matrix = random.integers(0, 13, (3000, 4)) / 12 * [1, 1 / 3, 0.1, 1]
    matrix[random.random(matrix.shape) < missing] = np.nan
    points = distinct(matrix)
    index = NeighborIndex.build(points)
    assert index.tree.wide.height > 1
    found = index.neighborhoods(0, len(points), 25, ties)
    for record in range(0, 3000, 37):
        numbers, radius, beyond = expected(matrix, matrix[record], 25, ties, left_out=record)
        point = points.point_of[record]
        assert found.records(point, points, record).tolist() == numbers
        assert (found.radius[point], found.next_distance[point]) == (radius, beyond)


def test_distances_that_differ_in_their_last_bits_are_ties():
    cells = np.arange(13)[:, None] / 12  # steps of 1/12 differ by 1e-17
    points = distinct(cells)
    gaps = np.diff(cells[:, 0])
    assert len(set(gaps)) > 1
    index = NeighborIndex.build(points)
    both = index.neighborhoods(0, 13, 1, "include")
    assert both.sizes().tolist() == [1, *[2] * 11, 1]
    assert (both.next_distance - both.radius > 0.08).all()
    one = index.neighborhoods(0, 13, 1, "truncate")
    assert [one.records(i, points, i).tolist() for i in range(1, 12)] == [
        [i - 1] for i in range(1, 12)
    ]
    assert (one.next_distance[1:12] == one.radius[1:12]).all()


def test_worked_example_with_copies():
    # records 0, 2, 4 are equal; 1 lies at 1, 3 at -1, 5 at 3
    matrix = np.array([[0.0], [1.0], [0.0], [-1.0], [0.0], [3.0]])
    points = distinct(matrix)
    index = NeighborIndex.build(points)
    both = index.neighborhoods(0, 1, 3, "include")
    assert both.points.tolist() == [0, 1, 2]
    assert both.weights.tolist() == [2, 1, 1]
    assert both.distances.tolist() == [0.0, 1.0, 1.0]
    assert (both.radius[0], both.next_distance[0]) == (1.0, 3.0)
    assert both.records(0, points, 2).tolist() == [0, 1, 3, 4]
    cut = index.neighborhoods(0, 1, 3, "truncate")
    assert cut.records(0, points, 4).tolist() == [0, 1, 2]
    assert (cut.radius[0], cut.next_distance[0]) == (1.0, 1.0)
    one = index.neighborhoods(0, 1, 1, "truncate")
    assert one.weights.tolist() == [1]
    assert [one.records(0, points, r).tolist() for r in (0, 2, 4)] == [[2], [0], [0]]


def test_other_queries_leave_nothing_out():
    points = distinct(np.array([[0.0], [1.0], [0.0]]))
    found = NeighborIndex.build(points).nearest(np.array([[0.0]]), 2, "include")
    assert found.records(0, points).tolist() == [0, 2]
    assert (found.radius[0], found.next_distance[0]) == (0.0, 1.0)


def test_nothing_beyond_the_ties_leaves_no_room_to_move():
    points = distinct(np.array([[0.0], [1.0], [-1.0]]))
    found = NeighborIndex.build(points).neighborhoods(0, 1, 1, "include")
    assert found.sizes().tolist() == [2]
    assert found.next_distance[0] == found.radius[0] == 1.0


def test_missing_is_one_away_from_a_value_and_zero_from_missing():
    nan = np.nan
    points = distinct(np.array([[nan, 0.0], [5.0, 0.0], [nan, 0.5], [5.0, nan]]))
    found = NeighborIndex.build(points).neighborhoods(0, 4, 3, "include")
    from_first = dict(zip(found.points[:3].tolist(), found.distances[:3].tolist(), strict=True))
    assert from_first == {2: 0.5, 1: 1.0, 3: np.sqrt(2.0)}


def test_squares_that_vanish_do_not_mix_points_up():
    points = distinct(np.array([[1e-200], [0.0], [2e-200], [1.0]]))
    found = NeighborIndex.build(points).neighborhoods(0, 3, 1, "include")
    assert found.sizes().tolist() == [2, 2, 2]
    assert found.next_distance.tolist() == [1.0, 1.0, 1.0]


def test_many_copies_cost_no_more_memory_than_their_points():
    matrix = np.repeat(np.arange(5.0), 20_000)[:, None]
    points = distinct(matrix)
    found = NeighborIndex.build(points).neighborhoods(0, 5, 30_000, "include")
    assert len(found.points) <= 15
    assert found.sizes()[0] == 19_999 + 20_000


def test_a_pickled_index_answers_with_the_same_bytes():
    points = distinct(np.random.default_rng(3).integers(0, 5, (200, 3)) / 4)
    index = NeighborIndex.build(points)
    buffers = []
    packed = pickle.dumps(index, protocol=5, buffer_callback=buffers.append)
    assert len(packed) < 3000  # the arrays travel beside it
    copy = pickle.loads(packed, buffers=[bytes(buffer) for buffer in buffers])
    assert_same(copy.neighborhoods(0, 9, 4, "include"), index.neighborhoods(0, 9, 4, "include"))


ONE_FORM = """
import pickle
import numpy as np
from distanon.kernels.kd_join import propose
from distanon.kernels.kd_search import settle
from distanon.kernels.neighbors import NeighborIndex, distinct

index = NeighborIndex.build(distinct(np.arange(12.0).reshape(6, 2)))
index.neighborhoods(0, 3, 2, "include")
index.nearest(np.zeros((2, 2)), 2, "truncate")
buffers = []
packed = pickle.dumps(index, protocol=5, buffer_callback=buffers.append)
mapped = pickle.loads(packed, buffers=[bytes(b) for b in buffers])
mapped.nearest(np.zeros((1, 2)), 1, "include")
float32s = [kinds for kinds in propose.signatures if kinds[2].dtype.bitwidth == 32]
print(len(float32s), len(settle.signatures))
"""


def test_one_compiled_form_serves_own_arrays_and_mapped_ones():
    command = [sys.executable, "-c", ONE_FORM]  # what other tests compiled does not count
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout == "1 1\n"


@pytest.mark.parametrize("k", [0, 3])
def test_k_beyond_the_other_records_is_refused_with_the_greatest_that_works(k):
    index = NeighborIndex.build(distinct(np.array([[0.0], [1.0], [0.0]])))
    with pytest.raises(InfeasibleError, match=f"k from 1 to 2 .* other records.*got {k}"):
        index.neighborhoods(0, 2, k, "include")


def test_an_index_of_nothing_is_refused():
    with pytest.raises(InfeasibleError, match="from 1 to"):
        NeighborIndex.build(distinct(np.empty((0, 2))))


def test_no_queries_have_no_neighborhoods():
    index = NeighborIndex.build(distinct(np.array([[0.0], [1.0]])))
    found = index.nearest(np.empty((0, 1)), 1, "include")
    assert len(found) == 0
    assert found.starts.tolist() == [0]
    assert len(Neighborhoods.join([])) == 0


def test_ties_of_all_records_are_all_taken_or_cut_at_the_lowest_numbers():
    points = distinct(np.eye(150)[::-1])  # every two records are equally far apart
    index = NeighborIndex.build(points)
    everyone = index.neighborhoods(0, 150, 3, "include")
    assert (everyone.sizes() == 149).all()
    assert everyone.points[:149].tolist() == list(range(1, 150))
    assert (everyone.next_distance == everyone.radius).all()
    three = index.neighborhoods(0, 150, 3, "truncate")
    assert three.records(1, points, 1).tolist() == [0, 2, 3]
    assert three.records(149, points, 149).tolist() == [0, 1, 2]


def test_taking_queries_takes_their_entries():
    points = distinct(np.random.default_rng(8).integers(0, 3, (60, 2)) / 2)
    index = NeighborIndex.build(points)
    whole = index.neighborhoods(0, len(points), 4, "include")
    assert_same(whole.take(np.arange(2, 5)), index.neighborhoods(2, 5, 4, "include"))
    assert len(whole.take(np.empty(0, dtype=np.int64)).points) == 0


def test_records_without_columns_are_all_copies():
    points = distinct(np.empty((4, 0)))
    found = NeighborIndex.build(points).neighborhoods(0, 1, 2, "include")
    assert found.records(0, points, 3).tolist() == [0, 1, 2]
    assert found.radius[0] == found.next_distance[0] == 0.0


ENGINES = ("tree", "rotated", "brute")


@st.composite
def wide_tables(draw):
    """Up to 60 columns: lattices with heavy ties, duplicates, constant columns, missing values."""
    n, width = draw(st.integers(3, 300)), draw(st.integers(1, 60))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = draw(st.sampled_from([2, 3, 13, 1_000_000]))
    matrix = random.integers(0, values, (n, width)) / draw(st.sampled_from([1, 3, 7, 12, 1e5]))
    matrix[:, random.random(width) < draw(st.sampled_from([0.0, 0.5]))] = 0.7
    matrix[random.random((n, width)) < draw(st.sampled_from([0.0, 0.0, 0.2]))] = np.nan
    copied = random.random(n) < draw(st.sampled_from([0.0, 0.5]))
    matrix[copied] = matrix[random.integers(0, n, int(copied.sum()))]
    return matrix


@settings(max_examples=60, deadline=None)
@given(wide_tables(), st.data(), st.sampled_from(TIES))
def test_every_engine_gives_the_bytes_that_brute_force_over_records_gives(matrix, data, ties):
    n = len(matrix)
    k = data.draw(st.one_of(st.integers(1, n - 2), st.integers(1, min(9, n - 2))))
    points = distinct(matrix)
    one, *others = (
        NeighborIndex(points, Proposer.build(points, engine, dtype)).neighborhoods(
            0, len(points), k, ties
        )
        for engine in ENGINES
        for dtype in (np.float32, np.float64)
    )
    for other in others:
        assert_same(one, other)
    check_entries(one, points, matrix, points.rows)
    for record in range(0, n, 1 + n // 12):
        numbers, radius, beyond = expected(matrix, matrix[record], k, ties, left_out=record)
        point = points.point_of[record]
        assert one.records(point, points, record).tolist() == numbers
        assert (one.radius[point], one.next_distance[point]) == (radius, beyond)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("values", [3, 1_000_000])
def test_every_engine_gives_the_same_bytes_beyond_one_block(values, ties):
    random = np.random.default_rng(21)
    matrix = random.integers(0, values, (2500, 9)) / values @ random.normal(size=(9, 9))
    points = distinct(matrix[random.integers(0, 2500, 3500)])
    queries = matrix[:40] + 1e-3
    one, *others = (NeighborIndex.build(points, engine) for engine in (*ENGINES, None))
    for other in others:
        assert_same(
            one.neighborhoods(0, len(points), 12, ties),
            other.neighborhoods(0, len(points), 12, ties),
        )
        assert_same(one.nearest(queries, 12, ties), other.nearest(queries, 12, ties))


@pytest.mark.parametrize("engine", ENGINES)
def test_distances_far_below_the_resolution_of_float32_are_told_apart(engine):
    random = np.random.default_rng(2)
    matrix = np.vstack((random.random((300, 3)) * 1e-9, np.ones((2, 3))))
    points = distinct(matrix)
    found = NeighborIndex.build(points, engine).neighborhoods(0, 300, 4, "include")
    for record in range(0, 300, 17):
        numbers, radius, beyond = expected(matrix, matrix[record], 4, "include", left_out=record)
        assert found.records(record, points, record).tolist() == numbers
        assert (found.radius[record], found.next_distance[record]) == (radius, beyond)


def test_a_table_that_float32_can_not_resolve_is_searched_in_float64():
    random = np.random.default_rng(2)
    fine = distinct(np.vstack((random.random((3000, 3)) * 1e-9, np.ones((1, 3)))))
    assert NeighborIndex.build(fine).proposer.space.dtype is np.float64
    assert (
        NeighborIndex.build(distinct(random.random((3000, 3)))).proposer.space.dtype is np.float32
    )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("far", [1e3, 1e9, 1e30])
def test_queries_far_from_all_points_find_the_nearest(engine, far):
    matrix = np.random.default_rng(4).random((200, 4))
    points = distinct(matrix)
    queries = np.array([[far, 0.0, -far, 0.5], [0.1, 0.2, 0.3, 0.4]])
    found = NeighborIndex.build(points, engine).nearest(queries, 5, "include")
    for i, query in enumerate(queries):
        numbers, radius, beyond = expected(matrix, query, 5, "include")
        assert found.records(i, points).tolist() == numbers
        assert (found.radius[i], found.next_distance[i]) == (radius, beyond)


def test_rotation_is_chosen_where_columns_say_the_same_and_not_on_a_lattice():
    random = np.random.default_rng(6)
    hidden = random.normal(size=(4000, 3))
    alike = distinct(hidden @ random.normal(size=(3, 12)) + 0.01 * random.normal(size=(4000, 12)))
    assert NeighborIndex.build(alike).proposer.engine == "rotated"
    lattice = distinct(random.integers(0, 13, (4000, 6)) / 12)
    assert NeighborIndex.build(lattice).proposer.engine == "tree"
    shapeless = distinct(random.normal(size=(4000, 30)))
    assert NeighborIndex.build(shapeless).proposer.engine == "brute"


@pytest.mark.parametrize(("width", "engine"), [(10, "tree"), (16, "brute")])
def test_products_of_matrices_are_chosen_where_half_of_all_distances_are_needed(width, engine):
    points = distinct(np.random.default_rng(width).normal(size=(200_000, width)))
    assert NeighborIndex.build(points).proposer.engine == engine


@pytest.mark.parametrize("ties", TIES)
def test_threads_and_blocks_of_neighboring_points_change_no_byte(ties):
    points = distinct(np.random.default_rng(8).integers(0, 40, (20_000, 4)) / 39)
    index = NeighborIndex.build(points)
    whole = index.neighborhoods(0, len(points), 6, ties)
    assert_same(index.neighborhoods(0, len(points), 6, ties, threads=2), whole)
    assert_same(index.nearest(points.rows, 6, ties, threads=2), index.nearest(points.rows, 6, ties))
    seen = []
    for numbers, found in index.blocks(6, ties, size=3000):
        seen.append(numbers)
        assert_same(found, whole.take(numbers))
    assert len(seen) > 5
    assert sorted(np.concatenate(seen)) == list(range(len(points)))


def test_runs_for_several_workers_shrink_at_the_end_and_cover_all_places():
    index = NeighborIndex.build(distinct(np.random.default_rng(4).random((20_000, 2))))
    runs = index.runs(8, workers=2)
    assert [start for start, _ in runs] == [0, *(stop for _, stop in runs[:-1])]
    assert runs[-1][1] == 20_000
    lengths = np.array([stop - start for start, stop in runs])
    np.testing.assert_allclose(lengths / 2500, [1] * 6 + [0.5] * 2 + [0.25] * 4, atol=0.03)
    assert index.runs(8, workers=8) == index.runs(8)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("size", [1e-25, 1e-150, 1e-300])
@pytest.mark.parametrize("engine", ["tree", "float64"])
def test_what_is_far_closer_together_than_a_missing_value_is_found(size, ties, engine):
    random = np.random.default_rng(3)
    matrix = random.normal(size=(300, 4)) * size
    matrix[random.random(matrix.shape) < 0.02] = np.nan
    points = distinct(matrix)
    index = NeighborIndex.build(points, "tree")
    if engine == "float64":
        index = NeighborIndex(points, Proposer.build(points, "tree", np.float64))
    found = index.neighborhoods(0, len(points), 7, ties)
    queries = matrix[:40] + size
    queries[::2, 0] = np.nan
    others = index.nearest(queries, 7, ties)
    for record in range(0, 300, 7):
        numbers, radius, beyond = expected(matrix, matrix[record], 7, ties, left_out=record)
        point = points.point_of[record]
        assert found.records(point, points, record).tolist() == numbers
        assert (found.radius[point], found.next_distance[point]) == (radius, beyond)
    for place in range(0, 40, 3):
        numbers, radius, beyond = expected(matrix, queries[place], 7, ties)
        assert others.records(place, points).tolist() == numbers
        assert (others.radius[place], others.next_distance[place]) == (radius, beyond)
