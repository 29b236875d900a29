"""Tables as partitions."""

import pickle
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.table import Dataset, MemoryPartition, MemoryScratch, cut

SCHEMA = Schema(
    (
        Attribute("x", Role.QUASI_IDENTIFIER, AttributeType.NUMERIC, pa.int64()),
        Attribute("j", Role.SENSITIVE, AttributeType.NOMINAL, pa.string()),
    )
)


def numbered(rows):
    return pa.table({"x": pa.array(range(rows), pa.int64()), "j": pa.array(["a"] * rows)})


@given(st.integers(0, 50), st.integers(1, 70))
def test_cutting_keeps_every_record_in_order(rows, pieces):
    table = numbered(rows)
    parts = cut(table, pieces)
    assert len(parts) == max(1, min(pieces, rows))
    assert parts[0].start == 0
    assert all(a.stop == b.start for a, b in pairwise(parts))
    assert all(part.read().num_rows == part.stop - part.start for part in parts)
    dataset = Dataset(SCHEMA, parts)
    assert len(dataset) == rows
    assert dataset.read().equals(table)
    assert dataset.read(["j"]).column_names == ["j"]
    sizes = [part.stop - part.start for part in parts]
    assert max(sizes) - min(sizes) <= 1


@given(st.integers(0, 30), st.integers(1, 8), st.data())
def test_selected_records_are_numbered_anew(rows, pieces, data):
    chosen = sorted(data.draw(st.sets(st.integers(0, rows - 1)) if rows else st.just(set())))
    dataset = Dataset(SCHEMA, cut(numbered(rows), pieces), "people.csv")
    selected = dataset.select(np.array(chosen, dtype=np.int64))
    assert len(selected) == len(chosen)
    assert selected.source == "people.csv"
    assert selected.read().column("x").to_pylist() == chosen
    again = selected.select(np.arange(0, len(chosen), 2, dtype=np.int64))
    assert again.read(["x"]).column("x").to_pylist() == chosen[::2]
    starts = [part.start for part in selected.partitions]
    assert starts == sorted(starts)


def test_a_dataset_without_partitions_is_an_empty_table():
    dataset = Dataset(SCHEMA, ())
    assert len(dataset) == 0
    assert dataset.read().schema == pa.schema([("x", pa.int64()), ("j", pa.string())])
    assert dataset.read(["j"]).column_names == ["j"]
    assert len(dataset.select(np.array([], dtype=np.int64))) == 0


@pytest.mark.parametrize("protocol", [4, 5])
def test_a_pickled_partition_carries_its_own_rows_alone(protocol):
    table = pa.table({"x": np.arange(100_000), "j": pa.array(["a", "b"] * 50_000)})
    table = table.set_column(1, "j", table.column("j").dictionary_encode())
    part = cut(table, 1000)[7]
    pickled = pickle.dumps(part, protocol=protocol)
    assert len(pickled) < 10_000
    back = pickle.loads(pickled)
    assert isinstance(back, MemoryPartition)
    assert (back.start, back.stop) == (700, 800)
    assert back.read().equals(part.read())


def test_a_partition_whose_chunks_have_their_own_dictionaries_travels():
    chunks = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["c"]).dictionary_encode()]
    part = MemoryPartition(pa.table({"j": pa.chunked_array(chunks)}), 5)
    assert pickle.loads(pickle.dumps(part)).read().column("j").to_pylist() == ["a", "b", "c"]


def test_rows_of_string_views_can_be_selected():
    table = pa.table({"j": pa.array(["a", "b", "c"], pa.string_view())})
    dataset = Dataset(Schema(SCHEMA.attributes[1:]), cut(table, 2))
    selected = dataset.select(np.array([0, 2]))
    assert selected.read().column("j").to_pylist() == ["a", "c"]


def test_a_scratch_in_memory_finds_what_it_wrote():
    scratch = MemoryScratch()
    assert scratch.find("piece-0-3") is None
    written = scratch.write("piece-0-3", numbered(3))
    assert scratch.find("piece-0-3") is written
    assert (written.start, written.stop) == (0, 3)
