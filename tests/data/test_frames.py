import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from distanon.data.frames import is_frame, name_of, read_frame, write_frame
from distanon.errors import InputError

FRAME = pd.DataFrame(
    {
        "int": np.array([1, 2, 3], dtype="int16"),
        "float": [0.5, np.nan, 2.5],
        "small": np.array([0.1, 0.2, 0.3], dtype="float32"),
        "bool": [True, False, True],
        "text": ["a", None, "c"],
        "object": pd.Series(["a", None, "c"], dtype=object),
        "day": pd.to_datetime(["2020-01-01", None, "2020-03-01"]),
        "nanos": pd.to_datetime(["2020-01-01", None, "2020-03-01"])
        .tz_localize("UTC")
        .as_unit("ns"),
        "nullable": pd.array([1, None, 3], dtype="Int32"),
        "flag": pd.array([True, None, False], dtype="boolean"),
        "arrow": pd.array([1, None, 3], dtype=pd.ArrowDtype(pa.uint8())),
        "category": pd.Categorical(["x", None, "z"], categories=["z", "y", "x"], ordered=True),
        "codes": pd.Categorical([7, 7, 9]),
    }
).set_axis([5, 6, 7])


def test_every_column_comes_back_with_its_type_and_a_fresh_index():
    back = write_frame(read_frame(FRAME), FRAME)
    expected = FRAME.reset_index(drop=True)
    expected["category"] = expected["category"].cat.remove_unused_categories()
    pd.testing.assert_frame_equal(back, expected)
    assert isinstance(back.index, pd.RangeIndex)


def test_nothing_of_the_original_travels_beside_the_values():
    frame = FRAME.copy()
    frame.attrs["secret"] = 1
    frame.index.name = "secret"
    table = read_frame(frame)
    assert table.schema.metadata is None
    assert table.column_names == list(FRAME.columns)
    back = write_frame(table, frame)
    assert back.attrs == {}
    assert back.index.name is None
    assert list(back["category"].cat.categories) == ["z", "x"]
    assert back["category"].cat.ordered


def test_integers_that_a_method_made_floats_come_back_as_floats():
    names = ["int", "nullable", "arrow"]
    table = pa.table({name: pa.array([0.5, 1.5, None]) for name in names})
    back = write_frame(table, FRAME[names])
    assert [str(dtype) for dtype in back.dtypes] == ["float64", "Float64", "double[pyarrow]"]


def test_an_arrow_table_comes_back_as_one_without_metadata():
    table = pa.table({"x": [1, 2]}).replace_schema_metadata({"secret": "1"})
    assert read_frame(table).schema.metadata is None
    assert write_frame(table, table) is table
    assert not is_frame(table)
    assert (name_of(table), name_of(FRAME)) == ("the table", "the data frame")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([1, 2], "got list"),
        (pd.DataFrame({0: [1], "x": [2]}), "column 1 is no text"),
        (pd.DataFrame([[1, 2]], columns=["x", "x"]), "columns 1, 2 share"),
        (pd.DataFrame({"x": [1, "987654321a"]}), "'x'"),
        (pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"]), "share"),
    ],
)
def test_what_cannot_be_read_is_refused_without_quoting_values(data, message):
    with pytest.raises(InputError, match=message) as refused:
        read_frame(data)
    assert "987654321" not in str(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize("name", ["int", "float", "bool", "day", "nullable", "flag", "codes"])
def test_generalized_cells_come_back_as_text(name):
    cells = ["[1, 2]", None, "{x, y}"]
    back = write_frame(pa.table({name: pa.array(cells)}), FRAME)
    assert [None if pd.isna(cell) else cell for cell in back[name]] == cells


def test_sets_of_categories_are_no_categories_of_the_original():
    back = write_frame(pa.table({"category": ["{x, y}", "z", "{x, y}"]}), FRAME)
    assert back["category"].tolist() == ["{x, y}", "z", "{x, y}"]
