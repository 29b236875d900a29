"""Rules that build hierarchies: trees by construction, worked examples, values they can't read."""

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from distanon.data.hierarchy_rules import (
    RARE,
    Dates,
    Frequency,
    Intervals,
    Prefixes,
    Quantiles,
    counted_values,
    rule_of,
)
from distanon.data.table import MemoryPartition
from distanon.errors import InputError, SpecError

NUMBERS = st.decimals(-1000, 1000, allow_nan=False, allow_infinity=False, places=2)


def levels(rule, counted):
    built = rule.hierarchy(counted, "x", "the table")
    return {row[0]: row[1:] for row in built.levels}


def within(number, label):
    """Whether a label, read by itself, holds a number."""
    if label.startswith("< "):
        return number < Decimal(label[2:])
    if label.startswith(">= "):
        return number >= Decimal(label[3:])
    low, high = label[1:-1].split(", ")
    return Decimal(low) <= number < Decimal(high)


def test_intervals_are_half_open_and_start_at_the_origin():
    found = levels(
        Intervals(build="intervals", widths=(5, 10), origin=1), {"6": 1, "5.99": 1, "-4": 1}
    )
    assert found["6"] == ("[6, 11)", "[1, 11)", "*")
    assert found["5.99"] == ("[1, 6)", "[1, 11)", "*")
    assert found["-4"] == ("[-4, 1)", "[-9, 1)", "*")


def test_an_interval_of_tenths_loses_no_value_to_rounding():
    found = levels(Intervals(build="intervals", widths=(0.1,)), {"0.3": 1, "0.7": 1})
    assert found == {"0.3": ("[0.3, 0.4)", "*"), "0.7": ("[0.7, 0.8)", "*")}


@given(st.dictionaries(NUMBERS.map(str), st.integers(1, 9), min_size=1, max_size=30))
def test_every_number_lies_within_its_labels_at_every_level(counted):
    for rule in (
        Intervals(build="intervals", widths=(2.5, 5, 50)),
        Quantiles(build="quantiles", groups=(8, 4, 2)),
    ):
        for value, labels in levels(rule, counted).items():
            assert all(within(Decimal(value), one) for one in labels if one != "*")


@given(st.lists(st.integers(0, 10**6), min_size=40, max_size=60, unique=True), st.integers(2, 5))
def test_quantiles_of_distinct_numbers_are_of_equal_size(numbers, groups):
    rule = Quantiles(build="quantiles", groups=(groups,))
    found = levels(rule, {str(number): 1 for number in numbers})
    sizes = [sum(one[0] == label for one in found.values()) for label, _ in set(found.values())]
    assert len(sizes) == groups
    assert max(sizes) - min(sizes) <= 1


def test_a_cut_is_no_value_where_a_shorter_number_lies_between():
    found = levels(Quantiles(build="quantiles", groups=(2,)), {"28.73": 5, "31.12": 5})
    assert found == {"28.73": ("< 30", "*"), "31.12": (">= 30", "*")}


def test_values_of_no_record_are_placed_and_move_no_cut():
    rule = Quantiles(build="quantiles", groups=(4, 2))
    numbers = {str(number): 3 for number in (10, 20, 30, 45, 60, 75, 90, 99)}
    alone, beside = levels(rule, numbers), levels(rule, numbers | {"15": 0, "-7": 0, "37.5": 0})
    assert {value: beside[value] for value in numbers} == alone
    assert beside["-7"] == alone["10"]


def test_a_value_of_many_records_takes_several_groups():
    found = levels(Quantiles(build="quantiles", groups=(4, 2)), {"1": 90, "2": 5, "3": 5})
    assert found["1"] == ("< 2", "< 2", "*")
    assert found["2"] == found["3"] == (">= 2", ">= 2", "*")


def test_prefixes_mask_the_rest_and_leave_short_codes_whole():
    found = levels(Prefixes(build="prefixes", lengths=(3, 1)), {"13053": 1, "1305": 1, "7": 1})
    assert found["13053"] == ("130**", "1****", "*")
    assert found["1305"] == ("130*", "1***", "*")
    assert found["7"] == ("7", "7", "*")


def test_dates_lie_in_calendar_periods_with_or_without_a_time_of_day():
    rule = Dates(build="dates", periods=("month", "quarter", "year", "decade"))
    found = levels(rule, {"2020-11-28": 1, "1999-01-01 23:59:00": 1})
    assert found["2020-11-28"] == ("2020-11", "2020-Q4", "2020", "2020s", "*")
    assert found["1999-01-01 23:59:00"] == ("1999-01", "1999-Q1", "1999", "1990s", "*")


def test_values_of_few_records_are_put_together():
    rule = Frequency(build="frequency", at_least=(5, 50))
    found = levels(rule, {"a": 100, "b": 49, "c": 4})
    assert found == {"a": ("a", "a", "*"), "b": ("b", RARE, "*"), "c": (RARE, RARE, "*")}


@pytest.mark.parametrize(
    ("rule", "odd"),
    [
        (Intervals(build="intervals", widths=(5,)), "unknown"),
        (Intervals(build="intervals", widths=(5,)), "1e400"),
        (Quantiles(build="quantiles", groups=(2,)), "nan"),
        (Dates(build="dates"), "28.11.2020"),
        (Frequency(build="frequency", at_least=(2,)), RARE),
        (Prefixes(build="prefixes", lengths=(1,)), " "),
    ],
)
def test_values_that_a_rule_cannot_read_are_counted_and_not_quoted(rule, odd):
    with pytest.raises(InputError) as caught:
        rule.hierarchy({odd: 3, "2020-01-01": 1}, "born", "people.csv")
    assert "people.csv, column 'born': " in str(caught.value)
    assert odd.strip() == "" or odd not in str(caught.value).replace(rule.expects, "")


def test_a_column_without_a_value_has_no_hierarchy():
    assert Prefixes(build="prefixes", lengths=(1,)).hierarchy({}, "zip", "the table") is None


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"build": "stairs"}, "build: expected one of intervals, quantiles"),
        ({"build": "intervals"}, "widths: missing"),
        ({"build": "intervals", "widths": [5, 7]}, "a multiple of the one before"),
        ({"build": "quantiles", "groups": [8, 3]}, "a divisor of the one before"),
        ({"build": "prefixes", "lengths": [1, 3]}, "falling"),
        ({"build": "dates", "periods": ["year", "month"]}, "longer and longer"),
        ({"build": "frequency", "at_least": [50, 5]}, "rising"),
        ({"build": "frequency", "atleast": [5]}, "did you mean 'at_least'?"),
    ],
)
def test_a_wrong_rule_is_refused_with_its_path(settings, told):
    with pytest.raises(SpecError, match=r"^hierarchies") as caught:
        rule_of(settings, "hierarchies['x']")
    assert told in str(caught.value)


def test_values_are_counted_over_partitions_and_missing_ones_left_out():
    table = pa.table({"x": pa.array([1, 2, None, 1], pa.int16())})
    parts = [MemoryPartition(table.slice(0, 2)), MemoryPartition(table.slice(2, 2), 2)]
    assert counted_values(parts, "x") == {"1": 2, "2": 1}
