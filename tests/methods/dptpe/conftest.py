"""Tables in memory for DPTPE; fixtures, since tests are no package."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from distanon.data.domain import scan
from distanon.data.release import sort_for_release
from distanon.data.schema import SOURCE, Attribute, Role, Schema, infer_type
from distanon.data.space import AttributeSpace
from distanon.data.streams import Streams
from distanon.data.table import Dataset, MemoryScratch, cut
from distanon.methods.base import Context
from distanon.methods.dptpe import DPTPE
from distanon.runtime.crew import SerialCrew


class Notes:
    def __init__(self):
        self.said = []

    def start(self, phase, total):
        pass

    def advance(self, items=1):
        pass

    def note(self, message):
        self.said.append(message)


def dataset(columns, pieces=1, **settings):
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    attributes = [
        Attribute(
            **{"name": f.name, "role": Role.QUASI_IDENTIFIER, "type": infer_type(f.type)}
            | {"arrow_type": f.type}
            | settings.get(f.name, {})
        )
        for f in table.schema
    ]
    return Dataset(Schema(tuple(attributes)), cut(table, pieces), "the test's table")


def context(seed=7, blocks=3, scratch=None):
    return Context(SerialCrew(), scratch or MemoryScratch(), Streams(seed), Notes(), blocks)


def release(data, promises=None, *, seed=7, blocks=3, scratch=None, **options):
    """The release in record order, with its values in codes before and after."""
    method, where = DPTPE(**options), context(seed, blocks, scratch)
    method.check(data, promises or {})
    made = method.release(data, promises or {}, where)
    table = pa.concat_tables([piece.read() for piece in made.pieces])
    assert table.column(SOURCE).to_pylist() == list(range(len(data)))
    space = AttributeSpace.of(data.schema.quasi_identifiers, scan(data))
    return SimpleNamespace(
        made=made,
        table=table,
        counts=made.counts,
        original=space.encode(data.read()),
        released=space.encode(table),
        space=space,
        notes=where.progress.said,
        bytes=sort_for_release(table)[0].to_pandas().to_csv(),
    )


def mixed(n=80, seed=0):
    """Numbers, ranks, categories and flags, all with gaps, integers with ties."""
    generator = np.random.default_rng(seed)

    def holes(values, share=0.1):
        return [None if generator.random() < share else value for value in values.tolist()]

    return pa.table(
        {
            "age": pa.array(holes(generator.integers(18, 40, n)), pa.int16()),
            "income": pa.array(holes(generator.normal(3e4, 9e3, n).round(2)), pa.float64()),
            "grade": pa.array(holes(generator.integers(1, 6, n)), pa.int8()),
            "job": pa.array(holes(generator.choice(["a", "b", "c", "d"], n)), pa.string()),
            "smokes": pa.array(holes(generator.choice([True, False], n)), pa.bool_()),
            "constant": pa.array([3] * n, pa.int32()),
        }
    )


@pytest.fixture
def make():
    return SimpleNamespace(dataset=dataset, context=context, release=release, mixed=mixed)
