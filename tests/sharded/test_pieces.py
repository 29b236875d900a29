import pickle
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

from distanon.data.domain import scan
from distanon.data.schema import Attribute, Role, Schema, infer_type
from distanon.data.space import AttributeSpace
from distanon.data.streams import Streams
from distanon.data.table import Dataset, MemoryScratch, cut
from distanon.errors import InfeasibleError
from distanon.kernels.neighbors import Neighborhoods, NeighborIndex, distinct
from distanon.kernels.pieces import ask
from distanon.runtime.crew import SerialCrew
from distanon.sharded.piece_neighbors import neighborhoods_in_pieces
from distanon.sharded.pieces import cut_into_pieces, pieces_for, values_of


class PicklingCrew(SerialCrew):
    """A crew whose function, items and shared value travel, as between processes."""

    def put(self, value):
        return super().put(pickle.loads(pickle.dumps(value, protocol=5)))

    def map(self, function, items, **settings):
        function, items = pickle.loads(pickle.dumps((function, list(items))))
        return super().map(function, items, **settings)


def people(n=400, seed=0):
    generator = np.random.default_rng(seed)

    def holes(values):
        return [None if generator.random() < 0.05 else value for value in values.tolist()]

    return pa.table(
        {
            "age": pa.array(holes(generator.integers(18, 60, n)), pa.int16()),
            "income": pa.array(holes(generator.normal(3e4, 9e3, n).round(2))),
            "job": pa.array(holes(generator.choice(["a", "b", "c"], n)), pa.string()),
        }
    )


def lattice(n=600, seed=1):
    columns = np.random.default_rng(seed).integers(0, 4, (3, n))
    return pa.table(dict(zip("abc", columns, strict=True)))


def dataset(table, partitions):
    attributes = tuple(
        Attribute(f.name, Role.QUASI_IDENTIFIER, infer_type(f.type), f.type) for f in table.schema
    )
    return Dataset(Schema(attributes), cut(table, partitions), "the test's table")


def space_of(data):
    return AttributeSpace.of(data.schema.quasi_identifiers, scan(data))


def assert_as_in_memory(crew, table, partitions, count, k, ties, scratch=None):
    data = dataset(table, partitions)
    space = space_of(data)
    values = space.encode(data.read())
    index = NeighborIndex.build(distinct(space.embed(values)))
    points = index.points
    leads = points.records[points.starts[:-1]]
    whole = index.neighborhoods(0, len(points), k, ties)
    pieces = cut_into_pieces(crew, scratch or MemoryScratch(), data, space, Streams(3), count)
    assert len(pieces) <= count
    assert sum(pieces.points) == len(points)
    seen = []
    found = neighborhoods_in_pieces(crew, pieces, k, ties)
    for kept, lists in zip(pieces.kept, found, strict=True):
        piece, one = crew.fetch(kept), crew.fetch(lists)
        asking = piece.leads[one.queries]
        seen += asking.tolist()
        expected = whole.take(points.point_of[asking])
        assert one.lists.starts.tobytes() == expected.starts.tobytes()
        assert one.leads[one.lists.points].tolist() == leads[expected.points].tolist()
        for name in ("weights", "distances", "radius", "next_distance"):
            assert getattr(one.lists, name).tobytes() == getattr(expected, name).tobytes()
        used = np.unique(one.lists.points)
        assert one.values[used].tobytes() == values[one.leads[used]].tobytes()
    assert sorted(seen) == leads.tolist()
    return len(pieces)


@pytest.mark.parametrize("ties", ["include", "truncate"])
@pytest.mark.parametrize(("pieces", "partitions"), [(1, 3), (7, 1), (7, 5), (64, 4)])
@pytest.mark.parametrize("table", [people(), lattice()], ids=["people", "lattice"])
def test_pieces_and_partitions_change_no_byte(table, pieces, partitions, ties):
    made = assert_as_in_memory(PicklingCrew(), table, partitions, pieces, 6, ties)
    assert made > pieces // 2


def test_pieces_of_one_point_ask_the_others():
    table = pa.table({"a": [0] * 200 + [1] * 3 + [2, 3, 4], "b": [5] * 206})
    for ties in ("include", "truncate"):
        assert_as_in_memory(SerialCrew(), table, 2, 64, 4, ties)


def test_cuts_do_not_depend_on_partitions_nor_their_order_of_work():
    crew, told = SerialCrew(), []
    for partitions in (1, 6):
        data = dataset(people(3000), partitions)
        made = cut_into_pieces(crew, MemoryScratch(), data, space_of(data), Streams(3), 2)
        told.append([crew.fetch(kept).numbers.tolist() for kept in made.kept])
    assert told[0] == told[1]


