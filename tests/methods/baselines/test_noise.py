from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import kstest

from distanon.data.schema import AttributeType
from distanon.data.streams import Streams
from distanon.errors import InfeasibleError, SpecError
from distanon.methods.baselines.noise import Noise, directions
from distanon.methods.baselines.whole_table import WholeTable
from distanon.runtime.crew import SerialCrew
from distanon.utility import information_loss, neighborhoods


@pytest.fixture
def mixed(make):
    generator = np.random.default_rng(2)
    return make.dataset(
        {
            "a": np.round(generator.normal(size=300), 2),
            "b": pa.array(generator.integers(0, 100, 300), pa.uint8()),
            "rank": pa.array(generator.integers(1, 8, 300)),
            "text": [f"t{i}" for i in generator.integers(0, 3, 300)],
            "gap": pa.array([None if i % 7 == 0 else float(i) for i in range(300)]),
            "constant": [3.0] * 300,
        },
        rank={"type": AttributeType.ORDINAL},
    )


def test_directions_are_normal_and_of_unit_mean_square(make):
    generator = np.random.default_rng(2)
    dataset = make.dataset({"a": generator.random(4000), "b": generator.random(4000)})
    drawn = directions(WholeTable.read(dataset), Streams(1))
    assert np.square(drawn).sum(axis=1).mean() == pytest.approx(1.0, abs=0.05)
    assert kstest(drawn.ravel() * np.sqrt(2), "norm").pvalue > 0.001
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 0.06


@pytest.mark.parametrize("settings", [{}, {"domain": "free", "decimals": "full"}])
@pytest.mark.parametrize("rms", [0.02, 0.3])
def test_the_release_is_displaced_by_the_rms_that_was_asked_for(make, mixed, settings, rms):
    evidence = make.evidence(Noise(rms=rms, **settings), mixed)
    # Ranks move by whole steps, so that small sizes are met roughly.
    assert information_loss.displacement_rms(evidence) == pytest.approx(rms, rel=0.05)


def test_what_can_not_move_stays(make, mixed):
    table, release = make.released(Noise(rms=0.2), mixed)
    original = mixed.read()
    assert table.schema.types == original.schema.types
    assert table.column("text").equals(original.column("text"))
    assert table.column("constant").equals(original.column("constant"))
    assert table.column("gap").is_null().equals(original.column("gap").is_null())
    assert set(table.column("rank").to_pylist()) <= set(range(1, 8))
    assert not table.column("rank").equals(original.column("rank"))
    assert release.counts["columns_kept"] == 2


def test_the_domain_holds_and_free_leaves_it(make, mixed):
    inside = make.released(Noise(rms=0.8), mixed)[0].column("b").to_numpy()
    assert inside.min() >= 0
    assert inside.max() <= 100
    table, _ = make.released(Noise(rms=0.8, domain="free"), mixed)
    free = table.column("b").to_numpy()
    assert table.schema.field("b").type == pa.float64()
    assert free.min() < 0


def test_the_stability_asked_for_is_reached(make):
    generator = np.random.default_rng(4)
    dataset = make.dataset({name: generator.random(400) for name in "abc"})
    evidence = make.evidence(Noise(stability=0.6, k=5), dataset)
    owner = neighborhoods.measure(evidence, crew=SerialCrew(), streams=Streams(1), k=5)[0]
    assert owner.value == pytest.approx(0.6, abs=0.01)


def test_a_record_has_the_same_noise_in_any_partition(make, mixed):
    first = make.released(Noise(rms=0.1), mixed)[0]
    assert make.released(
        Noise(rms=0.1), make.dataset(mixed.read(), pieces=7, rank={"type": AttributeType.ORDINAL})
    )[0].equals(first)
    assert not make.released(Noise(rms=0.1), mixed, seed=8)[0].equals(first)


def test_a_size_is_needed_once(make, mixed):
    with pytest.raises(SpecError, match="rms or stability"):
        Noise(rms=0.1, stability=0.5)
    with pytest.raises(SpecError, match=r"method\.rms.* or set stability: 0\.9"):
        Noise().check(mixed, {})
    matched = Noise().matched(0.25)
    assert (matched.rms, matched.name) == (0.25, "noise")
    matched.check(mixed, {})


def test_what_can_not_work_is_refused(make):
    with pytest.raises(SpecError, match="has none"):
        Noise(rms=0.1).check(make.dataset({"t": ["x", "y"]}), {})
    with pytest.raises(InfeasibleError, match="nothing to scale"):
        Noise(rms=0.1).release(make.dataset({"a": [1.0, 1.0]}), {}, make.context())
    with pytest.raises(InfeasibleError, match="largest k that works is 3"):
        Noise(stability=0.5).check(make.dataset({"a": np.arange(5.0)}), {})
    bounded = make.dataset({"a": np.arange(20.0)})
    with pytest.raises(InfeasibleError, match="largest that works is 0") as refused:
        Noise(rms=50.0).release(bounded, {}, make.context())
    works = float(str(refused.value).rsplit(" ", 1)[1])
    assert Noise(rms=works).release(bounded, {}, make.context()).pieces
