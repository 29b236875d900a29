import datetime as dt

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from distanon.data.schema import Role
from distanon.data.table import MemoryScratch
from distanon.errors import InfeasibleError, SpecError
from distanon.kernels.neighbors import NeighborIndex, distinct
from distanon.methods.dptpe import DPTPE
from distanon.promises.unchanged import Unchanged

PAPER = {"ties": "truncate", "rsn": "paper", "domain": "free", "decimals": "full"} | {
    "on_unchanged": "keep"
}
FEW = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def unchanged(case):
    same = (case.original == case.released) | (np.isnan(case.original) & np.isnan(case.released))
    return same.all(axis=1)


# ------------------------------------------------------------------ what is refused


def test_the_defaults_are_those_of_the_documentation():
    method = DPTPE(k=10)
    assert (method.t, method.sigma, method.scale, method.ties) == (1.0, "auto", "range", "include")
    assert (method.rule, method.rsn, method.rsn_nominal) == ("dispersed", "sphere", 0.2)
    assert (method.domain, method.decimals, method.on_unchanged) == (
        "clip",
        "grid",
        "neighbors_mean",
    )
    assert method.default_promises() == {"unchanged": Unchanged(at_most=0)}
    assert DPTPE(on_unchanged="keep").default_promises() == {}


@pytest.mark.parametrize(
    "options", [{"k": 0}, {"t": 0}, {"sigma": -1}, {"rsn_nominal": 1.5}, {"kk": 3}, {"rule": "x"}]
)
def test_settings_out_of_range_are_refused(options):
    with pytest.raises(SpecError):
        DPTPE(**options)


def test_too_few_records_are_refused_with_the_largest_k_that_works(make):
    with pytest.raises(InfeasibleError, match="largest k that works is 4"):
        DPTPE(k=5).check(make.dataset({"x": list(range(6))}), {})
    DPTPE(k=4).check(make.dataset({"x": list(range(6))}), {})
    with pytest.raises(InfeasibleError, match="no k works"):
        DPTPE(k=1).check(make.dataset({"x": [1, 2]}), {})


def test_a_table_without_quasi_identifiers_is_refused(make):
    data = make.dataset({"x": [1, 2, 3, 4]}, x={"role": Role.SENSITIVE})
    with pytest.raises(SpecError, match="quasi_identifier"):
        DPTPE(k=1).check(data, {})


def test_equal_records_are_refused_when_change_is_promised_and_released_when_not(make):
    data = make.dataset({"x": [5] * 9, "y": ["a"] * 9})
    promised = {"unchanged": Unchanged(at_most=0)}
    with pytest.raises(InfeasibleError, match=r"promises\.unchanged"):
        make.release(data, promised, k=3)
    assert make.release(data, {}, k=3).counts["unchanged"] == 9
    assert make.release(data, {"unchanged": Unchanged(at_most=1)}, k=3).counts["unchanged"] == 9


def test_records_that_nothing_inside_the_domain_can_change_are_refused(make):
    data = make.dataset({"x": [0] * 20 + [1]})
    with pytest.raises(InfeasibleError, match="domain_bounds"):
        make.release(data, {"unchanged": Unchanged()}, k=3)
    assert (
        make.release(data, {"unchanged": Unchanged()}, k=3, domain="free").counts["unchanged"] == 0
    )
    assert make.release(data, k=3).counts["unchanged"] == 20


def test_a_displacement_that_no_record_lies_at_is_refused(make):
    data = make.dataset({"x": list(range(20))})
    with pytest.raises(InfeasibleError, match="min_displacement"):
        make.release(data, k=3, min_displacement=5.0)


# ------------------------------------------------------------------ what is promised


@FEW
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["sphere", "paper", "ball"]),
    st.sampled_from(["include", "truncate"]),
    st.sampled_from(["dispersed", "reversed", "random", "krad"]),
    st.sampled_from(["clip", "reflect", "free"]),
    st.sampled_from(["range", "zscore"]),
)
def test_no_record_is_unchanged_by_default(make, seed, rsn, ties, rule, domain, scale):
    options = {"rsn": rsn, "ties": ties, "rule": rule, "domain": domain, "scale": scale}
    case = make.release(make.dataset(make.mixed(60, seed)), k=4, seed=seed, **options)
    assert not unchanged(case).any()
    assert case.counts["unchanged"] == 0


@FEW
@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.4))
def test_every_record_is_as_far_from_its_source_as_asked(make, seed, least):
    data = make.dataset(make.mixed(60, seed))
    case = make.release(data, k=4, seed=seed, min_displacement=least)
    before, after = case.space.embed(case.original), case.space.embed(case.released)
    gap = after - before
    gap = np.where(np.isnan(gap), np.isnan(before) ^ np.isnan(after), gap)
    assert (np.sqrt((gap**2).sum(axis=1)) >= least * (1 - 1e-6)).all()


