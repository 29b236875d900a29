"""Regions as text and back, for every type of column."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.attribute_domain import AttributeDomain
from distanon.data.domain import summarize
from distanon.data.generalization import covered, range_texts, read, set_texts
from distanon.data.hierarchy import Hierarchy
from distanon.data.schema import Attribute, AttributeType, Role, Schema, infer_type
from distanon.data.table import MemoryPartition
from distanon.data.values import encode_column
from distanon.errors import InputError

DAY = dt.date(2024, 2, 28)
NOON = dt.datetime(2024, 2, 28, 12, 30, tzinfo=dt.UTC)
COLUMNS = {
    "int": pa.array([3, -7, 2**40, 0, 3, None]),
    "huge": pa.array([2**62, 2**62 + 1, 2**62 + 40, None], pa.int64()),
    "unsigned": pa.array([0, 250, 7], pa.uint8()),
    "float": pa.array([0.1, -2.5, 1e-7, 33.0, None]),
    "float32": pa.array([0.1, 0.7, 250.125], pa.float32()),
    "float16": pa.array(np.array([0.5, 2.25, -3.0], np.float16)),
    "decimal": pa.array([Decimal("1.10"), Decimal("-4.05"), None], pa.decimal128(9, 2)),
    "date": pa.array([DAY, DAY + dt.timedelta(40), None]),
    "date64": pa.array([DAY, DAY + dt.timedelta(40)], pa.date64()),
    "instant": pa.array([NOON, NOON + dt.timedelta(seconds=5)], pa.timestamp("us", tz="UTC")),
    "naive": pa.array(
        [NOON.replace(tzinfo=None), (NOON - dt.timedelta(9000)).replace(tzinfo=None)],
        pa.timestamp("ms"),
    ),
    "time": pa.array([dt.time(1, 2, 3), dt.time(23, 0)], pa.time64("us")),
    "duration": pa.array([dt.timedelta(3), dt.timedelta(0, 9)], pa.duration("s")),
    "digits": pa.array(["7", "0.25", "12", None]),
}


def known(
    column: pa.Array,
    kind: AttributeType | None = None,
    order: tuple | None = None,
    hierarchy: Hierarchy | None = None,
) -> tuple[Attribute, AttributeDomain, np.ndarray]:
    kind = kind or infer_type(column.type)
    attribute = Attribute(
        "c", Role.QUASI_IDENTIFIER, kind, column.type, order=order, hierarchy=hierarchy
    )
    table = pa.table({"c": column})
    domain = summarize(MemoryPartition(table), Schema((attribute,)), "the table")["c"]
    return attribute, domain, encode_column(table.column("c"), attribute, domain)


@pytest.mark.parametrize("name", COLUMNS)
def test_ranges_of_every_type_are_read_as_they_were_written(name) -> None:
    kind = AttributeType.NUMERIC
    attribute, domain, values = known(COLUMNS[name], kind)
    present = np.sort(values[~np.isnan(values)])
    low, high = (grid.ravel() for grid in np.meshgrid(present, present))
    low, high = np.append(low[low <= high], np.nan), np.append(high[low <= high], np.nan)
    for missing in (False, True):
        holds = np.full(len(low), missing)
        holds[-1] = True
        texts = range_texts(low, high, holds, attribute, domain)
        regions = read(texts, attribute, domain)
        assert np.array_equal(regions.low[regions.code_of], low, equal_nan=True)
        assert np.array_equal(regions.high[regions.code_of], high, equal_nan=True)
        assert (regions.holds_missing[regions.code_of] == holds).all()


@pytest.mark.parametrize("name", COLUMNS)
def test_plain_values_are_regions_of_their_own(name) -> None:
    attribute, domain, values = known(COLUMNS[name], AttributeType.NUMERIC)
    regions = read(COLUMNS[name], attribute, domain)
    assert regions.contains(values, regions.code_of).all()
    assert (regions.extent() == 0).all()
    assert np.array_equal(regions.center()[regions.code_of], values, equal_nan=True)


NASTY = ["a", "b, c", '"q"', "{x}", "*", "", " pad", "[1, 2]", "d or missing", "é{", "\n", "a}"]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(NASTY) | st.text(max_size=4), min_size=1, max_size=6, unique=True),
    st.data(),
)
def test_sets_of_any_texts_are_read_as_they_were_written(texts, data) -> None:
    texts = [text for text in texts if text != "*"] or ["a"]
    attribute, domain, _ = known(pa.array([*texts, None]), AttributeType.NOMINAL)
    numbers = st.sets(st.integers(0, len(texts)), min_size=1)
    sets = data.draw(st.lists(numbers, min_size=1, max_size=5))
    starts = np.cumsum([0, *map(len, sets)])
    members = np.array([one for group in sets for one in sorted(group)])
    regions = read(set_texts(starts, members, attribute, domain), attribute, domain)
    for row, wanted in enumerate(sets):
        region = int(regions.code_of[row])
        found = regions.members[regions.starts[region] : regions.starts[region + 1]]
        assert found.tolist() == sorted(wanted)
        everything = np.arange(len(texts) + 1.0)
        inside = regions.contains(everything, np.full(len(everything), region))
        assert np.flatnonzero(inside).tolist() == sorted(wanted)


@given(
    st.lists(st.sampled_from(NASTY) | st.text(max_size=4), min_size=1, max_size=5, unique=True),
    st.data(),
)
def test_ranges_of_ordinal_texts_are_read_as_they_were_written(texts, data) -> None:
    texts = [text for text in texts if text != "*"] or ["a"]
    column = pa.array([*texts, None])
    attribute, domain, _ = known(column, AttributeType.ORDINAL, tuple(texts))
    low = data.draw(st.integers(0, len(texts) - 1))
    high = data.draw(st.integers(low, len(texts) - 1))
    holds = data.draw(st.booleans())
    text = range_texts(
        np.array([float(low)]), np.array([float(high)]), np.array([holds]), attribute, domain
    )
    regions = read(text, attribute, domain)
    assert (regions.low[0], regions.high[0], bool(regions.holds_missing[0])) == (low, high, holds)


def test_cells_look_as_documented() -> None:
    age = known(pa.array([17, 25, None]))
    both = np.array([False, False, True, True])
    texts = range_texts(
        np.array([17.0, 17.0, 17.0, np.nan]), np.array([25.0, 17.0, 25.0, np.nan]), both, *age[:2]
    )
    assert texts.to_pylist() == ["[17, 25]", "17", "[17, 25] or missing", None]
    job = known(pa.array(["a", "b", "c, d", None]))
    texts = set_texts(np.array([0, 2, 3, 4, 5, 7]), np.array([0, 2, 2, 1, 3, 1, 3]), *job[:2])
    assert texts.to_pylist() == ['{a, "c, d"}', "c, d", "b", None, "{b} or missing"]
    flag = known(pa.array([True, False]))
    assert set_texts(np.array([0, 2]), np.array([0, 1]), *flag[:2]).to_pylist() == ["{false, true}"]


def test_withheld_ends_stand_for_the_ends_of_the_column() -> None:
    attribute, domain, _ = known(pa.array([1, 50, 99]))
    no, yes = np.array([False]), np.array([True])
    texts = range_texts(
        np.array([50.0]), np.array([99.0]), no, attribute, domain, withheld=(no, yes)
    )
    assert texts.to_pylist() == ["[50, *]"]
    regions = read(texts, attribute, domain)
    assert (regions.low[0], regions.high[0]) == (50.0, 99.0)
    assert regions.extent()[0] == 0.5


FAMILY = Hierarchy.from_rows(
    [("wed", "pair", "*"), ("civil", "pair", "*"), ("div", "alone", "*"), ("sep", "alone", "*")],
    "h",
)


def test_sets_under_a_hierarchy_are_written_as_its_labels() -> None:
    column = pa.array(["civil", "div", "sep", "wed", None])
    attribute, domain, _ = known(column, AttributeType.NOMINAL, hierarchy=FAMILY)
    starts, members = np.array([0, 2, 4, 5, 7]), np.array([0, 3, 0, 1, 2, 1, 4])
    texts = set_texts(starts, members, attribute, domain)
    assert texts.to_pylist() == ["pair", "*", "sep", "{div} or missing"]
    regions = read(texts, attribute, domain)
    sizes = np.diff(regions.starts)[regions.code_of]
    assert sizes.tolist() == [2, 5, 1, 2]
    wide_starts, wide = covered(starts, members, attribute, domain)
    assert wide_starts.tolist() == [0, 2, 7, 8, 10]
    assert wide.tolist() == [0, 3, 0, 1, 2, 3, 4, 2, 1, 4]


def test_labels_that_stand_for_two_nodes_are_not_used() -> None:
    twice = Hierarchy.from_rows([("a", "x", "x"), ("b", "y", "x"), ("c", "y", "x")], "h")
    attribute, domain, _ = known(pa.array(["a", "b", "c"]), AttributeType.NOMINAL, hierarchy=twice)
    texts = set_texts(np.array([0, 2, 5]), np.array([1, 2, 0, 1, 2]), attribute, domain)
    assert texts.to_pylist() == ["y", "{a, b, c}"]


def test_extents_are_the_share_of_the_range_or_of_the_categories() -> None:
    attribute, domain, _ = known(pa.array([0, 10, 5, None]))
    texts = pa.array(["[0, 5]", "5", "[0, 10]", "[5, 10] or missing", None, "*"])
    regions = read(texts, attribute, domain)
    assert regions.extent()[regions.code_of].tolist() == [0.5, 0.0, 1.0, 1.0, 0.0, 1.0]
    attribute, domain, _ = known(pa.array(["a", "b", "c", "d"]))
    regions = read(pa.array(["{a, b}", "a", "{a, b, c, d}"]), attribute, domain)
    assert regions.extent()[regions.code_of] == pytest.approx([1 / 3, 0, 1])
    attribute, domain, _ = known(pa.array([4, 4]))
    assert read(pa.array(["4", "[4, 4]"]), attribute, domain).extent().tolist() == [0, 0]


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("[1, x]", "text, expected int64"),
        ("[1, 2, 3]", "other than two ends"),
        ("[2, 1]", "out of order"),
        ("{1, 2}", "a set"),
        ('["1, 2]', "can't be read"),
        ("secret", "text, expected int64"),
    ],
)
def test_a_cell_that_is_no_region_is_named_by_its_row(cell, told) -> None:
    attribute, domain, _ = known(pa.array([1, 2]))
    with pytest.raises(InputError, match=told) as caught:
        read(pa.array(["1", "[1, 2]", cell]), attribute, domain)
    assert "row 3" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_category_that_the_original_lacks_is_named_by_its_row() -> None:
    attribute, domain, _ = known(pa.array(["a", "b"]))
    with pytest.raises(InputError, match="row 2: no value of the original"):
        read(pa.array(["{a, b}", "{a, secret}"]), attribute, domain)
