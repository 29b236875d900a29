"""Nearest records in both directions, by plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from distanon.attacks import nearest_record
from distanon.kernels.neighbors import NeighborIndex, distinct
from distanon.runtime.crew import SerialCrew


def by_hand(candidates, queries, sources_of_query, own):
    scores = []
    for query, truth in zip(queries, sources_of_query, strict=True):
        away = np.sqrt(((candidates - query) ** 2).sum(axis=1))
        tied = np.flatnonzero(away <= away.min() * (1 + 1e-9) + 1e-12)
        scores.append(sum(own[candidate] == truth for candidate in tied) / len(tied))
    return np.mean(scores)


@settings(max_examples=40, deadline=None)
@given(
    arrays(np.float64, (9, 2), elements=st.integers(0, 3).map(float)),
    arrays(np.float64, (7, 2), elements=st.integers(0, 3).map(float)),
    st.permutations(range(9)),
)
def test_ties_and_suppressed_records_as_by_hand(original, release, order):
    sources = np.array(order[:7])
    setting = nearest_record.Setting(SerialCrew(), 3, sources, np.arange(7), np.sort(sources))
    old, new = (NeighborIndex.build(distinct(table)) for table in (original, release))
    found = nearest_record.release_to_original(setting, old, release).mean()
    assert found == pytest.approx(by_hand(original, release, sources, np.arange(9)))
    found = nearest_record.original_to_release(setting, original, new).mean()
    targets = np.sort(sources)
    assert found == pytest.approx(by_hand(release, original[targets], targets, sources))


def test_equal_rows_share_what_one_of_them_reaches():
    # Both rows at 0 lie nearest to record 0, the source of one of them.
    original, release = np.array([[0.0], [1.0], [5.0]]), np.array([[0.0], [0.0], [5.0]])
    rows = np.arange(3)
    setting = nearest_record.Setting(SerialCrew(), 1, rows, rows, rows)
    index = NeighborIndex.build(distinct(original))
    scores = nearest_record.release_to_original(setting, index, release)
    assert scores.tolist() == [0.5, 0.5, 1.0]
    one = nearest_record.Setting(SerialCrew(), 1, rows, rows[1:2], rows)
    assert nearest_record.release_to_original(one, index, release).tolist() == [0.5]
