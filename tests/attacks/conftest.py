"""Evidence from columns: the original, and released rows in any order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from distanon.data.evidence import Evidence
from distanon.data.graph import GraphColumns, GraphDataset
from distanon.data.graph_evidence import GraphEvidence
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


@pytest.fixture
def graph_evidence():
    def make(graph, released, sources, *, columns=None, sensitive=(), shown=None, **more):
        """An original graph, a released one, and columns of text in the order of each."""
        columns = columns or {}
        shown = {name: np.array(column)[sources] for name, column in columns.items()} | (
            shown or {}
        )
        roles = {
            name: Role.SENSITIVE if name in sensitive else Role.QUASI_IDENTIFIER for name in columns
        }
        schema = Schema(
            tuple(
                Attribute(name, role, AttributeType.NOMINAL, pa.string())
                for name, role in roles.items()
            )
        )
        tables = [
            {name: pa.array([*column], pa.string()) for name, column in table.items()}
            for table in (columns, shown)
        ]
        original, nodes = (
            GraphDataset(
                of,
                pa.table(table) if table else None,
                schema,
                GraphColumns(),
                pa.array(range(of.nodes)),
            )
            for of, table in zip((graph, released), tables, strict=True)
        )
        return GraphEvidence.of(
            nodes.node_dataset(),
            released,
            "attributes+degree",
            original=original,
            sources=np.asarray(sources),
            **more,
        )

    return make
