"""Class tables: what the whole table in memory gives, for any cut and any crew."""

import datetime as dt
import decimal
import math
import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.classes import encode, equivalence_classes
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.table import Dataset, cut
from distanon.errors import InputError
from distanon.kernels.counts import Counts
from distanon.kernels.distributions import distinct_values
from distanon.runtime.crew import SerialCrew
from distanon.sharded import classes
from distanon.sharded.classes import class_tables, rows_at, value_totals

NAN = math.nan


class PicklingCrew(SerialCrew):
    """A crew of many whose function, items and shared value travel, as between processes."""

    workers = 5

    def put(self, value):
        return super().put(pickle.loads(pickle.dumps(value, protocol=5)))

    def map(self, function, items, **settings):
        function, items = pickle.loads(pickle.dumps((function, list(items))))
        return super().map(function, items, **settings)


def dataset(table, pieces=1):
    table = table if isinstance(table, pa.Table) else pa.table(table)
    attributes = tuple(
        Attribute(field.name, Role.QUASI_IDENTIFIER, AttributeType.NOMINAL, field.type)
        for field in table.schema
    )
    return Dataset(Schema(attributes), cut(table, pieces))


COLUMNS = {
    "text": st.sampled_from(["a", "b", "*", "", None]),
    "whole": st.sampled_from([0, 5, -(2**63), 2**63 - 1, None]),
    "small": st.sampled_from([3, -2, None]),
    "float": st.sampled_from([0.0, -0.0, 1.5, NAN, -NAN, math.inf, None]),
    "flag": st.sampled_from([True, False, None]),
    "day": st.sampled_from([dt.date(2020, 1, 1), dt.date(1960, 5, 5), None]),
    "price": st.sampled_from([decimal.Decimal("1.5"), decimal.Decimal("-2.0"), None]),
    "nothing": st.none(),
}
TYPES = pa.schema(
    [
        ("text", pa.string()),
        ("whole", pa.int64()),
        ("small", pa.int8()),
        ("float", pa.float32()),
        ("flag", pa.bool_()),
        ("day", pa.date32()),
        ("price", pa.decimal128(5, 2)),
        ("nothing", pa.null()),
    ]
)
ROWS = st.lists(st.fixed_dictionaries(COLUMNS), max_size=25)


@given(ROWS, st.sets(st.sampled_from(list(COLUMNS))), st.integers(1, 6), st.integers(1, 4))
@settings(max_examples=150, deadline=None)
def test_any_cut_gives_the_classes_of_the_whole_table(
    monkeypatch_module, rows, names, pieces, most
):
    monkeypatch_module.setattr(classes, "_ONE_BUCKET", 5 * most)
    monkeypatch_module.setattr(classes, "_BUCKET_ROWS", most)
    table = pa.Table.from_pylist(rows, schema=TYPES)
    columns = sorted(names)
    whole = equivalence_classes(table, columns)
    people = np.arange(len(rows)) * 7919 % 5
    counted = ["text", "float"]
    found = class_tables(PicklingCrew(), dataset(table, pieces), columns, counted, people)
    assert found.sizes.tolist() == whole.sizes.tolist()
    assert found.firsts.tolist() == whole.firsts.tolist()
    person_counts = Counts.of(whole.class_of, people, len(whole), 5)
    assert found.people.tolist() == distinct_values(person_counts).tolist()
    for name in counted:
        codes = encode(table.column(name))
        ours, theirs = (
            found.occurrences[name].counts,
            Counts.of(whole.class_of, codes.code_of, len(whole), len(codes.values)),
        )
        assert repr(found.occurrences[name].values.to_pylist()) == repr(codes.values.to_pylist())
        for part in ("classes", "values", "counts", "starts", "totals"):
            assert getattr(ours, part).tolist() == getattr(theirs, part).tolist()
        assert ours.n_values == theirs.n_values


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def test_unsigned_and_far_apart_integers_keep_apart():
    far = [2**64 - 1, 0, 2**63, 1, 2**64 - 1, None]
    table = pa.table({"u": pa.array(far, pa.uint64()), "v": pa.array([1] * 6, pa.uint8())})
    found = class_tables(SerialCrew(), dataset(table, 3), ["u", "v"])
    assert found.sizes.tolist() == [2, 1, 1, 1, 1]
    assert found.firsts.tolist() == [0, 1, 2, 3, 5]


