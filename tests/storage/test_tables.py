import gzip
import io
import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from distanon.errors import AccessError, InputChangedError, InputError
from distanon.storage.csv_text import CsvSettings
from distanon.storage.store import Store
from distanon.storage.tables import open_table, read_rows, read_text


def put(place: str, **files: bytes | pa.Table) -> str:
    """Writes files; "__" in a name stands for "/", "_" for "."."""
    for name, content in files.items():
        data = parquet(content) if isinstance(content, pa.Table) else content
        Store(place).write(name.replace("__", "/").replace("_", "."), data)
    return place


def parquet(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, row_group_size=7)
    return out.getvalue()


def numbers(start: int, stop: int) -> pa.Table:
    values = range(start, stop)
    return pa.table({"n": values, "t": [f"t{value}" for value in values]})


def read(opened) -> pa.Table:
    return pa.concat_tables([partition.read() for partition in opened.partitions])


# --- the same on a disk and in object storage --------------------------------------------------


def test_parts_are_read_in_the_order_of_their_paths(place):
    put(
        place,
        b_parquet=numbers(30, 50),
        a__1_parquet=numbers(0, 10),
        a__2_parquet=numbers(10, 30),
        empty_parquet=numbers(0, 0),
    )
    opened = open_table(place)
    assert read(opened).equals(numbers(0, 50))
    assert opened.records == 50
    assert [(part.start, part.stop) for part in opened.parts] == [(0, 10), (10, 30), (30, 50)]


@pytest.mark.parametrize("pieces", [1, 2, 3, 7, 49, 50, 1000])
def test_partitions_cover_every_record_once_however_many(place, pieces):
    put(place, a_parquet=numbers(0, 20), b_parquet=numbers(20, 50))
    opened = open_table(place, pieces=pieces)
    starts = [partition.start for partition in opened.partitions]
    stops = [partition.stop for partition in opened.partitions]
    assert starts == [0, *stops[:-1]]
    assert stops[-1] == 50
    assert len(starts) <= pieces
    assert read(opened).equals(numbers(0, 50))


def test_a_partition_is_read_where_it_is_carried(place):
    put(place, a_parquet=numbers(0, 20))
    partition = open_table(place, pieces=3).partitions[1]
    again = pickle.loads(pickle.dumps(partition))
    table = again.read(["t"])
    assert table.column_names == ["t"]
    assert table["t"].to_pylist() == [f"t{n}" for n in range(again.start, again.stop)]
    assert len(pickle.dumps(partition)) < 5000


def test_hidden_files_and_marks_are_left_out(place):
    put(place, a_parquet=numbers(0, 5))
    for name in ("_SUCCESS", ".hidden.parquet", "_delta_log/0.parquet"):
        Store(place).write(name, b"")
    assert open_table(place).records == 5


def test_a_glob_names_files_or_folders(place):
    put(place, x1__a_parquet=numbers(0, 5), x2__a_parquet=numbers(5, 8), y__b_parquet=numbers(0, 9))
    assert open_table(f"{place}/x*/*.parquet").records == 8
    assert open_table(f"{place}/x?").records == 8
    assert open_table(f"{place}/**/a.parquet").records == 8
    assert open_table(f"{place}/[xy]1/a.parquet").records == 5
    with pytest.raises(AccessError, match="no file matches"):
        open_table(f"{place}/z*.parquet")


def test_one_file_may_be_named(place):
    put(place, a_parquet=numbers(0, 5), b_csv=b"x,y\n1,2\n", c_csv_gz=gzip.compress(b"x\n1\n"))
    assert open_table(f"{place}/a.parquet").records == 5
    assert open_table(f"{place}/b.csv").records == 1
    assert open_table(f"{place}/c.csv.gz").records == 1


def test_nothing_there_is_an_access_error(place):
    with pytest.raises(AccessError, match="there is nothing to read"):
        open_table(f"{place}/none.parquet")


