"""What leaves, and in which order."""

import datetime as dt
import hashlib
import hmac
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.release import (
    publishable,
    publishable_schema,
    sort_for_release,
)
from distanon.data.schema import SOURCE, Attribute, AttributeType, Role, Schema

KEY = b"a secret key"


def with_source(**columns):
    rows = len(next(iter(columns.values())))
    return pa.table({**columns, SOURCE: pa.array(range(rows), pa.int64())})


def schema_of(table, role=Role.QUASI_IDENTIFIER, **settings):
    return Schema(
        tuple(
            Attribute(name, role, AttributeType.NUMERIC, table.schema.field(name).type, **settings)
            for name in table.column_names
            if name != SOURCE
        )
    )


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array(["b", None, "a"]).dictionary_encode(), [2, 0, 1]),
        (pa.array([True, None, False]), [2, 0, 1]),
        (pa.array([Decimal("10.5"), None, Decimal("-9.5")]), [2, 0, 1]),
        (pa.array([Decimal("10.5"), None, Decimal("-9.5")], pa.decimal32(5, 1)), [2, 0, 1]),
        (pa.array([dt.date(2020, 1, 1), None, dt.date(1960, 1, 1)]), [2, 0, 1]),
        (pa.array([2.5, None, float("nan")]), [0, 1, 2]),
        (pa.array([0.0, -0.0, -1.0]), [2, 0, 1]),
        (pa.array(np.array([2, 1, 3], np.float16)), [1, 0, 2]),
        (pa.array(["é", "Z", "a"]), [1, 2, 0]),
        (pa.array(["b", None, "a"], pa.string_view()), [2, 0, 1]),
        (pa.array([3, None, 1], pa.duration("ns")), [2, 0, 1]),
        (pa.array([3, None, 1], pa.time32("s")), [2, 0, 1]),
        (pa.array([True, None, False]).dictionary_encode(), [2, 0, 1]),
        (pa.nulls(3), [0, 1, 2]),
    ],
)
def test_rows_are_sorted_by_value_with_missing_last(column, expected):
    published, sources = sort_for_release(with_source(x=column))
    assert sources.tolist() == expected
    assert sources.dtype == np.int64
    assert published.column_names == ["x"]
    kind = pa.large_string() if pa.types.is_string_view(column.type) else column.type
    assert published.schema.field("x").type == kind


def test_rows_that_tie_are_identical_and_their_sources_ascend():
    table = pa.table({"x": [2.0, -0.0, 0.0, 2.0], "y": ["a", "b", "b", "a"], SOURCE: [9, 8, 3, 1]})
    published, sources = sort_for_release(table)
    assert sources.tolist() == [3, 8, 1, 9]
    assert str(published.column("x").to_pylist()) == "[0.0, 0.0, 2.0, 2.0]"


