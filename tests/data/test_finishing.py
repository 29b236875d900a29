from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from distanon.data.domain import scan
from distanon.data.finishing import finishing, is_unchanged, outwards, released_type
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.space import AttributeSpace
from distanon.data.table import Dataset, cut
from distanon.errors import SpecError

NAN = np.nan


def finish(array, original, perturbed, *, k=1, rule="clip", decimals="grid", **settings):
    """One column's values as they are released, and which were outside."""
    array = pa.array(array) if isinstance(array, list) else array
    kind = settings.pop("type", AttributeType.NUMERIC)
    attribute = Attribute("x", Role.QUASI_IDENTIFIER, kind, array.type, **settings)
    data = Dataset(Schema((attribute,)), cut(pa.table({"x": array}), 1))
    space = AttributeSpace.of((attribute,), scan(data))
    values = space.encode(data.read())
    made = finishing(space.attributes, space.domains, values, k, rule, decimals)
    columns = (np.array([numbers], dtype=float).T for numbers in (original, perturbed))
    finished, outside = made.finish(*columns)
    wide = released_type(attribute, rule, decimals) != array.type
    decoded = space.decode(finished, widen=wide)[0]
    assert decoded.type == released_type(attribute, rule, decimals)
    again = AttributeSpace.of((attribute,), scan(data)).encode(pa.table({"x": decoded}))
    np.testing.assert_array_equal(again, finished)  # what is compared is what is released
    return finished[:, 0].tolist(), outside.tolist()


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.float16()])
def test_bounds_near_the_end_of_floats_stay_finite(kind):
    most = float(np.finfo(kind.to_pandas_dtype()).max)
    column = pa.array(np.array([most, most / 4, most * 0.999], kind.to_pandas_dtype()))
    values = column.to_numpy().astype(float).tolist()
    assert finish(column, values, values) == (values, [False] * 3)


def test_bounds_are_the_kth_extremes_rounded_outwards():
    values = [*range(100, 200), 4321]
    assert finish(values, [150, 150], [4000.0, 3.0], k=5) == ([200.0, 100.0], [True, True])
    assert finish(values, [150], [150.6], k=5) == ([151.0], [False])


def test_few_values_are_clipped_to_their_quartiles():
    assert finish(list(range(1, 9)), [5, 5], [0.0, 99.0], k=6)[0] == [2.0, 7.0]


def test_reflection_mirrors_at_the_bound_and_then_clips():
    values = list(range(101))
    assert finish(values, [50] * 3, [105.0, -7.0, 950.0], rule="reflect")[0] == [95.0, 7.0, 0.0]


def test_free_values_leave_the_domain_and_are_counted():
    assert finish([1, 2, 9], [2, 2], [-3.0, 9.0], rule="free") == ([-3.0, 9.0], [True, False])


def test_moved_numbers_go_to_the_grid_with_halves_to_even_and_others_stay():
    assert finish([1, 2, 9], [2, 2, 2], [2.5, 3.5, 2.4])[0] == [2.0, 4.0, 2.0]
    assert finish([0.5, 1.25, 7.0], [1.25], [1.2751])[0] == [1.28]
    fine = [1.23456789, 2.0, 3.0]
    assert finish(fine, [1.23456789, 2.0], [1.23456789, 2.123456789])[0] == [1.23456789, 2.12346]


def test_declared_digits_hold_for_unmoved_numbers_too():
    assert finish([1.26, 2.0, 3.0], [1.26], [1.26], decimals="full")[0] == [1.26]
    assert finish([1.26, 2.0, 3.0], [1.26], [1.26], k=1, domain_bounds=(0, 9))[0] == [1.26]
    data = pa.array([1.26, 2.0, 3.0])
    attribute = Attribute(
        "x", Role.QUASI_IDENTIFIER, AttributeType.NUMERIC, pa.float64(), decimals=1
    )
    table = Dataset(Schema((attribute,)), cut(pa.table({"x": data}), 1))
    space = AttributeSpace.of((attribute,), scan(table))
    made = finishing(space.attributes, space.domains, data.to_numpy()[:, None], 1, "clip", "grid")
    assert made.finish(np.array([[1.26]]), np.array([[1.26]]))[0].tolist() == [[1.3]]