def test_the_types_of_csv_parts_are_found_over_all_of_them(place):
    put(place, a_csv=b"i,f,t,z\n1,1,1,1\n", b_csv=b"i;f;t;z\n2;2.5;x;007\n")
    opened = open_table(place)
    assert read(opened).to_pydict() == {
        "i": [1, 2],
        "f": [1.0, 2.5],
        "t": ["1", "x"],
        "z": ["1", "007"],
    }
    assert any("delimiter ';'" in note for note in opened.notes)


def test_a_record_is_named_by_its_file_and_row(place):
    put(place, a_csv=b"x\n1\n2\n", b_csv=b"x\n", c_csv=b"x\n3\n")
    opened = open_table(place)
    assert [opened.locate(record) for record in range(3)] == [
        (f"{place}/a.csv", 1),
        (f"{place}/a.csv", 2),
        (f"{place}/c.csv", 1),
    ]


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_the_fingerprint_changes_with_the_content_alone(place, kind):
    content = {"parquet": [numbers(0, 5), numbers(1, 6)], "csv": [b"x\n1\n", b"x\n2\n"]}[kind]
    put(place, **{f"a_{kind}": content[0]})
    before = open_table(place).fingerprint
    assert open_table(place, pieces=3).fingerprint == before
    put(place, **{f"a_{kind}": content[1]})
    assert open_table(place).fingerprint != before


def test_a_file_that_changes_under_the_run_is_noticed(place):
    put(place, a_parquet=numbers(0, 20))
    partition = open_table(place, pieces=2).partitions[1]
    put(place, a_parquet=numbers(0, 5))
    with pytest.raises(InputChangedError, match="has changed since the run began"):
        partition.read()


# --- what is refused ---------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path) -> str:
    return str(tmp_path)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (pa.table({"n": pa.array([1], pa.int32()), "t": ["x"]}), "column n: int64 and int32"),
        (
            pa.table({"n": [1], "t": pa.array(["x"]).dictionary_encode()}),
            "column t: string and dictionary",
        ),
        (pa.table({"n": [1], "u": ["x"]}), "only one of them has: t, u"),
    ],
)
def test_parts_with_different_schemas_are_both_named(folder, other, message):
    put(folder, a_parquet=numbers(0, 5), b_parquet=other)
    with pytest.raises(InputError, match=message) as caught:
        open_table(folder)
    assert "a.parquet" in str(caught.value)
    assert "b.parquet" in str(caught.value)


def test_csv_parts_with_different_columns_are_refused(folder):
    put(folder, a_csv=b"x,y\n1,2\n", b_csv=b"x,z\n1,2\n")
    with pytest.raises(InputError, match="only one of them has: y, z"):
        open_table(folder)


def test_a_column_that_is_all_missing_in_one_part_takes_the_type_of_the_others(folder):
    empty = pa.table({"n": pa.nulls(2), "t": pa.nulls(2)})
    put(folder, a_parquet=empty, b_parquet=numbers(0, 2))
    opened = open_table(folder)
    assert opened.arrow_schema.types == [pa.int64(), pa.string()]
    assert read(opened)["n"].to_pylist() == [None, None, 0, 1]


def test_parts_whose_columns_are_in_another_order_are_read_by_name(folder):
    put(folder, a_parquet=numbers(0, 5), b_parquet=numbers(5, 9).select(["t", "n"]))
    assert read(open_table(folder)).equals(numbers(0, 9))


@pytest.mark.parametrize("files", [{"a_parquet": numbers(0, 0)}, {"a_csv": b"x,y\n"}])
def test_no_records_are_refused(folder, files):
    with pytest.raises(InputError, match="no records"):
        open_table(put(folder, **files))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a_txt": b"x"}, "no table in here"),
        ({"a_parquet": numbers(0, 2), "b_csv": b"x\n1\n"}, "both parquet and CSV"),
        ({"a_parquet": b"PAR1 no"}, "not a parquet file"),
        ({"a_parquet": b"PAR1" + bytes(40) + b"\x10\0\0\0PAR1"}, "not a parquet file"),
        ({"year=1__a_parquet": numbers(0, 2)}, "the column year is in the names of folders"),
        ({"a_parquet": pa.table({"x": [[1]]})}, "column x: a table of plain values"),
        ({"a_parquet": pa.table([[1], [2]], ["x", "x"])}, "found twice: x"),
        ({"a_csv": b"__source__\n1\n"}, "__source__ is reserved"),
    ],
)
def test_what_is_no_table_is_refused(folder, files, message):
    with pytest.raises(InputError, match=message):
        open_table(put(folder, **files))


