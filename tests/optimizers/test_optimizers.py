"""What holds for every optimizer; a needle-free toy problem stands in for graphs."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.optimizers.firefly import Firefly
from distanon.optimizers.genetic import Genetic
from distanon.optimizers.grey_wolf import GreyWolf
from distanon.optimizers.population import (
    Individual,
    best,
    founded,
    genome_of,
    random_genome,
    set_bits,
)
from distanon.optimizers.random_search import RandomSearch

BITS = 77
WANTED = np.flatnonzero(np.arange(BITS) % 3 == 0)

OPTIMIZERS = {
    "grey_wolf": GreyWolf(BITS),
    "grey_wolf_s": GreyWolf(BITS, "s"),
    "firefly": Firefly(BITS),
    "genetic": Genetic(BITS),
    "random": RandomSearch(BITS, 0.6),
}


def evaluated(genome):
    flags = np.unpackbits(genome)[:BITS]
    wanted = np.zeros(BITS, np.uint8)
    wanted[WANTED] = 1
    return Individual(genome, (0.0, float(np.count_nonzero(flags != wanted))))


def run(optimizer, seed, rounds=12, size=8):
    streams = np.random.SeedSequence(seed)
    start = np.random.default_rng(streams.spawn(1)[0])
    population = founded([evaluated(random_genome(BITS, 0.4, start)) for _ in range(size)])
    history = [population]
    for turn in range(rounds):
        results = []
        for place in range(size):
            generator = np.random.default_rng([seed, turn, place])
            guides = optimizer.guides(population, place, generator)
            member = population.members[place]
            genome = optimizer.propose(guides, member, (turn + 1) / rounds, generator)
            results.append(evaluated(genome))
        population = optimizer.select(population, results)
        history.append(population)
    return history


@pytest.mark.parametrize("name", OPTIMIZERS)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**20))
def test_leaders_never_get_worse(name, seed):
    history = run(OPTIMIZERS[name], seed)
    for before, after in pairwise(history):
        for old, new in zip(before.leaders, after.leaders, strict=False):
            assert new.fitness <= old.fitness
        assert after.leaders[0].fitness == min(
            one.fitness for one in (*before.leaders, *after.members, *after.leaders)
        )


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_same_stream_gives_the_same_bits_and_another_one_others(name):
    once, again, other = (run(OPTIMIZERS[name], seed)[-1] for seed in (5, 5, 6))
    assert [m.genome.tobytes() for m in once.members] == [m.genome.tobytes() for m in again.members]
    assert [m.genome.tobytes() for m in once.members] != [m.genome.tobytes() for m in other.members]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_genome_has_its_length_and_no_bit_beyond(name):
    for member in run(OPTIMIZERS[name], 3, rounds=3)[-1].members:
        assert len(member.genome) == -(-BITS // 8)
        assert set_bits(member.genome).max(initial=0) < BITS


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**20), progress=st.floats(0.01, 1.0), bits=st.integers(1, 300))
def test_a_v_shaped_step_on_an_all_zero_pack_sets_no_bit(seed, progress, bits):
    zero = Individual(genome_of(np.empty(0, np.int64), bits), (0.0, 0.0))
    genome = GreyWolf(bits).propose([zero] * 3, zero, progress, np.random.default_rng(seed))
    assert not genome.any()


def test_an_s_shaped_step_on_an_all_zero_pack_sets_its_floor():
    bits = 200_000
    zero = Individual(genome_of(np.empty(0, np.int64), bits), (0.0, 0.0))
    step = GreyWolf(bits, "s").propose([zero] * 3, zero, 0.5, np.random.default_rng(1))
    assert len(set_bits(step)) == pytest.approx(bits / (1 + np.exp(5)), rel=0.1)


def test_the_last_step_of_the_wolves_takes_every_bit_from_a_leader():
    generator = np.random.default_rng(4)
    pack = [evaluated(random_genome(BITS, 0.5, generator)) for _ in range(4)]
    genome = GreyWolf(BITS).propose(pack[:3], pack[3], 1.0, generator)
    led = np.stack([np.unpackbits(one.genome)[:BITS] for one in pack[:3]])
    step = np.unpackbits(genome)[:BITS]
    assert ((led == step).any(axis=0)).all()


@pytest.mark.parametrize("name", ["grey_wolf", "firefly", "genetic"])
def test_a_search_improves_on_its_start(name):
    history = run(OPTIMIZERS[name], 11, rounds=30)
    assert history[-1].leaders[0].fitness < history[0].leaders[0].fitness


def test_the_brightest_firefly_stays_but_for_noise():
    members = founded([evaluated(genome_of(WANTED[:n], BITS)) for n in (1, 5, 9)])
    firefly = Firefly(BITS, noise=0.0)
    assert firefly.guides(members, 2, np.random.default_rng(0)) == ()
    step = firefly.propose((), members.members[2], 0.5, np.random.default_rng(0))
    assert (step == members.members[2].genome).all()


def test_the_best_are_different_and_feasible_ones_come_first():
    genomes = [genome_of(np.array([place]), BITS) for place in range(3)]
    bad = Individual(genomes[0], (2.0, 0.0))
    good = Individual(genomes[1], (0.0, 9.0))
    copy = Individual(genomes[1], (0.0, 9.0))
    worst = Individual(genomes[2], (3.0, 0.0))
    assert best([worst, bad, good, copy]) == (good, bad, worst)


@given(places=st.sets(st.integers(0, 99)))
def test_places_survive_packing(places):
    places = np.array(sorted(places), np.int64)
    assert (set_bits(genome_of(places, 100)) == places).all()