@given(st.data(), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_the_order_of_the_input_leaves_no_trace(data, chunks):
    rows = data.draw(
        st.lists(
            st.tuples(
                st.sampled_from([None, "a", "b", "c"]),
                st.sampled_from([None, 0.0, -0.0, float("nan"), 1.5]),
                st.sampled_from([None, True, False]),
            ),
            min_size=1,
            max_size=12,
        )
    )
    order = data.draw(st.permutations(range(len(rows))))

    def release(places):
        tables = [
            pa.table(
                {
                    "d": pa.array([rows[i][0] for i in part], pa.string()).dictionary_encode(),
                    "f": pa.array([rows[i][1] for i in part], pa.float64()),
                    "b": pa.array([rows[i][2] for i in part], pa.bool_()),
                    SOURCE: pa.array(part, pa.int64()),
                }
            )
            for part in np.array_split(places, chunks)
        ]
        return sort_for_release(pa.concat_tables(tables))

    first, sources = release(np.arange(len(rows)))
    second, _ = release(np.array(order))
    assert serialized(first) == serialized(second)
    assert first.column("b").to_pylist() == [rows[i][2] for i in sources]
    assert first.column("d").to_pylist() == [rows[i][0] for i in sources]


def serialized(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return sink.getvalue().to_pybytes()


def test_columns_may_have_any_name():
    table = pa.table({"source": [2, 1], "0": [1, 1], "1": [5, 4], SOURCE: [0, 1]})
    published, sources = sort_for_release(table)
    assert sources.tolist() == [1, 0]
    assert published.column_names == ["source", "0", "1"]


def test_no_rows_and_no_columns_are_no_trouble():
    published, sources = sort_for_release(with_source(x=pa.array([], pa.string())))
    assert published.num_rows == 0
    assert sources.tolist() == []
    _, sources = sort_for_release(pa.table({SOURCE: [4, 2]}))
    assert sources.tolist() == [2, 4]


def test_identifiers_go_and_source_stays_last():
    table = with_source(id=["1", "2"], age=[3, 4])
    schema = Schema(
        (
            Attribute("age", Role.QUASI_IDENTIFIER, AttributeType.NUMERIC, pa.int64()),
            Attribute("id", Role.IDENTIFIER, AttributeType.NOMINAL, pa.string()),
        )
    )
    assert publishable(table, schema).column_names == ["age", SOURCE]
    assert publishable(table.drop([SOURCE]), schema).column_names == ["age"]


def test_a_kept_identifier_is_a_keyed_pseudonym():
    table = with_source(a=["x", None, "x"], b=pa.array([7, 8, None]), c=pa.array(["7", "8", "é"]))
    table = table.set_column(2, "c", table.column("c").dictionary_encode())
    schema = schema_of(table, Role.IDENTIFIER, pseudonym_key=KEY)
    found = publishable(table, schema)

    def pseudonym(text):
        return hmac.new(KEY, text.encode(), hashlib.sha256).hexdigest()[:32]

    assert found.column("a").to_pylist() == [pseudonym("x"), None, pseudonym("x")]
    assert found.column("b").to_pylist() == [pseudonym("7"), pseudonym("8"), None]
    assert found.column("c").to_pylist() == [pseudonym("7"), pseudonym("8"), pseudonym("é")]
    kinds = [a.arrow_type for a in publishable_schema(schema)]
    assert kinds == [found.schema.field(name).type for name in ("a", "b", "c")]


def test_dictionaries_are_cut_to_used_values_sorted():
    whole = pa.array(["planted", "b", "a", None, "b"]).dictionary_encode()
    table = with_source(x=whole).slice(1)
    found = publishable(table, schema_of(table)).column("x").combine_chunks()
    assert found.dictionary.to_pylist() == ["a", "b"]
    assert found.to_pylist() == ["b", "a", None, "b"]
    assert b"planted" not in serialized(publishable(table, schema_of(table)))


def test_dictionaries_with_repeated_values_and_their_own_nulls_are_mended():
    indices = pa.array([0, 1, 2, None], pa.int8())
    column = pa.DictionaryArray.from_arrays(indices, pa.array(["b", "b", None]), ordered=True)
    table = with_source(x=column)
    schema = publishable_schema(schema_of(table))
    found = publishable(table, schema_of(table)).column("x").combine_chunks()
    assert found.dictionary.to_pylist() == ["b"]
    assert found.to_pylist() == ["b", "b", None, None]
    assert found.type == pa.dictionary(pa.int8(), pa.string()) == schema["x"].arrow_type


def test_indices_grow_when_joined_dictionaries_need_it():
    chunks = [
        pa.DictionaryArray.from_arrays(
            pa.array(range(100), pa.int8()), pa.array([f"{start + i:03}" for i in range(100)])
        )
        for start in (0, 100)
    ]
    table = with_source(x=pa.chunked_array(chunks))
    found = publishable(table, schema_of(table)).column("x")
    assert found.type == pa.dictionary(pa.int32(), pa.string())
    assert found.to_pylist() == [f"{i:03}" for i in range(200)]


def test_missing_is_null_and_zero_has_one_sign():
    table = with_source(x=[float("nan"), None, -0.0, 1.0])
    found = publishable(table, schema_of(table)).column("x")
    assert str(found.to_pylist()) == "[None, None, 0.0, 1.0]"


def test_a_top_code_is_applied_and_numeric_text_stays_text():
    table = with_source(x=["1.50", "99", None], y=[1, 99, None])
    found = publishable(table, schema_of(table, top_code=90.0))
    assert found.column("x").to_pylist() == ["1.50", "90", None]
    assert found.column("y").to_pylist() == [1, 90, None]
    assert found.schema.field("x").type == pa.string()


def test_metadata_goes():
    field = pa.field("x", pa.int64(), metadata={"planted": "secret"})
    table = pa.table([pa.array([1])], schema=pa.schema([field], metadata={"pandas": "secret"}))
    found = publishable(table, schema_of(table))
    assert found.schema.metadata is None
    assert found.schema.field("x").metadata is None
    sorted_rows, _ = sort_for_release(table.append_column(SOURCE, pa.array([0])))
    assert b"secret" not in serialized(sorted_rows)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pc.run_end_encode(pa.array(["b", "b", "a"])), pa.string()),
        (pc.run_end_encode(pa.array([1.5, 1.5, 2], pa.float32())), pa.float32()),
        (pa.array(["b", "b", "a"], pa.string_view()), pa.large_string()),
        (pa.array(["b", "b", "a"]).dictionary_encode(), pa.dictionary(pa.int32(), pa.string())),
        (pa.array([1, 1, 2], pa.decimal32(5, 2)), pa.decimal32(5, 2)),
    ],
)
def test_a_release_has_types_that_readers_know(column, kind):
    table = with_source(x=column)
    found = publishable(table, schema_of(table))
    assert found.column("x").to_pylist() == column.to_pylist()
    assert found.schema.field("x").type == kind
    assert publishable_schema(schema_of(table))["x"].arrow_type == kind


def ordered(values, order=("lo", "mid", "hi", "top")):
    return pa.array(pd.Categorical(values, categories=order, ordered=True))


def test_an_order_of_values_survives_pieces_that_do_not_show_all_of_them():
    order = ("lo", "mid", "hi", "top")
    kind = ordered([]).type
    schema = Schema((Attribute("a", Role.SENSITIVE, AttributeType.ORDINAL, kind, order=order),))
    pieces = [
        publishable(pa.table({"a": ordered(values), SOURCE: [start, start + 1]}), schema)
        for start, values in ((0, ["hi", "lo"]), (2, ["hi", "mid"]))
    ]
    table, _ = sort_for_release(pa.concat_tables(pieces))
    column = table.column("a").combine_chunks()
    assert table.schema.field("a").type == publishable_schema(schema)["a"].arrow_type
    assert column.type.ordered
    assert column.dictionary.to_pylist() == ["lo", "mid", "hi"]
    assert sorted(column.to_pylist()) == ["hi", "hi", "lo", "mid"]


def test_a_dictionary_whose_order_is_not_known_claims_none():
    kind = ordered([]).type
    schema = Schema((Attribute("a", Role.SENSITIVE, AttributeType.NOMINAL, kind),))
    table = publishable(pa.table({"a": ordered(["hi", "lo"])}), schema)
    assert not table.schema.field("a").type.ordered
    assert not publishable_schema(schema)["a"].arrow_type.ordered
