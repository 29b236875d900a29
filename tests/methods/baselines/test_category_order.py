from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from distanon.data.domain import scan
from distanon.data.hierarchy import Hierarchy
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.space import AttributeSpace
from distanon.data.table import Dataset, cut
from distanon.methods.baselines.category_order import label_of, ordered, shrunk_rates

TREE = Hierarchy.from_rows(
    [("d", "far", "*"), ("a", "near", "*"), ("c", "far", "*"), ("b", "near", "*")], "h"
)


def space_of(values, hierarchy=None, kind=AttributeType.NOMINAL):
    table = pa.table({"x": values})
    attribute = Attribute(
        "x", Role.SENSITIVE, kind, table.schema.field("x").type, hierarchy=hierarchy
    )
    dataset = Dataset(Schema((attribute,)), cut(table, 1))
    space = AttributeSpace.of((attribute,), scan(dataset))
    return dataset, space, space.encode(table)


def test_a_category_below_k_records_has_the_global_rate():
    codes = np.repeat([0, 1, 2], [20, 3, 20])
    labels = np.concatenate((np.ones(20), np.ones(3), np.zeros(20)))
    rates = shrunk_rates(codes, np.array([20, 3, 20]), labels, 10)
    overall = 23 / 43
    assert rates == pytest.approx([(20 + 10 * overall) / 30, overall, 10 * overall / 30])


def test_categories_stand_by_frequency_by_rate_or_by_their_text():
    _, space, values = space_of(["b"] * 30 + ["a"] * 20 + ["c"] * 10 + [None] * 15)
    labels = np.repeat([0.0, 1.0, 0.5, 1.0], [30, 20, 10, 15])
    for kind, wanted in (
        ("alphabetical", [0, 1, 2, 3]),  # a b c missing
        ("frequency", [1, 0, 3, 2]),
        ("label_rate", [3, 0, 1, 2]),
    ):
        places = ordered(space, values, kind, labels).places[0]
        assert places.tolist() == wanted


def test_a_hierarchy_puts_branches_side_by_side_and_missing_apart():
    _, space, values = space_of(["a", "b", "c", "d", None], TREE)
    found = ordered(space, values, "frequency", None)
    assert found.places[0].tolist() == [2, 3, 1, 0, 4]  # d c | a b | missing
    tree = found.trees[0]
    assert (np.diff(tree[1]) != 0).tolist() == [False, True, False, True]
    assert set(tree[2]) == {tree[2, 0]}
    assert not found.is_set[0]


def test_the_label_is_the_most_frequent_value_or_the_number_itself():
    dataset, space, _ = space_of(["no", "yes", "no", None])
    assert label_of(dataset, space).tolist() == [1, 0, 1, 0]
    dataset, space, _ = space_of([0.0, 4.0, None, 2.0], kind=AttributeType.NUMERIC)
    assert label_of(dataset, space).tolist() == [0, 1, 0.5, 0.5]
    dataset, space, _ = space_of(pa.nulls(2, pa.int64()), kind=AttributeType.NUMERIC)
    assert label_of(dataset, space).tolist() == [0, 0]