@FEW
@given(st.integers(0, 2**32 - 1), st.sampled_from(["clip", "reflect"]))
def test_numbers_stay_on_their_grid_and_inside_the_kth_extremes(make, seed, domain):
    case = make.release(make.dataset(make.mixed(60, seed)), k=4, domain=domain)
    income, age = case.released[:, 1], case.released[:, 0]
    np.testing.assert_array_equal(np.round(income, 2), income)
    np.testing.assert_array_equal(np.rint(age), age)
    present = np.sort(case.original[:, 1][~np.isnan(case.original[:, 1])])
    assert np.nanmin(income) > present[3] - 1000  # two digits of a five-digit number
    assert np.nanmax(income) < present[-4] + 1000


@FEW
@given(st.integers(0, 2**32 - 1), st.sampled_from(["include", "truncate"]))
def test_compact_records_stay_inside_their_gap_and_dispersed_ones_land_on_the_mean(
    make, seed, ties
):
    generator = np.random.default_rng(seed)
    matrix = generator.random((50, 3)).round(2)
    data = make.dataset({name: matrix[:, i] for i, name in enumerate("xyz")})
    case = make.release(data, k=5, seed=seed, **PAPER | {"ties": ties})
    points = distinct(case.space.embed(case.original))
    near = NeighborIndex.build(points).neighborhoods(0, len(points), 5, ties)
    reach = (0.5 * (near.next_distance - near.radius))[points.point_of]
    values = case.original[points.records[points.starts[:-1]]]
    shift = case.space.embed(np.zeros((1, 3)))
    moved = np.sqrt(((case.space.embed(case.released - case.original) - shift) ** 2).sum(axis=1))
    means = np.array(
        [
            np.average(values[near.points[low:high]], axis=0, weights=near.weights[low:high])
            for low, high in zip(near.starts, near.starts[1:], strict=False)
        ]
    )[points.point_of]
    at_mean = np.isclose(case.released, means, rtol=1e-12, atol=1e-12).all(axis=1)
    assert at_mean.sum() >= case.counts["given_neighbors_mean"]
    assert (moved[~at_mean] <= reach[~at_mean] * (1 + 1e-9)).all()
    assert (~at_mean).sum() <= case.counts["compact"]


@FEW
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.25, 8.0, 1024.0]))
def test_the_unit_of_a_column_changes_nothing_but_the_unit(make, seed, factor):
    matrix = np.random.default_rng(seed).integers(0, 50, (40, 2)) / 8
    options = PAPER | {"rsn": "sphere", "ties": "include"}
    one = make.release(make.dataset({"x": matrix[:, 0], "y": matrix[:, 1]}), k=4, **options)
    other = make.release(
        make.dataset({"x": matrix[:, 0] * factor, "y": matrix[:, 1]}), k=4, **options
    )
    assert (other.released == one.released * [factor, 1]).all()
    assert other.counts == one.counts


@FEW
@given(st.integers(0, 2**32 - 1))
def test_the_order_of_the_records_changes_neither_kinds_nor_means(make, seed):
    generator = np.random.default_rng(seed)
    matrix = generator.integers(0, 6, (60, 2)).astype(float)
    order = generator.permutation(60)
    options = PAPER | {"ties": "include"}
    one = make.release(
        make.dataset({"x": matrix[:, 0], "y": matrix[:, 1]}), k=4, sigma=0.3, **options
    )
    shuffled = matrix[order]
    other = make.release(
        make.dataset({"x": shuffled[:, 0], "y": shuffled[:, 1]}), k=4, sigma=0.3, **options
    )
    for name in ("dispersed", "compact", "given_neighbors_mean"):
        assert one.counts[name] == other.counts[name]


# ------------------------------------------------------------------ the same bytes


def test_blocks_and_partitions_change_no_byte(make):
    table = make.mixed(90, 4)
    options = {"k": 4, "rsn_nominal": 0.5, "min_displacement": 0.05}
    whole = make.release(make.dataset(table, 1), blocks=1, **options)
    for pieces, blocks in ((7, 2), (64, 13), (90, 200)):
        cut = make.release(make.dataset(table, pieces), blocks=blocks, **options)
        assert cut.table.equals(whole.table)
        assert cut.counts == whole.counts
        assert cut.made.private == whole.made.private
    other = make.release(make.dataset(table, 1), seed=8, **options)
    assert not other.table.equals(whole.table)


class Failing(MemoryScratch):
    """A scratch whose writer dies at its n-th table, and which remembers the others."""

    def __init__(self, at):
        super().__init__()
        self.left, self.written = at, []

    def write(self, name, table):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        self.written.append(name)
        return super().write(name, table)


