from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.schema import AttributeType, Role
from distanon.errors import InfeasibleError, SpecError
from distanon.methods.baselines.decision_tree_leaves import (
    DecisionTreeLeaves,
    class_numbers,
    rate_order,
)
from distanon.methods.baselines.mdav import MDAV
from distanon.methods.fitted import Fitted

QUASI = ["age", "job"]
KEPT = {"quasi_identifiers": QUASI, "sensitive": ["sick"], "insensitive": ["kept"]}


def people(seed, n, gaps=0.1):
    rng = np.random.default_rng(seed)
    age, job = rng.integers(18, 90, n).astype(float), rng.integers(0, 5, n)
    risk = (age - 18) / 72 + np.array([0.0, 0.6, 0.1, 0.9, 0.3])[job] + rng.normal(0, 0.3, n)
    frame = pd.DataFrame(
        {
            "age": age,
            "job": np.array(["cook", "clerk", "smith", "nurse", "guard"], dtype=object)[job],
            "kept": rng.integers(0, 3, n),
            "sick": np.where(risk > 0.9, "yes", "no"),
        }
    )
    frame.loc[rng.random(n) < gaps, "age"] = np.nan
    frame.loc[rng.random(n) < gaps, "job"] = None
    return frame


def released(method, frame, **settings: Any):
    return method.anonymize(frame, **KEPT | settings, seed=1)


def classes(frame):
    return frame.groupby(QUASI, dropna=False).size()


@settings(max_examples=10, deadline=None)
@given(
    st.integers(0, 9_999),
    st.integers(2, 8),
    st.sampled_from(["value", "range"]),
    st.booleans(),
)
def test_every_class_has_k_records_and_nobody_is_lost(seed, k, recoding, refine):
    frame = people(seed, 80)
    method = DecisionTreeLeaves(k=k, recoding=recoding, refine=refine)
    release = released(method, frame)
    assert classes(release.data).min() >= k
    assert len(release.data) == len(frame)
    assert sorted(release.data["kept"]) == sorted(frame["kept"])


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 9_999), st.sampled_from([0.0, 0.3]))
def test_l_and_t_are_kept_and_kept_and_suppressed_are_all(seed, suppression):
    frame = people(seed, 120)
    release = released(DecisionTreeLeaves(k=4, l=2, t=0.45, suppression=suppression), frame)
    assert release.data.groupby(QUASI, dropna=False)["sick"].nunique().min() == 2
    assert len(release.data) + release.counts["suppressed"] == len(frame)
    assert release.counts["suppressed"] <= suppression * len(frame)


def test_leaves_tell_more_of_the_class_than_groups_of_near_records():
    frame, rng = people(1, 3_000, gaps=0.0), np.random.default_rng(0)
    beside = {name: rng.random(len(frame)).round(2) for name in ("rain", "wind", "fog")}
    quasi = [*QUASI, *beside]

    def impurity(method):
        roles = {**KEPT, "quasi_identifiers": quasi}
        release = method.anonymize(frame.assign(**beside), **roles, seed=1)
        ill = (release.data["sick"] == "yes").groupby([release.data[name] for name in quasi])
        return float((2 * ill.size() * ill.mean() * (1 - ill.mean())).sum())

    tree = impurity(DecisionTreeLeaves(k=10, recoding="value", refine=False))
    assert tree < 0.8 * impurity(MDAV(k=10))


def test_cutting_leaves_further_makes_more_groups():
    frame = people(1, 2_000, gaps=0.0)
    groups = [
        released(DecisionTreeLeaves(k=10, refine=refine), frame).counts["groups"]
        for refine in (False, True)
    ]
    assert groups[1] > groups[0]


def test_the_order_of_records_and_a_constant_column_change_nothing():
    frame = people(5, 200)
    method = DecisionTreeLeaves(k=5)
    cells = released(method, frame).data[QUASI]
    shuffled = released(method, frame.sample(frac=1, random_state=1)).data[QUASI]
    pd.testing.assert_frame_equal(cells, shuffled)
    more = {**KEPT, "quasi_identifiers": [*QUASI, "one"]}
    constant = method.anonymize(frame.assign(one=7), **more, seed=1).data[QUASI]
    pd.testing.assert_frame_equal(constant, cells)


