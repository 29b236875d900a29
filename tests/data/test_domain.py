"""The domain of a table: exact, whatever the partitions, and clear about what is wrong."""

import datetime as dt
import decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.domain import Domain, merge, scan, summarize
from distanon.data.hierarchy import Hierarchy
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.table import Dataset, MemoryPartition, cut
from distanon.errors import InputError

NUMERIC, ORDINAL = AttributeType.NUMERIC, AttributeType.ORDINAL
NOMINAL, BINARY = AttributeType.NOMINAL, AttributeType.BINARY


def dataset(column, kind=NUMERIC, pieces=1, role=Role.QUASI_IDENTIFIER, **settings):
    table = pa.table({"x": column})
    attribute = Attribute("x", role, kind, table.schema.field("x").type, **settings)
    return Dataset(Schema((attribute,)), cut(table, pieces), "people.csv")


def domain_of(column, kind=NUMERIC, **settings):
    return scan(dataset(column, kind, **settings))["x"]


def refusal(column, kind=NUMERIC, **settings):
    with pytest.raises(InputError) as caught:
        scan(dataset(column, kind, **settings))
    message = str(caught.value)
    assert "people.csv: column 'x'" in message
    assert "secret" not in message
    return message


def test_present_and_missing_are_counted():
    domain = domain_of(pa.array([1.5, None, float("nan"), 3.0]))
    assert (domain.present, domain.missing) == (2, 2)
    assert domain.span == (1.5, 3.0)
    assert domain.decimals == 1


def test_minus_zero_is_zero():
    assert str(domain_of(pa.array([-0.0, -0.0])).minimum) == "0.0"
    assert str(domain_of(pa.array([-0.0, 0.0]), NOMINAL).categories) == "(0.0,)"


@pytest.mark.parametrize(
    ("column", "decimals"),
    [
        (pa.array([1, 2]), 0),
        (pa.array([0.5, 2.25]), 2),
        (pa.array([0.1, 2.25], pa.float32()), 2),
        (pa.array(np.array([0.1, 2.25], np.float16)), 2),
        (pa.array([decimal.Decimal("1.50"), decimal.Decimal("2.10")]), 1),
        (pa.array(["1.50", " +2.125 ", None]), 3),
        (pa.array([dt.date(2020, 1, 1), dt.date(2021, 1, 1)]), 0),
        (pa.array([123456.789, 0.5]), 0),
    ],
)
def test_the_grid_has_the_most_decimals_seen(column, decimals):
    assert domain_of(column).decimals == decimals


def test_decimals_of_the_spec_win():
    assert domain_of(pa.array([0.5, 2.25]), decimals=4).decimals == 4
    assert domain_of(pa.array([0.5, 2.25]), decimals=4, pieces=2).decimals == 4
    assert domain_of(pa.array([1234, 5678]), decimals=-2).decimals == -2
    assert domain_of(pa.array([1234, 5678]), decimals=3).decimals == 0


def test_categories_are_sorted_by_value_and_code_point():
    assert domain_of(pa.array(["b", "Z", None, "é", "b"]), NOMINAL).categories == ("Z", "b", "é")
    assert domain_of(pa.array([True, False]), BINARY).categories == (False, True)
    assert domain_of(pa.array([10, 9, 10]), NOMINAL).categories == (9, 10)
    assert domain_of(pa.array(["10", "9"]), NOMINAL).categories == ("10", "9")


def test_the_natural_order_of_an_ordinal_is_by_size():
    assert domain_of(pa.array(["10", "9", "1.5"]), ORDINAL).categories == ("1.5", "9", "10")
    assert domain_of(pa.array(["10", "9", "x"]), ORDINAL).categories == ("10", "9", "x")
    assert domain_of(pa.array(["10", "9", "x"]), ORDINAL, pieces=3).categories == ("10", "9", "x")


def test_a_given_order_holds_also_absent_values():
    domain = domain_of(pa.array(["mon", "wed"]), ORDINAL, order=("mon", "tue", "wed"))
    assert domain.categories == ("mon", "tue", "wed")
    assert domain_of(pa.array([2.0, 1.0]), ORDINAL, order=(2, 1)).categories == (2.0, 1.0)
    assert domain_of(pa.array(["2", "1"]), ORDINAL, order=(2, 1)).categories == ("2", "1")
    assert domain_of(pa.nulls(2), ORDINAL, order=("a", "b")).categories == ("a", "b")


def test_an_all_missing_column_is_allowed():
    for kind in (NUMERIC, ORDINAL, NOMINAL):
        domain = domain_of(pa.nulls(3, pa.float64()), kind, pieces=2)
        assert (domain.present, domain.missing, domain.span) == (0, 3, None)
        assert domain.categories == ()