@pytest.mark.parametrize(
    "kind",
    [
        pa.dictionary(pa.int8(), pa.string()),
        pa.large_string(),
        pa.string_view(),
        pa.binary(),
    ],
)
def test_text_of_any_kind_is_counted(kind):
    values = pa.array(["x", None, "y", "x"]).cast(pa.string())
    column = values.dictionary_encode() if pa.types.is_dictionary(kind) else values.cast(kind)
    found = class_tables(SerialCrew(), dataset({"c": column}, 2), ["c"], ["c"])
    assert found.sizes.tolist() == [2, 1, 1]
    assert found.occurrences["c"].counts.value_totals.tolist() == [2, 1, 1]


@pytest.mark.parametrize("kind", [pa.time32("s"), pa.time64("us"), pa.timestamp("ns", tz="UTC")])
def test_moments_are_counted(kind):
    column = pa.array([5, None, 7, 5], pa.int32() if kind.bit_width == 32 else pa.int64())
    found = class_tables(SerialCrew(), dataset({"c": column.cast(kind)}, 2), ["c"])
    assert found.sizes.tolist() == [2, 1, 1]


def test_many_wide_columns_take_several_words():
    generator = np.random.default_rng(3)
    rows = generator.integers(0, 3, (200, 4))
    table = pa.table({f"c{at}": rows[:, at] * 2**59 for at in range(4)})
    found = class_tables(SerialCrew(), dataset(table, 7), table.column_names)
    whole = equivalence_classes(table, table.column_names)
    assert found.firsts.tolist() == whole.firsts.tolist()
    assert found.sizes.tolist() == whole.sizes.tolist()


@pytest.mark.parametrize("pieces", [1, 2, 5])
def test_the_class_of_fully_suppressed_rows_is_known(pieces):
    table = {"x": ["a", "*", "*", "*", "a"], "y": ["b", "b", "*", "*", "*"]}
    found = class_tables(PicklingCrew(), dataset(table, pieces), ["x", "y"])
    assert found.suppressed == 2
    assert found.sizes[2] == 2
    assert class_tables(SerialCrew(), dataset(table, pieces), ["x"]).suppressed == 1
    other = {"x": ["*", "a"], "y": ["b", "*"], "n": [1, 2]}
    for columns in (["x", "y"], ["x", "n"], []):
        assert class_tables(SerialCrew(), dataset(other, pieces), columns).suppressed is None


def test_people_may_have_any_numbers():
    people = np.array([2**33, 2**33 + 2**32, 7, 2**33])
    found = class_tables(SerialCrew(), dataset({"x": [1, 1, 1, 2]}, 2), ["x"], people=people)
    assert found.people.tolist() == [3, 1]


def test_a_table_without_records_has_no_classes():
    empty = Dataset(dataset({"x": [1], "s": ["u"]}).schema, ())
    found = class_tables(SerialCrew(), empty, ["x"], ["s"], np.zeros(0, np.int64))
    assert len(found) == 0
    assert found.occurrences["s"].counts.n_values == 0
    assert found.people.tolist() == []
    assert rows_at(empty, found.firsts, ["s"]).num_rows == 0


def test_the_parts_of_a_table_may_hold_no_row():
    whole = dataset({"x": [1, 2, 1]})
    none = cut(whole.read().slice(0, 0), 1)[0]
    found = class_tables(SerialCrew(), Dataset(whole.schema, (none, *whole.partitions)), ["x"])
    assert found.sizes.tolist() == [2, 1]


def test_totals_of_one_column_need_no_classes():
    values, totals = value_totals(SerialCrew(), dataset({"s": ["b", "a", "b", None]}, 2), "s")
    assert values.to_pylist() == ["b", "a", None]
    assert totals.tolist() == [2, 1, 1]


def test_rows_are_read_by_number_from_the_partitions_that_hold_them():
    class Unread:
        start, stop = 0, 3

        def read(self, columns=None):
            raise AssertionError("nobody asked for these rows")

    some = cut(pa.table({"x": list(range(3, 9))}), 2)
    moved = tuple(type(one)(one.table, one.start + 3) for one in some)
    data = Dataset(dataset({"x": [1]}).schema, (Unread(), *moved))
    assert rows_at(data, np.array([4, 7, 8]), ["x"]).column("x").to_pylist() == [4, 7, 8]


@pytest.mark.parametrize("column", [["a", "b"], [1, 2]])
def test_files_that_change_between_two_readings_are_refused(column):
    class Changing:
        start, stop = 0, 2
        reads = 0

        def read(self, columns=None):
            self.reads += 1
            table = pa.table({"x": column})
            return table if self.reads > 1 else table.slice(0, 1)

    data = Dataset(dataset({"x": column}).schema, (Changing(),))
    with pytest.raises(InputError, match="changed"):
        class_tables(SerialCrew(), data, ["x"])
