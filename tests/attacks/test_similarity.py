import numpy as np
import pyarrow as pa
import pytest

from distanon.attacks.similarity import measure
from distanon.data.evidence import Evidence
from distanon.data.hierarchy import Hierarchy
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.streams import Streams
from distanon.data.table import Dataset, MemoryPartition

LEVELS = [["flu", "lung", "*"], ["cold", "lung", "*"], ["ulcer", "gut", "*"]]


def values(classes, cells, **settings):
    table = pa.table({"q": classes, "s": cells})
    kind = AttributeType.NOMINAL if pa.types.is_string(table.schema[1].type) else "numeric"
    attributes = (
        Attribute("q", Role.QUASI_IDENTIFIER, AttributeType.NOMINAL, table.schema[0].type),
        Attribute("s", Role.SENSITIVE, AttributeType(kind), table.schema[1].type, **settings),
    )
    evidence = Evidence(Dataset(Schema(attributes), (MemoryPartition(table),)))
    return {m.name: m for m in measure(evidence, streams=Streams(1))}


def test_a_class_of_one_value_tells_it_and_one_of_missing_values_does_not():
    found = values(["a", "a", "b", "b", "c", "c"], ["x", "x", "x", "y", None, None])
    assert found["homogeneity.s"].value == 2 / 6
    assert found["homogeneity.s"].ci_low < 2 / 6 < found["homogeneity.s"].ci_high


def test_chance_is_worked_out_from_the_sizes_of_the_classes():
    found = values(["a", "a", "b", "b", "b"], ["x", "x", "x", "y", "y"])
    x, y = 3 / 5, 2 / 5
    expected = (2 * (x**2 + y**2) + 3 * (x**3 + y**3)) / 5
    assert found["homogeneity.s.blind_guess"].value == pytest.approx(expected)
    assert "similarity.s" not in found


def test_values_of_one_subtree_are_similar():
    hierarchy = Hierarchy.from_rows(LEVELS, "levels")
    classes = ["a", "a", "b", "b"]
    found = values(classes, ["flu", "cold", "flu", "ulcer"], hierarchy=hierarchy)
    assert found["homogeneity.s"].value == 0.0
    assert found["similarity.s"].value == 0.5


def test_numbers_within_a_twentieth_of_the_range_are_similar():
    classes = ["a", "a", "b", "b", "c", "c"]
    found = values(classes, [0.0, 5.0, 0.0, 100.0, 1.0, None])
    assert found["similarity.s"].value == 2 / 6
    assert 0.0 <= found["similarity.s.blind_guess"].value <= 1.0


def test_dates_are_compared_as_numbers():
    days = np.array(["2020-01-01", "2020-01-02", "2020-01-01", "2021-01-01"], "datetime64[D]")
    found = values(["a", "a", "b", "b"], pa.array(days))
    assert found["similarity.s"].value == 0.5
