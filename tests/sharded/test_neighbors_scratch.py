import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from distanon.data.table import MemoryPartition, MemoryScratch
from distanon.kernels.neighbors import Neighborhoods, NeighborIndex, distinct
from distanon.runtime.crew import SerialCrew
from distanon.sharded.neighbors import neighborhoods, neighborhoods_by_place

MATRIX = np.random.default_rng(17).integers(0, 4, (300, 3)) / 3


class ParquetScratch(MemoryScratch):
    """What a store does to a table."""

    def find(self, name):
        found = super().find(name)
        if found is None:
            return None
        sink = pa.BufferOutputStream()
        pq.write_table(found.table, sink)
        return MemoryPartition(pq.read_table(pa.BufferReader(sink.getvalue())))


class Unused:
    """An index that nobody may search."""


def test_stored_neighborhoods_are_the_same_bytes_and_are_not_searched_again():
    crew, scratch, index = SerialCrew(), ParquetScratch(), NeighborIndex.build(distinct(MATRIX))
    n = len(index.points)
    whole = index.neighborhoods(0, n, 6, "include")
    for searched in (crew.put(index), crew.put(Unused())):
        parts = neighborhoods(crew, searched, n, 6, "include", 5, keep=False, scratch=scratch)
        joined = Neighborhoods.join([found for _, _, found in parts])
        for name in Neighborhoods.__slots__:
            assert getattr(joined, name).dtype == getattr(whole, name).dtype
            assert getattr(joined, name).tobytes() == getattr(whole, name).tobytes()


def test_stored_blocks_of_points_that_lie_together_are_not_searched_again():
    crew, scratch, index = SerialCrew(), ParquetScratch(), NeighborIndex.build(distinct(MATRIX))
    runs = index.runs(3)
    for searched in (crew.put(index), crew.put(Unused())):
        lists, _ = neighborhoods_by_place(crew, searched, runs, 6, "include", scratch=scratch)
        for (start, stop), kept in zip(runs, lists, strict=True):
            found, expected = crew.fetch(kept), index.at_places(start, stop, 6, "include")
            for name in Neighborhoods.__slots__:
                assert getattr(found, name).tobytes() == getattr(expected, name).tobytes()


def test_what_was_found_in_another_order_of_the_points_is_searched_again():
    crew, scratch = SerialCrew(), ParquetScratch()
    one, other = (NeighborIndex.build(distinct(rows)) for rows in (MATRIX, MATRIX[:, ::-1] * 2))
    assert one.order_digest() != other.order_digest()
    for index in (one, other):
        (run,) = runs = index.runs(1)
        ((kept,), _) = neighborhoods_by_place(
            crew, crew.put(index), runs, 6, "include", scratch=scratch, order=index.order_digest()
        )
        expected = index.at_places(*run, 6, "include")
        assert crew.fetch(kept).distances.tobytes() == expected.distances.tobytes()
