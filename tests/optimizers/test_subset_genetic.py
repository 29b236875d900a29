"""Subsets of a fixed size: what both parents hold stays, and every stratum keeps its share."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from distanon.optimizers.population import Individual, founded, set_bits
from distanon.optimizers.subset_genetic import SubsetGenetic

STRATA = np.repeat([0, 1, 2], [40, 25, 12]).astype(np.uint16)
SIZES = np.array([8, 5, 12])


def sizes_of(genome):
    return np.bincount(STRATA[set_bits(genome)], minlength=3).tolist()


@given(st.integers(0, 2**31), st.sampled_from([0.0, 0.02, 0.5, 1.0]))
def test_children_have_as_many_of_each_stratum(seed, mutation):
    optimizer = SubsetGenetic(77, 3, mutation, 1, STRATA, SIZES)
    random = np.random.default_rng(seed)
    parents = [Individual(optimizer.random(random), (0.0,)) for _ in range(2)]
    child = optimizer.propose(parents, parents[0], 1.0, random)
    assert sizes_of(parents[0].genome) == sizes_of(child) == SIZES.tolist()


@given(st.integers(0, 2**31))
def test_without_mutation_a_child_lies_between_its_parents(seed):
    optimizer = SubsetGenetic(77, 3, 0.0, 1, None, np.array([20]))
    random = np.random.default_rng(seed)
    first, second = (Individual(optimizer.random(random), (0.0,)) for _ in range(2))
    child = set(set_bits(optimizer.propose((first, second), first, 1.0, random)))
    ours, theirs = set(set_bits(first.genome)), set(set_bits(second.genome))
    assert ours & theirs <= child <= ours | theirs
    assert len(child) == 20


def test_mutation_replaces_its_share_of_the_members():
    optimizer = SubsetGenetic(10_000, 3, 0.02, 1, None, np.array([5_000]))
    random = np.random.default_rng(1)
    parent = Individual(optimizer.random(random), (0.0,))
    child = optimizer.propose((parent, parent), parent, 1.0, random)
    left = len(set(set_bits(parent.genome)) - set(set_bits(child)))
    assert 60 < left < 140


def test_the_search_finds_what_it_is_told_to_and_never_loses_it():
    optimizer = SubsetGenetic(77, 3, 0.05, 1, STRATA, SIZES)

    def evaluated(genome):
        return Individual(genome, (float(np.sum(set_bits(genome))),))

    random = np.random.default_rng(5)
    population = founded([evaluated(optimizer.random(random)) for _ in range(12)])
    course = []
    for turn in range(60):
        results = []
        for place, member in enumerate(population.members):
            own = np.random.default_rng([turn, place])
            guides = optimizer.guides(population, place, own)
            results.append(evaluated(optimizer.propose(guides, member, 1.0, own)))
        population = optimizer.select(population, results)
        course.append(population.leaders[0].fitness[0])
        assert min(one.fitness[0] for one in population.members) == course[-1]
    assert course == sorted(course, reverse=True)
    least = sum(range(8)) + sum(range(40, 45)) + sum(range(65, 77))
    assert course[-1] <= least + 20
