"""Evidence on graphs: the original, and released nodes in any order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from distanon.data.graph import GraphColumns, GraphDataset
from distanon.data.graph_evidence import GraphEvidence
from distanon.data.schema import Attribute, AttributeType, Role, Schema


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
