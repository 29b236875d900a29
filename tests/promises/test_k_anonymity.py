"""k-anonymity on rows, on people, and on what looks like copies."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.evidence import Evidence
from distanon.errors import SpecError
from distanon.promises import KAnonymity

# Machanavajjhala et al. 2007, figure 2: 4-anonymous inpatients; * and ranges are text
INPATIENTS = {
    "zip": ["130**"] * 4 + ["1485*"] * 4 + ["130**"] * 4,
    "age": ["<30"] * 4 + [">=40"] * 4 + ["3*"] * 4,
    "nationality": ["*"] * 12,
    "condition": ["heart", "heart", "viral", "viral", "cancer", "heart", "viral", "viral"]
    + ["cancer"] * 4,
}


def test_the_inpatients_are_four_anonymous(dataset):
    evidence = Evidence(dataset(INPATIENTS, sensitive=["condition"]))
    verdict = KAnonymity(k=4).verify(evidence)
    assert verdict.kept
    assert verdict.measured["k"] == 4
    assert verdict.measured["classes"] == 3
    assert verdict.verified_from == "release"
    assert verdict.reason == ""
    assert verdict.private == {}
    assert "copies_suspected" not in verdict.measured
    assert verdict.asked == {"k": 4}
    assert not KAnonymity(k=5).verify(evidence).kept


def test_the_reason_names_classes_and_sizes_and_the_private_part_their_tuples(dataset):
    table = {"zip": ["Secretville", None, "b", "b"], "age": [float("nan"), 2.5, 1.0, 1.0]}
    verdict = KAnonymity(k=2).verify(Evidence(dataset(table)))
    assert not verdict.kept
    assert verdict.measured["k"] == 1
    assert verdict.reason == (
        "2 of 3 classes have fewer than 2 records: class 1 (1 record), class 2 (1 record)"
    )
    assert verdict.private["classes"] == [
        {"class": 1, "size": 1, "values": {"zip": "Secretville", "age": "nan"}},
        {"class": 2, "size": 1, "values": {"zip": None, "age": 2.5}},
    ]
    json.dumps(verdict.private, allow_nan=False)
    public = json.dumps([dict(verdict.measured), verdict.reason, dict(verdict.asked)])
    assert "Secretville" not in public


def test_rows_that_are_all_suppressed_are_counted_and_named(dataset):
    table = {"x": ["a", "a", "*"], "y": ["b", "b", "*"]}
    verdict = KAnonymity(k=2).verify(Evidence(dataset(table)))
    assert verdict.measured["suppressed"] == 1
    assert "class 2 is of the rows whose quasi-identifiers are all suppressed" in verdict.reason
    assert not verdict.kept
    enough = {"x": ["a", "a", "*", "*"], "y": ["b", "b", "*", "*"]}
    verdict = KAnonymity(k=2).verify(Evidence(dataset(enough)))
    assert (verdict.kept, verdict.measured["suppressed"], verdict.reason) == (True, 2, "")


def test_a_long_list_of_failing_classes_is_cut(dataset):
    verdict = KAnonymity(k=2).verify(Evidence(dataset({"x": list(range(500))})))
    assert verdict.reason.endswith("class 5 (1 record), …")
    assert len(verdict.private["classes"]) == 100


@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, None]), min_size=1, max_size=30), st.data())
@settings(max_examples=50, deadline=None)
def test_k_is_the_size_of_the_rarest_tuple_in_any_order(dataset, values, data):
    texts = data.draw(
        st.lists(st.sampled_from(["a", "*"]), min_size=len(values), max_size=len(values))
    )
    rows = list(zip(values, texts, strict=True))
    shuffled = data.draw(st.permutations(rows))
    k = min(rows.count(row) for row in rows)
    for some in (rows, shuffled):
        columns = {"x": [row[0] for row in some], "y": [row[1] for row in some]}
        table = dataset(columns, pieces=3)
        assert KAnonymity(k=2).verify(Evidence(table)).measured["k"] == k


def test_copies_of_one_source_are_one_person(dataset):
    release = dataset({"x": [1, 1, 1, 2, 2, 2]})
    original = dataset({"x": [1, 2, 3, 4, 5, 6]})
    copied = Evidence(release, original, np.array([0, 0, 0, 1, 1, 1]), replicates=True)
    verdict = KAnonymity(k=3).verify(copied)
    assert not verdict.kept
    assert verdict.measured["k"] == 1
    assert verdict.measured["smallest"] == 3
    assert verdict.measured["counted"] == "people"
    assert verdict.verified_from == "release+private"
    rows_alone = KAnonymity(k=3, distinct_sources=False).verify(copied)
    assert rows_alone.kept
    assert rows_alone.measured["counted"] == "rows"
    distinct = Evidence(release, original, np.arange(6))
    assert KAnonymity(k=3).verify(distinct).kept


def test_several_rows_of_one_subject_are_one_person(dataset):
    release = dataset({"x": [1, 1, 1, 2, 2, 2]})
    original = dataset(
        {"x": [3, 3, 3, 4, 4, 4], "who": ["a", "a", "b", "c", "d", "e"]}, subject=["who"]
    )
    sources = np.array([0, 1, 2, 3, 4, 5])
    verdict = KAnonymity(k=3).verify(Evidence(release, original, sources))
    assert not verdict.kept
    assert verdict.measured["k"] == 2
    assert "fewer than 3 different people: class 1 (3 records)" in verdict.reason
    # release rows name their sources: the third row came from subject e, not b
    moved = Evidence(release, original, np.array([0, 3, 5, 1, 2, 4]))
    assert KAnonymity(k=3).verify(moved).kept


def test_an_audit_counts_the_subjects_that_the_files_name(dataset):
    files = dataset({"x": [1, 1, 2, 2], "who": ["a", "a", "b", "c"]}, subject=["who"])
    verdict = KAnonymity(k=2).verify(Evidence(files))
    assert verdict.measured["k"] == 1
    assert verdict.verified_from == "release"


def test_people_that_are_demanded_but_unknown_break_the_promise(dataset):
    verdict = KAnonymity(k=2, distinct_sources=True).verify(Evidence(dataset({"x": [1, 1]})))
    assert not verdict.kept
    assert "not known" in verdict.reason


def test_classes_of_one_row_over_and_over_are_suspected_copies(dataset):
    table = {"x": [1, 1, 2, 2], "s": ["u", "u", "v", "v"]}
    verdict = KAnonymity(k=2).verify(Evidence(dataset(table, sensitive=["s"])))
    assert verdict.kept
    assert verdict.measured["copies_suspected"] is True
    assert "copies suspected" in verdict.reason
    # the owner, who has the originals, counts people instead of suspecting
    original = dataset({"x": [1, 2, 3, 4], "s": ["u", "u", "v", "v"]}, sensitive=["s"])
    owner = Evidence(dataset(table, sensitive=["s"]), original, np.arange(4))
    assert "copies_suspected" not in KAnonymity(k=2).verify(owner).measured


@pytest.mark.parametrize(
    "table",
    [
        {"x": [1, 1, 2, 2], "s": ["u", "u", "v", "w"]},  # one class differs inside
        {"x": [1, 1, 2, 2], "s": ["u", "u", "u", "u"]},  # nothing to differ in
        {"x": [1, 2, 3, 4], "s": ["u", "u", "v", "w"]},  # nothing is repeated
        {"x": [1, 1, 2, 2]},  # nothing beside the quasi-identifiers
    ],
)
def test_chance_repetitions_are_no_suspicion(dataset, table):
    evidence = Evidence(dataset(table, sensitive=["s"] if "s" in table else []))
    assert "copies_suspected" not in KAnonymity(k=2).verify(evidence).measured


def test_a_release_without_rows_discloses_nobody(dataset):
    empty = dataset({"x": [1]}).read().slice(0, 0)
    verdict = KAnonymity(k=2).verify(Evidence(dataset(empty)))
    assert verdict.kept
    assert verdict.measured["k"] is None
    assert verdict.measured["classes"] == 0


def test_without_quasi_identifiers_all_rows_are_one_class(dataset):
    evidence = Evidence(dataset({"s": ["u", "v", "w"]}, sensitive=["s"]))
    assert KAnonymity(k=3).verify(evidence).kept
    assert not KAnonymity(k=4).verify(evidence).kept


@pytest.mark.parametrize("given", [{"k": 1}, {"k": 0}, {"k": 2.5}, {"k": "many"}, {}, {"kk": 3}])
def test_k_is_a_whole_number_of_at_least_two(given):
    with pytest.raises(SpecError):
        KAnonymity(**given)
