from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import pdist

from distanon.methods.baselines.rotation import (
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
