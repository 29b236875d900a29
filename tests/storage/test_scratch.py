import pickle

import pyarrow as pa
import pytest

from distanon.errors import ResumeError
from distanon.storage.scratch import StoreScratch
from distanon.storage.store import Store

DIGESTS = {"spec": "1", "input": "2", "version": "3", "lock": "4"}


def test_a_table_is_found_again_as_it_was(place):
    scratch = StoreScratch.open(Store(place), DIGESTS)
    table = pa.table(
        {
            "when": pa.array([1, None], pa.timestamp("s")),
            "day": pa.array([0, 86_400_000], pa.date64()),
            "x": [float("nan"), None],
            "c": pa.array(["u", None], pa.large_string()).dictionary_encode(),
        }
    ).replace_schema_metadata({"pandas": "x"})
    assert scratch.find("a 0-2") is None
    written = scratch.write("a 0-2", table)
    later = pickle.loads(pickle.dumps(StoreScratch.open(Store(place), DIGESTS)))
    found = later.find("a 0-2")
    plain = table.replace_schema_metadata(None)
    for partition in (written, found):
        assert (partition.start, partition.stop) == (0, 2)
        back = partition.read()
        assert back.schema.equals(plain.schema)
        assert str(back.to_pydict()) == str(plain.to_pydict())  # NaN is NaN, not missing
    assert found.read(["x"]).column_names == ["x"]


def test_an_equal_name_is_replaced_and_others_are_kept_apart(tmp_path):
    scratch = StoreScratch.open(Store(str(tmp_path)), DIGESTS)
    for name, value in [("a/b", 1), ("a-b", 2), ("../x", 3), ("a/b", 4), ("é" * 300, 5)]:
        scratch.write(name, pa.table({"x": [value]}))
    found = [
        scratch.find(name).read()["x"][0].as_py() for name in ("a/b", "a-b", "../x", "é" * 300)
    ]
    assert found == [4, 2, 3, 5]
    assert {file.parent.name for file in tmp_path.rglob("*.parquet")} == {"checkpoint"}


def test_an_empty_table_is_kept(tmp_path):
    scratch = StoreScratch.open(Store(str(tmp_path)), DIGESTS)
    scratch.write("none", pa.table({"x": pa.array([], pa.int8())}))
    assert scratch.find("none").read().schema.types == [pa.int8()]


@pytest.mark.parametrize("header", [None, b"", b'{"spec": "1", "inp', b"[]"])
def test_tables_whose_header_is_missing_or_damaged_are_made_again(tmp_path, header):
    StoreScratch.open(Store(str(tmp_path)), DIGESTS).write("a", pa.table({"x": [1]}))
    file = tmp_path / "checkpoint" / "HEADER.json"
    file.unlink()
    if header is not None:
        file.write_bytes(header)
    again = StoreScratch.open(Store(str(tmp_path)), DIGESTS)
    assert again.find("a") is None
    again.write("a", pa.table({"x": [2]}))
    assert StoreScratch.open(Store(str(tmp_path)), DIGESTS).find("a").read()["x"][0].as_py() == 2


def test_a_damaged_table_is_as_good_as_none(tmp_path):
    scratch = StoreScratch.open(Store(str(tmp_path)), DIGESTS)
    scratch.write("a", pa.table({"x": [1]}))
    [file] = tmp_path.rglob("*.parquet")
    file.write_bytes(file.read_bytes()[:-10])
    assert scratch.find("a") is None


@pytest.mark.parametrize("name", DIGESTS)
def test_a_checkpoint_of_something_else_is_refused_by_name(tmp_path, name):
    StoreScratch.open(Store(str(tmp_path)), DIGESTS)
    with pytest.raises(ResumeError, match=f"belongs to another {name};"):
        StoreScratch.open(Store(str(tmp_path)), DIGESTS | {name: "other"})


def test_a_checkpoint_that_was_discarded_in_part_still_says_whose_it_is(tmp_path, monkeypatch):
    private = Store(str(tmp_path))
    scratch = StoreScratch.open(private, DIGESTS)
    for name in ("A", "a", "z"):
        scratch.write(name, pa.table({"x": [1]}))
    delete, deleted = Store.delete, []

    def dying(self, name):
        if len(deleted) == 3:
            raise KeyboardInterrupt
        delete(self, name)
        deleted.append(name)

    monkeypatch.setattr(Store, "delete", dying)
    with pytest.raises(KeyboardInterrupt):
        StoreScratch.discard(private)
    monkeypatch.undo()
    with pytest.raises(ResumeError):
        StoreScratch.open(private, DIGESTS | {"input": "other"})
    assert StoreScratch.discard(private) == 1
    assert private.list(leftovers=True) == []
