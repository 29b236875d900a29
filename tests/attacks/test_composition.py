"""What two releases of the same people leave together."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from distanon.attacks import composition
from distanon.data.evidence import Evidence
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.streams import Streams
from distanon.data.table import Dataset, MemoryPartition
from distanon.runtime.crew import SerialCrew


def dataset(ill=None, **columns):
    """Numeric quasi-identifiers, and a sensitive column where it is given."""
    table = pa.table(columns if ill is None else {**columns, "ill": ill})
    attributes = [
        Attribute(
            field.name,
            Role.SENSITIVE if field.name == "ill" else Role.QUASI_IDENTIFIER,
            AttributeType.NOMINAL if field.name == "ill" else AttributeType.NUMERIC,
            field.type,
        )
        for field in table.schema
    ]
    return Dataset(Schema(tuple(attributes)), (MemoryPartition(table),))


def attack(one, other, **settings):
    found = composition.measure(one, other, crew=SerialCrew(), streams=Streams(1), **settings)
    return {figure.name.removeprefix("composition."): figure for figure in found}


def test_rows_whose_kept_values_stand_once_in_each_are_matched_by_the_files_alone():
    one = Evidence(dataset(x=[1.0, 2.0, 3.0, 4.0], ill=["a", "b", "c", "c"]))
    other = Evidence(dataset(x=[9.0, 9.0, 9.0, 9.0], ill=["b", "a", "a", "c"]))
    found = attack(one, other)
    assert list(found) == ["matched"]
    assert found["matched"].value == 0.25  # b; a stands twice there, c twice here
    bare = attack(Evidence(dataset(x=[1.0])), Evidence(dataset(x=[2.0])))
    assert math.isnan(bare["matched"].value)


def test_two_classes_of_three_leave_one_candidate():
    # Grouped by decades, then across them. Known 10: a, b, c in one, a, d, e in the other.
    original = dataset(x=[10.0, 20.0, 30.0, 60.0, 70.0, 80.0], ill=["a", "b", "c", "d", "e", "f"])
    one = dataset(x=[20.0] * 3 + [70.0] * 3, ill=["a", "b", "c", "d", "e", "f"])
    other = dataset(x=[15.0] * 2 + [50.0] * 4, ill=["a", "b", "c", "d", "e", "f"])
    first = Evidence(one, original)
    found = attack(first, first.beside(other, None))
    assert (found["k_alone"].value, found["singled_out_alone"].value) == (3.0, 0.0)
    # 10 and 20: {a, b}; 30, nearest to 15: {a, b}, which is as good as nothing common with c;
    # 60 … 80: {d, e, f}.
    assert found["k"].value == 2.0
    same = attack(first, first.beside(one, None))
    assert (same["k"].value, same["singled_out"].value) == (3.0, 0.0)
    split = dataset(x=[10.0, 20.0, 20.0, 60.0, 75.0, 75.0], ill=["a", "b", "c", "d", "e", "f"])
    found = attack(first, first.beside(split, None))
    assert found["k"].value == 1.0
    assert found["singled_out"].value == pytest.approx(2 / 6)
    assert found["singled_out"].ci_low < 2 / 6 < found["singled_out"].ci_high


def test_candidates_that_agree_in_nothing_are_no_gain():
    original = dataset(x=[0.0, 10.0], ill=["a", "b"])
    first = Evidence(dataset(x=[0.0, 10.0], ill=["a", "b"]), original)
    found = attack(first, first.beside(dataset(x=[10.0, 0.0], ill=["a", "b"]), None))
    assert (found["k"].value, found["k_alone"].value) == (1.0, 1.0)


def test_averaging_two_releases_links_more_rows_than_one():
    draw = np.random.default_rng(0)
    original = draw.random((500, 3))
    noisy = [original + draw.normal(0, 0.08, original.shape) for _ in range(2)]
    ill = [f"v{row}" for row in range(500)]

    def made(values, order, labels=None):
        columns = {name: values[order, place] for place, name in enumerate("xyz")}
        return dataset(labels and [labels[row] for row in order], **columns)

    order, turned = np.arange(500), draw.permutation(500)
    for labels in (ill, None):
        first = Evidence(made(noisy[0], order, labels), made(original, order, labels), order)
        found = attack(first, first.beside(made(noisy[1], turned, labels), None))
        linked = [found[f"linked_{name}"] for name in ("alone", "averaged")]
        if labels:  # the kept values match every row
            assert linked[1].ci_low > linked[0].ci_high
        assert all(figure.n == 500 for figure in linked)
    unknown = Evidence(first.release, first.original)
    assert "linked_alone" not in attack(unknown, unknown.beside(first.release, None))


def test_a_missing_value_takes_that_of_the_other_release():
    mean = composition._mean(np.array([[1.0, np.nan, np.nan]]), np.array([[3.0, 4.0, np.nan]]))
    np.testing.assert_array_equal(mean, [[2.0, 4.0, np.nan]])


def test_blocks_and_samples_are_the_same_every_time():
    draw = np.random.default_rng(0)
    original = dataset(x=draw.random(300), y=draw.random(300))
    one, other = (dataset(x=draw.random(300), y=draw.random(300)) for _ in range(2))
    first = Evidence(one, original, np.arange(300))
    second = first.beside(other, None)
    found = attack(first, second, targets=100)
    assert found["singled_out"].n == found["linked_averaged"].n == 100
    assert str(attack(first, second, targets=100, blocks=3)) == str(found)


def ranged(cells, ill):
    """A release whose one quasi-identifier shows ranges."""
    table = pa.table({"x": cells, "ill": ill})
    attributes = (
        Attribute("x", Role.QUASI_IDENTIFIER, AttributeType.NUMERIC, pa.string()),
        Attribute("ill", Role.SENSITIVE, AttributeType.NOMINAL, pa.string()),
    )
    return Dataset(Schema(attributes), (MemoryPartition(table),))


def test_of_ranges_the_rows_that_contain_a_person_are_candidates_not_those_of_nearest_middle():
    # 30 lies in [0, 30], though the middle of [31, 40] is nearer to it than that of [0, 30].
    ill = ["a", "b", "c", "d", "e", "f"]
    original = dataset(x=[0.0, 20.0, 30.0, 31.0, 40.0, 40.0], ill=ill)
    one = ranged(["[0, 30]"] * 3 + ["[31, 40]"] * 3, ill)
    other = ranged(["[0, 20]"] * 2 + ["[30, 40]"] * 4, ill)
    first = Evidence(one, original, np.arange(6))
    found = attack(first, first.beside(other, None))
    assert (found["k_alone"].value, found["singled_out_alone"].value) == (3.0, 0.0)
    # 30 is the only one in [0, 30] and in [30, 40]; c alone stands in both.
    assert (found["k"].value, found["singled_out"].value) == (1.0, pytest.approx(1 / 6))
    assert math.isnan(found["linked_averaged"].value)
    mixed = attack(first, first.beside(dataset(x=[10.0] * 2 + [35.0] * 4, ill=ill), None))
    assert mixed["k"].value == 1.0
