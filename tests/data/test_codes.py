"""What stands behind the columns that a table may hold."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from distanon.data import codes


@pytest.mark.parametrize(
    "kind",
    [
        pa.int8(),
        pa.float16(),
        pa.decimal256(50, 2),
        pa.date64(),
        pa.time64("ns"),
        pa.null(),
        pa.timestamp("ns", "UTC"),
        pa.duration("s"),
        pa.bool_(),
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.run_end_encoded(pa.int32(), pa.float64()),
    ],
)
def test_one_value_a_cell_is_supported(kind):
    assert codes.is_supported(kind)


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.int8()),
        pa.large_list(pa.int8()),
        pa.struct([("a", pa.int8())]),
        pa.map_(pa.int8(), pa.int8()),
        pa.binary(),
        pa.large_binary(),
        pa.binary(4),
        pa.list_(pa.int8(), 2),
        pa.month_day_nano_interval(),
        pa.dictionary(pa.int8(), pa.binary()),
    ],
)
def test_nested_and_binary_types_are_not(kind):
    assert not codes.is_supported(kind)


@pytest.mark.parametrize(
    ("text", "is_number"),
    [
        ("1", True),
        ("-1.5e3", True),
        (" +7. ", True),
        (".5", True),
        ("", False),
        (".", False),
        ("1 2", False),
        ("1e", False),
        ("nan", False),
        ("Infinity", False),
        ("1_0", False),
        ("٣", False),
        (None, True),
    ],
)
def test_text_reads_as_a_number_only_in_plain_notation(text, is_number):
    assert codes.numeric_text(pa.array([text], pa.large_string())).tolist() == [is_number]


def test_numbers_of_text_are_parsed_and_the_first_other_cell_is_named():
    found = codes.numbers(pa.array([" +7. ", None, ".5", "-0", "1E3"]))
    np.testing.assert_array_equal(found.floats, [7, np.nan, 0.5, 0, 1000])
    assert not np.signbit(found.floats[3])
    with pytest.raises(codes.NotNumbersError) as caught:
        codes.numbers(pa.array(["1", "secret", "secret"]))
    assert (caught.value.first, caught.value.count) == (1, 2)
    assert "secret" not in str(caught.value)


def test_sliced_columns_hold_their_own_rows():
    for column in (
        pa.array([1, None, 3]),
        pa.array([1, None, 3], pa.decimal128(5, 2)),
        pa.array([True, None, False]),
        pa.array([1, None, 3], pa.date32()),
    ):
        whole, part = codes.numbers(column), codes.numbers(column.slice(1))
        assert part.present.tolist() == whole.present[1:].tolist() == [False, True]
        assert part.integers[1] == whole.integers[2]


@pytest.mark.parametrize(
    ("kind", "first", "last"),
    [
        (pa.date64(), 86_400_000, 1),
        (pa.timestamp("ns"), 86_400 * 10**9, 1),
        (pa.time32("s"), 86_400, 1),
        (pa.int8(), 1, 1),
        (pa.date32(), 1, 1),
    ],
)
def test_each_calendar_unit_divides_the_one_before(kind, first, last):
    found = codes.steps(kind)
    assert (found[0], found[-1]) == (first, last)
    assert all(a % b == 0 for a, b in pairwise(found))


def test_plain_values_have_no_runs_views_or_dictionaries():
    column = pa.chunked_array([pc.run_end_encode(pa.array(["a", "a"]))] * 2)
    assert codes.plain(column).to_pylist() == ["a"] * 4
    assert codes.plain(column.chunk(0)).to_pylist() == ["a"] * 2
    assert codes.plain(pa.array(["a"], pa.string_view())).type == pa.large_string()


def test_runs_are_made_again():
    kind = pa.run_end_encoded(pa.int32(), pa.int64())
    found = codes.as_type(pa.array([1, 1, 2]), kind)
    assert found.type == kind
    assert found.to_pylist() == [1, 1, 2]


def test_text_of_instants_is_in_utc_and_needs_no_zone_files():
    instants = pa.array([1_577_880_000], pa.timestamp("s", "Mars/Olympus"))
    assert codes.as_text(instants).to_pylist() == ["2020-01-01 12:00:00"]
    assert codes.as_text(pa.array([5], pa.duration("s"))).to_pylist() == ["5"]


def test_decimals_beyond_64_bits_are_refused():
    wide = pa.array([2**64], pa.decimal128(38, 0))
    with pytest.raises(codes.TooWideError):
        codes.numbers(wide)
    with pytest.raises(codes.TooWideError):
        codes.numbers(pa.array([10**60], pa.decimal256(70, 0)))
    with pytest.raises(ValueError, match="beyond"):
        codes.from_unscaled(np.array([100_000]), np.array([False]), pa.decimal128(5, 2))


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pa.array(["a", None]).cast(pa.string_view()), pa.large_string()),
        (pc.run_end_encode(pa.array([1, 1, None], pa.int8())), pa.int8()),
        (pc.run_end_encode(pa.array(["a", "a", "b"])), pa.string()),
        (
            pa.array(["a", "b"]).cast(pa.string_view()).dictionary_encode(),
            pa.dictionary(pa.int32(), pa.large_string()),
        ),
        (pa.array(["a", "b"]).dictionary_encode(), pa.dictionary(pa.int32(), pa.string())),
        (pa.array([1.5]), pa.float64()),
    ],
)
def test_views_and_runs_are_stored_as_plain_values(column, kind):
    found = codes.stored(pa.chunked_array([column, column]))
    assert codes.stored_type(column.type) == found.type == kind
    assert found.to_pylist() == 2 * column.to_pylist()
