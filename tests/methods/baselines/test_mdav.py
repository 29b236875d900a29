from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.hierarchy import Hierarchy
from distanon.data.release import sort_for_release
from distanon.errors import InfeasibleError, SpecError
from distanon.kernels.microaggregation import microaggregate
from distanon.methods.baselines.mdav import MDAV
from distanon.methods.baselines.whole_table import WholeTable
from distanon.methods.joining import mixed_of

QUASI = ["age", "job", "level"]
KEPT = {"quasi_identifiers": QUASI, "sensitive": ["sick"], "insensitive": ["kept"]}


def people(seed, n, gaps=0.1):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n).astype(float),
            "job": rng.choice(["cook", "clerk", "smith", "nurse"], n),
            "level": pd.Categorical(
                rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"], ordered=True
            ),
            "kept": rng.integers(0, 3, n),
            "sick": rng.choice(["no", "flu", "gout"], n, p=[0.6, 0.3, 0.1]),
        }
    )
    frame.loc[rng.random(n) < gaps, "age"] = np.nan
    frame.loc[rng.random(n) < gaps, "job"] = None
    return frame


def released(method, frame, **settings: Any):
    return method.anonymize(frame, **KEPT | settings, seed=1)


def classes(frame):
    return frame.groupby(QUASI, dropna=False, observed=True).size()


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 9_999), st.integers(2, 6), st.sampled_from(["value", "range"]))
def test_every_class_has_k_records_and_nobody_is_lost(seed, k, recoding):
    frame = people(seed, 60)
    release = released(MDAV(k=k, recoding=recoding), frame)
    assert classes(release.data).min() >= k
    assert len(release.data) == len(frame)
    assert release.counts["suppressed"] == 0
    assert sorted(release.data["kept"]) == sorted(frame["kept"])
    if recoding == "value":
        kinds = [one.dtypes.astype(str) for one in (release.data, frame)]
        assert (kinds[0] == kinds[1]).all()  # a category nobody has is not published


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 9_999), st.sampled_from([0.0, 0.2]))
def test_l_and_t_are_kept_and_kept_and_suppressed_are_all(seed, suppression):
    frame = people(seed, 80)
    # `anonymize` would refuse a release that breaks a promise.
    release = released(MDAV(k=4, l=2, t=0.4, suppression=suppression), frame)
    values = release.data.groupby(QUASI, dropna=False, observed=True)["sick"].nunique()
    assert values.min() >= 2
    assert len(release.data) + release.counts["suppressed"] == len(frame)
    assert release.counts["suppressed"] <= suppression * len(frame)


def test_tuples_are_means_medians_and_most_frequent_values():
    frame = pd.DataFrame(
        {"age": [1, 2, 4, 90, 91, 92], "job": ["a", "a", "b", "c", "c", "d"], "sick": ["x"] * 6}
    )
    release = MDAV(k=3).anonymize(
        frame, quasi_identifiers=["age", "job"], sensitive=["sick"], seed=1
    )
    assert release.data["age"].tolist() == [2, 2, 2, 91, 91, 91]
    assert release.data["job"].tolist() == ["a"] * 3 + ["c"] * 3


