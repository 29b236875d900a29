"""Values as numbers and back, and records as points."""

import datetime as dt
import decimal
import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.codes import value_type
from distanon.data.domain import Domain, scan
from distanon.data.hierarchy import Hierarchy
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.space import AttributeSpace, zscore_spreads
from distanon.data.table import Dataset, cut
from distanon.errors import InputError

NUMERIC, ORDINAL = AttributeType.NUMERIC, AttributeType.ORDINAL
NOMINAL, BINARY = AttributeType.NOMINAL, AttributeType.BINARY
D = decimal.Decimal
DATES = [dt.date(2020, 2, 29), None, dt.date(1950, 1, 1), dt.date(2021, 3, 4)]
MONEY = [D("12.30"), None, D("-4.50"), D("1.10")]
NS = 1_577_836_800_123_456_789

COLUMNS = {
    "int8": pa.array([1, -128, None, 127], pa.int8()),
    "int16": pa.array([1, -128, None, 127], pa.int16()),
    "int32": pa.array([1, -128, None, 127], pa.int32()),
    "int64": pa.array([-(2**63), -(2**63) + 5, None, -(2**63) + 2**50], pa.int64()),
    "uint8": pa.array([1, 255, None, 0], pa.uint8()),
    "uint16": pa.array([1, 255, None, 0], pa.uint16()),
    "uint32": pa.array([1, 2**32 - 1, None, 0], pa.uint32()),
    "uint64": pa.array([2**64 - 1, 2**64 - 100, None, 2**64 - 5], pa.uint64()),
    "float16": pa.array(np.array([0.1, 65504, 2, -3], np.float16)),
    "float32": pa.array([0.1, 1.25, None, 3.4e38], pa.float32()),
    "float64": pa.array([0.1, None, 5e-324, 1e5]),
    "decimal32": pa.array(MONEY, pa.decimal32(5, 2)),
    "decimal64": pa.array(MONEY, pa.decimal64(12, 2)),
    "decimal128": pa.array(MONEY, pa.decimal128(20, 2)),
    "decimal256": pa.array(MONEY, pa.decimal256(50, 2)),
    "bool": pa.array([True, None, False, True]),
    "date32": pa.array(DATES),
    "date64": pa.array(DATES, pa.date64()),
    "timestamp[s]": pa.array([0, 59, None, -3600], pa.timestamp("s")),
    "timestamp[ms, UTC]": pa.array([0, 59, None, -3600], pa.timestamp("ms", tz="UTC")),
    "timestamp[us]": pa.array([0, 59, None, -3600], pa.timestamp("us")),
    "timestamp[ns, tz]": pa.array([NS, None, NS + 10, NS - 1], pa.timestamp("ns", "+01:00")),
    "time32": pa.array([1, 2, None, 86399], pa.time32("s")),
    "time64[us]": pa.array([1, 2, None, 86_399_999_999], pa.time64("us")),
    "time64[ns]": pa.array([1, 2, None, 86_399_999_999_999], pa.time64("ns")),
    "duration[ms]": pa.array([1, -2, None, 86399], pa.duration("ms")),
    "duration[ns]": pa.array([1, -2, None, 86399], pa.duration("ns")),
    "null": pa.nulls(4),
    "string": pa.array(["1", "-2.5", None, "70"]),
    "large_string": pa.array(["1", "-2.5", None, "70"], pa.large_string()),
    "string_view": pa.array(["1", "-2.5", None, "70"], pa.string_view()),
    "dictionary of text": pa.array(["1", "-2.5", None, "70"]).dictionary_encode(),
    "dictionary of numbers": pa.array([1, 2, None, 1], pa.int16()).dictionary_encode(),
}


def schema_of(table, kinds, **settings):
    return Schema(
        tuple(
            Attribute(
                name,
                Role.QUASI_IDENTIFIER,
                kind,
                table.schema.field(name).type,
                **{key: value[name] for key, value in settings.items() if name in value},
            )
            for name, kind in zip(table.column_names, kinds, strict=True)
        )
    )