def test_an_exchange_that_was_finished_is_not_done_again():
    scratch, data = MemoryScratch(), dataset(people(), 3)
    crew, space = SerialCrew(), space_of(data)
    first = cut_into_pieces(crew, scratch, data, space, Streams(3), 7)

    def refuse(name, _):
        raise AssertionError(name)

    scratch.write = refuse
    again = cut_into_pieces(crew, scratch, data, space, Streams(3), 7)
    for one, other in zip(first.kept, again.kept, strict=True):
        assert crew.fetch(one).numbers.tolist() == crew.fetch(other).numbers.tolist()


def test_pieces_that_were_finished_are_not_searched_again(monkeypatch):
    scratch, data, crew = MemoryScratch(), dataset(people(), 3), SerialCrew()
    pieces = cut_into_pieces(crew, scratch, data, space_of(data), Streams(3), 7)
    settings = {"k": 6, "ties": "include", "scratch": scratch, "name": "lists"}
    whole = [crew.fetch(one) for one in neighborhoods_in_pieces(crew, pieces, **settings)]
    for name in ("lists-2", "lists-5-points"):  # as if the run had died before these
        del scratch._tables[name]
    asked = []
    monkeypatch.setattr(
        "distanon.sharded.piece_neighbors.ask",
        lambda piece, *args, **how: asked.append(piece.numbers[0]) or ask(piece, *args, **how),
    )
    again = [crew.fetch(one) for one in neighborhoods_in_pieces(crew, pieces, **settings)]
    assert asked == [crew.fetch(pieces.kept[at]).numbers[0] for at in (2, 5)]
    for one, other in zip(whole, again, strict=True):
        for name in ("queries", "leads", "values"):
            assert getattr(one, name).dtype == getattr(other, name).dtype
            assert getattr(one, name).tobytes() == getattr(other, name).tobytes()
        for name in Neighborhoods.__slots__:
            assert getattr(one.lists, name).dtype == getattr(other.lists, name).dtype
            assert getattr(one.lists, name).tobytes() == getattr(other.lists, name).tobytes()


def test_some_points_can_ask_for_what_is_near_themselves_included():
    data, crew = dataset(people(), 2), SerialCrew()
    space = space_of(data)
    index = NeighborIndex.build(distinct(space.embed(space.encode(data.read()))))
    leads = index.points.records[index.points.starts[:-1]]
    pieces = cut_into_pieces(crew, MemoryScratch(), data, space, Streams(3), 5)
    queries = [
        np.arange(0, points, 3) if at % 2 else np.arange(0)
        for at, points in enumerate(pieces.points)
    ]
    found = neighborhoods_in_pieces(crew, pieces, 9, "truncate", queries=queries, left_out=False)
    for at, (kept, lists) in enumerate(zip(pieces.kept, found, strict=True)):
        piece, one = crew.fetch(kept), crew.fetch(lists)
        assert one.queries.tolist() == queries[at].tolist()
        rows = piece.points.rows[one.queries]
        expected = index.nearest(rows, 9, "truncate")
        assert one.leads[one.lists.points].tolist() == leads[expected.points].tolist()
        assert one.lists.weights.tolist() == expected.weights.tolist()


def gaps_and_greatest(values, digits):
    return int(np.isnan(values).sum()), np.nanmax(values[:, 1], initial=0.0).round(digits)


def test_each_partition_is_looked_at_on_the_way_those_without_sampled_records_too(monkeypatch):
    monkeypatch.setattr("distanon.sharded.pieces._SAMPLE", 20)
    table, crew, picks = people(), PicklingCrew(), np.array([3, 17, 399])
    data = dataset(table, 100)
    space = space_of(data)
    made = [
        cut_into_pieces(crew, MemoryScratch(), data, space, Streams(3), 2, picks, look)
        for look in (None, partial(gaps_and_greatest, digits=1))
    ]
    assert made[0].seen == ()
    assert list(made[1].seen) == [
        gaps_and_greatest(space.encode(part.read()), 1) for part in data.partitions
    ]
    every = space.encode(data.read())
    for one in made:
        assert one.picked.tobytes() == every[picks].tobytes()
    numbers = [[crew.fetch(kept).numbers.tolist() for kept in one.kept] for one in made]
    assert numbers[0] == numbers[1]


def test_values_of_some_records_are_read_from_their_partitions():
    data = dataset(people(), 5)
    space = space_of(data)
    chosen = np.array([0, 79, 80, 81, 399])
    expected = space.encode(data.read())[chosen]
    found = values_of(SerialCrew(), data, space, chosen)
    np.testing.assert_array_equal(found, expected)


def test_k_beyond_the_other_records_is_refused():
    data, crew = dataset(people(50), 2), SerialCrew()
    pieces = cut_into_pieces(crew, MemoryScratch(), data, space_of(data), Streams(3), 3)
    with pytest.raises(InfeasibleError, match="49"):
        neighborhoods_in_pieces(crew, pieces, 50, "include")


def test_a_table_that_one_process_can_hold_stays_in_one_piece():
    assert pieces_for(1_000_000, 10) == 1
    assert pieces_for(10_000_000, 8) > 8
