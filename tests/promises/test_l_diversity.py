"""l-diversity on released tables."""

import math
from collections import Counter
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.evidence import Evidence
from distanon.errors import SpecError
from distanon.promises import LDiversity

# Machanavajjhala et al. 2007, figure 3: 3-diverse inpatients
DIVERSE = {
    "zip": ["1305*"] * 4 + ["1485*"] * 4 + ["1306*"] * 4,
    "age": ["<=40"] * 4 + [">40"] * 4 + ["<=40"] * 4,
    "condition": [
        *("heart", "viral", "cancer", "cancer"),
        *("cancer", "heart", "viral", "viral"),
        *("heart", "viral", "cancer", "cancer"),
    ],
}


def judged(dataset, table, sensitive=("condition",), **asked):
    return LDiversity(**asked).verify(Evidence(dataset(table, sensitive=list(sensitive))))


def test_the_inpatients_are_three_diverse(dataset):
    verdict = judged(dataset, DIVERSE, l=3)
    assert verdict.kept
    assert verdict.measured == {"l": 3}
    assert verdict.asked == {"l": 3, "kind": "distinct", "others": "unknown"}
    assert not judged(dataset, DIVERSE, l=4).kept


def test_the_inpatients_by_entropy_and_recursively(dataset):
    # every class has counts 2, 1, 1
    verdict = judged(dataset, DIVERSE, l=2.8, kind="entropy")
    assert verdict.kept
    assert verdict.measured["l"] == pytest.approx(2**1.5)
    assert not judged(dataset, DIVERSE, l=3, kind="entropy").kept
    at_limit = judged(dataset, DIVERSE, l=2, kind="recursive", c=1)
    assert not at_limit.kept
    assert at_limit.measured == {"c_above": 1.0}
    assert judged(dataset, DIVERSE, l=2, kind="recursive", c=1.01).kept


def test_a_class_of_one_condition_is_named_by_number_alone(dataset):
    table = {"zip": ["a", "a", "b", "b"], "condition": ["flu", "cold", "flu", "flu"]}
    verdict = judged(dataset, table, l=2)
    assert not verdict.kept
    assert verdict.reason == (
        "column 'condition': 1 of 2 classes have fewer than 2 values: class 2 (2 records)"
    )
    assert verdict.private["condition"]["classes"][0]["values"] == {"zip": "b"}


@pytest.mark.parametrize("nothing", [None, "*"])
def test_neither_missing_nor_suppressed_counts(dataset, nothing):
    table = {"zip": ["a"] * 3, "condition": ["flu", "flu", nothing]}
    assert judged(dataset, table, l=2).measured == {"l": 1}
    for kind in ({"kind": "entropy"}, {"kind": "recursive", "c": 9}):
        assert not judged(dataset, table, l=2, **kind).kept
    only = {"zip": ["a"], "condition": pa.array([nothing], pa.string())}
    assert judged(dataset, only, l=2).measured == {"l": 0}
    assert not judged(dataset, only, l=1.1, kind="entropy").kept


def test_nan_counts_no_more_than_missing(dataset):
    table = {"zip": ["a"] * 3, "condition": [1.0, math.nan, None]}
    assert judged(dataset, table, l=2).measured == {"l": 1}


def test_every_sensitive_column_must_be_diverse(dataset):
    table = {"zip": ["a"] * 3, "condition": ["flu", "cold", "gout"], "ward": ["n", "n", "s"]}
    verdict = judged(dataset, table, ("condition", "ward"), l=3)
    assert not verdict.kept
    assert verdict.measured == {"l": 2, "columns": {"condition": {"l": 3}, "ward": {"l": 2}}}
    assert verdict.reason.startswith("column 'ward'")
    eased = judged(dataset, table, ("condition", "ward"), l=3, columns={"ward": {"l": 2}})
    assert eased.kept


def test_columns_may_differ_in_kind(dataset):
    table = {"zip": ["a"] * 4, "condition": ["flu", "cold", "gout", "flu"], "ward": list("nsns")}
    verdict = judged(
        dataset,
        table,
        ("condition", "ward"),
        l=2,
        kind="recursive",
        c=2,
        columns={"ward": {"kind": "entropy"}},
    )
    assert verdict.kept
    assert verdict.measured == {"columns": {"condition": {"c_above": 1.0}, "ward": {"l": 2.0}}}


def test_who_knows_the_other_sensitive_values_sees_smaller_classes(dataset):
    table = {"zip": ["a"] * 4, "condition": list("uvuv"), "ward": list("nsns")}
    assert judged(dataset, table, ("condition", "ward"), l=2).kept
    verdict = judged(dataset, table, ("condition", "ward"), l=2, others="known")
    assert not verdict.kept
    assert "2 of 2 classes" in verdict.reason


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from(["u", "v", "w", "", "*", None])),
        min_size=1,
        max_size=40,
    ),
    st.integers(2, 4),
    st.sampled_from([0.5, 1, 1.1, 3]),
)
@settings(max_examples=100, deadline=None)
def test_verdicts_are_what_the_definitions_say(dataset, rows, least, c):
    table = {
        "x": [row[0] for row in rows],
        "condition": pa.array([row[1] for row in rows], pa.string()),
    }
    groups = {x: [s for y, s in rows if y == x and s not in (None, "*")] for x, _ in rows}
    ranked = [sorted(Counter(group).values(), reverse=True) for group in groups.values()]
    distinct = min(len(r) for r in ranked) >= least
    recursive = all(r and r[0] < Fraction(str(c)) * sum(r[least - 1 :]) for r in ranked)
    entropy = all(
        r and -sum(n / sum(r) * math.log(n / sum(r)) for n in r) >= math.log(least) - 1e-12
        for r in ranked
    )
    assert judged(dataset, table, l=least).kept == distinct
    assert judged(dataset, table, l=least, kind="recursive", c=c).kept == recursive
    assert judged(dataset, table, l=least, kind="entropy").kept == entropy


def test_no_rows_have_every_diversity(dataset):
    empty = pa.table({"zip": ["a"], "condition": ["u"]}).slice(0, 0)
    for asked in ({"l": 2}, {"l": 2, "kind": "entropy"}, {"l": 2, "kind": "recursive", "c": 1}):
        assert judged(dataset, empty, **asked).kept


def test_a_table_without_sensitive_columns_is_refused(dataset):
    with pytest.raises(SpecError, match="no sensitive column"):
        judged(dataset, {"zip": ["a"]}, (), l=2)


def test_a_setting_for_an_unknown_column_is_refused_with_a_near_match(dataset):
    schema = dataset(DIVERSE, sensitive=["condition"]).schema
    faults = LDiversity(l=2, columns={"conditions": {"l": 3}}).faults(schema)
    (fault,) = faults
    assert fault.startswith("promises.l_diversity.columns.conditions: no such sensitive column")
    assert fault.endswith("did you mean 'condition'?")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"l": 1}, "more than 1"),
        ({"l": 2.5}, "whole number"),
        ({"l": 3, "kind": "recursive"}, "needs c"),
        ({"l": 3, "c": 2}, "no meaning"),
        ({"l": 3, "kind": "recursive", "c": 0}, "more than 0"),
        ({"l": 3, "columns": {"ward": {"kind": "recursive"}}}, "columns.ward: kind recursive"),
        ({"l": 3, "columns": {"ward": {"ll": 2}}}, "ll"),
    ],
)
def test_settings_that_mean_nothing_are_refused(given, message):
    with pytest.raises(SpecError, match=message):
        LDiversity(**given)
