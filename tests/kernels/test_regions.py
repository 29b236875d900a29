"""Regions nearest to records, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.kernels.regions import Terms, nearest_regions, rows_around


def squares(tables, record, region):
    return sum(
        table[value, part] for table, value, part in zip(tables, record, region, strict=True)
    )


@st.composite
def places(draw):
    generator = np.random.default_rng(draw(st.integers(0, 10_000)))
    q, t, r = draw(st.integers(1, 3)), draw(st.integers(1, 6)), draw(st.integers(1, 6))
    tables = [
        generator.integers(0, 3, (generator.integers(1, 4), generator.integers(1, 4))) / 2.0
        for _ in range(q)
    ]
    records = np.column_stack([generator.integers(0, len(table), t) for table in tables])
    regions = np.column_stack([generator.integers(0, table.shape[1], r) for table in tables])
    return tables, records, regions


@settings(max_examples=60, deadline=None)
@given(places())
def test_nearest_regions_and_rows_around_are_those_of_plain_loops(given_places):
    tables, records, regions = given_places
    terms = Terms.of(tables)
    found = nearest_regions(terms, records, regions)
    rows, times = np.arange(1, len(regions) + 1), np.arange(2, len(records) + 2)
    around, inside = rows_around(terms, records, regions, rows, times)
    holding = np.zeros((len(records), len(regions)), dtype=bool)
    for i, record in enumerate(records):
        away = np.array([squares(tables, record, region) for region in regions])
        holding[i] = away == 0.0
        assert found.distances[i] == pytest.approx(np.sqrt(away.min()))
        expected = np.flatnonzero(away <= away.min() + 1e-9)
        listed = found.regions[found.starts[i] : found.starts[i + 1]]
        assert listed.tolist() == expected.tolist()
    assert around.tolist() == (holding @ rows).tolist()
    assert inside.tolist() == (times @ holding).tolist()