def test_text_in_a_numeric_column_names_the_first_row_and_the_count():
    message = refusal(pa.array(["1", "2", "secret", "4", "secret", ""]), pieces=3)
    assert "3 rows, the first of them row 3: text, expected number" in message
    assert "column 'x', row 2: text, expected number" in refusal(pa.array(["1", "n/a"]))


@pytest.mark.parametrize("text", ["nan", "inf", "1_000", "0x10", "1,5", "", "-", "1e", "٣"])
def test_text_that_is_no_plain_number_is_refused(text):
    assert "row 2: text, expected number" in refusal(pa.array(["1", text]))


def test_infinities_are_refused():
    column = pa.array([1.0, float("-inf"), float("inf")])
    assert "2 rows, the first of them row 2: infinite" in refusal(column, pieces=3)
    assert "infinite" in refusal(column, NOMINAL)
    assert "infinite" in refusal(pa.array(["1", "1e999"]))


def test_values_that_an_order_lacks_are_counted():
    column = pa.array(["mon", "secret", "secret2", None])
    message = refusal(column, ORDINAL, order=("mon",), pieces=2)
    assert "2 rows, the first of them row 2: values that `order` lacks" in message


def test_an_order_that_does_not_fit_the_column_is_refused():
    assert "no int64" in refusal(pa.array([1, 2]), ORDINAL, order=("mon", "tue"))
    assert "twice" in refusal(pa.array(["a"]), ORDINAL, order=("a", "a"))


def test_values_that_a_hierarchy_lacks_are_counted():
    hierarchy = Hierarchy((("1", "*"), ("2", "*")))
    message = refusal(pa.array([1, 2, 3, None, 4]), NOMINAL, hierarchy=hierarchy, pieces=2)
    assert "2 rows, the first of them row 3: values that the hierarchy lacks" in message


def test_a_binary_column_of_three_values_is_refused():
    assert "3 different values" in refusal(pa.array(["a", "b", "c"]), BINARY, pieces=2)


def test_integers_that_float64_can_not_hold_are_refused():
    assert "more digits than float64" in refusal(pa.array([0, 2**53 + 1]))
    assert "more digits than float64" in refusal(pa.array([0, 2**53 + 1]), pieces=2)
    assert "more digits than float64" in refusal(pa.array(["12345678901234567890"]))
    wide = pa.array([decimal.Decimal(10) ** 30])
    assert "more digits than float64" in refusal(wide)


def test_a_range_beyond_float64_is_refused():
    message = refusal(pa.array([-1.7e308, 1.7e308]), pieces=2)
    assert "range beyond float64; divide its numbers" in message


def test_numbers_at_the_end_of_float64_have_a_domain():
    domain = domain_of(pa.array([1.7e308, 1.79e308, 1e308]))
    assert domain.span == (1e308, 1.79e308)
    assert domain_of(pa.array([5e-324, 0.0])).span == (0.0, 5e-324)


@pytest.mark.parametrize("kind", [NUMERIC, AttributeType.ORDINAL, AttributeType.NOMINAL])
@pytest.mark.parametrize(
    "type_and_second",
    [(pa.date32(), None), (pa.date64(), 1_000), (pa.timestamp("us", "Asia/Tokyo"), 1_000_000)],
)
def test_days_that_no_text_holds_are_refused_and_the_last_one_is_not(kind, type_and_second):
    stored, second = type_and_second
    day = 1 if second is None else 86_400 * second
    integers = pa.int32() if second is None else pa.int64()
    for odd in (2_932_897, -719_163):
        column = pa.array([0, odd * day, None], integers).cast(stored)
        assert "row 2: dates before year 1 or after year 9999; mend them" in refusal(column, kind)
    column = pa.array([2_932_896 * day, -719_162 * day], integers).cast(stored)
    assert domain_of(column, kind).present == 2


@pytest.mark.parametrize("role", [Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.INSENSITIVE])
@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1]]),
        pa.array([{"a": 1}]),
        pa.array([b"a"]),
        pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8())),
    ],
)
def test_nested_and_binary_columns_are_refused_with_their_type(column, role):
    assert str(column.type) in refusal(column, NOMINAL, role=role)


def test_a_nested_identifier_is_dropped_without_complaint():
    assert scan(dataset(pa.array([[1]]), NOMINAL, role=Role.IDENTIFIER)).attributes == {}


def test_no_records_are_refused():
    with pytest.raises(InputError, match="holds no records"):
        scan(dataset(pa.array([], pa.int64())))


