"""Tables in memory, and a place for pieces, for methods that are tested by themselves."""

from __future__ import annotations

import pyarrow as pa
import pytest

from distanon.data.evidence import Evidence
from distanon.data.release import sort_for_release
from distanon.data.schema import SOURCE, Attribute, AttributeType, Role, Schema
from distanon.data.streams import Streams
from distanon.data.table import Dataset, MemoryPartition, cut
from distanon.methods.base import Context
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


@pytest.fixture
def make():
    """The functions above, since tests are no package."""

    class Make:
        dataset = staticmethod(dataset_of)
        context = staticmethod(context_of)
        released = staticmethod(released_by)
        evidence = staticmethod(evidence_of)

    return Make
