from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.streams import Streams
from distanon.data.table import MemoryScratch
from distanon.kernels.pieces import Piece
from distanon.methods.base import Context
from distanon.methods.dptpe import DPTPE
from distanon.methods.dptpe.passes import Known, Traits
from distanon.methods.dptpe.returned import Return, send, sent_along, substituted
from distanon.methods.dptpe.substitutes import Source
from distanon.runtime.crew import SerialCrew
from distanon.storage.scratch import StoreScratch
from distanon.storage.store import Store


def a_piece(rows, numbers, values, source):
    """A piece with what is known of its points, of which nothing but sources matters."""
    piece = Piece.build(rows, np.array(numbers), values, gapped=False)
    count, width = len(piece), values.shape[1]
    zeros = np.zeros(count)
    traits = Traits(zeros, zeros, zeros, np.zeros((count, width)), zeros.astype(bool))
    swaps = np.empty((len(numbers), 0))
    return piece, Known(traits, swaps, np.array(source, np.int8))


def sent_by(piece, known, spans, scratch, given=(), values=None):
    """What a piece writes for each partition."""
    values = np.empty((0, piece.values.shape[1])) if values is None else values
    shared = (SimpleNamespace(is_asked=True), Return(spans, scratch, "known"))
    return send(shared, (piece, known, 0, np.array(given, np.int64), values))


def lengths(table):
    return [len(one) for one in table.column("substitute").to_pylist()]


@pytest.fixture(params=["memory", "files"])
def scratch(request, tmp_path):
    return MemoryScratch() if request.param == "memory" else StoreScratch(Store(str(tmp_path)))


def test_a_copy_takes_the_values_of_its_point_though_the_first_record_lies_in_another_partition(
    scratch,
):
    rows = np.array([[0.0], [0.0], [1.0], [0.0]])  # the scale tells no difference between three
    values = np.array([[1e-20, np.nan], [2e-20, np.nan], [9.0, 5.0], [3e-20, np.nan]])
    piece, known = a_piece(rows, [1, 3, 4, 6], values, [Source.NEIGHBORS_MEAN] * 2)
    tables = sent_by(piece, known, ((0, 4), (4, 7), (7, 9)), scratch)
    assert tables[2] is None
    first, second = (table.read() for table in tables[:2])
    assert (lengths(first), lengths(second)) == ([0, 2], [0, 2])
    for table, start, own in ((first, 0, values[:2]), (second, 4, values[2:])):
        original = np.full((4, 2), 7.0)
        places = table.column("number").to_numpy() - start
        original[places] = own
        found = substituted(table.column("substitute"), places, original)
        expected = original.copy()
        expected[places[1]] = values[0]
        assert found.tobytes() == expected.tobytes()
        assert original[places].tobytes() == own.tobytes()


def test_what_a_differing_record_has_goes_to_all_records_of_a_point_missing_values_too(scratch):
    rows = np.array([[0.0], [1.0], [0.0], [2.0]])
    values = np.hstack((rows, rows))
    sources = [Source.NONE, Source.NEIGHBORS_MEAN, Source.NONE]
    piece, known = a_piece(rows, [0, 1, 2, 3], values, sources)
    point = int(piece.points.point_of[0])
    given = np.array([[np.nan, 8.0]])
    (table,) = sent_by(piece, known, ((0, 4),), scratch, [point], given)
    table = table.read()
    assert lengths(table) == [2, 0, 2, 0]
    found = substituted(table.column("substitute"), np.arange(4), values)
    assert found[[0, 2]].tobytes() == given[[0, 0]].tobytes()
    assert found[[1, 3]].tobytes() == values[[1, 3]].tobytes()


def test_where_nothing_travels_the_records_own_values_are_taken_as_they_lie():
    sources = np.array([Source.NONE, Source.NEIGHBORS_MEAN], np.int8)
    sent = sent_along(np.zeros((2, 3)), np.arange(2), sources, np.ones(2, bool))
    original = np.ones((2, 3))
    assert substituted(pa.chunked_array([sent]), np.arange(2), original) is original


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_substitutes_arrive_where_they_differ_from_what_is_there(data):
    count = data.draw(st.integers(1, 12))
    source = np.array(data.draw(st.lists(st.integers(0, 2), min_size=count, max_size=count)))
    is_lead = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    point = np.array(data.draw(st.lists(st.integers(0, 4), min_size=count, max_size=count)))
    places = np.array(data.draw(st.permutations(range(count))))
    border = data.draw(st.integers(0, count))
    substitutes = np.arange(15.0).reshape(5, 3)
    substitutes[2, 1] = np.nan
    original = -1.0 - np.arange(3.0 * count).reshape(count, 3)
    parts = [
        sent_along(substitutes, point[part], source[part].astype(np.int8), is_lead[part])
        for part in (slice(border), slice(border, None))
    ]
    found = substituted(pa.chunked_array(parts), places, original)
    for row, place in enumerate(places):
        is_own = source[row] == Source.NONE or (source[row] == 1 and is_lead[row])
        expected = original[place] if is_own else substitutes[point[row]]
        assert found[place].tobytes() == expected.tobytes()


def returned(data, **options):
    """All that pieces sent back of a table."""
    scratch = MemoryScratch()
    context = Context(SerialCrew(), scratch, Streams(7), pieces=5)
    DPTPE(**options).release(data, {}, context)
    sent = [part for name, part in scratch._tables.items() if name.startswith("dptpe-known-")]
    return pa.concat_tables([part.read() for part in sent])


def test_records_that_nobody_equals_bring_their_own_values_alone(make):
    columns = np.random.default_rng(4).normal(size=(3, 200))
    table = returned(make.dataset(dict(zip("abc", columns, strict=True)), 4))
    assert set(table.column("source").to_pylist()) == {Source.NEIGHBORS_MEAN}
    assert lengths(table) == [0] * 200


def test_of_equal_records_all_but_the_first_bring_the_values_of_their_point(make):
    columns = np.random.default_rng(2).integers(0, 5, (2, 300))
    table = returned(make.dataset(dict(zip("ab", columns, strict=True)), 4))
    firsts = {min(np.flatnonzero((row == columns.T).all(axis=1))) for row in columns.T}
    expected = {
        Source.NONE: lambda _: 0,
        Source.NEIGHBORS_MEAN: lambda number: 0 if number in firsts else 2,
        Source.NEAREST_DIFFERING: lambda _: 2,
    }
    numbers, sources = (table.column(name).to_pylist() for name in ("number", "source"))
    assert len(set(sources)) > 1
    assert lengths(table) == [
        expected[source](number) for number, source in zip(numbers, sources, strict=True)
    ]


def test_records_that_may_be_kept_bring_no_substitutes(make):
    table = returned(make.dataset(make.mixed(100), 2), on_unchanged="keep")
    assert not {"source", "substitute"} & set(table.column_names)
