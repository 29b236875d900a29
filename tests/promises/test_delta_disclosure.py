"""Delta-disclosure privacy against its definition."""

import math

import pytest

from distanon.data.evidence import Evidence
from distanon.errors import SpecError
from distanon.promises import DeltaDisclosure


def judged(dataset, classes, values, **asked):
    table = dataset({"x": list(classes), "s": list(values)}, sensitive=["s"])
    return DeltaDisclosure(**asked).verify(Evidence(table))


def test_the_largest_log_ratio_decides_strictly(dataset):
    # u: 3 of 4 in class a, 4 of 8 in all: ln 1.5; v: 1 of 4 against 4 of 8: −ln 2
    verdict = judged(dataset, "aaaabbbb", "uuuvvvvu", delta=0.7)
    assert verdict.kept
    assert verdict.measured["delta"] == pytest.approx(math.log(2))
    assert not judged(dataset, "aaaabbbb", "uuuvvvvu", delta=0.69).kept


def test_a_class_that_lacks_a_value_discloses_without_bound(dataset):
    verdict = judged(dataset, "aabb", "uuuv", delta=1000)
    assert not verdict.kept
    assert verdict.measured == {"delta": None}
    assert "1 of 2 classes" in verdict.reason


def test_one_class_discloses_nothing(dataset):
    assert judged(dataset, "aaa", "uvw", delta=1e-9).measured == {"delta": 0.0}


def test_delta_is_positive():
    with pytest.raises(SpecError):
        DeltaDisclosure(delta=0)
