import datetime as dt

import pyarrow as pa
import pytest

from distanon.storage.inference import ColumnFacts, infer


def inferred(*values, decimal="."):
    column = infer(pa.chunked_array([pa.array(values, pa.string())]), decimal)
    return str(column.type), column.to_pylist()


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (["1", "-2", None], "int64", [1, -2, None]),
        ([" 1", "2 "], "int64", [1, 2]),
        (["1", "2.5"], "double", [1.0, 2.5]),
        (["1", ".5", "1e3", "-2.E-1"], "double", [1.0, 0.5, 1000.0, -0.2]),
        (["1", "NaN", ""], "double", [1.0, None, None]),
        (["1.5", "-inf"], "double", [1.5, float("-inf")]),
        (["true", "False"], "bool", [True, False]),
        (["2020-02-29", None], "date32[day]", [dt.date(2020, 2, 29), None]),
        (["2020-02-29 10:00", "2020-02-29"], "timestamp[s]", None),
        (["2020-02-29T10:00:00.25", "2020-02-29"], "timestamp[ns]", None),
        (["2020-02-29T10:00:00Z", "2020-02-29 10:00:00+02:00"], "timestamp[s, tz=UTC]", None),
        ([None, None], "null", [None, None]),
    ],
)
def test_a_column_gets_the_type_that_holds_all_of_it(values, kind, expected):
    found, read = inferred(*values)
    assert found == kind
    if expected is not None:
        assert read == expected


@pytest.mark.parametrize(
    "values",
    [
        ["00123", "4567"],  # postcodes
        ["007.5", "1"],
        ["99999999999999999999", "1"],  # beyond 64 bits
        ["0x1F", "2"],
        ["+1", "2"],
        ["1", "x"],
        ["nan", "NaN"],
        ["NA", "DE"],  # Namibia
        ["inf"],
        ["", ""],
        ["2021-02-29", "2020-02-29"],  # no such day
        ["12:30", "13:00"],
        ["1,5"],
        ["true", "1"],
    ],
)
def test_what_a_number_or_date_would_change_stays_text(values):
    assert inferred(*values) == ("string", values)


def test_a_decimal_comma_is_read_where_it_is_told():
    assert inferred("1,5", "2", decimal=",") == ("double", [1.5, 2.0])
    assert inferred("1.5", "2", decimal=",") == ("string", ["1.5", "2"])


def commas(column):
    return ColumnFacts.of(column).uses_comma


def test_decimal_commas_are_noticed():
    assert commas(pa.chunked_array([["1,5", "2", None]]))
    assert not commas(pa.chunked_array([["1", "2"]]))
    assert not commas(pa.chunked_array([["1,5", "x"]]))


def test_whole_numbers_of_64_bits_keep_every_digit():
    assert inferred("9223372036854775807", "-1") == ("int64", [9223372036854775807, -1])
