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
    taken = choices(optimizer.propose(parents, parents[0], 1.0, random), len(OPTIONS))
    assert taken.shape == OPTIONS.shape
    assert ((taken >= 0) & (taken < OPTIONS)).all()
    if mutation == 0.0:
        first, second = (choices(parent.genome, len(OPTIONS)) for parent in parents)
        assert ((taken == first) | (taken == second)).all()


@given(
    st.sampled_from([2**8, 2**16, 2**32]).flatmap(
        lambda most: st.lists(st.integers(0, most - 1), max_size=9)
    )
)
def test_a_genome_is_read_as_it_was_written_in_words_as_short_as_can_be(taken):
    options = np.array(taken, np.int64) + 1
    genome = written(np.array(taken, np.int64), options)
    assert choices(genome, len(taken)).tolist() == taken
    most = max(taken, default=0)
    assert len(genome) == len(taken) * (1 if most < 256 else 2 if most < 2**16 else 4)


def test_a_share_of_nothing_takes_the_first_options():
    genome = ChoiceGenetic.over(OPTIONS, 3, 0.1, 1).random(np.random.default_rng(0), 0.0)
    assert choices(genome, len(OPTIONS)).tolist() == [0] * 5
