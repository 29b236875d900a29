from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from distanon.data.streams import Streams
from distanon.kernels.neighbors import NeighborIndex, distinct
from distanon.runtime.crew import SerialCrew
from distanon.utility import neighborhoods
from distanon.utility.neighborhoods import Estimate, measure, stability


def kept(original, release, k, ties="include", sources=None, **settings) -> Estimate:
    sources = np.arange(len(release)) if sources is None else np.asarray(sources)
    return stability(
        NeighborIndex.build(distinct(np.asarray(original, dtype=float))),
        np.asarray(release, dtype=float),
        sources,
        crew=SerialCrew(),
        streams=Streams(7),
        k=k,
        ties=ties,
        **settings,
    )


def by_hand(original, release, k, ties, sources):
    def neighborhood(points, own):
        distance = np.sqrt(((points - points[own]) ** 2).sum(axis=1))
        others = [row for row in range(len(points)) if row != own]
        others.sort(key=lambda row: (distance[row], row))
        if ties == "truncate":
            return set(others[:k])
        limit = distance[others[k - 1]] * (1 + 1e-9) + 1e-12
        return {row for row in others if distance[row] <= limit}

    order = np.argsort(sources)
    release, sources = release[order], np.asarray(sources)[order]
    total = 0.0
    for row, source in enumerate(sources):
        old = neighborhood(original, source)
        new = {sources[other] for other in neighborhood(release, row)}
        total += len(old & new) / max(len(old), len(new))
    return total / len(sources)


lattice = st.integers(6, 14).flatmap(
    lambda n: st.tuples(
        arrays(np.float64, (n, 2), elements=st.integers(0, 3).map(float)),
        arrays(np.float64, (n, 2), elements=st.integers(0, 3).map(float)),
        st.permutations(range(n)),
        st.integers(1, 4),
    )
)


@settings(max_examples=60, deadline=None)
@given(lattice, st.sampled_from(["include", "truncate"]))
def test_stability_is_what_sets_of_record_numbers_say(drawn, ties):
    original, release, sources, k = drawn
    found = kept(original, release, k, ties, sources)
    assert found.value == pytest.approx(by_hand(original, release, k, ties, sources), abs=1e-12)
    assert found.low == found.value == found.high


def test_a_release_that_changes_nothing_keeps_every_neighborhood():
    points = np.random.default_rng(0).integers(0, 4, (200, 3)).astype(float)
    assert kept(points, points, 5).value == 1.0
    order = np.random.default_rng(1).permutation(200)
    assert kept(points, points[order], 5, sources=order).value == 1.0


def test_four_records_on_a_line():
    # 0 1 3 7 with k = 1: neighbors 1, 0, 1, 2. Released 0 1 5 7: neighbors 1, 0, 3, 2.
    assert kept([[0], [1], [3], [7]], [[0], [1], [5], [7]], 1).value == 0.75


@pytest.mark.parametrize("ties", ["include", "truncate"])
def test_the_order_of_released_rows_says_nothing(ties):
    points = np.random.default_rng(0).integers(0, 3, (100, 2)).astype(float)
    order = np.random.default_rng(1).permutation(100)
    assert kept(points, points[order], 5, ties, sources=order).value == 1.0


def test_a_release_of_equal_rows_does_not_score_one():
    # Every released neighborhood holds all 9 others, of which the original has 2 or 3.
    original = np.arange(10.0)[:, None] ** 2
    assert kept(original, np.zeros((10, 1)), 2).value == pytest.approx(2 / 9)


def test_missing_rows_are_neighbors_that_are_lost():
    original = [[0], [1], [2], [10], [11], [12]]
    # Record 1 is suppressed. With k = 1: {1}, {0, 2}, {1}, {4}, {3, 5}, {4}
    # -> rows 0 and 2 find each other instead of record 1, the others keep theirs.
    found = kept(original, [[0], [2], [10], [11], [12]], 1, sources=[0, 2, 3, 4, 5])
    assert found.value == pytest.approx(3 / 5)


def test_a_sample_comes_with_an_interval_that_holds_the_whole():
    generator = np.random.default_rng(3)
    original = generator.normal(size=(2000, 3))
    release = original + 0.2 * generator.normal(size=(2000, 3))
    whole = kept(original, release, 10)
    part = kept(original, release, 10, sample=400)
    assert (whole.n, part.n) == (2000, 400)
    assert part.low < whole.value < part.high
    assert part.low < part.value < part.high < part.low + 0.06


def test_a_sample_that_lost_nothing_does_not_say_that_nothing_was_lost():
    # Agresti and Coull for 100 of 100 hits, narrower by the tenth of all that was seen.
    found = neighborhoods._estimate(np.ones(100), np.ones(100, dtype=np.int64), 1000)
    half = 1.96 * math.sqrt(102 / 104 * (2 / 104) / 104 * 0.9)
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(102 / 104 - half)


def test_the_interval_of_a_sample_holds_the_truth_19_times_in_20():
    generator = np.random.default_rng(0)
    shares = np.where(generator.random(20_000) < 0.03, generator.random(20_000), 1.0)
    held = 0
    for _ in range(1000):
        part = generator.choice(shares, 60, replace=False)
        found = neighborhoods._estimate(part, np.ones(60, dtype=np.int64), len(shares))
        held += found.low <= shares.mean() <= found.high
    assert held >= 940


@pytest.mark.parametrize("ties", ["include", "truncate"])
def test_the_cut_into_blocks_changes_nothing(ties):
    generator = np.random.default_rng(3)
    original = generator.integers(0, 5, (500, 3)).astype(float)
    release = generator.integers(0, 5, (500, 3)).astype(float)
    figures = {kept(original, release, 4, ties, blocks=blocks) for blocks in (1, 3, 16)}
    assert len(figures) == 1


def test_a_table_of_few_values_costs_its_distinct_pairs():
    # 400,000 records on 4 points, 100,000 neighbors each: by record numbers 4e10 entries.
    original = (np.arange(400_000) % 4).astype(float)[:, None]
    assert kept(original, original * 2, 10).value == 1.0


def test_both_scales_are_measured(evidence):
    generator = np.random.default_rng(3)
    original = generator.random((200, 2))
    # One column ten times as wide: all is lost in the owner's scale, nothing in the analyst's.
    release = original * [1, 10]
    order = generator.permutation(200)
    owner, analyst = measure(
        evidence(original, release[order], order), crew=SerialCrew(), streams=Streams(1), k=5
    )
    assert owner.name == "neighborhoods.stability_owner"
    assert owner.value < 0.6
    assert analyst.name == "neighborhoods.stability_analyst"
    assert analyst.value == 1.0
    assert owner.ci_low is None


def test_a_sample_is_named_in_the_note(evidence):
    original = np.random.default_rng(3).random((300, 2))
    found = measure(
        evidence(original, original), crew=SerialCrew(), streams=Streams(1), k=5, sample=100
    )
    assert [(figure.n, figure.value, figure.ci_high) for figure in found] == [(100, 1.0, 1.0)] * 2
    assert "sample" in found[0].note


def test_what_does_not_compare_is_said(evidence):
    few = measure(evidence([[0], [1]], [[0], [1]]), crew=SerialCrew(), streams=Streams(1), k=2)
    assert math.isnan(few[0].value)
    assert "at least 3" in few[0].note
    copies = evidence([[0], [1], [2]], [[0], [0], [2]], [0, 0, 2], replicates=True)
    found = measure(copies, crew=SerialCrew(), streams=Streams(1), k=1)
    assert math.isnan(found[0].value)
    assert "several released rows" in found[0].note
