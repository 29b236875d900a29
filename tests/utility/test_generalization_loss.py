"""NCP by hand, and by plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.domain import scan
from distanon.data.space import AttributeSpace
from distanon.utility import generalization_loss
from distanon.utility.generalization_loss import extents

PEOPLE = {"age": [20, 24, 30, 40], "job": ["a", "b", "a", "c"]}


def figures(evidence):
    return {
        one.name.removeprefix("generalization."): one
        for one in generalization_loss.measure(evidence)
    }


def test_four_generalized_rows_by_hand(sensitive_evidence):
    rows = {"age": ["[20, 24]", "[20, 24]", "30", "*"], "job": ["{a, b}", "{a, b}", "a", "c"]}
    found = figures(sensitive_evidence(PEOPLE, rows))
    age, job = (4 / 20 + 4 / 20 + 0 + 1) / 4, (1 / 2 + 1 / 2 + 0 + 0) / 4
    assert found["ncp.age"].value == pytest.approx(age)
    assert found["ncp.job"].value == pytest.approx(job)
    assert found["ncp"].value == pytest.approx((age + job) / 2)
    assert found["ncp"].is_public
    assert not found["ncp.age"].is_public


def test_groups_of_one_tuple_are_judged_by_their_members(sensitive_evidence):
    rows = {"age": [22, 22, 35, 35], "job": ["a", "a", "a", "a"]}
    found = figures(sensitive_evidence(PEOPLE, rows))
    age, job = (4 / 20 + 10 / 20) / 2, 1 / 2
    assert found["ncp_members"].value == pytest.approx((age + job) / 2)
    assert not any(one.is_public for one in found.values())


def test_a_suppressed_record_counts_one_in_every_attribute(sensitive_evidence):
    rows = {"age": ["[20, 24]", "[20, 24]", "30"], "job": ["a", "b", "a"]}
    found = figures(sensitive_evidence(PEOPLE, rows, [0, 1, 2]))
    assert found["ncp"].value == pytest.approx((4 / 20 + 4 / 20) / 6)
    assert found["ncp_with_suppressed"].value == pytest.approx((4 / 20 + 4 / 20 + 2) / 8)
    assert not found["ncp_with_suppressed"].is_public


def test_rows_of_their_own_values_leave_nothing_open_and_have_no_figure(sensitive_evidence):
    assert figures(sensitive_evidence(PEOPLE, PEOPLE)) == {}


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000))
def test_extents_are_those_of_plain_loops(seed):
    import pyarrow as pa

    from distanon.data.schema import Attribute, AttributeType, Role, Schema
    from distanon.data.table import Dataset, MemoryPartition

    generator = np.random.default_rng(seed)
    n = int(generator.integers(1, 15))
    numbers = [None if one < 1 else float(one) for one in generator.integers(0, 6, n)]
    texts = [None if one < 1 else "abcd"[one - 1] for one in generator.integers(0, 5, n)]
    table = pa.table({"x": pa.array(numbers, pa.float64()), "t": pa.array(texts, pa.string())})
    attributes = (
        Attribute("x", Role.QUASI_IDENTIFIER, AttributeType.NUMERIC, pa.float64()),
        Attribute("t", Role.QUASI_IDENTIFIER, AttributeType.NOMINAL, pa.string()),
    )
    domain = scan(Dataset(Schema(attributes), (MemoryPartition(table),)))
    space = AttributeSpace.of(attributes, domain)
    _, group_of = np.unique(generator.integers(0, 4, n), return_inverse=True)
    found = extents(space, space.encode(table), group_of)
    seen = [one for one in numbers if one is not None]
    spread = (max(seen) - min(seen) if seen else 0.0) or 1.0
    for group in range(int(group_of.max()) + 1):
        own = [numbers[i] for i in range(n) if group_of[i] == group]
        there = [one for one in own if one is not None]
        expected = (max(there) - min(there)) / spread if there else 0.0
        expected = 1.0 if there and len(there) < len(own) else expected
        assert found[group, 0] == pytest.approx(expected)
        kinds = {texts[i] for i in range(n) if group_of[i] == group}
        most = max(1, len(set(texts)) - 1)
        assert found[group, 1] == pytest.approx((len(kinds) - 1) / most)