def test_a_file_of_another_kind_is_refused(folder):
    put(folder, a_txt=b"x")
    with pytest.raises(InputError, match=r"expected a name that ends in \.parquet"):
        open_table(f"{folder}/a.txt")


def test_files_that_are_no_tables_are_counted(folder):
    put(folder, a_parquet=numbers(0, 2), readme_txt=b"x")
    assert open_table(folder).notes == (f"{folder}: 1 files that are no tables were left out",)


# --- details -----------------------------------------------------------------------------------


def test_names_with_points_and_all_plain_types_come_back_as_they_were(folder):
    table = pa.table(
        {
            "a.b": pa.array([1, None], pa.int8()),
            "s": pa.array(["x", ""], pa.large_string()),
            "c": pa.array(["u", None]).dictionary_encode(),
            "d": pa.array([0, 1], pa.date32()),
            "t": pa.array([0, 1], pa.timestamp("us")),
        }
    ).replace_schema_metadata({"pandas": "x"})
    opened = open_table(put(folder, a_parquet=table))
    assert opened.arrow_schema.metadata is None
    assert read(opened).equals(table)
    assert opened.partitions[0].read(["d", "a.b"]).column_names == ["d", "a.b"]


def test_the_decimal_mark_is_found_where_it_is_asked_for(folder):
    put(folder, a_csv=b"x;y\n1,5;2\n")
    opened = open_table(folder, CsvSettings(decimal=None))
    assert read(opened).to_pydict() == {"x": [1.5], "y": [2]}
    assert opened.notes[-1] == f"{folder}: decimal mark ','"
    hint = open_table(folder).notes[-1]
    assert "column x looks like numbers with a decimal comma" in hint


def test_small_text_files(folder):
    put(folder, h_csv=b"a;b\nc;b\n", bad_txt=b"\xff\xfe\xff")
    assert read_rows(f"{folder}/h.csv") == [["a", "b"], ["c", "b"]]
    assert read_text(f"{folder}/h.csv") == "a;b\nc;b\n"
    with pytest.raises(InputError, match="not text in UTF-8"):
        read_text(f"{folder}/bad.txt")


def test_why_a_column_of_digits_is_text_is_told(tmp_path):
    (tmp_path / "a.csv").write_text(f"zip,big,one,two\n00123,{2**70},1,x\n456,1,2,\n")
    (tmp_path / "b.csv").write_text("zip,big,one,two\n1,2,n/a,y\n2,3,3,z\n")
    notes = open_table(str(tmp_path)).notes
    told = [note.partition(": column ")[2] for note in notes if ": column " in note]
    mended = "so it was read as text; mend the parts, or declare its type"
    assert told == [
        "zip: digits with leading zeros (codes), read as text",
        "big: whole numbers beyond 64 bits, read as text",
        f"one: int64 in a.csv, text in b.csv, {mended}",
    ]
    assert str(2**70) not in str(notes)


@pytest.mark.parametrize(
    ("typed", "shown"),
    [("in/", "in/b.csv"), ("in", "in/b.csv"), ("in/*.csv", "in/b.csv"), ("in/b.csv", "in/b.csv")],
)
def test_files_are_named_as_their_path_was_typed(tmp_path, monkeypatch, typed, shown):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "in" / "b.csv").write_text("x,y\n1,2,3\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=f"^{shown}: row 1 has 3 cells"):
        open_table(typed)
