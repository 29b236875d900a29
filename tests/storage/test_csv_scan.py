"""A CSV file read as a stream is what it is when it is read whole."""

import gzip
import pickle
import random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.table import MemoryPartition
from distanon.errors import DistanonError, InputChangedError
from distanon.storage import csv_stream, tables
from distanon.storage.csv_partitions import CsvPartition
from distanon.storage.csv_text import CsvSettings
from distanon.storage.tables import open_table

CELLS = [
    "", "1", "-2", "3.5", "1,5", "007", "abc", "NaN", "inf", "2024-02-29", "2024-02-30", "true",
    "2024-01-01 10:00", " 4 ", "é", 'x"y', "9" * 20, "NA", "  ", "line\nbreak", '"',
]  # fmt: skip


@pytest.fixture
def streamed(monkeypatch):
    def stream(block: int) -> None:
        monkeypatch.setattr(tables, "_KEPT", -1)
        monkeypatch.setattr(csv_stream, "BLOCK", block)

    return stream


def written(draw: random.Random) -> bytes:
    """A file with some faults."""
    delimiter, end = draw.choice(",;\t|"), draw.choice(["\n", "\r\n", "\r"])
    pools = [draw.choices(CELLS, k=draw.choice([1, 2, 8])) for _ in range(draw.randint(1, 3))]

    def cell(text: str) -> str:
        is_plain = not set(text) & {delimiter, "\n", '"'} and draw.random() < 0.9
        return text if is_plain else '"' + text.replace('"', '""') + '"'

    lines = [delimiter.join(f"n{at}" for at in range(len(pools)))]
    for _ in range(draw.choice([0, 3, 30])):
        row = [cell(draw.choice(pool)) for pool in pools]
        fault = draw.random()
        row += ["one more"] if fault < 0.005 else []
        lines.append(('"' if fault > 0.995 else "") + delimiter.join(row))
        lines += [""] if draw.random() < 0.05 else []
    coding = draw.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1", "cp850"])
    content = (end.join(lines) + draw.choice([end, ""])).encode(coding)
    content += b"\xff" if draw.random() < 0.05 else b""
    return gzip.compress(content) if draw.random() < 0.2 else content


def told(place: str, pieces: int | None):
    """All that is known of a table, or its fault."""
    try:
        opened = open_table(place, CsvSettings(decimal=None), pieces=pieces)
    except DistanonError as error:
        return str(error)
    parts = [pickle.loads(pickle.dumps(part)).read() for part in opened.partitions]
    table = pa.concat_tables(parts)
    assert table.schema == opened.arrow_schema
    values = {name: repr(table.column(name).to_pylist()) for name in table.column_names}
    return values, opened.arrow_schema, opened.parts, opened.notes, opened.fingerprint


@given(st.integers(0, 10**9))
@settings(max_examples=150, deadline=None)
def test_a_stream_has_the_same_values_types_rows_notes_and_faults(tmp_path_factory, seed):
    draw, folder = random.Random(seed), tmp_path_factory.mktemp("csv")
    for number in range(draw.choice([1, 1, 2])):
        content = written(draw)
        packed = ".gz" if content.startswith(b"\x1f\x8b") else ""
        (folder / f"{number}.csv{packed}").write_bytes(content)
    pieces = draw.choice([None, 1, 3, 9])
    whole = told(str(folder), pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_KEPT", -1)
        patch.setattr(csv_stream, "BLOCK", draw.choice([8, 40, 200]))
        assert told(str(folder), pieces) == whole


@pytest.mark.parametrize("packed", [False, True])
def test_partitions_read_their_own_blocks_alone(tmp_path, streamed, monkeypatch, packed):
    streamed(64)
    content = b"a,b\n" + b"".join(b"%d,%d\n" % (at, at * at) for at in range(200))
    place = tmp_path / ("t.csv.gz" if packed else "t.csv")
    place.write_bytes(gzip.compress(content) if packed else content)
    opened = open_table(str(place), pieces=4)
    assert len(opened.partitions) == 4
    for part in opened.partitions:
        assert isinstance(part, CsvPartition)
        numbers = list(range(part.start, part.stop))
        assert part.read(["b"]).to_pydict() == {"b": [at * at for at in numbers]}
        assert part.read([]).num_columns == 0
        assert sum(len(one.blocks) for one in part.ranges) < 12  # of 33


def test_small_files_stay_in_memory(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a\n1\n2\n")
    (part,) = open_table(str(tmp_path / "t.csv")).partitions
    assert isinstance(part, MemoryPartition)


@pytest.mark.parametrize("after", [b"a,b\n1,2\n3,5\n", b"a,b\n1,2\n", b"a,b\n1,2\n3,4,5\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_that_has_changed_is_noticed(tmp_path, streamed, after, packed):
    streamed(1 << 20)
    place = tmp_path / ("t.csv.gz" if packed else "t.csv")
    pack = gzip.compress if packed else bytes
    place.write_bytes(pack(b"a,b\n1,2\n3,4\n"))
    (part,) = open_table(str(place)).partitions
    assert part.read().num_rows == 2
    place.write_bytes(pack(after))
    with pytest.raises(InputChangedError, match="has changed since the run began"):
        part.read()


def test_a_type_is_decided_over_all_blocks_and_files(tmp_path, streamed):
    streamed(16)
    (tmp_path / "a.csv").write_bytes(b"x,y\n" + b"1,5\n" * 50 + b"2.5,6\n")
    (tmp_path / "b.csv").write_bytes(b"x,y\n" + b"3,007\n")
    opened = open_table(str(tmp_path))
    assert opened.arrow_schema == pa.schema([("x", pa.float64()), ("y", pa.string())])
    assert any("column y: digits with leading zeros" in note for note in opened.notes)
