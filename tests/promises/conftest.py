"""Small releases to judge."""

from __future__ import annotations

import pyarrow as pa
import pytest

from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.table import Dataset, cut

NOMINAL, NUMERIC = AttributeType.NOMINAL, AttributeType.NUMERIC


def make_dataset(table, *, sensitive=(), subject=(), insensitive=(), settings=None, pieces=1):
    """A data set in memory; columns are quasi-identifiers unless they are named otherwise."""
    table = table if isinstance(table, pa.Table) else pa.table(table)
    roles = dict.fromkeys(table.column_names, Role.QUASI_IDENTIFIER)
    roles |= dict.fromkeys(sensitive, Role.SENSITIVE)
    roles |= dict.fromkeys(subject, Role.SUBJECT)
    roles |= dict.fromkeys(insensitive, Role.INSENSITIVE)
    attributes = []
    for field in table.schema:
        kind = NOMINAL if pa.types.is_string(field.type) else NUMERIC
        given = {"type": kind} | (settings or {}).get(field.name, {})
        attributes.append(
            Attribute(name=field.name, role=roles[field.name], arrow_type=field.type, **given)
        )
    return Dataset(Schema(tuple(attributes)), cut(table, pieces))


@pytest.fixture(scope="session")
def dataset():
    """The maker of data sets."""
    return make_dataset