@pytest.mark.parametrize("at", [1, 3, 5, 8, 11])
def test_a_resumed_release_is_the_same_and_makes_only_what_is_missing(make, at):
    data = make.dataset(make.mixed(90, 4), 5)
    whole = make.release(data, k=4)
    scratch = Failing(at)
    with pytest.raises(KeyboardInterrupt):
        make.release(data, k=4, scratch=scratch)
    before = list(scratch.written)
    resumed = make.release(data, k=4, scratch=scratch)
    assert resumed.table.equals(whole.table)
    assert resumed.counts == whole.counts
    assert len(set(scratch.written)) == 3 + 2 * 5
    again = set(scratch.written[len(before) :]) & set(before)
    assert len(again) <= 1  # the counts of the piece that was being written


# ------------------------------------------------------------------ edges


@pytest.mark.parametrize("ties", ["include", "truncate"])
@pytest.mark.parametrize(
    "columns",
    [
        {"x": [1, 2, 4, 8, 16]},
        {"x": [1, 1, 1, 2, 2]},
        {"x": [1.5, None, 2.5, None, 9.0]},
        {"x": ["a", "b", "a", "b", "c"]},
        {"x": [True, False, None, True, False]},
        {"x": [1, 2, 3, 4, 5], "c": [7, 7, 7, 7, 7], "e": pa.nulls(5, pa.float64())},
    ],
    ids=["one column", "duplicates", "missing", "nominal", "binary", "constant and empty"],
)
def test_k_plus_2_records_of_few_values_are_released_without_one_unchanged(make, ties, columns):
    case = make.release(make.dataset(columns), k=3, ties=ties)
    assert case.table.num_rows == 5
    assert not unchanged(case).any()


def test_many_copies_of_few_values_all_change(make):
    case = make.release(make.dataset({"x": [1] * 300 + [2] * 200 + [9] * 100}), k=5)
    assert not unchanged(case).any()
    replaced = case.counts["replaced_by_nearest_differing"]
    assert replaced == case.counts["unchanged_before_fallback"] >= 500


def test_column_types_stay_and_open_domains_make_integers_floats(make):
    table = make.mixed(60)
    kept = make.release(make.dataset(table), k=4)
    assert kept.table.schema.types[:-1] == table.schema.types
    assert [a.arrow_type for a in kept.made.schema] == table.schema.types
    for options in ({"decimals": "full"}, {"domain": "free"}):
        wide = make.release(make.dataset(table), k=4, **options)
        types = dict(zip(wide.table.schema.names, wide.table.schema.types, strict=True))
        assert [types[name] for name in ("age", "grade", "constant")] == [pa.float64()] * 3
        assert wide.made.schema["age"].arrow_type == pa.float64()
        assert types["job"] == pa.string()


def test_dates_stay_dates_and_small_integers_inside_their_type(make):
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=int(d)) for d in (3 * np.arange(30)) % 41]
    codes = pa.array((np.arange(30) * 9) % 128, pa.int8())
    for options in ({}, {"decimals": "full"}, {"domain": "free"}):
        case = make.release(make.dataset({"day": days, "code": codes}), k=3, **options)
        assert case.table.schema.field("day").type == pa.date32()
        assert not unchanged(case).any()


def test_domain_bounds_top_code_and_decimals_of_a_column_hold(make):
    values = np.random.default_rng(0).normal(50, 30, 60).round(3)
    bounded = {"domain_bounds": (20.0, 80.0), "decimals": 1}
    case = make.release(make.dataset({"x": values}, x=bounded), k=4)
    x = case.table.column("x").to_numpy()
    assert x.min() >= 20
    assert x.max() <= 80
    np.testing.assert_array_equal(np.round(x, 1), x)
    top = make.release(make.dataset({"x": values}, x={"top_code": 70.0}), k=4, domain="free")
    assert top.table.column("x").to_numpy().max() <= 70


def test_bounds_between_two_grid_points_are_refused(make):
    with pytest.raises(SpecError, match="domain_bounds"):
        make.release(make.dataset({"x": [1, 2, 3, 4]}, x={"domain_bounds": (1.2, 1.8)}), k=1)


def test_a_swap_chance_of_0_keeps_the_nominal_values_of_compact_records_and_says_so(make):
    data = make.dataset(make.mixed(80))
    kept = make.release(data, k=4, rsn_nominal=0)
    assert any("rsn_nominal: 0" in note for note in kept.notes)
    swapped = make.release(data, k=4, rsn_nominal=1)
    assert kept.counts["kept_nominal"] > swapped.counts["kept_nominal"]
    assert not any("rsn_nominal" in note for note in swapped.notes)


