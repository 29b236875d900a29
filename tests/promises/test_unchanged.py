"""Records that kept all their quasi-identifiers."""

import math

import numpy as np
import pyarrow as pa
import pytest

from distanon.data.evidence import Evidence
from distanon.errors import SpecError
from distanon.promises import Unchanged


def test_rows_are_compared_with_their_own_source(dataset):
    original = dataset({"x": [1, 2, 3, 4], "y": list("abcd"), "s": list("uuuu")}, sensitive=["s"])
    release = dataset({"x": [2, 1, 4, 3], "y": list("bacd"), "s": list("uuuu")}, sensitive=["s"])
    in_place = Unchanged().verify(Evidence(release, original, np.arange(4)))
    assert in_place.kept
    assert in_place.measured == {"share": 0.0, "records": 4}
    assert in_place.verified_from == "release+private"
    swapped = Unchanged().verify(Evidence(release, original, np.array([1, 0, 2, 3])))
    assert not swapped.kept
    assert swapped.measured["share"] == 0.5
    assert swapped.reason == "2 of 4 records kept all their quasi-identifiers"
    assert swapped.private == {"unchanged": 2, "rows": [1, 2]}


def test_the_share_is_decided_exactly(dataset):
    original = dataset({"x": list(range(10))})
    release = dataset({"x": [0, 1, 2, *range(20, 27)]})
    evidence = Evidence(release, original, np.arange(10))
    assert Unchanged(at_most=0.3).verify(evidence).kept
    assert not Unchanged(at_most=0.29999999999999).verify(evidence).kept


def test_the_certificate_shows_a_share_in_two_digits_rounded_up(dataset):
    original = dataset({"x": list(range(1000))})
    release = dataset({"x": [0, 1, 2, *range(2000, 2997)]})
    evidence = Evidence(release, original, np.arange(1000))
    assert Unchanged(at_most=0.5).verify(evidence).measured["share"] == 0.01
    assert Unchanged(at_most=0.004).verify(evidence).measured["share"] == 0.004
    broken = Unchanged(at_most=0).verify(evidence)
    assert broken.measured["share"] == 0.01
    assert broken.private["unchanged"] == 3


def test_missing_that_stays_missing_and_a_new_type_are_no_change(dataset):
    original = dataset({"x": pa.array([1, None, 3]), "y": [0.0, math.nan, 1.0]})
    release = dataset({"x": [1.0, None, 3.0], "y": [-0.0, None, 2.0]})
    verdict = Unchanged(at_most=1).verify(Evidence(release, original, np.arange(3)))
    assert verdict.measured["share"] == 0.67


def test_a_generalized_number_is_a_change(dataset):
    original = dataset({"x": [17, 18]})
    release = dataset({"x": ["[17, 25]", "18"]})
    verdict = Unchanged(at_most=0.5).verify(Evidence(release, original, np.arange(2)))
    assert verdict.kept
    assert verdict.measured["share"] == 0.5


def test_without_the_originals_nothing_is_verified_and_nothing_kept(dataset):
    release = dataset({"x": [1]})
    for evidence in (Evidence(release), Evidence(release, dataset({"x": [2]}))):
        verdict = Unchanged(at_most=1).verify(evidence)
        assert not verdict.kept
        assert verdict.verified_from == "asserted"
        assert verdict.reason.startswith("not verified")


def test_a_release_without_rows_left_nothing_unchanged(dataset):
    empty = dataset(pa.table({"x": [1]}).slice(0, 0))
    evidence = Evidence(empty, dataset({"x": [1]}), np.empty(0, np.int64))
    assert Unchanged().verify(evidence).kept


@pytest.mark.parametrize("given", [{"at_most": -0.1}, {"at_most": 1.1}, {"atmost": 0}])
def test_at_most_is_a_share(given):
    with pytest.raises(SpecError):
        Unchanged(**given)
