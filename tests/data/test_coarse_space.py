"""Labels of hierarchies as categories: how far they are, and what clusters agree on."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.coarse_space import CoarseSpace
from distanon.data.domain import scan
from distanon.data.generalization import read
from distanon.data.hierarchy import Hierarchy
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.space import AttributeSpace
from distanon.data.table import Dataset, MemoryPartition

ROWS = (
    ("Bonn", "West", "Germany", "*"),
    ("Köln", "West", "Germany", "*"),
    ("Jena", "East", "Germany", "*"),
    ("Graz", "Styria", "Austria", "*"),
)


def spaces(column, rows=ROWS):
    table = pa.table({"town": column})
    hierarchy = Hierarchy.from_rows(rows, "towns")
    role, nominal = Role.QUASI_IDENTIFIER, AttributeType.NOMINAL
    kind = table.schema.field("town").type
    schema = Schema((Attribute("town", role, nominal, kind, hierarchy=hierarchy),))
    space = AttributeSpace.of(schema, scan(Dataset(schema, (MemoryPartition(table),))))
    coarse = CoarseSpace.of(space)
    return space, coarse, coarse.recoded(space.encode(table))


def agreed(column, labels, rows=ROWS):
    _, coarse, values = spaces(column, rows)
    return coarse.space.decode(coarse.agreed(np.array(labels), values))[0].to_pylist()


def test_members_get_the_lowest_label_above_all_of_them():
    towns = pa.array(["Bonn", "Köln", "Bonn", "Jena", "Graz", "Jena", "Köln", "Köln"])
    assert agreed(towns, [0, 0, 1, 1, 2, 2, 3, 3]) == ["West", "Germany", "*", "Köln"]


def test_a_missing_member_beside_values_leads_to_the_top_with_the_missing():
    rows = [(*row[:-1], "any") for row in ROWS]
    towns = pa.array(["Bonn", None, None, None, "Köln", "Bonn", "Jena", "Graz"])
    assert agreed(towns, [0, 0, 1, 1, 2, 2, 3, 3], rows) == [
        "{any} or missing",
        None,
        "West",
        "any",
    ]


def test_a_label_is_as_far_from_the_values_below_it_as_its_node_is_high():
    towns = pa.array(["Bonn", "Köln", "Jena", "Graz", None])
    _, coarse, values = spaces(towns)
    texts = [*coarse.space.domains[0].categories, None]
    embedded = coarse.space.embed(np.arange(len(texts), dtype=float)[:, None])
    points = dict(zip(texts, embedded, strict=True))
    wanted = {
        ("Bonn", "West"): 1 / 3,
        ("Bonn", "Germany"): 2 / 3,
        ("Jena", "West"): 2 / 3,
        ("West", "Germany"): 2 / 3,
        ("Graz", "West"): 1.0,
        ("Bonn", "*"): 1.0,
        ("West", "*"): 1.0,
        (None, "*"): 1.0,
        (None, "West"): 1.0,
        (None, None): 0.0,
        ("West", "West"): 0.0,
    }
    for (one, other), distance in wanted.items():
        assert np.linalg.norm(points[one] - points[other]) == pytest.approx(distance, abs=1e-12)
    assert values[-1, 0] == len(texts) - 1


def test_no_distance_of_values_changes():
    towns = pa.array(["Bonn", "Köln", "Jena", "Graz", None])
    space, coarse, values = spaces(towns)
    plain = space.embed(space.encode(pa.table({"town": towns})))
    wide = coarse.space.embed(values)
    before, after = (
        np.linalg.norm(points[:, None] - points[None], axis=2) for points in (plain, wide)
    )
    np.testing.assert_allclose(after, before, atol=1e-12)


def test_a_label_of_two_sets_is_passed_over():
    rows = [
        ("a", "x", "p", "all"),
        ("b", "x", "p", "all"),
        ("c", "y", "p", "all"),
        ("d", "p", "x", "all"),
    ]
    assert agreed(pa.array(["a", "b", "c", "d"]), [0, 0, 1, 1], rows) == ["all", "all"]


def test_numbers_with_labels_are_text():
    rows = [("10", "1*", "*"), ("11", "1*", "*"), ("20", "2*", "*")]
    assert agreed(pa.array([10, 11, 20]), [0, 0, 1], rows) == ["1*", "20"]


def test_labels_that_look_like_sets_are_quoted():
    rows = [("10", "[10, 20)", "*"), ("11", "[10, 20)", "*"), ("20", "[20, 30)", "*")]
    assert agreed(pa.array(["10", "11", "20"]), [0, 0, 1], rows) == ['{"[10, 20)"}', "20"]


@st.composite
def trees(draw):
    """Rows of a random tree whose labels recur at other heights and under other nodes."""
    height = draw(st.integers(1, 3))
    parent = {}
    rows = []
    for value in "abcdef"[: draw(st.integers(1, 6))]:
        row = [value]
        for level in range(1, height + 1):
            node = (level - 1, row[-1])
            if node not in parent:
                parent[node] = "all" if level == height else draw(st.sampled_from("aBCx*"))
            row.append(parent[node])
        rows.append(tuple(row))
    return rows


@settings(max_examples=80, deadline=None)
@given(trees(), st.data())
def test_what_is_told_covers_every_member_and_tells_its_distance(rows, data):
    values = [row[0] for row in rows]
    n = data.draw(st.integers(1, 12))
    cells = data.draw(st.lists(st.sampled_from([*values, None]), min_size=n, max_size=n))
    labels = np.array([place % max(1, n // 3) for place in range(n)])
    column = pa.array(cells, pa.string())
    space, coarse, codes = spaces(column, rows)
    told = coarse.agreed(labels, codes)[labels]
    shown = coarse.space.decode(told)[0]
    regions = read(shown, space.attributes[0], space.domains[0])
    assert regions.contains(space.encode(pa.table({"town": column}))[:, 0], regions.code_of).all()
    far = np.linalg.norm(coarse.space.embed(codes) - coarse.space.embed(told), axis=1)
    way_of = {row[0]: row for row in rows}
    for cluster in np.unique(labels):
        own = {cell for cell, label in zip(cells, labels, strict=True) if label == cluster}
        if len(own) == 1:
            height = 0
        elif None in own:
            height = len(rows[0]) - 1
        else:
            height = next(
                h for h in range(len(rows[0])) if len({way_of[one][h] for one in own}) == 1
            )
        # A label that can't be told sends its members higher.
        away = far[labels == cluster] * (len(rows[0]) - 1)
        assert away.min() >= height - 1e-9
        assert away.max() == pytest.approx(away.min())
        assert away.max() == pytest.approx(round(away.max()))
