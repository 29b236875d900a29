"""Rare values of a class that a promise needed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.attacks import minimality
from distanon.data.graph import Graph


def attack(evidence):
    return {one.name.removeprefix("minimality."): one for one in minimality.measure(evidence)}


def test_a_lone_false_value_in_a_class_of_four(sensitive_evidence):
    original = {"age": [1, 1, 1, 1, 2, 2, 2], "s": ["x", "x", "x", "x", "x", "y", "y"]}
    release = {"age": [1, 1, 1, 1, 2, 2, 2], "s": ["x", "x", "x", "y", "x", "y", "y"]}
    # Rarest: the false y of the first class and the true x of the second.
    found = attack(sensitive_evidence(original, release))
    assert found["rare.s"].value == 0.5
    assert found["rare.s"].n == 2
    assert found["all.s"].value == pytest.approx(6 / 7)


def test_where_no_cell_was_changed_there_is_nothing_to_find(sensitive_evidence):
    table = {"age": [1, 1, 1], "s": ["x", "x", "y"]}
    assert attack(sensitive_evidence(table, table)) == {}


def test_nodes_of_a_graph_are_attacked_like_records(graph_evidence):
    cycle = Graph.from_pairs(4, np.array([[0, 1], [1, 2], [2, 3], [0, 3]]))
    found = attack(
        graph_evidence(
            cycle,
            cycle,
            np.arange(4),
            columns={"q": [*"aaaa"], "s": [*"xxxx"]},
            shown={"s": [*"xxxy"]},
            sensitive=("s",),
        )
    )
    assert found["rare.s"].value == 0.0
    assert found["all.s"].value == 0.75


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=20))
def test_the_least_frequent_are_those_of_counting(records):
    class_of, value_of = (np.array(part) for part in zip(*records, strict=True))
    says = np.array([True, True, True, False])
    expected = []
    for own, value in records:
        seen = [v for c, v in records if c == own and says[v]]
        counts = {v: seen.count(v) for v in seen}
        is_rare = bool(says[value]) and len(set(counts.values())) > 1
        expected.append(is_rare and counts[value] == min(counts.values()))
    assert minimality.least_frequent(class_of, value_of, says).tolist() == expected