def test_given_bounds_are_kept_by_rounding_too():
    values, _ = finish([1, 5, 9], [5, 5], [0.0, 99.0], domain_bounds=(1.5, 7.5))
    assert values == [2.0, 7.0]
    with pytest.raises(SpecError, match=r"columns\.x\.domain_bounds"):
        finish([1, 5, 9], [5], [5.0], domain_bounds=(5.2, 5.8))


def test_a_top_code_bounds_even_free_values():
    assert finish([1, 5, 9], [5], [8.0], rule="free", top_code=6.5)[0] == [6.0]


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint8(), pa.int16(), pa.int64(), pa.uint64()])
def test_outward_rounding_stays_inside_the_columns_type(kind):
    info = np.iinfo(kind.to_pandas_dtype())
    array = pa.array([info.max - 3, info.max - 1, info.max - 2, info.max], kind)
    finish(array, [0.0] * 3, [1e30, -1e30, 1.0])


@pytest.mark.parametrize(
    "array",
    [
        pa.array([18000, 18400, 18999], pa.int32()).cast(pa.date32()),
        pa.array([1, 10**15 + 1, 2 * 10**15], pa.int64()).cast(pa.timestamp("us")),
        pa.array([0, 40, 86399], pa.int32()).cast(pa.time32("s")),
        pa.array([True, False, True]),
    ],
    ids=str,
)
@pytest.mark.parametrize("rule", ["clip", "reflect", "free"])
@pytest.mark.parametrize("decimals", ["grid", "full"])
def test_dates_times_and_flags_stay_on_whole_units_inside_their_type(array, rule, decimals):
    finish(array, [0.0] * 3, [12.3, 1e6 + 0.5, -0.4], rule=rule, decimals=decimals)


def test_decimals_stay_exact_on_their_grid():
    array = pa.array([Decimal("1.50"), Decimal("99999.99"), Decimal(-200)], pa.decimal128(7, 2))
    assert finish(array, [0.0, 0.0], [1e9, 3.14159])[0] == [99999.9, 3.1]


@pytest.mark.parametrize("open_rule", [{"rule": "free"}, {"decimals": "full"}])
def test_integers_that_floats_cannot_tell_apart_are_not_made_floats(open_rule):
    array = pa.array([2**62, 2**62 + 5, 2**62 + 9])
    assert finish(array, [0.0], [7.2])[0] == [7.0]
    with pytest.raises(SpecError, match="'x' holds numbers of more than 15 digits"):
        finish(array, [0.0], [7.2], **open_rule)


def test_small_floats_are_compared_as_they_are_stored():
    values, _ = finish(pa.array([0.1, 0.5, 0.9], pa.float32()), [0.5], [0.3], decimals="full")
    assert values == [float(np.float32(0.3))]


@pytest.mark.parametrize("rule", ["clip", "reflect", "free"])
@pytest.mark.parametrize("size", [1e-310, 5e-324])
def test_numbers_too_small_for_a_grid_stay_as_computed(rule, size):
    values = [size * number for number in range(40)]
    assert finish(values, [values[20]], [values[17]], rule=rule)[0] == [values[17]]


def test_ordinals_go_to_the_nearest_rank_that_there_is():
    array = pa.array(["lo", "mid", "hi"])
    values, outside = finish(
        array, [1] * 3, [1.6, 7.0, -3.0], type=AttributeType.ORDINAL, order=("lo", "mid", "hi")
    )
    assert values == [2.0, 2.0, 0.0]
    assert outside == [False] * 3


def test_missing_stays_missing_and_an_empty_column_has_no_bounds():
    assert np.isnan(finish([1, 5, None], [NAN], [NAN])[0]).all()
    assert np.isnan(finish(pa.nulls(3, pa.float64()), [NAN], [NAN])[0]).all()


def test_missing_equals_missing_and_nothing_else():
    original = np.array([[1.0, NAN], [1.0, NAN], [NAN, 2.0]])
    released = np.array([[1.0, NAN], [1.0, 0.0], [1.0, 2.0]])
    assert is_unchanged(original, released).tolist() == [True, False, False]


@given(st.floats(-1e12, 1e12).filter(lambda x: x == 0 or abs(x) > 1e-9))
def test_outwards_is_beyond_by_at_most_a_tenth_and_has_two_digits(value):
    for up in (False, True):
        bound = outwards(value, up=up)
        assert (bound >= value) if up else (bound <= value)
        assert abs(bound - value) <= 0.1 * abs(value) * (1 + 1e-9)
        assert float(f"{bound:.1e}") == bound
