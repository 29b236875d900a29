from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data import generalization
from distanon.data.domain import scan
from distanon.data.hierarchy import Hierarchy
from distanon.data.schema import SOURCE, Attribute, AttributeType, Role, Schema
from distanon.data.streams import Streams
from distanon.data.table import Dataset, MemoryScratch, cut
from distanon.data.values import encode_column
from distanon.errors import InfeasibleError, SpecError
from distanon.methods.base import Context
from distanon.methods.baselines import mondrian
from distanon.methods.baselines.mondrian import Mondrian
from distanon.promises.k_anonymity import KAnonymity
from distanon.promises.l_diversity import LDiversity
from distanon.promises.t_closeness import TCloseness
from distanon.runtime.crew import SerialCrew

QUASI = ["age", "job", "level", "born"]
ROLES = {"quasi_identifiers": QUASI, "sensitive": ["sick"], "insensitive": ["kept"]}


def people(seed, n, gaps=0.1):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n).astype(float),
            "job": rng.choice(["cook", "clerk", "smith, black", "{nurse}"], n),
            "level": pd.Categorical(
                rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"], ordered=True
            ),
            "born": pd.Timestamp("1970-01-01") + pd.to_timedelta(rng.integers(0, 9000, n), "D"),
            "kept": np.arange(n) % 7,
            "sick": rng.choice(["no", "flu", "gout"], n, p=[0.6, 0.3, 0.1]),
        }
    )
    for column in QUASI:
        frame.loc[rng.random(n) < gaps, column] = None
    return frame


def released(method, frame, **settings: Any):
    return method.anonymize(frame, **ROLES | settings, seed=1)


def classes(frame, columns=QUASI):
    return frame.groupby(columns, dropna=False, observed=True)


def same(one, other) -> bool:
    """Whether two frames hold the same rows, in whatever order and types."""
    rows = [sorted(map(str, frame.astype(object).to_numpy().tolist())) for frame in (one, other)]
    return rows[0] == rows[1]


@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 9_999),
    st.integers(2, 9),
    st.sampled_from(["value", "range"]),
    st.sampled_from([0.0, 0.1, 0.3]),
    st.sampled_from(["frequency", "label_rate", "alphabetical"]),
)
def test_every_class_has_k_records_and_nobody_is_lost(seed, k, recoding, suppression, order):
    frame = people(seed, 80)
    method = Mondrian(k=k, recoding=recoding, suppression=suppression, category_order=order)
    release = released(method, frame)
    assert classes(release.data).size().min() >= k
    assert release.counts["suppressed"] + release.counts["records"] == len(frame)
    assert len(release.data) == release.counts["records"]
    assert release.counts["suppressed"] <= suppression * len(frame)
    if recoding == "value":
        kinds = [one.dtypes.astype(str) for one in (release.data, frame)]
        assert (kinds[0] == kinds[1]).all()  # a category nobody has is not published


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 9_999), st.integers(2, 6), st.sampled_from([0.0, 0.2]), st.booleans())
def test_regions_hold_their_originals_and_other_columns_stay(seed, k, suppression, with_tree):
    frame = people(seed, 70)
    tree = [
        (job, "hot" if job == "cook" else "cold", "*")
        for job in sorted(frame["job"].dropna().unique())
    ]
    hierarchies = {"job": tree} if with_tree else {}
    table = pa.Table.from_pandas(frame, preserve_index=False)
    release = Mondrian(k=k, suppression=suppression).anonymize(
        table, **ROLES, hierarchies=hierarchies, seed=3
    )
    pieces = pa.concat_tables([piece.read() for piece in release.pieces])
    sources = pieces.column(SOURCE).to_numpy()
    assert len(set(sources.tolist())) == len(sources)
    originals = table.take(pa.array(sources))
    for name in ("kept", "sick"):
        assert pieces.column(name).to_pylist() == originals.column(name).to_pylist()
    schema = Schema(
        tuple(
            Attribute(
                name,
                Role.QUASI_IDENTIFIER,
                kind,
                table.schema.field(name).type,
                order=("low", "mid", "high") if name == "level" else None,
                hierarchy=Hierarchy.from_rows(tree, "h") if with_tree and name == "job" else None,
            )
            for name, kind in (
                ("age", AttributeType.NUMERIC),
                ("job", AttributeType.NOMINAL),
                ("level", AttributeType.ORDINAL),
                ("born", AttributeType.NUMERIC),
            )
        )
    )
    domain = scan(Dataset(schema, cut(table.select(QUASI), 1)))
    for name in QUASI:
        regions = generalization.read(pieces.column(name), schema[name], domain[name])
        values = encode_column(originals.column(name), schema[name], domain[name])
        assert regions.contains(values, regions.code_of).all()


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 9_999), st.sampled_from([0.0, 0.2]))
def test_l_and_t_hold_in_every_class(seed, suppression):
    frame = people(seed, 120)
    release = released(Mondrian(k=3, l=2, t=0.45, suppression=suppression), frame)
    whole = release.data["sick"].value_counts(normalize=True)
    for _, group in classes(release.data):
        own = group["sick"].value_counts(normalize=True)
        assert len(own) >= 2
        assert whole.sub(own, fill_value=0).abs().sum() / 2 <= 0.45 + 1e-9


