"""Evidence from columns: the original, and released rows in any order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from distanon.data.evidence import Evidence
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.table import Dataset, MemoryPartition


def dataset_of(columns, ordinal):
    table = pa.table(columns)
    attributes = []
    for field in table.schema:
        kind = AttributeType.NOMINAL if pa.types.is_string(field.type) else AttributeType.NUMERIC
        if field.name in ordinal:
            kind = AttributeType.ORDINAL
        attributes.append(Attribute(field.name, Role.QUASI_IDENTIFIER, kind, field.type))
    return Dataset(Schema(tuple(attributes)), (MemoryPartition(table),))


@pytest.fixture
def evidence():
    def make(original, release, sources=None, *, ordinal=(), **settings):
        """Columns by name, or matrices whose columns are all numeric quasi-identifiers."""
        tables = [
            table
            if isinstance(table, dict)
            else {"abcdefgh"[place]: column for place, column in enumerate(np.asarray(table).T)}
            for table in (original, release)
        ]
        old, new = (dataset_of(table, ordinal) for table in tables)
        sources = np.arange(len(new)) if sources is None else np.asarray(sources)
        return Evidence(new, old, sources, **settings)

    return make
