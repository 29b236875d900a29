"""Values above a top code."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from distanon.data.coarsening import top_coded
from distanon.errors import InputError


@pytest.mark.parametrize(
    ("column", "top", "expected"),
    [
        (pa.array([1, 99, None], pa.int8()), 90.5, [1, 90, None]),
        (pa.array([1, 99], pa.int8()), 1000, [1, 99]),
        (pa.array([0, 2**64 - 1], pa.uint64()), 5, [0, 5]),
        (pa.array([2**62 + 1, 7]), 9, [9, 7]),
        (pa.array([1.5, None, 99.25]), 90.5, [1.5, None, 90.5]),
        (pa.array([0.0, 1.0], pa.float32()), 0.1, [0.0, float(np.float32(0.099999994))]),
        (pa.array(np.array([1, 50], np.float16)), 40, [1, 40]),
        (
            pa.array([Decimal("1.25"), None, Decimal("99.99")]),
            9.999,
            [Decimal("1.25"), None, Decimal("9.99")],
        ),
        (
            pa.array([dt.date(1970, 1, 2), dt.date(2020, 1, 1)]),
            10,
            [dt.date(1970, 1, 2), dt.date(1970, 1, 11)],
        ),
        (pa.array(["1.50", " 99 ", None, "[90, 99]"]), 90, ["1.50", "90", None, "[90, 99]"]),
        (pa.array([1, 99, None]).dictionary_encode(), 50, [1, 50, None]),
        (pa.array([True]), 0, [True]),
        (pa.nulls(1), 0, [None]),
        (pa.array([1, 5]), float("inf"), [1, 5]),
    ],
)
def test_values_above_the_top_become_it(column, top, expected):
    found = top_coded(pa.chunked_array([column]), top, "x")
    assert found.type == column.type
    assert found.to_pylist() == expected


def test_a_top_code_below_the_type_is_refused():
    with pytest.raises(InputError, match="column 'age'"):
        top_coded(pa.chunked_array([pa.array([1], pa.uint8())]), -1, "age")
    with pytest.raises(InputError, match="more digits"):
        top_coded(pa.chunked_array([pa.array([Decimal(10) ** 30])]), 5, "age")