@pytest.mark.parametrize(
    "promise",
    [
        LDiversity(l=2, kind="recursive", c=3),
        LDiversity(l=1.5, kind="entropy"),
        TCloseness(t=0.3, distance="equal"),
    ],
)
def test_each_kind_of_promise_is_kept(promise):
    frame = people(0, 300)
    release = released(Mondrian(k=4), frame, promises={promise.name: promise})
    assert release.counts["groups"] > 5  # verified by `anonymize` itself


def test_hierarchical_closeness_and_a_sensitive_number_are_kept():
    frame = people(1, 300).assign(sick=lambda f: f["sick"].map({"no": 1, "flu": 5, "gout": 9}))
    assert released(Mondrian(k=4, t=0.2), frame).counts["groups"] > 3
    frame = people(1, 300)
    tree = [("no", "well", "*"), ("flu", "ill", "*"), ("gout", "ill", "*")]
    release = released(Mondrian(k=4, t=0.25), frame, hierarchies={"sick": tree})
    assert release.counts["groups"] > 3


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 9_999), st.integers(2, 5), st.sampled_from([0.0, 0.2]))
def test_with_subjects_every_class_has_k_different_ones(seed, k, suppression):
    frame = people(seed, 100)
    frame["who"] = np.random.default_rng(seed).integers(0, 30, 100)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    release = Mondrian(k=k, suppression=suppression).anonymize(
        table, **ROLES, subject="who", seed=1
    )
    pieces = pa.concat_tables([piece.read() for piece in release.pieces])
    found = pieces.select(QUASI).to_pandas()
    found["who"] = frame["who"].to_numpy()[pieces.column(SOURCE).to_numpy()]
    assert classes(found)["who"].nunique().min() >= k


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 9_999))
def test_index_order_categories_and_constant_columns_change_nothing(seed):
    frame = people(seed, 90)
    plain = released(Mondrian(k=4), frame).data
    moved = frame.sample(frac=1, random_state=seed)
    moved.index = [f"row {i}" for i in range(90)]
    assert same(plain, released(Mondrian(k=4), moved).data)
    category = frame.assign(job=frame["job"].astype("category"))
    assert same(plain, released(Mondrian(k=4), category).data)
    constant = frame.assign(same=5)
    wider = released(Mondrian(k=4), constant, quasi_identifiers=[*QUASI, "same"]).data
    assert set(wider["same"]) == {"5"}
    assert same(plain, wider.drop(columns="same"))


def dataset_of(frame, pieces):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    roles = dict.fromkeys(QUASI, Role.QUASI_IDENTIFIER) | {"sick": Role.SENSITIVE}
    schema = Schema(
        tuple(
            Attribute(
                f.name,
                roles.get(f.name, Role.INSENSITIVE),
                AttributeType.NUMERIC if f.name in ("age", "born") else AttributeType.NOMINAL,
                f.type,
            )
            for f in table.schema
        )
    )
    dataset = Dataset(schema, cut(table, pieces))
    return Dataset(schema, dataset.partitions, domain=scan(dataset))


def bytes_of(release) -> bytes:
    whole = pa.concat_tables([piece.read() for piece in release.pieces]).combine_chunks()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, whole.schema) as writer:
        writer.write_table(whole)
    return sink.getvalue().to_pybytes()


def made(frame, pieces, crew, **settings: Any):
    method = Mondrian(**{"k": 5, "l": 2, "t": 0.6, "suppression": 0.05} | settings)
    context = Context(crew, MemoryScratch(), Streams(1))
    return method.release(dataset_of(frame, pieces), method.default_promises(), context)


@pytest.mark.parametrize("pieces", [2, 7])
@pytest.mark.parametrize("fragment", [10, 97])
def test_partitions_and_fragments_change_no_byte(monkeypatch, pieces, fragment):
    frame = people(5, 400)
    whole = made(frame, 1, SerialCrew())
    monkeypatch.setattr(mondrian, "FRAGMENT", fragment)
    assert bytes_of(made(frame, pieces, SerialCrew())) == bytes_of(whole)