def space_of(table, kinds, scale="range", spreads=None, **settings):
    schema = schema_of(table, kinds, **settings)
    domain = scan(Dataset(schema, cut(table, 2))) if kinds else Domain({}, 0)
    return AttributeSpace.of(schema.quasi_identifiers, domain, scale, spreads)


def distances(points):
    """By the definition that the kernels follow: NaN is 1 from a value and 0 from NaN."""
    apart = points[:, None, :] - points[None, :, :]
    gone = np.isnan(points)
    apart = np.where(np.isnan(apart), (gone[:, None, :] != gone[None, :, :]).astype(float), apart)
    return np.sqrt((apart**2).sum(axis=2))


@pytest.mark.parametrize("kind", [NUMERIC, ORDINAL, NOMINAL])
@pytest.mark.parametrize("name", COLUMNS)
def test_every_arrow_type_comes_back_as_it_was(name, kind):
    table = pa.table({"x": COLUMNS[name]})
    space = space_of(table, [kind])
    values = space.encode(table)
    (back,) = space.decode(values)
    assert back.type == COLUMNS[name].type
    plain = value_type(back.type)  # a dictionary's order says nothing
    assert pa.chunked_array([back]).cast(plain).equals(table.column("x").cast(plain))
    np.testing.assert_array_equal(space.encode(pa.table({"x": back})), values)
    assert space.embed(values).shape[0] == 4


def test_booleans_are_binary():
    table = pa.table({"x": COLUMNS["bool"]})
    space = space_of(table, [BINARY])
    assert space.encode(table)[:, 0].tolist() == [1.0, 2.0, 0.0, 1.0]
    assert space.nominal.tolist() == [True]


@given(st.lists(st.none() | st.floats(allow_infinity=False, width=32), min_size=1))
@settings(max_examples=50, deadline=None)
def test_floats_come_back_with_nan_as_null_and_one_zero(values):
    table = pa.table({"x": pa.array(values, pa.float32())})
    space = space_of(table, [NUMERIC])
    (back,) = space.decode(space.encode(table))
    expected = [None if v is None or np.isnan(v) else v + 0.0 for v in values]
    assert [str(v) for v in back.to_pylist()] == [str(v) for v in expected]