def test_subjects_are_counted_instead_of_rows():
    frame = people(3, 60).assign(who=np.arange(60) // 3)
    release = released(MDAV(k=4), frame, subject="who")
    assert "who" not in release.data
    assert classes(release.data).min() >= 4  # and the gate has counted people


def test_the_order_of_records_a_constant_column_and_text_as_category_change_nothing():
    frame = people(5, 70)
    tuples = released(MDAV(k=5), frame).data[QUASI]
    shuffled = released(MDAV(k=5), frame.sample(frac=1, random_state=1)).data[QUASI]
    pd.testing.assert_frame_equal(tuples, shuffled)
    typed = frame.assign(job=frame["job"].astype("category"))
    as_category = released(MDAV(k=5), typed).data[QUASI]
    assert as_category["job"].astype(object).equals(tuples["job"].astype(object))
    more = {**KEPT, "quasi_identifiers": [*QUASI, "one"]}
    constant = MDAV(k=5).anonymize(frame.assign(one=7), **more, seed=1).data[QUASI]
    pd.testing.assert_frame_equal(constant, tuples)


def test_large_tables_are_cut_into_cells_and_lose_little(make):
    rng = np.random.default_rng(2)
    columns = {"a": np.round(rng.normal(size=2_000), 2), "b": np.round(rng.normal(size=2_000), 2)}
    spread = []
    for cell in (64, 8_192):
        table, release = make.released(MDAV(k=5, cell=cell), make.dataset(columns, pieces=3))
        assert release.private["cells"] == (1 if cell == 8_192 else release.private["cells"])
        away = [table.column(name).to_numpy() - columns[name] for name in columns]
        spread.append(float(np.square(away).sum()))
    assert release.private["cells"] == 1
    assert spread[0] < 1.3 * spread[1]


def test_l_is_kept_in_cells_too(make):
    frame = people(9, 600, gaps=0.0)
    release = released(MDAV(k=4, l=2, cell=64), frame)
    assert release.private["cells"] > 1
    assert classes(release.data).min() >= 4


def test_partitions_and_record_order_in_files_change_no_byte(make):
    frame = {"a": np.arange(90.0) ** 1.5 % 17, "b": ["x", "y", "z"] * 30}
    tables = [
        sort_for_release(
            _joined(MDAV(k=4).release(make.dataset(frame, pieces=n), {}, make.context()))
        )
        for n in (1, 4)
    ]
    assert tables[0][0].equals(tables[1][0])
    assert (tables[0][1] == tables[1][1]).all()


def _joined(release):
    return pa.concat_tables([piece.read() for piece in release.pieces])


@pytest.mark.ray
def test_workers_change_no_bit():
    frame = people(6, 400)
    one, two = (
        MDAV(k=4, l=2, cell=64).anonymize(frame, **KEPT, seed=1, workers=workers).data
        for workers in (1, 2)
    )
    pd.testing.assert_frame_equal(one, two)


def test_distances_are_those_of_the_house(make):
    tree = Hierarchy.from_rows([("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*")], "towns")
    dataset = make.dataset(
        {"town": ["a", "b", "c", None, "a"], "age": [1.0, 3.0, None, 2.0, 5.0]},
        town={"hierarchy": tree},
    )
    table = WholeTable.read(dataset)
    records, points = mixed_of(table.space, table.values), table.space.embed(table.values)
    for one in range(5):
        for other in range(5):
            gaps = np.isnan(points[one]).astype(int) + np.isnan(points[other])
            steps = np.nan_to_num(points[one] - points[other])
            expected = float((steps**2).sum()) + float((gaps == 1).sum())
            lines = np.abs(records.lines[one] - records.lines[other])
            lines = np.where(np.isnan(lines), float((gaps == 1).any()), lines)
            differs = records.codes[one] != records.codes[other]
            assert float((lines**2).sum() + records.weights @ differs) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("settings", "promises", "error", "told"),
    [
        ({"k": 61}, {}, InfeasibleError, "the largest k that works is 60"),
        ({"k": 5, "l": 4}, {}, InfeasibleError, "the largest l that works is 3"),
        ({"k": 5}, {"k_anonymity": {"k": 6}}, SpecError, "they must agree"),
        ({"k": 5}, {"k_degree": {"k": 5}}, SpecError, "mdav can't be asked for it"),
    ],
)
def test_what_can_t_be_is_refused_early(settings, promises, error, told):
    with pytest.raises(error, match=told):
        released(MDAV(**settings), people(1, 60, gaps=0.0), promises=promises)


@pytest.mark.parametrize("settings", [{"k": 1}, {"k": -3}, {"t": 2}, {"suppression": 1}, {"kk": 2}])
def test_settings_that_mean_nothing_are_refused(settings):
    with pytest.raises(SpecError):
        MDAV(**settings)


def test_a_column_without_values_and_a_unique_one_are_grouped():
    frame = people(4, 40).assign(age=np.nan, job=[f"job {i}" for i in range(40)])
    release = released(MDAV(k=8), frame)
    assert release.data["age"].isna().all()
    assert classes(release.data).min() >= 8


def test_groups_are_the_kernel_s(make):
    dataset = make.dataset({"a": np.arange(30.0) % 11, "b": np.arange(30.0) ** 2 % 7})
    table = WholeTable.read(dataset)
    labels = microaggregate(mixed_of(table.space, table.values), 4)
    _, release = make.released(MDAV(k=4), dataset)
    assert release.counts["groups"] == labels.max() + 1


@pytest.mark.parametrize("unit", [1e-310, 5e-324, 1e300, 1.79e307])
@pytest.mark.parametrize("recoding", ["value", "range"])
def test_numbers_at_either_end_of_floats_have_finite_averages(unit, recoding):
    numbers = np.arange(40) % 11 * unit
    frame = pd.DataFrame({"x": numbers, "sick": ["yes", "no"] * 20})
    release = MDAV(k=4, recoding=recoding).anonymize(
        frame, quasi_identifiers=["x"], sensitive=["sick"], seed=1
    )
    assert release.data["x"].notna().all()
    assert release.data.groupby("x").size().min() >= 4
    if recoding == "value":
        assert np.isfinite(release.data["x"]).all()
        assert release.data["x"].nunique() > 3
