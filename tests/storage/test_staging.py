import pickle
import threading
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from distanon.data.release import Release
from distanon.data.schema import SOURCE, Attribute, AttributeType, Role, Schema
from distanon.data.table import cut
from distanon.errors import SpecError, StorageError
from distanon.storage import sorting, staging
from distanon.storage.scratch import StoreScratch
from distanon.storage.staging import read_back, read_sources, stage, staged_manifest
from distanon.storage.store import Store


def release(table: pa.Table, pieces: int = 1) -> Release:
    attributes = tuple(
        Attribute(field.name, Role.QUASI_IDENTIFIER, AttributeType.NOMINAL, field.type)
        for field in table.schema
    )
    sources = pa.array(range(table.num_rows), pa.int64())
    return Release(cut(table.append_column(SOURCE, sources), pieces), Schema(attributes))


def people(records: int = 20) -> pa.Table:
    draw = np.random.default_rng(5)
    return pa.table(
        {
            "age": draw.integers(20, 30, records),
            "city": pa.array(draw.choice(["x", "y", ""], records)).dictionary_encode(),
            "when": pa.array(draw.integers(0, 3, records), pa.timestamp("s")),
            "income": pa.array([None if one < 0.2 else one for one in draw.random(records)]),
        }
    )


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_what_was_staged_is_read_back_with_its_types_and_sources(place, kind):
    table = people()
    folder = Store(place)
    manifest = stage(release(table), folder, kind)
    dataset = read_back(folder, manifest, release(table).schema)
    back = dataset.read()
    assert back.schema.equals(table.schema)
    rows = [tuple(row.values()) for row in back.to_pylist()]
    originals = [tuple(row.values()) for row in table.to_pylist()]
    assert rows == [originals[source] for source in read_sources(folder, manifest)]
    assert manifest.records == len(dataset) == 20
    assert staged_manifest(folder) == manifest


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_the_bytes_do_not_depend_on_pieces_or_on_the_order_of_records(tmp_path, kind):
    table = people(50)
    shuffled = table.take(pa.array(np.random.default_rng(1).permutation(50)))
    manifests = [
        stage(release(one, pieces), Store(str(tmp_path / str(number))), kind)
        for number, (one, pieces) in enumerate([(table, 1), (table, 7), (shuffled, 3)])
    ]
    assert manifests[0] == manifests[1] == manifests[2]


def plain(records: int, seed: int) -> pa.Table:
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "age": pa.array(draw.integers(20, 23, records), mask=draw.random(records) < 0.2),
            "city": pa.array(draw.choice(["x", "y", "", "é"], records)),
            "empty": pa.nulls(records),
            "when": pa.array(draw.integers(0, 3, records), pa.timestamp("s")),
            "income": pa.array([None if one < 0.2 else one for one in draw.random(records)]),
            "half": pa.array(draw.integers(0, 3, records).astype(np.float16)),
        }
    )


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("rows", [40, 1000])
def test_large_releases_are_sorted_through_files_into_the_same_bytes(
    tmp_path, monkeypatch, kind, rows
):
    table = plain(300, 3).drop_columns(["half"] if kind == "csv" else [])
    monkeypatch.setattr(staging, "PART_ROWS", rows)
    monkeypatch.setattr(sorting, "_EACH", 5)
    whole = stage(release(table, 4), Store(str(tmp_path / "whole")), kind)
    monkeypatch.setattr(staging, "_TOGETHER", 0)
    for pieces in (1, 9):
        folder = Store(str(tmp_path / str(pieces)))
        assert stage(release(table, pieces), folder, kind) == whole
        numbers = read_sources(Store(str(tmp_path / "whole")), whole).tolist()
        assert read_sources(folder, whole).tolist() == numbers
        assert not folder.list("sorting", leftovers=True)


