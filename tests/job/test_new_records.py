from __future__ import annotations

import pyarrow as pa
import pytest

from distanon.job.new_records import open_new, types_compare
from distanon.spec import parse

SPEC = parse(
    "{spec: 1, name: x, input: {table: {path: a.csv, default_role: quasi_identifier}}, "
    "method: {name: rbt}, output: out/}"
)


@pytest.mark.parametrize(
    ("ours", "theirs", "compares"),
    [
        (pa.int8(), pa.float64(), True),
        (pa.decimal128(5, 2), pa.int64(), True),
        (pa.string(), pa.dictionary(pa.int32(), pa.large_string()), True),
        (pa.null(), pa.string(), True),
        (pa.date32(), pa.date32(), True),
        (pa.timestamp("ms"), pa.timestamp("us"), True),
        (pa.string(), pa.int64(), False),
        (pa.bool_(), pa.int64(), False),
        (pa.date32(), pa.timestamp("us"), False),
    ],
)
def test_types_compare_where_their_values_do(ours, theirs, compares):
    assert types_compare(ours, theirs) is compares


def test_a_table_in_memory_is_opened_as_a_file_is(tmp_path):
    table = pa.table({"a": [1, 2]})
    (tmp_path / "a.csv").write_text("a\n1\n2\n")
    for data in (table, table.to_pandas(), tmp_path / "a.csv"):
        opened = open_new(data, SPEC)
        assert opened.arrow_schema.names == ["a"]
        assert opened.partitions[-1].stop == 2