@pytest.mark.ray
@pytest.mark.parametrize("workers", [2, 4])
def test_workers_change_no_byte(monkeypatch, ray_address, workers):
    from distanon.runtime import crew as open_crew
    from distanon.runtime.settings import RuntimeSettings

    frame = people(5, 400)
    monkeypatch.setattr(mondrian, "FRAGMENT", 60)
    serial = made(frame, 3, SerialCrew())
    with open_crew(RuntimeSettings(address=ray_address, workers=workers)) as crew:
        spread = made(frame, 3, crew)
    assert bytes_of(spread) == bytes_of(serial)
    assert {n: t.to_pydict() for n, t in spread.fitted.items() if n != "cuts"} == {
        n: t.to_pydict() for n, t in serial.fitted.items() if n != "cuts"
    }


def test_new_records_are_led_to_the_group_of_their_like():
    from distanon.methods.fitted import Fitted

    frame = people(2, 200)
    dataset = dataset_of(frame, 1)
    context = Context(SerialCrew(), MemoryScratch(), Streams(1))
    method = Mondrian(k=5)
    release = method.release(dataset, method.default_promises(), context)
    fitted = Fitted.of(release.fitted, dataset.schema)
    groups = fitted.locate(dataset.read(QUASI)).groups
    cells = fitted.cells.take(pa.array(groups))
    pieces = pa.concat_tables([piece.read() for piece in release.pieces])
    assert cells.to_pydict() == pieces.select(QUASI).to_pydict()


def test_suppression_narrows_the_groups():
    frame = people(3, 600, gaps=0)[["age", "sick"]]
    frame["age"] = np.random.default_rng(0).exponential(30, 600).round()
    roles = {"quasi_identifiers": ["age"], "sensitive": ["sick"]}
    widths = []
    for suppression in (0.0, 0.1):
        method = Mondrian(k=5, suppression=suppression)
        data = method.anonymize(frame, **roles, columns={"age": {"domain_bounds": (0, 400)}}).data
        ends = data["age"].str.strip("[]").str.split(", ").map(lambda e: [float(v) for v in e])
        widths.append(ends.map(lambda e: e[-1] - e[0]).mean())
    assert widths[1] < 0.95 * widths[0]


# --- Infeasible ----------------------------------------------------------------------------------


def test_more_than_all_records_are_refused_with_the_largest_k():
    with pytest.raises(InfeasibleError, match="largest k that works is 30"):
        released(Mondrian(k=31), people(0, 30))
    assert released(Mondrian(k=30), people(0, 30)).counts["groups"] == 1


def test_one_record_is_refused():
    with pytest.raises(InfeasibleError, match="no k works"):
        released(Mondrian(k=2), people(0, 1), confirm_unique=["kept"])


def test_more_than_all_subjects_are_refused():
    frame = people(0, 30).assign(who=np.arange(30) // 3)
    with pytest.raises(InfeasibleError, match=r"different subjects.*got 10"):
        released(Mondrian(k=11), frame, subject="who")


def test_one_sensitive_value_is_refused_with_l():
    with pytest.raises(InfeasibleError, match="'sick' has 1 different value; no l works"):
        released(Mondrian(k=2, l=2), people(0, 30).assign(sick="no"))
    with pytest.raises(InfeasibleError, match="largest l that works is 3"):
        released(Mondrian(k=2, l=4), people(0, 90))


def test_t_of_0_leaves_groups_that_are_like_the_whole():
    frame = people(0, 60).assign(sick=["no", "flu"] * 30)
    assert released(Mondrian(k=2, t=0), frame).counts["groups"] >= 1


def test_promises_that_disagree_are_refused():
    with pytest.raises(SpecError, match="they must agree"):
        released(Mondrian(k=5), people(0, 30), promises={"k_anonymity": KAnonymity(k=6)})
    known = LDiversity(l=2, others="known")
    with pytest.raises(SpecError, match="others"):
        released(Mondrian(k=5), people(0, 30), promises={"l_diversity": known})


def test_what_the_method_needs_is_refused_where_it_lacks():
    frame = people(0, 30)
    with pytest.raises(SpecError, match="at least one quasi-identifier"):
        Mondrian(k=2).anonymize(
            frame, quasi_identifiers=[], insensitive=list(frame.columns), confirm_unique=QUASI
        )
    with pytest.raises(SpecError, match="label_rate needs a sensitive column"):
        Mondrian(k=2, category_order="label_rate").anonymize(
            frame, quasi_identifiers=QUASI, insensitive=["kept", "sick"]
        )
    with pytest.raises(SpecError):
        Mondrian(k=-1)


# --- Odd tables ----------------------------------------------------------------------------------


def test_a_column_that_is_unique_constant_or_all_missing_works():
    frame = pd.DataFrame(
        {
            "unique": np.arange(50.0),
            "same": "x",
            "none": pd.Series([None] * 50, dtype=object),
            "nan": np.nan,
            "flag": pd.array([True, False, None, True, False] * 10, dtype="boolean"),
            "small": pd.array([1, 2, None, 4, 5] * 10, dtype="Int8"),
        }
    )
    data = Mondrian(k=5).anonymize(frame, quasi_identifiers=list(frame), seed=0).data
    assert classes(data, list(frame)).size().min() >= 5
    assert data["none"].isna().all()
    assert set(data["same"]) == {"x"}


def test_200_columns_work():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 5, (120, 200)), columns=[f"c{i} é" for i in range(200)])
    data = Mondrian(k=5).anonymize(frame, quasi_identifiers=list(frame), seed=0).data
    assert classes(data, list(frame)).size().min() >= 5


