"""Tables that no process holds are attacked with the same scores."""

import numpy as np
import pyarrow as pa
import pytest

from distanon.attacks import identity, nearest_in_parts
from distanon.data.evidence import Evidence
from distanon.data.schema import Attribute, Role, Schema, infer_type
from distanon.data.streams import Streams
from distanon.data.table import Dataset, cut
from distanon.promises import Linkage, Unchanged
from distanon.runtime.crew import SerialCrew
from distanon.sharded import large as of_large


def dataset(table, pieces):
    attributes = tuple(
        Attribute(f.name, Role.QUASI_IDENTIFIER, infer_type(f.type), f.type) for f in table.schema
    )
    return Dataset(Schema(attributes), cut(table, pieces))


def people(n, draw, move=0.0):
    age = draw.integers(18, 60, n)
    return {
        "age": pa.array(age, mask=draw.random(n) < 0.1),
        "income": pa.array(draw.normal(3e4, 9e3, n).round(-3)),
        "job": pa.array(draw.choice(["a", "b", "c", "d"], n), mask=draw.random(n) < 0.05),
        "x": pa.array(draw.integers(0, 3, n).astype(float)),
        "y": pa.array(draw.normal(size=n)),
    }


def lattice(n, draw):
    return {name: pa.array(draw.integers(0, 4, n)) for name in "abc"}


def evidence_of(table, moved, sources, pieces, control=None):
    release = pa.table(
        {
            name: pa.array(
                [
                    value if draw or value is None or isinstance(value, str) else value + 1
                    for value, draw in zip(column.to_pylist(), moved, strict=True)
                ],
                column.type,
            )
            for name, column in zip(
                table.column_names, table.take(pa.array(sources)).columns, strict=True
            )
        }
    )
    return Evidence(
        dataset(release, pieces[0]), dataset(table, pieces[1]), sources, control=control
    )


@pytest.fixture
def large(monkeypatch):
    def make():
        for module in (nearest_in_parts, of_large):
            monkeypatch.setattr(module, "is_large", lambda evidence: True)

    return make


@pytest.mark.parametrize("kind", [people, lattice])
@pytest.mark.parametrize("pieces", [(1, 1), (7, 4), (3, 64)])
def test_figures_are_those_of_whole_tables(kind, pieces, large):
    draw = np.random.default_rng(4)
    table = pa.table(kind(400, draw))
    sources = draw.permutation(400)[:350]
    moved = draw.random(350) < 0.3
    control = dataset(pa.table(kind(60, draw)), 1)
    settings = {"crew": SerialCrew(), "streams": Streams(3), "targets": 120}
    whole = identity.measure(evidence_of(table, moved, sources, (1, 1), control), **settings)
    large()
    again = evidence_of(table, moved, sources, pieces, control)
    assert identity.measure(again, **settings, assignment=0)[:3] == whole[:3]
    assert identity.measure(again, **settings) == whole
    assert 0.0 < whole[0].value < 1.0


def test_no_table_is_read_as_a_whole(large, monkeypatch):
    large()
    draw = np.random.default_rng(4)
    table = pa.table(people(300, draw))
    evidence = evidence_of(table, draw.random(300) < 0.3, draw.permutation(300), (5, 5))

    def refuse(self, columns=None):
        raise AssertionError("read as a whole")

    monkeypatch.setattr(Dataset, "read", refuse)
    monkeypatch.setattr(identity, "ASSIGNMENT_RECORDS", 10)
    crew = SerialCrew()
    assert identity.measure(evidence, crew=crew, streams=Streams(1), assignment=10)
    assert Unchanged(at_most=1).verify_with(crew, evidence).kept


def test_copies_of_one_record_are_linked_alike(large):
    draw = np.random.default_rng(8)
    table = pa.table(lattice(80, draw))
    sources = np.sort(draw.integers(0, 80, 120))
    release = table.take(pa.array(sources))
    made = [
        Evidence(dataset(release, pieces), dataset(table, pieces), sources, replicates=True)
        for pieces in (1, 6)
    ]
    settings = {"crew": SerialCrew(), "streams": Streams(3)}
    whole = identity.measure(made[0], **settings)
    large()
    assert identity.measure(made[1], **settings) == whole


def test_generalized_rows_are_attacked_as_before(large):
    table = pa.table({"age": [17, 18, 30, 31], "x": [1, 2, 3, 4]})
    release = pa.table({"age": ["[17, 18]", "[17, 18]", "[30, 31]", "[30, 31]"], "x": [1, 2, 3, 4]})
    evidence = Evidence(dataset(release, 2), dataset(table, 2), np.arange(4))
    settings = {"crew": SerialCrew(), "streams": Streams(3)}
    whole = identity.measure(evidence, **settings)
    large()
    fresh = Evidence(dataset(release, 2), dataset(table, 2), np.arange(4))
    assert identity.measure(fresh, **settings) == whole


def test_the_promise_has_the_same_verdict(large):
    draw = np.random.default_rng(5)
    table, sources = pa.table(people(300, draw)), draw.permutation(300)
    moved = draw.random(300) < 0.3
    whole = Linkage(at_most=0.5).verify(evidence_of(table, moved, sources, (1, 1)))
    large()
    again = evidence_of(table, moved, sources, (7, 3))
    assert Linkage(at_most=0.5).verify(again) == whole
