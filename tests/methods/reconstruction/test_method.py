"""Both modes by what they release: classes, people, counts, and what changes nothing."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import distanon as da
from distanon.data.schema import SOURCE, Role
from distanon.data.table import MemoryScratch
from distanon.errors import InfeasibleError, SpecError
from distanon.methods.fitted import Fitted
from distanon.methods.reconstruction.method import Reconstruction
from distanon.promises.k_anonymity import KAnonymity

QUASI = ["age", "job", "town"]
GIVEN = {
    "quasi_identifiers": QUASI,
    "sensitive": ["sick"],
    "insensitive": ["kept"],
    "confirm_unique": ["kept"],
}
QUICK = {"individuals": 6, "generations": 4}


def rows_of(release):
    return pa.concat_tables([piece.read() for piece in release.pieces])


def released(dataset, context, **parameters):
    method = Reconstruction(**(QUICK | parameters))
    return method.release(dataset, method.default_promises(), context)


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_every_class_has_k_people_and_nobody_is_lost(people, data):
    k = data.draw(st.integers(2, 7))
    n = data.draw(st.integers(k, 90))
    frame = people(data.draw(st.integers(0, 999)), n, gaps=data.draw(st.sampled_from([0, 0.3])))
    both = len(set(frame["sick"])) > 1
    method = Reconstruction(k=k, l=2 if both and data.draw(st.booleans()) else None, **QUICK)
    release = method.anonymize(frame, seed=3, **GIVEN)
    shown = release.data
    sizes = shown.fillna({"age": -1, "job": "?"}).groupby(QUASI).size()
    assert sizes.min() >= k
    assert len(shown) + release.counts["suppressed"] == n
    for name in ("sick", "kept"):
        assert sorted(shown[name]) == sorted(frame[name])
    assert shown.dtypes.to_dict() == frame.dtypes.to_dict()


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 999))
def test_names_types_and_constant_columns_change_nothing(people, seed):
    frame = people(seed, 60)
    method = Reconstruction(k=4, **QUICK)
    plain = method.anonymize(frame, seed=1, **GIVEN).data
    renamed = method.anonymize(frame.set_axis([f"r{i}" for i in range(60)]), seed=1, **GIVEN).data
    coded = method.anonymize(frame.astype({"job": "category", "sick": "category"}), seed=1, **GIVEN)
    framed = frame.assign(same="x", one=1.0)[["same", *frame.columns, "one"]]
    roles = GIVEN | {"quasi_identifiers": ["same", *QUASI, "one"]}
    constant = method.anonymize(framed, seed=1, **roles).data.drop(columns=["same", "one"])
    pd.testing.assert_frame_equal(renamed, plain)
    assert coded.data.astype(object).where(coded.data.notna(), None).to_numpy().tolist() == (
        plain.astype(object).where(plain.notna(), None).to_numpy().tolist()
    )
    order = [*QUASI, "kept", "sick"]
    pd.testing.assert_frame_equal(
        constant.sort_values(order, ignore_index=True), plain.sort_values(order, ignore_index=True)
    )


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(seed=st.integers(0, 999), k=st.integers(2, 6), n=st.integers(6, 70))
def test_the_papers_release_has_k_copies_and_says_whose(people, seed, k, n):
    frame = people(seed, n)
    with pytest.warns(UserWarning, match="not k-anonymous"):
        release = Reconstruction(k=k, mode="paper", **QUICK).anonymize(frame, seed=2, **GIVEN)
    shown = release.data.fillna({"age": -1, "job": "?"})
    assert shown.groupby(QUASI).size().min() >= k
    assert len(shown) == n
    assert release.counts["source_people"] == n // k
    assert release.counts["copies"] == n // (n // k)
    # Each source's rows keep its own class and other columns.
    table = rows_of(release)
    sources = table.column(SOURCE).to_numpy()
    assert table.column("sick").to_pylist() == frame["sick"].iloc[sources].tolist()
    assert table.column("kept").to_pylist() == frame["kept"].iloc[sources].tolist()
    counts = np.unique(sources, return_counts=True)[1]
    assert set(counts.tolist()) <= {n // (n // k), n // (n // k) + 1}


def test_the_papers_mode_never_promises_people():
    method = Reconstruction(mode="paper", k=5)
    assert dict(method.default_promises()).keys() == {"copies"}
    assert method.replicates
    assert not Reconstruction().replicates
    assert set(Reconstruction(l=2, t=0.5).default_promises()) == {
        "k_anonymity",
        "l_diversity",
        "t_closeness",
    }


def test_copies_are_no_people(people):
    with pytest.raises(SpecError, match="copies single people's records"):
        Reconstruction(mode="paper").anonymize(
            people(1, 40), promises={"k_anonymity": {"k": 10}}, seed=1, **GIVEN
        )
    with pytest.raises(SpecError, match=r"method\.l: mode paper can't keep it"):
        Reconstruction(mode="paper", l=2).anonymize(people(1, 40), seed=1, **GIVEN)


@pytest.mark.parametrize("t", [0.0, 0.15])
def test_t_holds_in_every_class(people, t):
    shown = Reconstruction(k=3, t=t, **QUICK).anonymize(people(2, 80), seed=1, **GIVEN).data
    whole = (shown["sick"] == "yes").mean()
    groups = shown.fillna({"age": -1, "job": "?"}).groupby(QUASI)["sick"]
    assert (groups.agg(lambda own: (own == "yes").mean()) - whole).abs().max() <= t + 1e-12


def test_subjects_are_counted_not_rows(people, dataset_of, context):
    frame = people(3, 90).assign(person=np.arange(90) // 3)
    dataset = dataset_of(frame, person=Role.SUBJECT)
    table = rows_of(released(dataset, context(), k=5))
    person = frame["person"].to_numpy()[table.column(SOURCE).to_numpy()]
    shown = table.select(QUASI).to_pandas().fillna({"age": -1, "job": "?"}).assign(person=person)
    assert shown.groupby(QUASI)["person"].nunique().min() >= 5
    assert "person" not in table.column_names


@pytest.mark.parametrize(
    ("parameters", "change", "message"),
    [
        ({"k": 41}, {}, "the largest k that works is 40"),
        ({"k": 5, "l": 2}, {"sick": "no"}, "has 1 different value; no l works"),
        ({"k": 5, "l": 3}, {}, "the largest l that works is 2"),
        ({"k": 41, "mode": "paper"}, {}, "the largest k that works is 40"),
    ],
)
def test_the_impossible_is_refused_with_what_works(people, parameters, change, message):
    with pytest.raises(InfeasibleError, match=message):
        Reconstruction(**parameters).anonymize(people(1, 40).assign(**change), seed=1, **GIVEN)


def test_settings_that_mask_nothing_are_refused(people):
    with pytest.raises(SpecError, match="expected at least 2"):
        Reconstruction(k=5, group_size=1).anonymize(people(1, 40), seed=1, **GIVEN)
    for k in (1, 0, -3):
        with pytest.raises(SpecError, match="expected 2 or more"):
            Reconstruction(k=k)


@pytest.mark.parametrize("missing", ["sensitive", "quasi_identifiers"])
def test_a_table_without_class_or_quasi_identifier_is_refused(people, missing):
    frame = people(1, 40)
    roles = GIVEN | {missing: [], "insensitive": ["kept", *GIVEN[missing]]}
    roles["confirm_unique"] = roles["insensitive"]
    with pytest.raises(SpecError, match="at least one"):
        Reconstruction(k=5).anonymize(frame, seed=1, **roles)


@pytest.mark.parametrize("mode", ["strict", "paper"])
@pytest.mark.parametrize(
    "parameters",
    [
        {"numeric": "median", "fitness": "hits"},
        {"fitness": "accuracy", "neighbors": 15},
        {"fitness": "balanced_accuracy", "cuts": "range"},
        {"fitness": "macro_f1", "stratify": False},
        {"group_size": 6, "neighbors": 3},
        {"generations": 0},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:reconstruction, mode paper")
def test_every_setting_keeps_the_promise(people, mode, parameters):
    method = Reconstruction(mode=mode, k=4, **(QUICK | parameters))
    release = method.anonymize(people(4, 60), seed=1, **GIVEN)
    assert len(release.data) == 60


@pytest.mark.parametrize("mode", ["strict", "paper"])
@pytest.mark.parametrize("sensitive", [["pay"], ["sick", "pay"], ["sick", "town"]], ids=str)
@pytest.mark.filterwarnings("ignore:reconstruction, mode paper")
def test_numbers_and_compounds_can_be_confidential(people, mode, sensitive):
    frame = people(5, 70)
    frame["pay"] = frame["age"].fillna(40) * 10 + np.arange(70) % 7
    frame.loc[3, "pay"] = None
    others = [name for name in ("sick", "pay", "kept") if name not in sensitive]
    known = [name for name in QUASI if name not in sensitive]
    release = Reconstruction(mode=mode, k=5, **QUICK).anonymize(
        frame,
        quasi_identifiers=known,
        sensitive=sensitive,
        insensitive=others,
        confirm_unique=others,
        seed=1,
    )
    assert len(release.data) == 70


def test_equal_records_stay_one_class_and_unique_tuples_are_avoided(people, dataset_of, context):
    frame = pd.concat([people(6, 1)] * 30 + [people(7, 60)], ignore_index=True)
    release = released(dataset_of(frame), context(), k=3, generations=10)
    originals = frame.fillna({"age": -1, "job": "?"}).groupby(QUASI).size()
    unique = set(originals[originals == 1].index)
    shown = rows_of(release).to_pandas().fillna({"age": -1, "job": "?"})
    tuples = set(map(tuple, shown[QUASI].drop_duplicates().to_numpy()))
    assert len(tuples & unique) <= release.counts["exact_tuple"]


def test_the_fold_that_stops_is_reported_beside_the_other(people, dataset_of, context):
    release = released(dataset_of(people(8, 300)), context(), k=5, generations=20)
    told = release.private
    assert told["figure_search_fold"] >= told["figure_at_first_search_fold"]
    assert told["figure_stop_fold"] >= told["figure_at_first_stop_fold"]
    assert 0 <= told["chosen_generation"] <= told["generations"] <= 20


def test_an_interrupted_search_goes_on_bit_for_bit(people, dataset_of, context):
    dataset, scratch = dataset_of(people(9, 120)), MemoryScratch()
    whole = released(dataset, context(), k=4, generations=9, patience=50)

    class Broken(MemoryScratch):
        def write(self, name, table):
            if name.endswith("search-6"):
                raise KeyboardInterrupt
            return scratch.write(name, table)

        def find(self, name):
            return scratch.find(name)

    with pytest.raises(KeyboardInterrupt):
        released(
            dataset,
            context(scratch=Broken(), checkpoint_every=2),
            k=4,
            generations=9,
            patience=50,
        )
    resumed = released(
        dataset, context(scratch=scratch, checkpoint_every=2), k=4, generations=9, patience=50
    )
    assert scratch.find("reconstruction-search-4") is not None
    assert rows_of(resumed).equals(rows_of(whole))
    assert resumed.private == whole.private


@pytest.mark.parametrize("mode", ["strict", "paper"])
def test_cuts_into_blocks_and_partitions_change_no_byte(people, dataset_of, context, mode):
    frame = people(10, 100)
    one = released(dataset_of(frame), context(blocks=1), k=4, mode=mode)
    many = released(dataset_of(frame, pieces=7), context(blocks=5), k=4, mode=mode)
    assert rows_of(one).equals(rows_of(many))
    assert one.private == many.private


def test_another_seed_gives_another_release(people, dataset_of, context):
    dataset = dataset_of(people(11, 100))
    first, second = (rows_of(released(dataset, context(seed), k=4)) for seed in (1, 2))
    assert not first.equals(second)


@pytest.mark.ray
@pytest.mark.parametrize(("mode", "workers"), [("strict", 4), ("strict", 1), ("paper", 2)])
def test_workers_give_the_same_bytes(people, dataset_of, context, ray_address, mode, workers):
    from distanon.runtime import crew
    from distanon.runtime.settings import RuntimeSettings

    dataset = dataset_of(people(12, 200))
    serial = released(dataset, context(), k=4, mode=mode)
    with crew(RuntimeSettings(address=ray_address, workers=workers)) as spread:
        other = released(dataset, context(crew=spread), k=4, mode=mode)
    assert rows_of(other).equals(rows_of(serial))
    assert other.private == serial.private


def test_it_is_offered_by_the_package():
    assert da.Reconstruction is Reconstruction
    assert isinstance(Reconstruction(k=3).default_promises()["k_anonymity"], KAnonymity)


def test_records_find_their_groups_again_by_what_is_kept_of_the_fit(people, dataset_of, context):
    dataset = dataset_of(people(13, 90))
    release = released(dataset, context(), k=4)
    fitted = Fitted.of(release.fitted, dataset.schema)
    located = fitted.locate(dataset.read(QUASI))
    shown = fitted.cells.select(QUASI).take(pa.array(located.groups))
    assert shown.to_pylist() == rows_of(release).select(QUASI).to_pylist()
