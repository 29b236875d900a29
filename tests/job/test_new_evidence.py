"""What the release of new records is measured beside."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from distanon.data.domain import scan
from distanon.data.evidence import Evidence
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.space import AttributeSpace
from distanon.data.table import Dataset, MemoryPartition
from distanon.job.new_evidence import as_measured
from distanon.methods.fitted import Fitted, fitted_by_nearest

ROLES = {"age": (Role.QUASI_IDENTIFIER, AttributeType.NUMERIC)} | {
    "job": (Role.QUASI_IDENTIFIER, AttributeType.NOMINAL)
}


def dataset(ages, jobs, **columns):
    table = pa.table({"age": ages, "job": jobs, **columns})
    schema = Schema(
        tuple(Attribute(name, *ROLES[name], table.schema.field(name).type) for name in ROLES)
    )
    return Dataset(schema, (MemoryPartition(table),))


@pytest.fixture
def fitted():
    """One group, fitted on ages 20 to 60 and two jobs."""
    whole = dataset([20, 40, 60], ["cook", "smith", "cook"])
    space = AttributeSpace.of(whole.schema.quasi_identifiers, scan(whole))
    cells = pa.table({"age": ["[20, 60]"], "job": ["{cook, smith}"]})
    return Fitted.of(
        fitted_by_nearest(whole.schema, space, cells, np.array([[40.0, 0.0]])), whole.schema
    )


def test_cells_are_read_in_the_domain_of_the_fit_and_of_the_new_records(fitted):
    new = dataset([30, 70], ["cook", "cook"])  # no smith, and beyond the fitted ages
    released = dataset(["[20, 60]"] * 2, ["{cook, smith}"] * 2)
    made = as_measured(Evidence(released, new, np.array([1, 0])), fitted)
    assert made.space.domains[0].span == (20.0, 70.0)
    assert made.space.domains[1].categories == ("cook", "smith")
    assert made.release_regions[1].extent().tolist() == [1.0]


def test_records_with_values_that_the_fit_has_never_seen_are_left_out(fitted):
    new = dataset([30, 31, 32, 33], ["pilot", "cook", "pilot", "smith"])
    released = dataset(["[20, 60]"] * 2, ["{cook, smith}"] * 2)
    made = as_measured(Evidence(released, new, np.array([3, 1])), fitted)
    assert made.sources.tolist() == [1, 0]
    assert made.original_table.column("age").to_pylist() == [31, 33]


def test_without_originals_nothing_can_be_measured(fitted):
    with pytest.raises(ValueError, match="whose row is whose"):
        as_measured(Evidence(dataset(["1"], ["cook"])), fitted)
