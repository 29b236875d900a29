"""Masks: means of a group's numbers, and its categories in other places."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.domain import scan
from distanon.data.space import AttributeSpace
from distanon.data.streams import Streams
from distanon.methods.baselines.whole_table import WholeTable
from distanon.methods.reconstruction.masks import masked


def table_of(dataset):
    return WholeTable.read(dataset)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 999), numeric=st.sampled_from(["mean", "median"]))
def test_a_group_keeps_its_categories_and_shares_its_number(people, dataset_of, seed, numeric):
    table = table_of(dataset_of(people(seed, 40, gaps=0.3)))
    groups = np.random.default_rng(seed).permutation(np.arange(40) // 4)
    moved = masked(table.space, table.values, groups, numeric, Streams(1))
    for group in range(10):
        own = groups == group
        for place in (1, 2):
            assert sorted(moved[own, place]) == sorted(table.values[own, place])
        ages, shown = table.values[own, 0], moved[own, 0]
        present = ages[~np.isnan(ages)]
        if 2 * len(present) < len(ages):
            assert np.isnan(shown).all()
        else:
            value = (
                present.mean() if numeric == "mean" else np.sort(present)[(len(present) - 1) // 2]
            )
            assert shown == pytest.approx([value] * 4)


def test_columns_are_permuted_by_themselves(people, dataset_of):
    table = table_of(dataset_of(people(1, 400, gaps=0)))
    moved = masked(table.space, table.values, np.zeros(400, np.int64), "mean", Streams(1))
    pairs = [set(map(tuple, np.column_stack([v[:, 1], v[:, 2]]))) for v in (table.values, moved)]
    assert pairs[0] == pairs[1]
    same = (moved[:, 1:] == table.values[:, 1:]).mean(axis=0)
    assert (same < 0.5).all()


def test_the_space_of_one_attribute_is_masked_alike(people, dataset_of):
    dataset = dataset_of(people(2, 30).drop(columns=["job", "town"]))
    space = AttributeSpace.of(dataset.schema.quasi_identifiers, scan(dataset))
    values = space.encode(dataset.read(["age"]))
    moved = masked(space, values, np.arange(30) // 3, "mean", Streams(1))
    assert moved.shape == (30, 1)
