"""Where a promise fails, in words."""

import datetime as dt

import numpy as np
import pyarrow as pa

from distanon.data.classes import equivalence_classes
from distanon.promises.failures import reason, tuples

TABLE = pa.table({"x": ["a", "b", "a", "c"], "day": [dt.date(2020, 1, 2)] * 3 + [None]})
CLASSES = equivalence_classes(TABLE, ["x", "day"])


def test_classes_are_numbered_from_one_in_the_order_of_the_files():
    failing = np.array([False, True, True])
    assert reason(CLASSES, failing, "are too small") == (
        "2 of 3 classes are too small: class 2 (1 record), class 3 (1 record)"
    )
    assert reason(CLASSES, np.zeros(3, np.bool_), "are too small") == ""


def test_tuples_are_what_json_can_hold(dataset):
    listed = tuples(CLASSES, np.array([True, False, True]), dataset(TABLE, pieces=3), ["x", "day"])
    assert listed == [
        {"class": 1, "size": 2, "values": {"x": "a", "day": "2020-01-02"}},
        {"class": 3, "size": 1, "values": {"x": "c", "day": None}},
    ]


def test_days_that_python_has_not_are_listed_as_text(dataset):
    days = pa.array([2_932_897, -(2**31), None], pa.int32()).cast(pa.date32())
    table = pa.table({"day": days})
    listed = tuples(
        equivalence_classes(table, ["day"]), np.ones(3, np.bool_), dataset(table), ["day"]
    )
    assert listed[0]["values"]["day"] == "10000-01-01"
    assert listed[2]["values"]["day"] is None