def test_a_mean_that_one_record_dominates_is_noted(make):
    columns = {"x": [0] * 5 + [137] + [0] * 5 + [1371], "y": list(range(12))}
    case = make.release(make.dataset(columns), k=4)
    assert any("over half" in note for note in case.notes)
    assert not any("137" in note for note in case.notes)


def test_keeping_unchanged_records_beside_the_promise_is_noted(make):
    data = make.dataset({"x": [1, 2, 3, 4, 5, 6]})
    case = make.release(data, {"unchanged": Unchanged()}, k=2, on_unchanged="keep")
    assert any("on_unchanged: keep" in note for note in case.notes)


def test_a_planted_value_is_in_no_note_error_or_public_count(make):
    values = [1.0] * 12 + [987654.125]
    case = make.release(make.dataset({"x": values, "y": list(range(13))}), k=3)
    said = str(case.notes) + str(dict(case.counts)) + case.bytes
    assert "987654" not in said
    with pytest.raises(InfeasibleError) as refused:
        make.release(make.dataset({"x": values}), {"unchanged": Unchanged()}, k=3)
    assert "987654" not in str(refused.value)


# ------------------------------------------------------------------ independent figures


def neighbor_records(points_of, k=10):
    index = NeighborIndex.build(distinct(points_of))
    found = index.neighborhoods(0, len(index.points), k, "truncate")
    n = len(points_of)
    records = found.record_lists(index.points, index.points.point_of, np.arange(n))[1]
    return records.reshape(n, k) + np.arange(n)[:, None] * n, index


def reference(make, table, **options):
    case = make.release(make.dataset(table), k=10, **PAPER | options)
    before, index = neighbor_records(case.space.embed(case.original))
    owner = case.space.embed(case.released)
    spread = np.ptp(case.released, axis=0)
    spread[spread == 0] = 1
    nearest = index.nearest(owner, 1, "include")
    rows = np.repeat(np.arange(len(owner)), np.diff(nearest.starts))
    hits = nearest.points == index.points.point_of[rows]
    return {
        "owner": np.isin(neighbor_records(owner)[0], before).mean(),
        "analyst": np.isin(neighbor_records(case.released / spread)[0], before).mean(),
        "linked": (hits / nearest.sizes()[rows]).sum() / len(owner),
        "unchanged": unchanged(case).mean(),
        "outside": case.counts["out_of_domain_before"] / len(owner),
        "sigma": case.made.private["sigma"],
    }


@pytest.fixture
def forest_fires(data_folder):
    path = data_folder / "tables" / "forestfires.csv"
    return lambda *dropped: pyarrow.csv.read_csv(path).drop_columns(["month", "day", *dropped])


@pytest.fixture
def poker(data_folder):
    return pq.read_table(data_folder / "tables" / "poker_25010.parquet").drop_columns(["class"])


@pytest.fixture
def magic(data_folder):
    return pq.read_table(data_folder / "tables" / "magic.parquet").drop_columns(["class"])


def test_forest_fires_reproduces_the_independent_figures(make, forest_fires):
    found = reference(make, forest_fires())
    assert found["owner"] == pytest.approx(0.723, abs=0.01)
    assert found["analyst"] == pytest.approx(0.725, abs=0.01)
    assert found["linked"] == pytest.approx(0.79, abs=0.01)
    assert 0.34 <= found["outside"] <= 0.42
    assert found["sigma"] == pytest.approx(0.236, abs=0.015)  # found there on a coarse grid


def test_forest_fires_without_area_reproduces_the_independent_figures(make, forest_fires):
    found = reference(make, forest_fires("area"))
    assert found["owner"] == pytest.approx(0.728, abs=0.01)
    assert found["linked"] == pytest.approx(0.766, abs=0.01)
    assert found["unchanged"] == pytest.approx(0.016, abs=0.005)


def test_giving_the_mean_to_the_densest_records_keeps_more_neighborhoods(make, forest_fires):
    found = reference(make, forest_fires(), rule="krad")
    assert found["owner"] == pytest.approx(0.799, abs=0.01)


@pytest.mark.slow
def test_magic_and_poker_reproduce_the_independent_figures(make, magic, poker):
    found = reference(make, magic)
    assert found["owner"] == pytest.approx(0.712, abs=0.01)
    assert found["analyst"] == pytest.approx(0.712, abs=0.01)
    assert found["linked"] == pytest.approx(0.87, abs=0.01)
    assert reference(make, magic, rule="krad")["owner"] == pytest.approx(0.802, abs=0.01)
    found = reference(make, poker)
    assert found["owner"] == pytest.approx(0.715, abs=0.01)
    assert found["analyst"] == pytest.approx(0.714, abs=0.01)
    assert found["linked"] == pytest.approx(0.988, abs=0.01)
    assert found["unchanged"] == pytest.approx(0.165, abs=0.005)
    assert found["outside"] == pytest.approx(0.25, abs=0.01)
