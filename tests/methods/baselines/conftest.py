"""Tables in memory, and a place for pieces, for methods that are tested by themselves."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from distanon.data.evidence import Evidence
from distanon.data.graph import Graph, GraphColumns, GraphDataset
from distanon.data.release import sort_for_release
from distanon.data.schema import SOURCE, Attribute, AttributeType, Role, Schema
from distanon.data.streams import Streams
from distanon.data.table import Dataset, MemoryPartition, cut
from distanon.job.graphs import evidence_in_memory
from distanon.methods.base import Context
from distanon.promises.gate import verify
from distanon.runtime.crew import SerialCrew


class MemoryScratch:
    def __init__(self):
        self.tables = {}

    def find(self, name):
        return self.tables.get(name)

    def write(self, name, table):
        start = table.column(SOURCE)[0].as_py()
        self.tables[name] = MemoryPartition(table, start)
        return self.tables[name]


def dataset_of(columns, pieces=1, **settings):
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    attributes = []
    for field in table.schema:
        given = dict(settings.get(field.name, {}))
        text = pa.types.is_string(field.type) or pa.types.is_boolean(field.type)
        given.setdefault("type", AttributeType.NOMINAL if text else AttributeType.NUMERIC)
        given.setdefault("role", Role.QUASI_IDENTIFIER)
        attributes.append(Attribute(name=field.name, arrow_type=field.type, **given))
    return Dataset(Schema(tuple(attributes)), cut(table, pieces))


def context_of(seed=7):
    return Context(crew=SerialCrew(), scratch=MemoryScratch(), streams=Streams(seed))


def released_by(method, dataset, seed=7):
    """The release in record order, without the record numbers; and the release itself."""
    release = method.release(dataset, {}, context_of(seed))
    table = pa.concat_tables([piece.read() for piece in release.pieces])
    assert table.column(SOURCE).to_pylist() == list(range(len(dataset)))
    assert table.drop_columns([SOURCE]).column_names == [a.name for a in release.schema.published]
    return table.drop_columns([SOURCE]), release


def evidence_of(method, dataset, seed=7):
    _, release = released_by(method, dataset, seed)
    table = pa.concat_tables([piece.read() for piece in release.pieces])
    published, sources = sort_for_release(table)
    files = Dataset(Schema(release.schema.published), (MemoryPartition(published),))
    return Evidence(files, dataset, sources)


@pytest.fixture(scope="session")
def make():
    """The functions above, since tests are no package."""

    class Make:
        dataset = staticmethod(dataset_of)
        context = staticmethod(context_of)
        released = staticmethod(released_by)
        evidence = staticmethod(evidence_of)

    return Make


def people_of(graph, seed=0):
    """Nodes with two quasi-identifiers and a sensitive attribute."""
    rng, n = np.random.default_rng(seed), graph.nodes
    table = pa.table(
        {
            "town": pa.array(rng.choice(["x", "y", None], n).tolist(), pa.string()),
            "age": rng.integers(0, 5, n).astype(float),
            "job": pa.array(rng.choice(["p", "q", "r"], n).tolist(), pa.string()),
        }
    )
    schema = Schema(
        (
            Attribute("town", Role.QUASI_IDENTIFIER, AttributeType.NOMINAL, pa.string()),
            Attribute("age", Role.QUASI_IDENTIFIER, AttributeType.NUMERIC, pa.float64()),
            Attribute("job", Role.SENSITIVE, AttributeType.NOMINAL, pa.string()),
        )
    )
    return GraphDataset(graph, table, schema, GraphColumns(), pa.array(range(n)))


def bare_graph(graph):
    return GraphDataset(graph, None, Schema(()), GraphColumns(), pa.array(range(graph.nodes)))


def random_graph(nodes, edges, seed=0):
    return Graph.from_pairs(nodes, np.random.default_rng(seed).integers(0, nodes, (edges, 2)))


def verdicts_of(dataset, method, release, promises=None, seed=7):
    """What the gate says of the form in which the release would be published."""
    evidence = evidence_in_memory(release, dataset, method, Streams(seed))
    return verify(method.default_promises() if promises is None else promises, evidence)


@pytest.fixture(scope="session")
def graphs():
    """The same for graphs."""

    class Graphs:
        people = staticmethod(people_of)
        bare = staticmethod(bare_graph)
        random = staticmethod(random_graph)
        verdicts = staticmethod(verdicts_of)

    return Graphs
