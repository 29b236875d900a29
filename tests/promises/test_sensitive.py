"""What the promises about sensitive attributes share."""

import math

import pytest

from distanon.data.evidence import Evidence
from distanon.promises import BetaLikeness, LDiversity, TCloseness
from distanon.promises.sensitive import count, rounded
from distanon.runtime.crew import SerialCrew


def test_figures_hide_the_noise_of_logarithms_and_infinities():
    assert rounded(math.exp(math.log(3))) == 3.0
    assert rounded(math.inf) is None


def test_counts_leave_markers_out_where_they_say_nothing(dataset):
    data = dataset({"x": ["a", "a", "b"], "s": ["u", None, "*"]}, sensitive=["s"])
    counted = count(Evidence(data), data.schema["s"], ["x"], SerialCrew())
    assert counted.counts.totals.tolist() == [2, 1]
    assert counted.informative.totals.tolist() == [1, 0]


def test_the_worst_column_stands_first(dataset):
    # s differs between the classes and w does not
    data = dataset({"x": list("aabb"), "s": list("uvww"), "w": list("nsns")}, sensitive=["s", "w"])
    diverse = LDiversity(l=2).verify(Evidence(data))
    assert diverse.measured["l"] == 1
    assert diverse.measured["columns"]["w"]["l"] == 2
    close = TCloseness(t=1).verify(Evidence(data))
    assert close.measured["t"] == close.measured["columns"]["s"]["t"] > 0
    assert close.measured["columns"]["w"]["t"] == 0


@pytest.mark.parametrize("promise", [LDiversity(l=2), TCloseness(t=0.5), BetaLikeness(beta=1)])
def test_an_empty_setting_of_columns_is_not_in_the_certificate(promise):
    assert "columns" not in promise.asked()
