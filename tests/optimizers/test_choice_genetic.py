"""One option a group: children take their parents' options, mutants draw from the group's own."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from distanon.optimizers.choice_genetic import ChoiceGenetic, choices, written
from distanon.optimizers.population import Individual

OPTIONS = np.array([1, 2, 70_000, 5, 3])


@given(st.integers(0, 2**31), st.sampled_from([0.0, 0.3, 1.0]))
def test_every_group_takes_one_of_its_options(seed, mutation):
    optimizer = ChoiceGenetic.over(OPTIONS, 3, mutation, 1)
    random = np.random.default_rng(seed)
    parents = [Individual(optimizer.random(random), (0.0,)) for _ in range(2)]
    taken = choices(optimizer.propose(parents, parents[0], 1.0, random))
    assert taken.shape == OPTIONS.shape
    assert ((taken >= 0) & (taken < OPTIONS)).all()
    if mutation == 0.0:
        first, second = (choices(parent.genome) for parent in parents)
        assert ((taken == first) | (taken == second)).all()


@given(st.lists(st.integers(0, 2**32 - 1), max_size=9))
def test_a_genome_is_read_as_it_was_written(taken):
    assert choices(written(np.array(taken, np.int64))).tolist() == taken


def test_a_share_of_nothing_takes_the_first_options():
    genome = ChoiceGenetic.over(OPTIONS, 3, 0.1, 1).random(np.random.default_rng(0), 0.0)
    assert choices(genome).tolist() == [0] * 5
