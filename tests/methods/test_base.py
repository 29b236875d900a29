import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from distanon.data.ports import Silent
from distanon.data.streams import Streams
from distanon.data.table import MemoryScratch
from distanon.errors import InfeasibleError, InputError, PromiseBrokenError, SpecError
from distanon.methods import METHODS
from distanon.methods.base import Context, blocks_for
from distanon.methods.dptpe import DPTPE
from distanon.promises.unchanged import Unchanged
from distanon.runtime.crew import SerialCrew

GENERATOR = np.random.default_rng(3)
FRAME = pd.DataFrame(
    {
        "name": [f"person {i}" for i in range(60)],
        "age": GENERATOR.integers(18, 80, 60),
        "income": GENERATOR.normal(3e4, 8e3, 60).round(2),
        "job": pd.Categorical(GENERATOR.choice(["a", "b", "c"], 60), categories=list("abcd")),
        "ill": GENERATOR.choice(["yes", "no"], 60),
    },
    index=np.arange(100, 160),
)
ROLES = {
    "quasi_identifiers": ["age", "income", "job"],
    "sensitive": ["ill"],
    "identifiers": ["name"],
}


def test_a_context_is_silent_and_has_eight_blocks_unless_told_otherwise():
    context = Context(SerialCrew(), MemoryScratch(), Streams(1))
    assert isinstance(context.progress, Silent)
    assert context.blocks == 8


@pytest.mark.parametrize(
    ("records", "workers", "blocks"),
    [(0, 4, 1), (4000, 4, 1), (9000, 4, 3), (10**6, 4, 16), (10**6, 256, 245), (10**8, 4, 1526)],
)
def test_blocks_are_four_a_worker_unless_they_get_too_small_or_too_large(records, workers, blocks):
    assert blocks_for(records, workers) == blocks


def test_a_frame_comes_back_as_a_frame_with_its_types_sorted_and_without_identifiers():
    release = DPTPE(k=4).anonymize(FRAME, **ROLES, seed=7)
    data = release.data
    assert list(data.columns) == ["age", "income", "job", "ill"]
    assert data.dtypes[["age", "income", "ill"]].equals(FRAME.dtypes[["age", "income", "ill"]])
    assert "d" not in data["job"].cat.categories
    assert isinstance(data.index, pd.RangeIndex)
    assert data["age"].is_monotonic_increasing
    assert sorted(data["ill"]) == sorted(FRAME["ill"])
    assert release.counts["records"] == 60


def test_a_table_comes_back_as_a_table_with_the_same_values():
    frame = FRAME.astype({"job": str})
    table = pa.Table.from_pandas(frame, preserve_index=False)
    released = DPTPE(k=4).anonymize(table, **ROLES, seed=7).data
    assert isinstance(released, pa.Table)
    assert released.schema.metadata is None
    other = DPTPE(k=4).anonymize(frame, **ROLES, seed=7).data
    assert released.to_pandas()["age"].tolist() == other["age"].tolist()


def test_the_seed_alone_decides_the_release():
    one, same, other = (DPTPE(k=4).anonymize(FRAME, **ROLES, seed=s).data for s in (7, 7, 8))
    pd.testing.assert_frame_equal(one, same)
    assert not one.equals(other)
    assert not one.equals(DPTPE(k=4).anonymize(FRAME, **ROLES).data)


def test_every_column_needs_exactly_one_role():
    with pytest.raises(InputError, match="no role for 'name', 'ill'"):
        DPTPE(k=4).anonymize(FRAME, quasi_identifiers=["age", "income", "job"])
    with pytest.raises(InputError, match="no column 'agee'; did you mean 'age'"):
        DPTPE(k=4).anonymize(FRAME, **ROLES | {"sensitive": ["ill", "agee"]})
    with pytest.raises(InputError, match="'age' has several roles"):
        DPTPE(k=4).anonymize(FRAME, **ROLES | {"sensitive": ["ill", "age"]})
    with pytest.raises(InputError, match="expected a list"):
        DPTPE(k=4).anonymize(FRAME, **ROLES | {"sensitive": "ill"})
    with pytest.raises(InputError, match="no column 'jobb'"):
        DPTPE(k=4).anonymize(FRAME, **ROLES, types={"jobb": "nominal"})
    with pytest.raises(InputError, match="expected one of numeric"):
        DPTPE(k=4).anonymize(FRAME, **ROLES, types={"job": "category"})


def test_what_a_method_refuses_reaches_the_caller():
    with pytest.raises(InfeasibleError, match="largest k that works is 58"):
        DPTPE(k=59).anonymize(FRAME, **ROLES)
    for seed in (-1, 1.5, True):
        with pytest.raises(SpecError, match="seed"):
            DPTPE(k=4).anonymize(FRAME, **ROLES, seed=seed)
    with pytest.raises(SpecError, match="workers"):
        DPTPE(k=4).anonymize(FRAME, **ROLES, workers=0)