def test_columns_without_a_role_are_listed():
    from distanon.errors import InputError

    with pytest.raises(InputError, match="no role for 'kept', 'sick'"):
        Mondrian(k=2).anonymize(people(0, 30), quasi_identifiers=QUASI)


def test_the_outermost_ends_are_bounds_or_withheld():
    ages = [*range(20, 60)] * 5 + [97]
    frame = pd.DataFrame({"age": ages})
    data = Mondrian(k=5).anonymize(frame, quasi_identifiers=["age"], seed=0).data
    assert not data["age"].str.contains("97").any()
    assert data["age"].str.endswith(", *]").sum() >= 5
    bounded = (
        Mondrian(k=5)
        .anonymize(
            frame, quasi_identifiers=["age"], columns={"age": {"domain_bounds": (18, 99)}}, seed=0
        )
        .data
    )
    assert bounded["age"].str.endswith(", 99]").sum() >= 5
    assert bounded["age"].str.startswith("[18, ").sum() >= 5 or (bounded["age"] == "20").any()
    topped = (
        Mondrian(k=5)
        .anonymize(frame, quasi_identifiers=["age"], columns={"age": {"top_code": 50}}, seed=0)
        .data
    )
    ends = topped["age"].str.strip("[]").str.split(", ").explode()
    assert ends[ends != "*"].astype(int).max() == 50


N = 40
STEPS = [i * 7 % 23 for i in range(N)]
TYPED = {
    "int8": pa.array(STEPS, pa.int8()),
    "uint64": pa.array([2**63 + i for i in STEPS], pa.uint64()),
    "float32": pa.array([i / 4 for i in STEPS], pa.float32()),
    "float16": pa.array(np.array(STEPS, np.float16)),
    "decimal": pa.array([Decimal(i) / 4 for i in STEPS], pa.decimal128(9, 2)),
    "bool": pa.array([i % 3 == 0 for i in STEPS]),
    "date": pa.array([dt.date(2020, 1, 1) + dt.timedelta(i) for i in STEPS]),
    "date64": pa.array([dt.date(2020, 1, 1) + dt.timedelta(i) for i in STEPS], pa.date64()),
    "instant": pa.array([10**18 + i * 10**9 for i in STEPS]).cast(pa.timestamp("ns", "UTC")),
    "time": pa.array([dt.time(i % 24, 5) for i in STEPS], pa.time32("s")),
    "duration": pa.array([dt.timedelta(minutes=i) for i in STEPS], pa.duration("ms")),
    "text": pa.array([f"t{i % 5}" for i in STEPS], pa.large_string()),
    "view": pa.array([f"t{i % 5}" for i in STEPS], pa.string_view()),
    "dictionary": pa.array([f"t{i % 5}" for i in STEPS]).dictionary_encode(),
    "runs": pc.run_end_encode(pa.array([f"t{i // 8}" for i in range(N)])),
    "numbers in a dictionary": pa.array([i % 5 for i in STEPS]).dictionary_encode(),
    "ordered": pa.DictionaryArray.from_arrays(
        pa.array([i % 4 for i in STEPS], pa.int8()), pa.array(["d", "a", "c", "b"]), ordered=True
    ),
    "nothing": pa.nulls(N),
}


@pytest.mark.parametrize("recoding", ["range", "value"])
@pytest.mark.parametrize("name", TYPED)
def test_every_type_of_column_is_grouped(name, recoding):
    column = TYPED[name]
    gaps = pa.array([i % 11 == 3 for i in range(N)])
    for one in (
        (column, pc.if_else(gaps, pa.nulls(N, column.type), column))
        if name in ("int8", "date", "bool", "text")
        else (column,)
    ):
        table = pa.table({"c é": one, "other": pa.array([i % 6 for i in range(N)])})
        release = Mondrian(k=4, recoding=recoding).anonymize(
            table, quasi_identifiers=["c é", "other"], seed=1
        )
        sizes = release.data.group_by(["c é", "other"]).aggregate([([], "count_all")])
        assert min(sizes.column("count_all").to_pylist()) >= 4
        assert release.data.num_rows == N
        if name not in ("bool", "nothing"):
            assert release.counts["groups"] > 3
