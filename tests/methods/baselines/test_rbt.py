from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import pdist

from distanon.data.schema import AttributeType
from distanon.errors import InfeasibleError, SpecError
from distanon.methods.baselines.rbt import (
    RBT,
    Rotation,
    covariance,
    displacement_variances,
    draw_angle,
    normalise,
    plan,
    rotate,
    security_range,
)

# The sample of the cardiac arrhythmia data that Oliveira & Zaïane work through.
AGE = np.array([75.0, 56.0, 40.0, 28.0, 44.0])
HEART_RATE = np.array([63.0, 53.0, 70.0, 76.0, 68.0])


def test_the_papers_example_is_normalised_as_there():
    values = np.column_stack((AGE, HEART_RATE))
    centers, spreads = normalise(values, "zscore")
    scaled = (values - centers) / spreads
    assert scaled[:, 0] == pytest.approx([1.4809, 0.4151, -0.4824, -1.1556, -0.2580], abs=5e-5)
    assert scaled[:, 1] == pytest.approx([-0.3476, -1.5061, 0.4634, 1.1586, 0.2317], abs=5e-5)


def test_the_papers_example_reaches_the_papers_variances():
    values = np.column_stack((AGE, HEART_RATE))
    centers, spreads = normalise(values, "zscore")
    between = covariance((values - centers) / spreads)[0, 1]
    angle = np.array([math.radians(312.47)])
    first, second = displacement_variances(angle, 1.0, 1.0, between)
    assert (first[0], second[0]) == pytest.approx((0.318, 0.9805), abs=1e-3)
    ((_, high),) = security_range(1.0, 1.0, between, (0.30, 0.55))
    assert math.degrees(high) == pytest.approx(314.97, abs=5e-3)


@settings(max_examples=50, deadline=None)
@given(st.floats(0.1, 5), st.floats(0.1, 5), st.floats(-0.99, 0.99), st.floats(0.01, 3))
def test_angles_reach_the_thresholds_inside_the_range_and_nowhere_else(one, other, r, threshold):
    between = r * math.sqrt(one * other)
    ranges = security_range(one, other, between, (threshold, threshold))
    angles = np.linspace(0.001, 2 * math.pi, 997, endpoint=False)
    reached = np.minimum(*displacement_variances(angles, one, other, between)) >= threshold
    inside = np.zeros(len(angles), dtype=bool)
    near_border = np.zeros(len(angles), dtype=bool)
    for low, high in ranges:
        inside |= (angles >= low) & (angles <= high)
        near_border |= (abs(angles - low) < 1e-3) | (abs(angles - high) < 1e-3)
        ends = np.minimum(*displacement_variances(np.array([low, high]), one, other, between))
        assert (ends >= threshold).all()
    assert (inside == reached)[~near_border].all()


def test_angles_are_drawn_from_all_parts_of_the_range():
    ranges = ((1.0, 2.0), (4.0, 5.0))
    drawn = [draw_angle(ranges, uniform) for uniform in (0.25, 0.499, 0.75, 1 - 1e-16)]
    assert drawn == pytest.approx([1.5, 1.998, 4.5, 5.0])


@settings(max_examples=40, deadline=None)
@given(
    arrays(np.float64, (12, 5), elements=st.integers(-50, 50).map(float)),
    st.permutations(range(5)),
    st.integers(0, 2**32),
)
def test_rotations_keep_distances_and_undo_themselves(values, order, seed):
    generator = np.random.default_rng(seed)
    pairs = [(order[0], order[1]), (order[2], order[3]), (order[4], order[0])]
    rotations = [Rotation(a, b, generator.uniform(0, 2 * math.pi)) for a, b in pairs]
    turned = rotate(values, rotations)
    assert pdist(turned) == pytest.approx(pdist(values), abs=1e-10)
    back = [Rotation(r.first, r.second, -r.angle) for r in reversed(rotations)]
    assert rotate(turned, back) == pytest.approx(values, abs=1e-10)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 7), st.integers(0, 2**32), st.floats(0.05, 2.0))
