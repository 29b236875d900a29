"""Graphs with attributed nodes for the tests of this method."""

import pyarrow as pa
import pytest

from distanon.data.domain import scan
from distanon.data.graph import GraphColumns, GraphDataset
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.space import AttributeSpace
from distanon.data.streams import Streams
from distanon.data.table import MemoryScratch
from distanon.methods.base import Context
from distanon.runtime.crew import SerialCrew


def dataset_of(graph, columns=None):
    """A data set whose columns are nominal quasi-identifiers, numeric where they hold numbers."""
    if not columns:
        return GraphDataset(graph, None, Schema(()), GraphColumns(), pa.array(range(graph.nodes)))
    table = pa.table(columns)
    schema = Schema(
        tuple(
            Attribute(
                field.name,
                Role.QUASI_IDENTIFIER,
                AttributeType.NUMERIC
                if pa.types.is_floating(field.type)
                else AttributeType.NOMINAL,
                field.type,
            )
            for field in table.schema
        )
    )
    return GraphDataset(graph, table, schema, GraphColumns(), pa.array(range(graph.nodes)))


def space_of(dataset):
    if dataset.nodes is None:
        return None
    return AttributeSpace.of(dataset.schema.quasi_identifiers, scan(dataset.node_dataset()))


@pytest.fixture
def attributed():
    """(graph, columns=None) -> (data set, its space)."""

    def make(graph, columns=None):
        dataset = dataset_of(graph, columns)
        return dataset, space_of(dataset)

    return make


@pytest.fixture
def context():
    return Context(SerialCrew(), MemoryScratch(), Streams(7))


@pytest.fixture(scope="session")
def ego_facebook(ego_facebook):
    """(data set, space) of the shared one."""
    return ego_facebook, space_of(ego_facebook)
