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


def test_in_a_table_of_several_files_a_fault_names_the_file_and_its_row():
    def locate(record):
        return ("b.csv", record - 9) if record >= 10 else ("a.csv", record + 1)

    assert Fault("x", "text", 9, 1).told(locate) == "column 'x', row 10 of a.csv: text"
    assert Fault("x", "text", 11, 3).told(locate) == (
        "column 'x', 3 rows, the first of them row 2 of b.csv: text"
    )
    with pytest.raises(InputError, match=r"in/: column .x., row 2 of b\.csv: text"):
        refuse([Fault("x", "text", 11, 1), Fault("y", "wide", None, 0)], "in/", locate)


def test_all_faults_are_raised_at_once():
    refuse([], "people.csv")
    with pytest.raises(InputError) as caught:
        refuse([Fault("x", "text", 0, 1), Fault("y", "wide", None, 0)], "people.csv")
    assert str(caught.value).splitlines() == [
        "people.csv: column 'x', row 1: text",
        "people.csv: column 'y': wide",
    ]
