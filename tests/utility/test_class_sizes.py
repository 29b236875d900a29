"""Sizes of classes, by hand."""

from __future__ import annotations

from distanon.data.evidence import Evidence
from distanon.utility import class_sizes
from distanon.utility.class_sizes import EDGES


def figures(evidence):
    return {
        figure.name.removeprefix("class_sizes."): figure for figure in class_sizes.measure(evidence)
    }


def test_four_rows_in_two_classes_by_hand(evidence):
    found = figures(evidence([[1], [2], [3], [4]], [[1.5], [1.5], [1.5], [4]]))
    assert found["discernibility"].value == 3**2 + 1
    assert found["c_avg"].value == (4 / 2) / 1
    assert "discernibility_with_suppressed" not in found
    assert found["rows_in_classes_of_1"].value == 0.25
    assert found["rows_in_classes_of_2_to_4"].value == 0.75
    assert found["rows_in_classes_of_100_or_more"].value == 0.0


def test_each_suppressed_record_costs_all_records(evidence):
    found = figures(evidence([[1], [2], [3], [9]], [[1.5], [1.5], [3]], [0, 1, 2]))
    assert found["discernibility"].value == 2**2 + 1
    assert found["discernibility_with_suppressed"].value == 2**2 + 1 + 1 * 4
    assert not found["discernibility_with_suppressed"].is_public


def test_the_bars_cover_all_rows_and_stay_with_the_owner(evidence):
    values = [[v] for v, size in enumerate((1, 2, 5, 10, 20, 50, 100, 130)) for _ in range(size)]
    found = figures(Evidence(evidence(values, values).release))
    bars = [figure for name, figure in found.items() if name.startswith("rows_in")]
    assert len(bars) == len(EDGES)
    assert sum(bar.value for bar in bars) == 1.0
    assert all(bar.value > 0 for bar in bars)
    assert not any(bar.is_public for bar in bars)
