import pickle

import numpy as np
import pytest

from distanon.errors import InfeasibleError
from distanon.kernels.neighbors import Neighborhoods, NeighborIndex, distinct
from distanon.runtime.crew import Kept, SerialCrew
from distanon.sharded.neighbors import nearest, neighborhoods, neighborhoods_by_place

MATRIX = np.random.default_rng(17).integers(0, 4, (300, 3)) / 3


class PicklingCrew(SerialCrew):
    """A crew whose function, items and shared value travel, as between processes."""

    def put(self, value):
        return super().put(pickle.loads(pickle.dumps(value, protocol=5)))

    def map(self, function, items, **settings):
        function, items = pickle.loads(pickle.dumps((function, list(items))))
        return super().map(function, items, **settings)


def same_bytes(one, other):
    return all(
        getattr(one, name).tobytes() == getattr(other, name).tobytes()
        for name in Neighborhoods.__slots__
    )


@pytest.mark.parametrize("crew", [SerialCrew(), PicklingCrew()])
@pytest.mark.parametrize("ties", ["include", "truncate"])
@pytest.mark.parametrize("blocks", [1, 2, 7, 1000])
def test_blocks_change_no_byte(crew, ties, blocks):
    index = NeighborIndex.build(distinct(MATRIX))
    n = len(index.points)
    parts = neighborhoods(crew, crew.put(index), n, 6, ties, blocks)
    assert len(parts) == min(blocks, n)
    assert all(isinstance(kept, Kept) for _, _, kept in parts)
    borders = [start for start, _, _ in parts] + [parts[-1][1]]
    assert borders == sorted(set(borders))
    assert (borders[0], borders[-1]) == (0, n)
    joined = Neighborhoods.join([crew.fetch(kept) for _, _, kept in parts])
    assert same_bytes(joined, index.neighborhoods(0, n, 6, ties))


def test_values_come_back_when_nothing_is_to_be_kept():
    crew = SerialCrew()
    index = NeighborIndex.build(distinct(MATRIX))
    ((start, stop, found),) = neighborhoods(
        crew, crew.put(index), len(index.points), k=2, ties="include", blocks=1, keep=False
    )
    assert (start, stop) == (0, len(index.points))
    assert same_bytes(found, index.neighborhoods(start, stop, 2, "include"))


@pytest.mark.parametrize("blocks", [1, 3, 100])
def test_other_queries_come_back_in_their_order(blocks):
    crew = PicklingCrew()
    index = NeighborIndex.build(distinct(MATRIX))
    queries = np.random.default_rng(4).random((23, 3))
    queries[5, 1] = np.nan
    found = nearest(crew, crew.put(index), queries, k=5, ties="truncate", blocks=blocks)
    assert same_bytes(found, index.nearest(queries, 5, "truncate"))


def test_no_queries_are_no_neighborhoods():
    crew = SerialCrew()
    index = NeighborIndex.build(distinct(MATRIX))
    assert len(nearest(crew, crew.put(index), np.empty((0, 3)), 1, "include", 4)) == 0


def test_k_beyond_the_other_records_is_refused():
    crew = SerialCrew()
    index = NeighborIndex.build(distinct(MATRIX))
    with pytest.raises(InfeasibleError, match="299"):
        neighborhoods(crew, crew.put(index), len(index.points), 300, "include", 2)


def doubled(number):
    return 2 * number


@pytest.mark.parametrize("crew", [SerialCrew(), PicklingCrew()])
@pytest.mark.parametrize("blocks", [1, 4, 1000])
def test_blocks_of_points_that_lie_together_say_the_same_and_other_work_goes_with_them(
    crew, blocks
):
    index = NeighborIndex.build(distinct(MATRIX))
    whole = index.neighborhoods(0, len(index.points), 6, "include")
    runs = index.runs(blocks)
    lists, others = neighborhoods_by_place(
        crew, crew.put(index), runs, 6, "include", beside=[(doubled, 4), (doubled, 5)]
    )
    assert others == [8, 10]
    assert [start for start, _ in runs] == [0, *(stop for _, stop in runs[:-1])]
    assert runs[-1][1] == len(index.points)
    for (start, stop), kept in zip(runs, lists, strict=True):
        assert same_bytes(crew.fetch(kept), whole.take(index.tree.order[start:stop]))