def test_the_bytes_do_not_depend_on_who_sorts(tmp_path, monkeypatch):
    called = set()

    def elsewhere(function, items):
        """As workers do: in any order, from what was sent to them."""
        called.add(function.__name__)
        found = {}
        for place in reversed(range(len(items))):
            sent = pickle.loads(pickle.dumps((function, items[place])))
            found[place] = sent[0](None, sent[1])
        return [found[place] for place in range(len(items))]

    table = plain(300, 3)
    monkeypatch.setattr(staging, "PART_ROWS", 40)
    monkeypatch.setattr(sorting, "_EACH", 5)
    whole = stage(release(table), Store(str(tmp_path / "whole")), "parquet")
    monkeypatch.setattr(staging, "_TOGETHER", 0)
    folder = Store(str(tmp_path / "cut"))
    scratch = StoreScratch(Store(str(tmp_path / "scratch")))
    pieces = tuple(
        replace(scratch.write(str(one.start), one.read()), start=one.start)
        for one in release(table, 7).pieces
    )
    written = replace(release(table), pieces=pieces)
    assert stage(written, folder, "parquet", elsewhere) == whole
    assert len(called) == 4
    assert not folder.list("sorting", leftovers=True)


def test_rows_that_are_all_alike_are_one_range(tmp_path, monkeypatch):
    table = pa.table({"x": [3] * 50})
    whole = stage(release(table), Store(str(tmp_path / "whole")), "parquet")
    monkeypatch.setattr(staging, "_TOGETHER", 0)
    assert stage(release(table, 3), Store(str(tmp_path / "cut")), "parquet") == whole


def test_dictionaries_are_those_of_the_whole_release(tmp_path, monkeypatch):
    whole = stage(release(people()), Store(str(tmp_path / "whole")), "parquet")
    monkeypatch.setattr(staging, "_TOGETHER", 0)
    assert stage(release(people(), 3), Store(str(tmp_path / "cut")), "parquet") == whole


def test_parts_are_cut_by_rows_alone(place, monkeypatch):
    monkeypatch.setattr(staging, "PART_ROWS", 8)
    folder = Store(place)
    manifest = stage(release(people(), 3), folder, "parquet")
    assert [(file.path, file.rows) for file in manifest.files] == [
        ("data/part-00000.parquet", 8),
        ("data/part-00001.parquet", 8),
        ("data/part-00002.parquet", 4),
    ]
    dataset = read_back(folder, manifest, release(people()).schema)
    assert [(part.start, part.stop) for part in dataset.partitions] == [(0, 8), (8, 16), (16, 20)]
    assert sorted(read_sources(folder, manifest)) == list(range(20))


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_release_of_no_rows_is_one_empty_file(tmp_path, kind):
    table = people(0)
    folder = Store(str(tmp_path))
    manifest = stage(release(table), folder, kind)
    assert [file.rows for file in manifest.files] == [0]
    assert read_back(folder, manifest, release(table).schema).read().num_rows == 0


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data[:-1] + b"x"])
def test_a_file_that_is_not_what_was_written_is_refused(place, damage):
    folder = Store(place)
    manifest = stage(release(people()), folder, "parquet")
    name = manifest.files[0].path
    folder.write(name, damage(folder.read(name)))
    with pytest.raises(StorageError, match="not what was written"):
        read_back(folder, manifest, release(people()).schema)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_of_files_that_are_not_what_was_written_the_first_is_named(place, monkeypatch, kind):
    monkeypatch.setattr(staging, "PART_ROWS", 2)
    folder = Store(place)
    manifest = stage(release(people()), folder, kind)
    for number in (2, 3, 9):
        folder.write(manifest.files[number].path, b"")
    with pytest.raises(StorageError, match=rf"part-00002\.{kind}: .* not what was written"):
        read_back(folder, manifest, release(people()).schema)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_several_files_are_hashed_at_once(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(staging, "PART_ROWS", 8)
    folder = Store(str(tmp_path))
    manifest = stage(release(people()), folder, kind)
    together, digest = threading.Barrier(3), Store.digest

    def meeting(self, name):
        together.wait(30)  # breaks, unless three are under way
        return digest(self, name)

    monkeypatch.setattr(Store, "digest", meeting)
    assert len(read_back(folder, manifest, release(people()).schema)) == 20


def test_columns_that_are_dropped_are_not_staged(tmp_path):
    one = release(people())
    attributes = (*one.schema, Attribute("id", Role.IDENTIFIER, AttributeType.NOMINAL, pa.int64()))
    manifest = stage(Release(one.pieces, Schema(attributes)), Store(str(tmp_path)), "parquet")
    assert list(manifest.columns) == ["age", "city", "when", "income"]


def test_a_type_that_csv_lacks_is_refused_before_anything_is_published(tmp_path):
    table = pa.table({"t": pa.array([1], pa.time32("s"))})
    with pytest.raises(SpecError, match="can't hold column t"):
        stage(release(table), Store(str(tmp_path)), "csv")
