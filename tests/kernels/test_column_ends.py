import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.kernels.column_ends import column_bounds, column_ends

VALUES = st.sampled_from([0.0, -0.0, 1.0, 1.5, -7.0, 3e300, -3e300, np.inf, -np.inf, np.nan])


@settings(max_examples=60, deadline=None)
@given(st.lists(VALUES | st.floats(-9, 9), max_size=300), st.integers(1, 40))
def test_ends_are_those_of_the_sorted_column(values, most):
    column = np.array(values, dtype=np.float64)
    ranked = np.sort(column[~np.isnan(column)])
    present, least, greatest = column_ends(column, most)
    assert present == len(ranked)
    np.testing.assert_array_equal(least, ranked[:most])
    np.testing.assert_array_equal(greatest, ranked[-most:])


def test_ends_of_columns_that_rise_fall_or_stand_still():
    rising = np.arange(5000.0)
    for column in (rising, rising[::-1].copy(), np.full(5000, 3.0)):
        _, least, greatest = column_ends(column, 7)
        ranked = np.sort(column)
        np.testing.assert_array_equal(least, ranked[:7])
        np.testing.assert_array_equal(greatest, ranked[-7:])


def test_bounds_leave_out_what_is_missing():
    rows = np.array([[1.0, np.nan, np.nan], [-2.0, 4.0, np.nan], [0.5, np.nan, np.nan]])
    low, high = column_bounds(rows)
    assert low.tolist() == [-2.0, 4.0, np.inf]
    assert high.tolist() == [1.0, 4.0, -np.inf]