def test_promises_are_checked_and_a_broken_one_gives_no_release():
    poor = pd.DataFrame({"x": [1] * 20 + [2] * 20})
    keeping = DPTPE(k=4, on_unchanged="keep")
    with pytest.warns(UserWarning, match="on_unchanged"), pytest.raises(PromiseBrokenError):
        keeping.anonymize(poor, quasi_identifiers=["x"], promises={"unchanged": {"at_most": 0}})
    assert keeping.anonymize(poor, quasi_identifiers=["x"]).counts["unchanged"] > 0
    constant = pd.DataFrame({"x": [1] * 20})
    with pytest.raises(InfeasibleError, match="unchanged"):
        DPTPE(k=4).anonymize(constant, quasi_identifiers=["x"])
    removed = DPTPE(k=4).anonymize(constant, quasi_identifiers=["x"], promises={"unchanged": None})
    assert removed.counts["unchanged"] == 20
    allowed = {"unchanged": Unchanged(at_most=1)}
    assert (
        DPTPE(k=4).anonymize(constant, quasi_identifiers=["x"], promises=allowed).data is not None
    )


@pytest.mark.parametrize(
    ("promises", "message"),
    [
        ({"k_anonymity": {"k": 3}}, "dptpe can't be asked"),
        ({"nonsense": None}, "no such promise"),
        ({"unchanged": {"at_most": 3}}, r"promises\.unchanged\.at_most"),
        ({"unchanged": {"atmost": 0}}, r"promises\.unchanged\.atmost"),
    ],
)
def test_promises_that_cannot_be_asked_are_refused(promises, message):
    with pytest.raises(SpecError, match=message):
        DPTPE(k=4).anonymize(FRAME, **ROLES, promises=promises)


@pytest.mark.ray
def test_ray_workers_give_the_same_release():
    serial = DPTPE(k=4).anonymize(FRAME, **ROLES, seed=7)
    spread = DPTPE(k=4).anonymize(FRAME, **ROLES, seed=7, workers=2)
    pd.testing.assert_frame_equal(serial.data, spread.data)
    assert serial.counts == spread.counts


@pytest.mark.parametrize("name", METHODS)
def test_a_method_with_an_odd_parameter_is_a_spec_error_in_our_words(name):
    with pytest.raises(SpecError) as refused:
        METHODS[name](nonsense=3)
    assert f"{METHODS[name].__name__}: nonsense: no such setting" in str(refused.value)
    assert "pydantic" not in str(refused.value)


def test_every_fault_of_a_call_is_named_with_what_was_expected():
    with pytest.raises(SpecError) as refused:
        DPTPE(kk=3, domain="clop")
    assert list(refused.value.faults) == [
        "DPTPE: domain: found 'clop'; expected 'clip', 'reflect' or 'free'; did you mean 'clip'?",
        "DPTPE: kk: no such setting; did you mean 'k'?",
    ]


TABLE_METHODS = {
    "dptpe": {"k": 3},
    "mondrian": {"k": 3, "l": 1.5},
    "mdav": {"k": 3, "l": 1.5},
    "decision_tree_leaves": {"k": 3, "l": 1.5},
    "reconstruction": {"k": 3, "generations": 1},
    "nends": {},
    "noise": {"rms": 0.1},
    "rbt": {},
}


def test_every_method_for_tables_is_tried_here():
    assert set(TABLE_METHODS) == {name for name, one in METHODS.items() if one.kind == "table"}


@pytest.mark.parametrize("name", TABLE_METHODS)
def test_a_table_without_quasi_identifiers_is_refused(name):
    method = METHODS[name](**TABLE_METHODS[name])
    with pytest.raises((SpecError, InputError), match="quasi-identifier"):
        method.anonymize(FRAME[["age", "ill"]], quasi_identifiers=[], sensitive=["age", "ill"])


@pytest.mark.filterwarnings("ignore:column 's' has no value")
@pytest.mark.parametrize("name", TABLE_METHODS)
def test_a_sensitive_column_of_no_type_has_no_value_and_is_kept(name):
    settings = {key: value for key, value in TABLE_METHODS[name].items() if key != "l"}
    table = pa.table({"a": range(20), "b": [one % 7 for one in range(20)], "s": pa.nulls(20)})
    roles = {"quasi_identifiers": ["a", "b"], "sensitive": ["s"]}
    release = METHODS[name](**settings).anonymize(table, **roles, seed=1)
    assert release.data.column("s").null_count == 20
    if "l" in TABLE_METHODS[name]:
        with pytest.raises(InfeasibleError, match="0 different values"):
            METHODS[name](k=3, l=2).anonymize(table, **roles, seed=1)


@pytest.mark.parametrize("name", ["mondrian", "mdav", "decision_tree_leaves", "reconstruction"])
@pytest.mark.parametrize(
    "promise",
    [
        {"beta_likeness": {"beta": 0.8}},
        {"delta_disclosure": {"delta": 0.9}},
        {"alpha_k": {"alpha": 0.85, "k": 3, "columns": {"job": {"alpha": 0.75}}}},
    ],
    ids=lambda one: next(iter(one)),
)
def test_groups_keep_what_is_asked_of_their_sensitive_values(name, promise):
    settings = {"generations": 1} if name == "reconstruction" else {"suppression": 0.1}
    frame = FRAME[["age", "income", "job", "ill"]]
    roles = {"quasi_identifiers": ["age", "income"], "sensitive": ["job", "ill"]}
    method = METHODS[name](k=3, **settings)
    release = method.anonymize(frame, **roles, promises=promise, seed=2)  # the gate has checked it
    assert len(release.data) >= 54
    assert len(release.data.groupby(["age", "income"], observed=True)) > 1