def test_inferred_text_that_is_nearly_all_numbers_is_refused():
    column = pa.array([str(number) for number in range(18)] + [None, "secret", "7"])
    message = refusal(column, NOMINAL, declared=False, pieces=4)
    assert "row 20: text where nearly all cells are numbers" in message
    assert "`type: nominal`" in message


@pytest.mark.parametrize("mark", ["NA", "nan", "NULL", " ? "])
def test_marks_of_missing_values_do_not_make_numbers_text_however_many_they_are(mark):
    column = pa.array([mark] * 30 + [str(number) for number in range(10)])
    message = refusal(column, NOMINAL, declared=False, pieces=3)
    assert "30 rows, the first of them row 1: text where nearly all cells are numbers" in message
    assert "csv.missing: [NA]" in message
    assert domain_of(pa.array([mark] * 30), NOMINAL, declared=False).present == 30


def test_inferred_text_stays_when_declared_or_wholly_numbers_or_mostly_names():
    column = pa.array([str(number) for number in range(18)] + ["name"])
    assert domain_of(column, NOMINAL).present == 19
    assert domain_of(column.slice(0, 18), NOMINAL, declared=False).present == 18
    assert domain_of(column.slice(11), NOMINAL, declared=False).present == 8


def test_all_faulty_columns_are_told_at_once():
    table = pa.table({"a": ["x"], "b": [float("inf")], "c": ["ok"]})
    schema = Schema(
        tuple(
            Attribute(name, Role.QUASI_IDENTIFIER, kind, table.schema.field(name).type)
            for name, kind in (("a", NUMERIC), ("b", NUMERIC), ("c", NOMINAL))
        )
    )
    with pytest.raises(InputError, match=r"column 'a'(?s:.)*column 'b'"):
        summarize(MemoryPartition(table), schema, "people.csv")


def test_rows_are_numbered_in_the_whole_table():
    partition = MemoryPartition(pa.table({"x": ["1", "no"]}), start=100)
    with pytest.raises(InputError, match="row 102"):
        summarize(partition, dataset(pa.array(["1"])).schema, "people.csv")


COLUMNS = st.one_of(
    st.tuples(
        st.just(NUMERIC),
        st.lists(st.none() | st.integers(-(2**62), -(2**62) + 2**52)),
        st.just(pa.int64()),
    ),
    st.tuples(st.just(NUMERIC), st.lists(st.none() | st.integers(0, 2**20)), st.just(pa.uint64())),
    st.tuples(st.just(NUMERIC), st.lists(st.none() | st.floats(-1e6, 1e6)), st.just(pa.float64())),
    st.tuples(
        st.just(NUMERIC),
        st.lists(st.none() | st.decimals(-999, 999, places=2)),
        st.just(pa.decimal128(9, 4)),
    ),
    st.tuples(
        st.just(NUMERIC),
        st.lists(
            st.none()
            | st.sampled_from(
                [0, 10**9, 60 * 10**9, 3600 * 10**9, 86400 * 10**9 * 365, 10**18 + 10**6]
            )
        ),
        st.just(pa.timestamp("ns")),
    ),
    st.tuples(
        st.just(ORDINAL),
        st.lists(st.none() | st.sampled_from(["1", "10", "9", "x"])),
        st.just(pa.string()),
    ),
    st.tuples(st.just(NOMINAL), st.lists(st.none() | st.text(max_size=2)), st.just(pa.string())),
    st.tuples(st.just(BINARY), st.lists(st.none() | st.booleans()), st.just(pa.bool_())),
)


@given(COLUMNS, st.data())
@settings(max_examples=150, deadline=None)
def test_no_figure_depends_on_how_records_are_cut_or_ordered(column, data):
    kind, values, arrow = column
    values = values or [None]
    whole = scan(dataset(pa.array(values, arrow), kind))
    assert whole == scan(dataset(pa.array(values, arrow), kind, pieces=3))
    shuffled = data.draw(st.permutations(values))
    parts = dataset(pa.array(shuffled, arrow), kind, pieces=len(values))
    assert whole == scan(parts)
    singles = [summarize(part, parts.schema, "s") for part in parts.partitions]
    nested = merge([merge(singles[:2]), *singles[2:]]) if len(singles) > 1 else merge(singles)
    assert nested == whole


def test_a_domain_is_found_by_name():
    domain = scan(dataset(pa.array([1, 2])))
    assert isinstance(domain, Domain)
    assert domain.records == 2
    assert domain["x"] is domain.attributes["x"]


def test_text_of_an_insensitive_column_is_not_read():
    data = dataset(pa.array(["1", "x"]), NUMERIC, role=Role.INSENSITIVE)
    assert scan(data).attributes == {}
    assert scan(data).records == 2
