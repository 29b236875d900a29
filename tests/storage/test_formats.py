import datetime as dt
import decimal
import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.errors import SpecError
from distanon.storage.formats import check_csv, read_csv, reduced, write


def written(table: pa.Table, kind: str) -> bytes:
    out = io.BytesIO()
    write(table, out, kind)
    return out.getvalue()


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_value_that_no_row_uses_is_in_no_byte(kind):
    column = pa.DictionaryArray.from_arrays(pa.array([0, 2, None]), ["a", "UNUSED-7731", "b"])
    table = pa.table({"c": column}).replace_schema_metadata({"pandas": "UNUSED-7731"})
    field = pa.field("c", column.type, metadata={"note": "UNUSED-7731"})
    table = table.cast(pa.schema([field], metadata=table.schema.metadata))
    content = written(reduced(table), kind)
    assert b"UNUSED-7731" not in content
    raw = io.BytesIO()
    pq.write_table(table, raw, compression="none")
    assert b"UNUSED-7731" in raw.getvalue()  # what an ordinary writer would have published


def test_rows_and_types_are_kept():
    words = pa.array(["b", None, "a", "b"]).dictionary_encode()
    table = pa.table({"w": words, "n": [1, 2, 3, 4]})
    assert reduced(table).to_pydict() == table.to_pydict()
    assert reduced(table).schema == table.schema
    assert reduced(table).column("w").chunk(0).dictionary.to_pylist() == ["a", "b"]


def test_ordered_categories_keep_their_order():
    column = pa.DictionaryArray.from_arrays(
        pa.array([2, 0], pa.int8()), ["low", "mid", "high"], ordered=True
    )
    kept = reduced(pa.table({"c": column})).column("c")
    assert kept.chunk(0).dictionary.to_pylist() == ["low", "high"]
    assert kept.to_pylist() == ["high", "low"]
    assert kept.type.ordered


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_equal_rows_give_equal_bytes_however_they_were_chunked(kind):
    words = ["x", "y", None, "x", "z", "y"]
    whole = pa.table({"w": pa.array(words).dictionary_encode(), "n": range(6)})
    pieces = [
        pa.table({"w": pa.array(words[i : i + 2]).dictionary_encode(), "n": range(i, i + 2)})
        for i in (0, 2, 4)
    ]
    joined = reduced(pa.concat_tables(pieces))
    assert written(joined, kind) == written(reduced(whole), kind)


rows = st.fixed_dictionaries(
    {
        "i": st.none() | st.integers(-(2**63), 2**63 - 1),
        "f": st.none() | st.floats(allow_nan=False),
        "t": st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5),
        "b": st.none() | st.booleans(),
        "d": st.none() | st.dates(dt.date(1000, 1, 1)),
        "s": st.none() | st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1)),  # noqa: DTZ001
        "m": st.none() | st.decimals(-1000, 1000, places=2),
    }
)
schema = pa.schema(
    [
        ("i", pa.int64()),
        ("f", pa.float64()),
        ("t", pa.string()),
        ("b", pa.bool_()),
        ("d", pa.date32()),
        ("s", pa.timestamp("us")),
        ("m", pa.decimal128(10, 2)),
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(rows, min_size=1, max_size=12))
def test_csv_holds_every_value_exactly(records):
    table = pa.Table.from_pylist(records, schema)
    content = written(table, "csv")
    check_csv(table, content, "f.csv")
    assert read_csv(content, schema, "f.csv").equals(table)


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"a": pa.array(["x", None, ""])}),
        pa.table({"a": pa.array([None, None], pa.null()), "b": [1, 2]}),
        pa.table({"a": pa.array([], pa.int64())}),
        pa.table({"a": pa.array(["x", None]).dictionary_encode()}),
        pa.table({'a,"b"': ["x"], "c\nd": ["y"], " e ": [" z "]}),
        pa.table({"a": pa.array([decimal.Decimal("1.50")])}),
    ],
)
def test_csv_holds_what_is_rare(table):
    content = written(reduced(table), "csv")
    check_csv(reduced(table), content, "f.csv")
    assert read_csv(content, table.schema, "f.csv").to_pydict() == table.to_pydict()


@pytest.mark.parametrize(
    "array",
    [
        pa.array([b"\xff"]),
        pa.array(["\0"]),
        pa.array([1], pa.time32("s")),
        pa.array([1], pa.duration("s")),
    ],
    ids=lambda array: str(array.type),
)
def test_what_csv_can_not_hold_is_refused(array):
    table = pa.table({"odd": array})
    with pytest.raises(SpecError, match="csv can't hold"):
        check_csv(table, written(table, "csv"), "f.csv")
