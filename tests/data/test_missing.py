"""Missing values are refused with their places, where the user asks for that."""

from __future__ import annotations

import pyarrow as pa
import pytest

from distanon.data.missing import refuse_missing
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.table import Dataset, cut
from distanon.errors import InputError

NUMERIC = AttributeType.NUMERIC


def dataset(columns: dict[str, list[float | None]], pieces: int = 3) -> Dataset:
    table = pa.table({name: pa.array(column, pa.float64()) for name, column in columns.items()})
    roles = {"kept": Role.INSENSITIVE, "wanted": Role.SENSITIVE}
    attributes = [
        Attribute(name, roles.get(name, Role.QUASI_IDENTIFIER), NUMERIC, pa.float64())
        for name in columns
    ]
    return Dataset(Schema(tuple(attributes)), cut(table, pieces))


def place(record: int) -> tuple[str, int]:
    return "file.csv", record + 1


@pytest.mark.parametrize("pieces", [1, 3])
def test_every_column_that_lacks_values_is_named_with_its_first_row(pieces):
    data = dataset({"a": [1, 2, None, 4, None], "b": [1] * 5, "wanted": [1, 2, 3, 4, None]}, pieces)
    with pytest.raises(InputError) as error:
        refuse_missing(data, place, "input.table.missing")
    assert str(error.value).splitlines() == [
        "file.csv: column 'a': 2 missing values, the first in row 3",
        "file.csv: column 'wanted': 1 missing values, the first in row 5",
        "fill them, or set input.table.missing: own_category",
    ]


def test_whole_columns_and_kept_ones_pass():
    refuse_missing(dataset({"a": [1, 2, 3], "kept": [None, 1, 2]}), place, "input.table.missing")
