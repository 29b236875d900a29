"""Beta-likeness against its definition."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.evidence import Evidence
from distanon.errors import SpecError
from distanon.promises import BetaLikeness


def judged(dataset, rows, **asked):
    table = {"x": [row[0] for row in rows], "s": [row[1] for row in rows]}
    return BetaLikeness(**asked).verify(Evidence(dataset(table, sensitive=["s"])))


# u: 2 of 10 in the whole, 2 of 4 in class a: gain (.5 − .2) / .2 = 1.5; −ln .2 = 1.609
ROWS = [("a", "u"), ("a", "u"), ("a", "v"), ("a", "v"), *[("b", "v")] * 6]


def test_the_gain_on_a_rare_value_is_bounded_at_the_very_limit(dataset):
    verdict = judged(dataset, ROWS, beta=1.5, kind="basic")
    assert verdict.kept
    assert verdict.measured == {"beta": 1.5}
    assert not judged(dataset, ROWS, beta=1.4999999999, kind="basic").kept


def test_enhanced_bounds_frequent_values_too(dataset):
    # v: .8 in the whole, 1 in class b: gain .25 > −ln .8 = .223
    assert judged(dataset, ROWS, beta=5, kind="basic").kept
    enhanced = judged(dataset, ROWS, beta=5, kind="enhanced")
    assert not enhanced.kept
    assert "class 2 (6 records)" in enhanced.reason


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("uvw")), min_size=1, max_size=30),
    st.sampled_from([0.1, 0.25, 0.5, 1, 1.5]),
    st.sampled_from(["basic", "enhanced"]),
)
@settings(max_examples=80, deadline=None)
def test_verdicts_are_what_the_definition_says(dataset, rows, beta, kind):
    kept = True
    for x in {row[0] for row in rows}:
        own = [s for y, s in rows if y == x]
        for value in "uvw":
            p = Fraction([s for _, s in rows].count(value), len(rows))
            q = Fraction(own.count(value), len(own))
            if p < q:
                bound = Fraction(str(beta))
                kept &= (q - p) / p <= bound
                if kind == "enhanced":
                    kept &= float((q - p) / p) <= -math.log(p) + 1e-12
    assert judged(dataset, rows, beta=beta, kind=kind).kept == kept


def test_beta_is_positive():
    with pytest.raises(SpecError):
        BetaLikeness(beta=0)