@given(st.lists(st.integers(-(2**53), 2**53), min_size=1), st.integers(-(2**62), 2**62))
@settings(max_examples=50, deadline=None)
def test_large_integers_come_back_exactly(values, offset):
    column = pa.array([value // 2 + offset for value in values], pa.int64())
    space = space_of(pa.table({"x": column}), [NUMERIC])
    (back,) = space.decode(space.encode(pa.table({"x": column})))
    assert back.equals(column)


def test_values_are_numbers_ranks_and_categories():
    table = pa.table({"age": [30, None, 50], "day": ["tue", "mon", None], "job": ["b", None, "a"]})
    space = space_of(table, [NUMERIC, ORDINAL, NOMINAL], order={"day": ("mon", "tue", "wed")})
    np.testing.assert_array_equal(
        space.encode(table), [[30, 1, 1], [np.nan, 0, 2], [50, np.nan, 0]]
    )
    assert space.names == ("age", "day", "job")
    assert space.numeric.tolist() == [True, False, False]
    assert space.ordinal.tolist() == [False, True, False]
    assert space.nominal.tolist() == [False, False, True]


def test_points_are_scaled_by_the_whole_domain():
    table = pa.table({"age": [30, None, 50, 35], "day": ["mon", "wed", None, "tue"]})
    space = space_of(table, [NUMERIC, ORDINAL], order={"day": ("mon", "tue", "wed")})
    expected = [[0, 0], [np.nan, 1], [1, np.nan], [0.25, 0.5]]
    np.testing.assert_array_equal(space.embed(space.encode(table)), expected)


def test_a_nominal_distance_is_zero_or_one_also_for_missing():
    table = pa.table({"job": ["a", "b", None, "a", "c", None]})
    space = space_of(table, [NOMINAL])
    found = distances(space.embed(space.encode(table)))
    codes = [0, 1, 3, 0, 2, 3]
    expected = np.not_equal.outer(codes, codes).astype(float)
    np.testing.assert_allclose(found, expected, rtol=1e-15)


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_a_hierarchical_distance_is_the_height_of_the_common_ancestor(data):
    count = data.draw(st.integers(1, 9))
    middle = data.draw(st.lists(st.integers(0, 4), min_size=count, max_size=count))
    upper = data.draw(st.lists(st.integers(0, 2), min_size=5, max_size=5))
    rows = tuple((f"v{i}", f"m{m}", f"u{upper[m]}", "*") for i, m in enumerate(middle))
    column = data.draw(st.lists(st.sampled_from([r[0] for r in rows] + [None]), min_size=1))
    table = pa.table({"job": pa.array(column, pa.string())})
    space = space_of(table, [NOMINAL], hierarchy={"job": Hierarchy(rows)})
    ways = {row[0]: row for row in rows}

    def distance(a, b):
        if a is None or b is None:
            return float(a is not b)
        return next(h for h in range(4) if ways[a][h] == ways[b][h]) / 3

    expected = [[distance(a, b) for b in column] for a in column]
    found = distances(space.embed(space.encode(table)))
    np.testing.assert_allclose(found, expected, atol=1e-15)


def test_hierarchies_match_numbers_and_booleans_as_text():
    table = pa.table({"n": [1, 2], "b": [True, False], "d": DATES[::2]})
    hierarchies = {
        "n": Hierarchy((("1", "*"), ("2", "*"))),
        "b": Hierarchy((("true", "*"), ("false", "*"))),
        "d": Hierarchy((("2020-02-29", "*"), ("1950-01-01", "*"))),
    }
    space = space_of(table, [NOMINAL] * 3, hierarchy=hierarchies)
    np.testing.assert_allclose(distances(space.embed(space.encode(table)))[0, 1], np.sqrt(3))


def test_constant_and_missing_columns_are_at_zero():
    table = pa.table({"c": [7.5, 7.5, None], "m": pa.nulls(3, pa.float64()), "o": ["x", None, "x"]})
    space = space_of(table, [NUMERIC, NUMERIC, ORDINAL])
    points = space.embed(space.encode(table))
    expected = [[0, np.nan, 0], [0, np.nan, np.nan], [np.nan, np.nan, 0]]
    np.testing.assert_array_equal(points, expected)
    assert space.constant.tolist() == [True, True, True]


def test_points_hold_no_minus_zero():
    table = pa.table({"x": [-0.0, 0.0, 4.0], "y": [-4.0, -1.0, -0.0]})
    for scale in ("range", "none"):
        points = space_of(table, [NUMERIC, NUMERIC], scale)
        assert not np.signbit(points.embed(np.array([[-0.0, -0.0]]))[:, 0]).any()


def test_units_change_no_distance():
    column = np.array([3.0, 4.5, 8.25, 100.0])
    metres, feet = pa.table({"x": column}), pa.table({"x": column * 1024})
    first, second = space_of(metres, [NUMERIC]), space_of(feet, [NUMERIC])
    np.testing.assert_array_equal(
        first.embed(first.encode(metres)), second.embed(second.encode(feet))
    )


def test_large_instants_keep_their_small_distances():
    table = pa.table({"x": pa.array([NS, NS + 1, NS + 10], pa.timestamp("ns"))})
    space = space_of(table, [NUMERIC])
    assert space.embed(space.encode(table))[:, 0].tolist() == [0.0, 0.1, 1.0]


def test_scales_none_and_zscore():
    table = pa.table({"x": [1.0, 2.0, 6.0], "j": ["a", "b", "a"]})
    none = space_of(table, [NUMERIC, NOMINAL], "none")
    values = none.encode(table)
    assert none.embed(values)[:, 0].tolist() == [1.0, 2.0, 6.0]
    spreads = zscore_spreads(values)
    zscore = space_of(table, [NUMERIC, NOMINAL], "zscore", spreads)
    np.testing.assert_allclose(
        np.diff(zscore.embed(values)[:, 0]), np.diff(values[:, 0]) / np.std(values[:, 0])
    )
    np.testing.assert_array_equal(zscore.embed(values)[:, 1:], none.embed(values)[:, 1:])
    with pytest.raises(ValueError, match="one spread for each"):
        space_of(table, [NUMERIC, NOMINAL], "zscore")


@given(st.lists(st.floats(-1e300, 1e300) | st.just(np.nan), min_size=1, max_size=30), st.randoms())
@settings(max_examples=100, deadline=None)
def test_spreads_depend_on_no_order(values, random):
    shuffled = list(values)
    random.shuffle(shuffled)
    first, second = (zscore_spreads(np.array([v]).T) for v in (values, shuffled))
    assert first.tobytes() == second.tobytes()
    present = np.array(values)[~np.isnan(values)]
    most = np.abs(present).max(initial=0.0)
    if len(present) and 1e-100 < most < 1e100:  # else numpy's squares are 0 or infinite
        assert np.isclose(first[0], np.std(present), rtol=1e-9, atol=1e-12 * most)


def test_slices_say_which_columns_an_attribute_has():
    table = pa.table({"x": [1.0, 2.0], "j": ["a", "b"], "y": [1, 2]})
    space = space_of(table, [NUMERIC, NOMINAL, NUMERIC])
    assert space.slices == (slice(0, 1), slice(1, 4), slice(4, 5))
    assert space.embed(space.encode(table)).shape == (2, 5)
    assert space.decimals.tolist() == [0, 0, 0]


def test_a_space_travels_to_workers():
    table = pa.table({"x": [1.0, 2.0], "j": ["a", "b"]})
    space = space_of(table, [NUMERIC, NOMINAL])
    assert pickle.loads(pickle.dumps(space)) == space


def test_changed_values_are_cast_safely():
    table = pa.table({"n": pa.array([1, 200], pa.uint8()), "d": pa.array(DATES[::2])})
    space = space_of(table, [NUMERIC, NUMERIC])
    days = [space.encode(table)[0, 1] + 1]
    assert space.decode(np.array([[7.0, days[0]]]))[1].to_pylist() == [dt.date(2020, 3, 1)]
    for wrong in (7.5, 256.0, -1.0):
        with pytest.raises(ValueError, match="column 'n'"):
            space.decode(np.array([[wrong, days[0]]]))


def test_an_error_of_decoding_quotes_no_value():
    table = pa.table({"x": pa.array([1, 2], pa.int8())})
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (its text is what is tested)
        space_of(table, [NUMERIC]).decode(np.array([[31337.0]]))
    assert "31337" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("wrong", [3.0, -1.0, 0.5])
@pytest.mark.parametrize("kind", [ORDINAL, NOMINAL])
def test_numbers_that_stand_for_no_category_are_refused(kind, wrong):
    space = space_of(pa.table({"x": ["a", "b"]}), [kind])
    with pytest.raises(ValueError, match="no category"):
        space.decode(np.array([[wrong]]))


def test_widened_integers_and_decimals_are_floats():
    table = pa.table({"n": [1, 5], "m": pa.array(MONEY[::2]), "d": DATES[::2], "t": ["1", "2"]})
    space = space_of(table, [NUMERIC] * 4)
    values = space.encode(table)
    n, m, d, t = space.decode(values + 0.25, widen=True)
    assert n.type == m.type == pa.float64()
    assert n.to_pylist() == [1.25, 5.25]
    assert d.to_pylist() == DATES[::2]
    assert t.to_pylist() == ["1.25", "2.25"]
    widened = table.set_column(0, "n", n).set_column(1, "m", m)
    np.testing.assert_array_equal(space.encode(widened)[:, :2], (values + 0.25)[:, :2])


def test_another_table_is_read_under_the_same_domain():
    table = pa.table({"t": pa.array([0, 86_400_000], pa.timestamp("ms")), "n": [2**60, 2**60 + 8]})
    space = space_of(table, [NUMERIC, NUMERIC])
    other = pa.table({"t": pa.array([43_200], pa.timestamp("s")), "n": [2**60 - 16]})
    assert space.encode(other).tolist() == [[0.5, -16.0]]


def test_what_the_original_lacks_is_refused_with_column_and_count():
    space = space_of(pa.table({"x": [1, 2], "j": ["a", "b"]}), [NUMERIC, NOMINAL])
    with pytest.raises(InputError, match="column 'j': 2 rows hold values"):
        space.encode(pa.table({"x": [1, 2, 3], "j": ["a", "secret", "c"]}))
    with pytest.raises(InputError, match="column 'x', row 2: text, expected number"):
        space.encode(pa.table({"x": ["1", "[2, 4]"], "j": ["a", "b"]}))


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pa.array([dt.date(2020, 1, 1)]), NUMERIC),
        (pa.array([dt.date(2020, 1, 1)]), NOMINAL),
        (pa.array([5]), ORDINAL),
        (pa.array([5]), NUMERIC),
    ],
)
def test_a_generalized_column_is_refused_without_a_value(column, kind):
    space = space_of(pa.table({"x": column}), [kind])
    with pytest.raises(InputError, match="column 'x'") as caught:
        space.encode(pa.table({"x": ["[secret, 7]"]}))
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_space_of_no_attributes_has_no_columns():
    space = space_of(pa.table({}), [])
    values = space.encode(pa.table({"x": [1, 2]}))
    assert values.shape == space.embed(values).shape == (2, 0)
    assert space.decode(values) == []


