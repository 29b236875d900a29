from __future__ import annotations

import pyarrow as pa
import pytest

from distanon.errors import InputError
from distanon.storage.graph_elements import Elements


def collected(*values) -> Elements:
    elements = Elements()
    for line, value in enumerate(values, 1):
        elements.add_node(str(line), line, value)
    return elements


def test_attributes_that_some_nodes_lack_are_missing_there():
    found = collected({}, {"x": 1}, {"y": "a"}, {"x": 2}, {}).tables("g", "id", {})
    assert found.attributes.to_pydict() == {
        "x": [None, 1, None, 2, None],
        "y": [None, None, "a", None, None],
    }


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], pa.int64()),
        ([1, 2.5], pa.float64()),
        ([1, "x"], pa.string()),
        ([1, 2**70], pa.string()),
        ([None, None], pa.string()),
    ],
)
def test_a_column_has_the_narrowest_type_that_holds_it(values, kind):
    found = collected(*({"x": value} for value in values)).tables("g", "id", {})
    assert found.attributes.schema.field("x").type == kind


def test_an_attribute_with_the_name_of_the_ids_is_refused():
    with pytest.raises(InputError, match="the name of their ids"):
        collected({"id": 1}).tables("g", "id", {})
