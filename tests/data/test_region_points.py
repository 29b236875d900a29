"""Regions as points, by hand."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from distanon.data.domain import scan
from distanon.data.evidence import read_regions
from distanon.data.region_points import only_members, region_points, region_values, shares
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.space import AttributeSpace
from distanon.data.table import Dataset, MemoryPartition

TABLE = pa.table({"x": [0.0, 10.0, 5.0, None], "t": ["a", "b", "c", None]})


@pytest.fixture
def space():
    attributes = (
        Attribute("x", Role.QUASI_IDENTIFIER, AttributeType.NUMERIC, pa.float64()),
        Attribute("t", Role.QUASI_IDENTIFIER, AttributeType.NOMINAL, pa.string()),
    )
    return AttributeSpace.of(
        attributes, scan(Dataset(Schema(attributes), (MemoryPartition(TABLE),)))
    )


def test_ranges_are_their_middle_and_sets_the_mean_of_their_members(space):
    cells = pa.table({"x": ["[0, 10]", "10", "[0, 5]"], "t": ["{a, b}", "a", "c"]})
    regions = read_regions(cells, space)
    points = region_points(space, regions)
    assert points[:, 0].tolist() == [0.5, 1.0, 0.25]
    plain = space.embed(space.encode(TABLE))
    assert points[0, 1:].tolist() == ((plain[0, 1:] + plain[1, 1:]) / 2).tolist()
    assert points[2, 1:].tolist() == plain[2, 1:].tolist()
    values = region_values(space, regions)
    assert values[:, 0].tolist() == [5.0, 10.0, 2.5]
    assert np.isnan(values[0, 1])
    assert values[1:, 1].tolist() == [0.0, 2.0]


def test_values_are_the_points_that_they_were(space):
    points = region_points(space, read_regions(TABLE, space))
    assert np.array_equal(points, space.embed(space.encode(TABLE)), equal_nan=True)


def test_a_set_shares_its_rows_among_its_members(space):
    cells = pa.table({"x": ["0"] * 4, "t": ["{a, b}", "{a, b}", "a", "{c} or missing"]})
    (_, regions) = read_regions(cells, space)
    assert shares(regions).tolist() == [2.0, 1.0, 0.5, 0.5]
    assert np.isnan(only_members(regions)[regions.code_of[0]])