def test_fitted_cuts_lead_fitted_records_to_their_own_cells(make):
    table = pa.Table.from_pandas(people(7, 300)[["age", "job", "sick"]], preserve_index=False)
    nominal = {"type": AttributeType.NOMINAL}
    dataset = make.dataset(table, job=nominal, sick={**nominal, "role": Role.SENSITIVE})
    for options in ({}, {"l": 2}, {"l": 2, "suppression": 0.3}):
        method = DecisionTreeLeaves(k=5, **options)
        promises, context = method.default_promises(), make.context()
        release = method.release(dataset, promises, context)
        table = release.pieces[0].read()
        fitted = Fitted.of(release.fitted, dataset.schema)
        groups = fitted.locate(dataset.read()).groups
        kept = fitted.kept[groups]
        assert (~kept).sum() == release.counts["suppressed"]
        assert np.flatnonzero(kept).tolist() == table.column("__source__").to_pylist()
        cells = fitted.cells.take(groups[kept])
        for name in QUASI:
            assert cells.column(name).to_pylist() == table.column(name).to_pylist()


def test_categories_stand_by_shrunk_rates_and_rare_ones_at_the_whole():
    classes_of = np.array([0] * 10 + [1] * 10 + [0, 1] * 5 + [1])
    column = np.array([2.0] * 10 + [0.0] * 10 + [1.0] * 10 + [3.0])
    # 0 is all 1, 2 is all 0; the one record of category 3 does not tell its class.
    places = rate_order(column, classes_of, 4, 10)
    assert places[2] < places[1] < places[0]
    assert places[3] < places[0]
    assert rate_order(column, 1 - classes_of, 4, 10)[2] > places[2]


def test_three_classes_are_ordered_along_their_axis():
    column = np.repeat([0.0, 1.0, 2.0], 30)
    classes_of = np.concatenate([np.repeat([0, 1], [25, 5]), np.repeat([1, 2], 15), [2] * 30])
    places = rate_order(column, classes_of.astype(np.int64), 3, 5)
    assert places[1] not in (min(places[:3]), max(places[:3]))


def test_numbers_are_binned_and_several_attributes_are_one_class(make):
    rng = np.random.default_rng(0)
    dataset = make.dataset(
        {"a": rng.random(200), "pay": rng.random(200), "sick": ["no", "yes"] * 100},
        pay={"role": Role.SENSITIVE},
        sick={"role": Role.SENSITIVE},
    )
    numbers = class_numbers(dataset)
    assert len(np.unique(numbers)) == 20
    assert np.bincount(numbers).min() > 3


def test_categories_with_a_hierarchy_are_cut_branch_by_branch():
    frame = people(3, 400, gaps=0.0)
    rows = [("cook", "service"), ("guard", "service"), ("smith", "craft"), ("clerk", "office")]
    tree = [(*row, "*") for row in [*rows, ("nurse", "service")]]
    release = DecisionTreeLeaves(k=60).anonymize(frame, **KEPT, hierarchies={"job": tree}, seed=1)
    shown = set(release.data["job"])
    assert shown <= {*frame["job"], "service", "craft", "office", "*"}
    assert "service" in shown


@pytest.mark.parametrize(
    ("settings", "roles", "error", "told"),
    [
        ({"k": 61}, {}, InfeasibleError, "the largest k that works is 60"),
        ({"k": 5, "l": 3}, {}, InfeasibleError, "the largest l that works is 2"),
        ({"k": 5}, {"sensitive": [], "insensitive": ["kept", "sick"]}, SpecError, "use mondrian"),
    ],
)
def test_what_can_t_be_is_refused_early(settings, roles, error, told):
    with pytest.raises(error, match=told):
        released(DecisionTreeLeaves(**settings), people(1, 60, gaps=0.0), **roles)


@pytest.mark.parametrize("settings", [{"k": 1}, {"t": -1}, {"suppression": -0.1}, {"refin": True}])
def test_settings_that_mean_nothing_are_refused(settings):
    with pytest.raises(SpecError):
        DecisionTreeLeaves(**settings)


def test_a_class_of_one_value_leaves_one_group_to_be_cut_at_medians():
    frame = people(2, 60, gaps=0.0).assign(sick="no")
    assert released(DecisionTreeLeaves(k=5, refine=False), frame).counts["groups"] == 1
    assert released(DecisionTreeLeaves(k=5), frame).counts["groups"] > 1
