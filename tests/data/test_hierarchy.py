"""Generalization hierarchies: what a file must hold, and the distance it stands for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.hierarchy import Hierarchy
from distanon.errors import InputError

JOBS = [
    ["nurse", "care", "*"],
    ["doctor", "care", "*"],
    ["clerk", "office", "*"],
]


@st.composite
def hierarchies(draw):
    """Random trees: each node above the values is a union of nodes below it."""
    values = draw(st.integers(1, 12))
    height = draw(st.integers(1, 4))
    rows = [[f"v{value}"] for value in range(values)]
    nodes = list(range(values))
    for level in range(1, height):
        parent = [draw(st.integers(0, max(nodes))) for _ in range(max(nodes) + 1)]
        nodes = [parent[node] for node in nodes]
        for row, node in zip(rows, nodes, strict=True):
            row.append(f"{level}-{node}")
    return [[*row, "*"] for row in rows]


def test_height_counts_the_levels_above_a_value():
    jobs = Hierarchy.from_rows(JOBS, "job.csv")
    assert jobs.height == 2
    assert jobs.values == ("nurse", "doctor", "clerk")
    assert jobs.parents()[0, "nurse"] == (1, "care")
    assert jobs.parents()[1, "care"] == (2, "*")
    assert (2, "*") not in jobs.parents()


def test_a_label_may_recur_at_another_level():
    rows = [["a", "a", "*"], ["b", "*", "*"]]
    assert Hierarchy.from_rows(rows, "h").parents()[0, "a"] == (1, "a")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], "got no rows"),
        ([["a"], ["b"]], "rows of one cell"),
        ([["a", "x", "*"], ["b", "*"]], "row 2: expected 3 cells"),
        ([["a", "x", "*"], ["a", "x", "*"]], "row 2: this value stands in row 1"),
        ([["a", "x", "*"], ["b", "x", "top"]], "row 2: level 1 has another generalization"),
        ([["a", "x", "*"], ["b", "y", "top"]], "row 2: the last level differs"),
        ([["a", "x", "*"], ["b", " ", "*"]], "row 2: cell 2 is empty"),
    ],
)
def test_a_faulty_file_is_refused_with_file_and_row(rows, expected):
    with pytest.raises(InputError, match=expected) as caught:
        Hierarchy.from_rows(rows, "hierarchy.csv")
    assert str(caught.value).startswith("hierarchy.csv")


def test_a_message_quotes_no_value():
    with pytest.raises(InputError) as caught:
        Hierarchy.from_rows([["secret-a", "x", "*"], ["secret-a", "x", "*"]], "h.csv")
    assert "secret" not in str(caught.value)


@given(hierarchies())
@settings(max_examples=60, deadline=None)
def test_columns_give_the_height_of_the_lowest_common_ancestor(rows):
    hierarchy = Hierarchy.from_rows(rows, "h.csv")
    ways = hierarchy.columns()
    for first in rows:
        for second in rows:
            common = next(
                level for level, (a, b) in enumerate(zip(first, second, strict=True)) if a == b
            )
            apart = set(ways[first[0]]) ^ set(ways[second[0]])
            distance = np.sqrt(sum(weight**2 for _, weight in apart))
            np.testing.assert_allclose(distance, common / hierarchy.height, atol=1e-15)


def test_ancestors_are_numbered_by_height_and_markers_hang_from_the_top():
    rows = [("a", "x", "all"), ("b", "x", "all"), ("c", "y", "all")]
    hierarchy = Hierarchy.from_rows(rows, "h.csv")
    found = hierarchy.ancestors(["c", "a", None, "b"], np.array([False, False, True, False]))
    assert found.tolist() == [[0, 1, 2, 3], [0, 1, 2, 1], [0, 0, 0, 0]]
    with pytest.raises(KeyError):
        hierarchy.ancestors(["d"], np.array([False]))
