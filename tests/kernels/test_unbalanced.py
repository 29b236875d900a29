"""The compiled twin of the cost of markers against Python integers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.kernels import closeness
from distanon.kernels.closeness import ordered_distances
from distanon.kernels.counts import Counts


def distances(counts, reference, marker, worth):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(closeness, "_WORTH_COMPILING", worth)
        return ordered_distances(counts, reference, marker)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=1, max_size=40),
    st.sets(st.integers(0, 6), max_size=6),
    st.integers(1, 10**6),
)
@settings(max_examples=100, deadline=None)
def test_compiled_and_python_integers_cost_the_same(records, markers, times):
    class_of, value_of = (np.array(one, np.int64) for one in zip(*records, strict=True))
    counts = Counts.of(class_of, value_of, 5, 7)
    reference = counts.value_totals * times
    marker = np.isin(np.arange(7), list(markers))
    plain = distances(counts, reference, marker, np.inf)
    compiled = distances(counts, reference, marker, 0)
    assert list(plain.numerators) == list(compiled.numerators)
    assert list(plain.denominators) == list(compiled.denominators)


def test_what_overflows_64_bits_is_left_to_python():
    counts = Counts.of(np.array([0, 0, 1]), np.array([0, 2, 1]), 2, 3)
    reference = np.array([2**61, 2**60, 2**60])
    marker = np.array([False, False, True])
    assert list(distances(counts, reference, marker, 0).floats()) == list(
        distances(counts, reference, marker, np.inf).floats()
    )