def test_numeric_text_is_written_without_exponents():
    table = pa.table({"x": ["1e-7", "1e15", "007", "2.50"]})
    space = space_of(table, [NUMERIC])
    (back,) = space.decode(space.encode(table))
    assert back.to_pylist() == ["0.0000001", "1000000000000000", "7", "2.5"]


def test_chunks_with_different_dictionaries_are_one_column():
    column = pa.chunked_array(
        [pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", "b"]).dictionary_encode()]
    )
    table = pa.table({"x": column})
    space = space_of(table, [NOMINAL])
    values = space.encode(table)
    assert values[:, 0].tolist() == [1.0, 0.0, 2.0, 1.0]
    assert space.decode(values)[0].to_pylist() == ["b", "a", "c", "b"]


def test_columns_of_another_numeric_type_are_read_as_numbers():
    table = pa.table({"m": pa.array(MONEY[::2]), "n": [2**60, 2**60 + 8], "d": DATES[::2]})
    space = space_of(table, [NUMERIC] * 3)
    other = pa.table({"m": [3, None], "n": pa.nulls(2), "d": pa.nulls(2)})
    nan = np.nan
    np.testing.assert_array_equal(space.encode(other), [[3, nan, nan], [nan, nan, nan]])


def test_a_type_that_can_not_hold_a_changed_value_is_refused():
    small = pa.array([1.0, 2.0], pa.float32())
    for column, wrong in ((small, 1e300), (pa.array(["a"]), np.nan), (pa.array([True]), 2.0)):
        kind = NUMERIC if wrong > 1 else ORDINAL
        space = space_of(pa.table({"x": column}), [kind])
        if np.isnan(wrong):
            assert space.decode(np.array([[wrong]]))[0].to_pylist() == [None]
            continue
        with pytest.raises(ValueError, match="column 'x'"):
            space.decode(np.array([[wrong]]))
