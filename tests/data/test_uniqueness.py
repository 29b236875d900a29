"""Kept columns that name people."""

from __future__ import annotations

import pyarrow as pa
import pytest

from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.table import Dataset, cut
from distanon.data.uniqueness import refuse_unique, unique_share
from distanon.errors import InputError


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.string_view(),
        pa.float16(),
        pa.bool_(),
        pa.decimal32(5, 2),
        pa.date32(),
        pa.null(),
        pa.dictionary(pa.int32(), pa.string()),
        pa.run_end_encoded(pa.int32(), pa.string()),
    ],
    ids=str,
)
def test_kept_columns_of_every_type_are_searched_for_unique_values(kind):
    table = pa.table({"kept": pa.nulls(40, kind)})
    attribute = Attribute("kept", Role.INSENSITIVE, AttributeType.NOMINAL, kind)
    dataset = Dataset(Schema((attribute,)), cut(table, 3))
    assert unique_share(dataset, "kept") == 0.0


def test_values_that_occur_once_count_as_unique():
    table = pa.table({"kept": ["a", "a", "b", None]})
    attribute = Attribute("kept", Role.INSENSITIVE, AttributeType.NOMINAL, pa.string())
    assert unique_share(Dataset(Schema((attribute,)), cut(table, 2)), "kept") == 0.5


def test_a_kept_column_that_names_people_is_refused_unless_it_is_confirmed():
    table = pa.table({"few": ["a", "b"] * 10, "own": [str(row) for row in range(20)]})
    attributes = [
        Attribute(name, Role.INSENSITIVE, AttributeType.NOMINAL, pa.string())
        for name in table.column_names
    ]
    dataset = Dataset(Schema(tuple(attributes)), cut(table, 3))
    with pytest.raises(InputError, match=r"'own' is unique for 100% .* or list it in here"):
        refuse_unique(dataset, (), "here")
    refuse_unique(dataset, ("own",), "here")
