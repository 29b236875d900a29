"""How faults are told."""

import pytest

from distanon.data.faults import Fault, join, refuse
from distanon.errors import InputError


def test_equal_kinds_are_joined_with_the_lowest_row():
    faults = [Fault("x", "text", 7, 2), Fault("y", "text", 3, 1), Fault("x", "text", 4, 1)]
    assert join(faults) == [Fault("x", "text", 4, 3), Fault("y", "text", 3, 1)]
    assert join([Fault("x", "wide", None, 0)] * 2) == [Fault("x", "wide", None, 0)]


def test_rows_count_from_one():
    assert str(Fault("x", "text", 0, 1)) == "column 'x', row 1: text"
    assert str(Fault("x", "text", 16, 3)) == "column 'x', 3 rows, the first of them row 17: text"
    assert str(Fault("x", "wide", None, 0)) == "column 'x': wide"


def test_all_faults_are_raised_at_once():
    refuse([], "people.csv")
    with pytest.raises(InputError) as caught:
        refuse([Fault("x", "text", 0, 1), Fault("y", "wide", None, 0)], "people.csv")
    assert str(caught.value).splitlines() == [
        "people.csv: column 'x', row 1: text",
        "people.csv: column 'y': wide",
    ]
