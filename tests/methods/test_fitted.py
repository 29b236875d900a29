from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from distanon.data.domain import scan
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.space import AttributeSpace
from distanon.data.table import Dataset, cut
from distanon.errors import InputError
from distanon.kernels.partition import partition
from distanon.methods.fitted import Fitted, fitted_by_cuts, fitted_by_nearest


@pytest.fixture
def dataset():
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "age": rng.integers(20, 60, 200),
            "job": rng.choice(["cook", "clerk", "smith"], 200),
            "level": rng.choice(["low", "mid", "high"], 200),
            "day": pa.array(rng.integers(18_000, 18_400, 200), pa.int32()).cast(pa.date32()),
            "sick": rng.choice(["yes", "no"], 200),
        }
    )
    quasi = Role.QUASI_IDENTIFIER
    order = ("low", "mid", "high")
    kinds = {
        "age": (quasi, AttributeType.NUMERIC, None),
        "job": (quasi, AttributeType.NOMINAL, None),
        "level": (quasi, AttributeType.ORDINAL, order),
        "day": (quasi, AttributeType.NUMERIC, None),
        "sick": (Role.SENSITIVE, AttributeType.NOMINAL, None),
    }
    schema = Schema(
        tuple(
            Attribute(field.name, *kinds[field.name][:2], field.type, order=kinds[field.name][2])
            for field in table.schema
        )
    )
    return Dataset(schema, cut(table, 1))


def space_of(dataset):
    space = AttributeSpace.of(dataset.schema.quasi_identifiers, scan(dataset))
    return space, space.encode(dataset.read(list(space.names)))


def by_cuts(dataset):
    space, values = space_of(dataset)
    places = [None, np.array([2.0, 0.0, 1.0, np.nan]), None, None]
    compared = values.copy()
    compared[:, 1] = places[1][values[:, 1].astype(int)]
    found = partition(compared, np.array([40.0, 2.0, 2.0, 400.0]), 10)
    cells = pa.table({name: ["x"] * len(found) for name in space.names})
    return fitted_by_cuts(dataset.schema, space, cells, found.cuts, places), found.labels


def test_fitted_records_find_their_own_groups_again(dataset):
    tables, labels = by_cuts(dataset)
    fitted = Fitted.of(tables, dataset.schema)
    assert fitted.locate(dataset.read()).groups.tolist() == labels.tolist()
    assert fitted.kept.all()
    assert fitted.columns.schema.names == ["age", "job", "level", "day", "sick"]


def test_records_belong_to_the_nearest_tuple_the_lowest_where_several_are(dataset):
    space, values = space_of(dataset)
    tuples = values[[5, 9, 5, 50]]
    cells = pa.table({name: ["x"] * 4 for name in space.names})
    tables = fitted_by_nearest(dataset.schema, space, cells, tuples)
    found = Fitted.of(tables, dataset.schema).locate(dataset.read()).groups
    away = space.embed(values)[:, None] - space.embed(tuples)[None]
    assert found.tolist() == (away**2).sum(axis=2).round(12).argmin(axis=1).tolist()


def test_values_that_the_fit_has_never_seen_are_counted_by_column(dataset):
    fitted = Fitted.of(by_cuts(dataset)[0], dataset.schema)
    table = dataset.read().slice(0, 4)
    jobs = pa.array(["cook", "baker", None, "baker"])
    found = fitted.locate(table.set_column(1, "job", jobs))
    assert found.groups[1:].tolist() == [-1, -1, -1]
    assert found.groups[0] >= 0
    assert dict(found.strange) == {"job": 3}


def test_numbers_beyond_the_fitted_range_go_to_the_outer_groups(dataset):
    fitted = Fitted.of(by_cuts(dataset)[0], dataset.schema)
    table = dataset.read().slice(0, 2)
    assert (fitted.locate(table.set_column(0, "age", pa.array([-5, 900]))).groups >= 0).all()


def test_other_types_that_compare_are_read_and_others_refused(dataset):
    fitted = Fitted.of(by_cuts(dataset)[0], dataset.schema)
    table = dataset.read()
    dictionary = table.column("job").dictionary_encode()
    floats = table.column("age").cast(pa.float32())
    other = table.set_column(1, "job", dictionary).set_column(0, "age", floats)
    assert (fitted.locate(other).groups == fitted.locate(table).groups).all()
    text = table.set_column(0, "age", pa.array(["old"] * 200))
    with pytest.raises(InputError, match="column 'age', row 1: text, expected number"):
        fitted.locate(text)


def test_what_is_of_another_version_is_refused(dataset):
    tables, _ = by_cuts(dataset)
    later = tables["attributes"].set_column(2, "format", pa.array([2] * 4))
    for broken in ({}, tables | {"attributes": later}):
        with pytest.raises(InputError, match="run the job again"):
            Fitted.of(broken, dataset.schema)
