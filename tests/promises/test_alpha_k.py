"""(alpha, k)-anonymity against its definition."""

import numpy as np
import pytest

from distanon.data.evidence import Evidence
from distanon.errors import SpecError
from distanon.promises import AlphaK


def judged(dataset, classes, conditions, **asked):
    table = dataset({"x": list(classes), "s": list(conditions)}, sensitive=["s"])
    return AlphaK(**asked).verify(Evidence(table))


def test_shares_and_sizes_both_count(dataset):
    verdict = judged(dataset, "aaaabbbb", "uuvwuvvw", alpha=0.5, k=4)
    assert verdict.kept
    assert verdict.measured == {"alpha": 0.5, "k": 4}
    assert not judged(dataset, "aaaabbbb", "uuvwuvvw", alpha=0.49, k=4).kept
    small = judged(dataset, "aaaabbbb", "uuvwuvvw", alpha=0.5, k=5)
    assert not small.kept
    assert "fewer than 5 records" in small.reason


def test_the_share_is_decided_at_the_very_limit(dataset):
    # 3 of 10, which floats call .3 and .29999999999999999
    assert judged(dataset, "a" * 10, "uuuvvvwwxy", alpha=0.3, k=2).kept


def test_chosen_values_alone_can_be_protected(dataset):
    assert not judged(dataset, "aaab" * 2, "vvvv" * 2, alpha=0.5, k=2).kept
    assert judged(dataset, "aaab" * 2, "vvvv" * 2, alpha=0.5, k=2, values=["hiv"]).kept
    table = dataset({"x": ["a"] * 4, "s": list("uuuv")}, sensitive=["s"])
    chosen = AlphaK(alpha=0.5, k=2, columns={"s": {"values": ["v"], "alpha": 0.25}})
    assert chosen.verify(Evidence(table)).kept


def test_missing_cells_fill_a_class_but_are_no_value(dataset):
    verdict = judged(dataset, "aaaa", ["u", None, None, "*"], alpha=0.25, k=2)
    assert verdict.kept
    assert verdict.measured["alpha"] == 0.25


def test_copies_of_one_person_do_not_make_k(dataset):
    release = dataset({"x": [1, 1], "s": ["u", "v"]}, sensitive=["s"])
    evidence = Evidence(release, None, np.array([0, 0]), replicates=True)
    verdict = AlphaK(alpha=0.5, k=2).verify(evidence)
    assert not verdict.kept
    assert verdict.verified_from == "release+private"


@pytest.mark.parametrize("given", [{"alpha": 0, "k": 2}, {"alpha": 0.5, "k": 1}, {"alpha": 0.5}])
def test_settings_are_checked(given):
    with pytest.raises(SpecError):
        AlphaK(**given)
