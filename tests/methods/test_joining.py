from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.domain import scan
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.space import AttributeSpace
from distanon.data.table import Dataset, cut
from distanon.errors import InfeasibleError
from distanon.methods.joining import failing_groups, group_averages, keep_promises
from distanon.promises.k_anonymity import KAnonymity
from distanon.promises.l_diversity import LDiversity
from distanon.promises.t_closeness import TCloseness


def line(ages, ill, who=None):
    """People with an age and an illness, and perhaps a name."""
    table = {"age": pa.array(ages, pa.float64()), "ill": pa.array(ill, pa.string())}
    attributes = [
        Attribute("age", Role.QUASI_IDENTIFIER, AttributeType.NUMERIC, pa.float64()),
        Attribute("ill", Role.SENSITIVE, AttributeType.NOMINAL, pa.string()),
    ]
    if who is not None:
        table["who"] = pa.array(who)
        attributes.append(Attribute("who", Role.SUBJECT, AttributeType.NUMERIC, pa.int64()))
    dataset = Dataset(Schema(tuple(attributes)), cut(pa.table(table), 1))
    space = AttributeSpace.of(dataset.schema.quasi_identifiers, scan(dataset))
    return dataset, space, space.encode(dataset.read(["age"]))


def kept(dataset, space, values, labels, promises, k=2, suppression=0.0, cells=None):
    labels = np.asarray(labels, np.int64)
    return keep_promises(dataset, space, values, labels, promises, k, suppression, cells)


DIVERSE = {"l_diversity": LDiversity(l=2)}


def test_a_group_of_one_value_joins_the_nearest():
    table = line([1, 2, 5, 6, 50, 51], ["x", "x", "x", "y", "x", "y"])
    found = kept(*table, [0, 0, 1, 1, 2, 2], DIVERSE)
    assert found.labels.tolist() == [0, 0, 0, 0, 1, 1]
    assert found.becomes.tolist() == [0, 0, 1]
    assert found.groups == 2


def test_within_the_budget_it_is_left_out_instead():
    table = line([1, 2, 5, 6, 50, 51], ["x", "x", "x", "y", "x", "y"])
    found = kept(*table, [0, 0, 1, 1, 2, 2], DIVERSE, suppression=0.4)
    assert found.labels.tolist() == [-1, -1, 0, 0, 1, 1]
    assert found.kept.tolist() == [False, False, True, True, True, True]
    tight = kept(*table, [0, 0, 1, 1, 2, 2], DIVERSE, suppression=0.3)
    assert tight.kept.all()


def test_joins_stay_inside_a_cell_as_long_as_that_helps():
    table = line([1, 2, 5, 6, 9, 10], ["x", "x", "x", "y", "x", "y"])
    labels, cells = [0, 0, 1, 1, 2, 2], np.array([0, 0, 1, 1, 0, 0])
    assert kept(*table, labels, DIVERSE, cells=cells).labels.tolist() == [0, 0, 1, 1, 0, 0]
    alone = kept(*table, labels, DIVERSE, cells=np.array([0, 0, 1, 1, 1, 1]))
    assert alone.labels.tolist() == [0, 0, 0, 0, 1, 1]


def test_people_are_counted_not_rows():
    table = line([1, 2, 5, 6, 9, 10], ["x"] * 6, who=[7, 7, 1, 2, 3, 4])
    found = kept(*table, [0, 0, 1, 1, 2, 2], {"k_anonymity": KAnonymity(k=2)})
    assert found.labels.tolist() == [0, 0, 0, 0, 1, 1]


def test_what_not_even_all_records_keep_is_refused():
    with pytest.raises(InfeasibleError, match="not even all records as one group"):
        kept(*line([1, 2, 3, 4], ["x"] * 4), [0, 0, 1, 1], DIVERSE, suppression=0.9)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 9_999), st.sampled_from([0.0, 0.25]), st.floats(0.1, 0.9))
def test_groups_keep_k_l_and_t_against_what_is_released(seed, suppression, t):
    rng = np.random.default_rng(seed)
    ill = [*rng.choice(["x", "y", "z"], 38, p=[0.7, 0.2, 0.1]), "x", "y"]
    dataset, space, values = line(rng.integers(0, 50, 40), ill)
    labels = np.sort(np.concatenate([np.arange(8), rng.integers(0, 8, 32)]))
    promises = DIVERSE | {"t_closeness": TCloseness(t=t)}
    found = kept(dataset, space, values, labels, promises, 3, suppression)
    assert (~found.kept).sum() <= suppression * 40
    assert (found.becomes[labels] == found.labels).all()
    fails = failing_groups(dataset, promises, 3, None, found.kept)
    assert not fails(found.labels[found.kept], found.groups).any()


def test_averages_lie_on_the_grid_and_inside_the_bounds():
    table = pa.table({"age": [1, 2, 90], "pay": [0.25, 0.5, 0.75]})
    bounded = Attribute(
        "age", Role.QUASI_IDENTIFIER, AttributeType.NUMERIC, pa.int64(), domain_bounds=(5, 80)
    )
    plain = Attribute("pay", Role.QUASI_IDENTIFIER, AttributeType.NUMERIC, pa.float64())
    dataset = Dataset(Schema((bounded, plain)), cut(table, 1))
    space = AttributeSpace.of(dataset.schema.quasi_identifiers, scan(dataset))
    tuples = group_averages(space, space.encode(table), np.array([0, 0, 1]), 2)
    assert tuples.tolist() == [[5.0, 0.38], [80.0, 0.75]]
