import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from distanon.data.domain import scan
from distanon.data.finishing import finishing
from distanon.data.space import AttributeSpace
from distanon.kernels.neighbors import NeighborIndex, distinct
from distanon.methods.dptpe.kinds import is_dispersed
from distanon.methods.dptpe.passes import Choice, Settings, survey


def surveyed(make, data, *, k=4, ties="include", sigma=0.4, swap=0.3, blocks=3, seed=7):
    space = AttributeSpace.of(data.schema.quasi_identifiers, scan(data))
    values = space.encode(data.read())
    points = distinct(space.embed(values))
    own = values[points.records[points.starts[:-1]]]
    context = make.context(seed, blocks)
    index = NeighborIndex.build(points)
    finish = finishing(space.attributes, space.domains, values, k, "clip", "grid")
    choice = Choice(finish, space, 0.0, is_asked=True)
    shared = context.crew.put(index)
    found = survey(context, index, shared, own, choice, Settings(k, ties, sigma, swap))
    return points, values, found, found.swaps


def by_point(found, name):
    """What the blocks hold of all points, in the order of their numbers."""
    parts = [getattr(kept.reference.traits, name) for kept in found.kept]
    result = np.empty_like(np.concatenate(parts))
    result[found.order] = np.concatenate(parts)
    return result


def brute_force(rows, k, ties):
    """Neighbor lists of every record, all copies as records of their own."""
    gap = rows[:, None, :] - rows[None, :, :]
    missing = np.isnan(rows)
    both, one = missing[:, None] & missing[None], missing[:, None] ^ missing[None]
    gap = np.where(both, 0.0, np.where(one, 1.0, gap))
    distances = np.sqrt((gap**2).sum(axis=2))
    for record, row in enumerate(distances):
        order = np.lexsort((np.arange(len(row)), np.round(row, 9)))
        order = order[order != record]
        radius = row[order[k - 1]]
        near = order[:k] if ties == "truncate" else order[row[order] <= radius * (1 + 1e-9) + 1e-12]
        beyond = row[order[len(near)]] if len(near) < len(order) else radius
        yield near, row[near], radius, beyond


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["include", "truncate"]))
def test_both_passes_agree_with_a_direct_computation_over_all_records(make, seed, ties):
    data = make.dataset(make.mixed(40, seed))
    points, values, traits, _ = surveyed(make, data, ties=ties)
    lists = list(brute_force(points.rows[points.point_of], 4, ties))
    entropy = []
    for _, distances, _, _ in lists:
        weights = np.exp(-((distances / 0.4) ** 2))
        weights /= weights.sum()
        entropy.append(-(weights * np.log(weights)).sum())
    entropy = np.array(entropy)
    reach, means = by_point(traits, "reach"), by_point(traits, "means")
    for record, (near, _, radius, beyond) in enumerate(lists):
        point = points.point_of[record]
        assert traits.radius[point] == pytest.approx(radius, abs=1e-9)
        expected = 0.5 * (beyond - radius)
        assert reach[point] == pytest.approx(expected, abs=1e-9)
        assert traits.dispersion[point] == pytest.approx(entropy[record] / entropy[near].mean())
        income = values[near, 1]
        present = income[~np.isnan(income)]
        if 2 * len(present) >= len(near):
            assert means[point, 1] == pytest.approx(present.mean())
        else:
            assert np.isnan(means[point, 1])


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.integers(0, 2**32 - 1))
def test_permuting_the_records_permutes_dispersion_kinds_room_and_means(make, seed):
    table = make.mixed(50, seed)
    order = np.random.default_rng(seed).permutation(50)
    one, _, first, _ = surveyed(make, make.dataset(table))
    other, _, second, _ = surveyed(make, make.dataset(table.take(order)))
    here, there = one.point_of[order], other.point_of
    for name in ("dispersion", "radius", "reach", "means"):
        before, after = by_point(first, name)[here], by_point(second, name)[there]
        np.testing.assert_allclose(after, before, rtol=1e-9, atol=1e-12)
    kinds = is_dispersed(first.dispersion, 1.0)[here]
    np.testing.assert_array_equal(is_dispersed(second.dispersion, 1.0)[there], kinds)


def test_nominal_draws_depend_on_the_record_and_not_on_blocks(make):
    data = make.dataset(make.mixed(70))
    _, _, _, swaps = surveyed(make, data, blocks=1)
    assert 0.1 < (~np.isnan(swaps)).mean() < 0.5
    for blocks in (2, 70):
        assert surveyed(make, data, blocks=blocks)[3].tobytes() == swaps.tobytes()
    assert surveyed(make, data, seed=8)[3].tobytes() != swaps.tobytes()
    assert np.isnan(surveyed(make, data, swap=0.0)[3]).all()


def test_equal_records_draw_their_categories_by_themselves(make):
    data = make.dataset({"job": ["a"] * 40 + ["b"] * 40, "x": [0] * 80})
    _, _, _, swaps = surveyed(make, data, k=60, swap=0.5)
    assert len(set(swaps[:40, 0][~np.isnan(swaps[:40, 0])])) == 2


def test_sigma_comes_from_a_seeded_sample_of_records(make, monkeypatch):
    monkeypatch.setattr("distanon.methods.dptpe.passes._SAMPLE", 80)
    x, y = np.random.default_rng(0).random((2, 250))
    data = make.dataset({"x": x, "y": y})
    chosen = [surveyed(make, data, sigma="auto", seed=seed)[2].sigma for seed in (1, 1, 2)]
    assert chosen[0] == chosen[1] != chosen[2]
    assert chosen[2] == pytest.approx(chosen[0], rel=0.5)


@pytest.mark.parametrize("ties", ["include", "truncate"])
def test_blocks_change_nothing_that_is_known_of_a_point(make, ties):
    data = make.dataset(make.mixed(300))
    whole = surveyed(make, data, ties=ties, blocks=1, sigma="auto")[2]
    for blocks in (3, 300):
        other = surveyed(make, data, ties=ties, blocks=blocks, sigma="auto")[2]
        assert other.sigma == whole.sigma
        for name in ("dispersion", "radius", "reach", "means", "dominated"):
            assert by_point(other, name).tobytes() == by_point(whole, name).tobytes()
        for name in ("dispersion", "radius", "dominated", "source"):
            assert getattr(other, name).tobytes() == getattr(whole, name).tobytes()
