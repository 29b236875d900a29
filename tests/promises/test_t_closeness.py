"""t-closeness on released tables."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.evidence import Evidence
from distanon.data.hierarchy import Hierarchy
from distanon.data.schema import AttributeType
from distanon.errors import InputError, SpecError
from distanon.promises import TCloseness

ORDINAL = AttributeType.ORDINAL

# Li et al. 2007, table 5, salaries in thousands
SALARIES = {"class": ["a"] * 3 + ["b"] * 3 + ["c"] * 3, "salary": [3, 5, 9, 6, 11, 8, 4, 7, 10]}

DISEASES = Hierarchy(
    (
        ("flu", "infection", "respiratory", "disease"),
        ("pneumonia", "infection", "respiratory", "disease"),
        ("bronchitis", "infection", "respiratory", "disease"),
        ("pulmonary embolism", "vascular", "respiratory", "disease"),
        ("gastric ulcer", "stomach", "digestive", "disease"),
        ("stomach cancer", "stomach", "digestive", "disease"),
        ("gastritis", "stomach", "digestive", "disease"),
    )
)


def judged(dataset, table, column, *, attribute=None, **asked):
    settings_of = {column: attribute} if attribute else None
    return TCloseness(**asked).verify(
        Evidence(dataset(table, sensitive=[column], settings=settings_of))
    )


def test_salaries_of_li_2007_are_0_167_close(dataset):
    verdict = judged(dataset, SALARIES, "salary", t=0.167)
    assert verdict.kept
    assert verdict.measured["t"] == pytest.approx(1 / 6)
    assert verdict.measured["distance"] == "ordered"
    assert not judged(dataset, SALARIES, "salary", t=0.166).kept
    # as mere names they are farther: 6 of 9 values are absent from each class
    assert judged(dataset, SALARIES, "salary", t=1, distance="equal").measured[
        "t"
    ] == pytest.approx(2 / 3)


def test_salaries_may_come_in_any_row_order_and_type(dataset):
    order = np.random.default_rng(3).permutation(9)
    table = pa.table(SALARIES).take(pa.array(order))
    texts = table.set_column(1, "salary", table.column("salary").cast(pa.string()))
    for some in (table, texts):
        verdict = judged(
            dataset, some, "salary", attribute={"type": AttributeType.NUMERIC}, t=0.167
        )
        assert verdict.measured["t"] == pytest.approx(1 / 6)


def test_diseases_are_as_far_as_their_ancestor_is_high(dataset):
    table = {
        "class": ["a"] * 3 + ["b"] * 3 + ["c"] * 3,
        "disease": [
            *("gastric ulcer", "stomach cancer", "pneumonia"),
            *("gastritis", "flu", "bronchitis"),
            *("gastritis", "bronchitis", "stomach cancer"),
        ],
    }
    verdict = judged(dataset, table, "disease", attribute={"hierarchy": DISEASES}, t=0.3)
    assert verdict.kept
    assert verdict.measured["distance"] == "hierarchical"
    # by hand in the tests of the kernel: 7/27, 8/27, 5/27
    assert verdict.measured["t"] == pytest.approx(8 / 27)


def test_a_missing_disease_is_one_from_all_others(dataset):
    table = {"class": ["a", "b"], "disease": ["flu", None]}
    for distance in ("hierarchical", "equal"):
        verdict = judged(
            dataset,
            table,
            "disease",
            attribute={"hierarchy": DISEASES},
            t=0.5,
            distance=distance,
        )
        assert verdict.measured["t"] == 0.5
        assert verdict.kept


def test_a_missing_salary_is_one_from_all_others(dataset):
    # class a: 1 and 2; class b: missing twice. A half of each class must travel 1
    table = {"class": list("aabb"), "salary": [1, 2, None, None]}
    assert judged(dataset, table, "salary", t=1).measured["t"] == 0.5


def test_the_very_limit_is_kept(dataset):
    # class a has u at .8, the whole at .5: the distance is 3/10, and .8 − .5 > .3 in floats
    table = {"class": ["a"] * 10 + ["b"] * 10, "s": ["u"] * 8 + ["v"] * 2 + ["v"] * 8 + ["u"] * 2}
    assert judged(dataset, table, "s", t=0.3).kept
    assert not judged(dataset, table, "s", t=0.2999999999999999).kept
    thirds = {"class": list("aab"), "s": list("uvw")}
    # class a lacks w, a third of the whole; 0.3333333333333333 is less than that
    verdict = judged(dataset, thirds, "s", t=2 / 3)
    assert not verdict.kept
    assert judged(dataset, {"class": list("ab"), "s": list("uv")}, "s", t=0.5).kept


def test_ordinal_values_follow_their_order(dataset):
    attribute = {"type": ORDINAL, "order": ("low", "middle", "high", "never")}
    table = {"class": list("aab"), "s": ["high", "low", "middle"]}
    # ranks 0, 1, 2 of the three that occur: P_b − Q = (−1/3, 1/3): (1/3 + 1/3) / 2
    verdict = judged(dataset, table, "s", attribute=attribute, t=1)
    assert verdict.measured == {"t": pytest.approx(1 / 3), "distance": "ordered"}
    short = {"type": ORDINAL, "order": ("low", "high")}
    with pytest.raises(InputError, match="1 values are not in its `order`"):
        judged(dataset, table, "s", attribute=short, t=1)


def test_one_class_and_one_value_are_close(dataset):
    assert judged(dataset, {"class": ["a", "a"], "s": [1, 2]}, "s", t=0).kept
    assert judged(dataset, {"class": ["a", "b"], "s": [7, 7]}, "s", t=0).kept
    empty = pa.table({"class": ["a"], "s": [1]}).slice(0, 0)
    verdict = judged(dataset, empty, "s", t=0)
    assert verdict.kept
    assert verdict.measured["t"] is None


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from([1.0, 2.0, -5.0, 3.5])),
        min_size=1,
        max_size=30,
    )
)
@settings(max_examples=50, deadline=None)
def test_measured_t_is_what_the_definition_says(dataset, rows):
    table = {"class": [row[0] for row in rows], "s": [row[1] for row in rows]}
    values = sorted(set(table["s"]))
    whole = np.array([table["s"].count(value) for value in values]) / len(rows)
    equal, ordered = [], []
    for name in set(table["class"]):
        own = [s for group, s in rows if group == name]
        gap = np.array([own.count(value) for value in values]) / len(own) - whole
        equal.append(np.abs(gap).sum() / 2)
        ordered.append(np.abs(np.cumsum(gap)[:-1]).sum() / max(len(values) - 1, 1))
    for distance, expected in (("equal", equal), ("ordered", ordered)):
        verdict = judged(dataset, table, "s", t=1, distance=distance)
        assert verdict.measured["t"] == pytest.approx(max(expected), abs=1e-11)


def test_what_changed_cells_did_is_told_to_the_owner_alone(dataset):
    release = dataset({"x": [1, 1, 1, 1], "s": list("uuvv")}, sensitive=["s"])
    original = dataset({"x": [1, 2, 3, 4], "s": list("uuuv")}, sensitive=["s"])
    verdict = TCloseness(t=0).verify(Evidence(release, original, np.arange(4)))
    assert verdict.kept
    assert verdict.private == {"s": {"to_original": 0.25}}
    assert "to_original" not in verdict.measured


def test_columns_may_differ_in_t_and_distance(dataset):
    table = dataset({"x": ["a", "b"], "s": list("uv"), "w": [1, 2]}, sensitive=["s", "w"])
    asked = TCloseness(t=0.1, columns={"s": {"t": 0.5}, "w": {"t": 0.6, "distance": "equal"}})
    verdict = asked.verify(Evidence(table))
    assert verdict.kept
    assert verdict.measured["t"] == 0.5
    assert verdict.measured["columns"]["w"] == {"t": 0.5, "distance": "equal"}


def test_distances_that_a_column_has_not_are_refused(dataset):
    schema = dataset({"x": ["a"], "s": ["u"]}, sensitive=["s"]).schema
    assert "no order" in TCloseness(t=0.1, distance="ordered").faults(schema)[0]
    assert "no hierarchy" in TCloseness(t=0.1, distance="hierarchical").faults(schema)[0]
    with pytest.raises(SpecError, match="'s' is nominal"):
        judged(dataset, {"x": ["a"], "s": ["u"]}, "s", t=0.1, distance="ordered")


def test_a_value_that_the_hierarchy_lacks_is_counted_not_quoted(dataset):
    table = {"class": ["a", "a"], "disease": ["flu", "Secretitis"]}
    with pytest.raises(InputError, match="1 values are not in its hierarchy") as caught:
        judged(dataset, table, "disease", attribute={"hierarchy": DISEASES}, t=1)
    assert "Secretitis" not in str(caught.value)


@pytest.mark.parametrize("given", [{"t": 1.1}, {"t": -0.1}, {"t": 0.1, "distance": "far"}, {}])
def test_t_is_a_share(given):
    with pytest.raises(SpecError):
        TCloseness(**given)