def test_every_rotated_attribute_moves_by_its_threshold_when_it_is_turned(d, seed, threshold):
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(60, d)) @ generator.normal(size=(d, d))
    centers, spreads = normalise(values, "zscore")
    scaled = (values - centers) / spreads
    order = generator.permutation(d)
    uniforms = generator.random((d + 1) // 2)
    rotations = plan(covariance(scaled), order, (threshold, threshold), uniforms)
    if rotations is None:
        assert d % 2 == 1  # pairs of fresh attributes admit any threshold up to 4
        return
    assert {r.first for r in rotations} | {r.second for r in rotations} == set(range(d))
    current = scaled
    for rotation in rotations:
        turned = rotate(current, [rotation])
        for column in (rotation.first, rotation.second):
            assert (turned - current)[:, column].var(ddof=1) >= threshold * (1 - 1e-9)
        current = turned


def test_the_release_keeps_scaled_distances_exactly_with_full_decimals(make):
    generator = np.random.default_rng(1)
    values = generator.normal(size=(80, 5)) * [1, 10, 100, 0.1, 5]
    dataset = make.dataset({f"c{i}": column for i, column in enumerate(values.T)}, pieces=3)
    for scale, spreads in (("range", np.ptp(values, axis=0)), ("zscore", values.std(axis=0))):
        table, release = make.released(RBT(scale=scale, decimals="full"), dataset)
        turned = np.column_stack([column.to_numpy() for column in table.columns])
        assert pdist(turned / spreads) == pytest.approx(pdist(values / spreads), rel=1e-9)
        assert release.counts["unchanged"] == 0


def test_numbers_are_rounded_to_the_grid_and_leave_their_range(make):
    generator = np.random.default_rng(1)
    dataset = make.dataset(
        {
            "whole": pa.array(generator.integers(0, 9, 50), pa.uint8()),
            "tenths": np.round(generator.random(50) * 10, 1),
        }
    )
    table, release = make.released(RBT(threshold=1.0), dataset)
    whole, tenths = (column.to_numpy() for column in table.columns)
    assert release.schema["whole"].arrow_type == pa.float64()  # rotated values may be negative
    assert (whole == np.rint(whole)).all()
    assert (tenths == np.round(tenths, 1)).all()


def test_what_has_no_number_stays(make):
    dataset = make.dataset(
        {
            "a": pa.array([1.0, 2.0, None, 4.0, 9.0]),
            "b": [5.0, 3.0, 8.0, 1.0, 2.0],
            "constant": [7.0] * 5,
            "text": ["x", "y", "x", None, "z"],
        }
    )
    table, release = make.released(RBT(), dataset)
    assert table.column("text").to_pylist() == ["x", "y", "x", None, "z"]
    assert table.column("constant").to_pylist() == [7.0] * 5
    assert table.column("a").to_pylist()[2] is None
    assert table.column("a").null_count == 1
    assert release.counts["missing_cells_kept"] == 2
    assert release.counts["kept_columns"] == 2


def test_angles_are_private(make):
    dataset = make.dataset({"a": [1.0, 2.0, 5.0], "b": [5.0, 3.0, 8.0]})
    _, release = make.released(RBT(), dataset)
    assert len(release.private["rotations"]) == 1
    assert all(isinstance(count, int) for count in release.counts.values())


def test_the_seed_decides_and_nothing_else(make):
    columns = {f"c{i}": np.random.default_rng(i).random(40) for i in range(4)}
    first = make.released(RBT(), make.dataset(columns))[0]
    assert make.released(RBT(), make.dataset(columns, pieces=7))[0].equals(first)
    assert not make.released(RBT(), make.dataset(columns), seed=8)[0].equals(first)


def test_fewer_than_two_numeric_quasi_identifiers_are_refused(make):
    dataset = make.dataset({"a": [1.0, 2.0], "rank": [1, 2]}, rank={"type": AttributeType.ORDINAL})
    with pytest.raises(SpecError, match="has 1, expected at least 2"):
        RBT().check(dataset)
    constant = make.dataset({"a": [1.0, 2.0], "b": [1.0, 1.0]})
    with pytest.raises(InfeasibleError, match="1 of the numeric"):
        RBT().release(constant, {}, make.context())


@pytest.mark.parametrize("columns", [2, 3])
def test_a_threshold_that_no_angle_reaches_names_one_that_works(make, columns):
    values = {f"c{i}": np.random.default_rng(i).random(30) for i in range(columns)}
    dataset = make.dataset(values)
    with pytest.raises(InfeasibleError, match="largest that works is") as refused:
        RBT(threshold=9.0).release(dataset, {}, make.context())
    works = float(str(refused.value).rsplit(" ", 1)[1])
    assert works > 0.5
    assert RBT(threshold=works).release(dataset, {}, make.context()).pieces
