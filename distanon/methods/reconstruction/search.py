"""The generations: workers make children and evaluate them, the driver selects and stops."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from distanon.data.ports import observe
from distanon.kernels.first_chosen import Questions
from distanon.methods.base import Context
from distanon.methods.reconstruction import checkpoints
from distanon.methods.reconstruction.checkpoints import State
from distanon.methods.reconstruction.problem import (
    Parents,
    Problem,
    added,
    count_shard,
    make_and_count,
    make_children,
)
from distanon.methods.reconstruction.settings import SearchSettings
from distanon.optimizers.population import Genome, Individual, Population, founded
from distanon.runtime.batches import factored
from distanon.runtime.crew import Kept, Shared

Integers = NDArray[np.int64]
_SHORT = 2  # shards of questions that a child answers in the time of two calls
Group = Sequence[Genome] | Kept


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What a search found.

    Attributes:
        genome: the best on the fold that stops, of the best of each generation.
        first: figure of the first individual, on the fold of the search and the one that stops.
        last: of the chosen genome, likewise.
        generations: how many there were.
        chosen_turn: which one the genome is of.
    """

    genome: Genome
    first: tuple[float, float]
    last: tuple[float, float]
    generations: int
    chosen_turn: int


def search(
    problem: Problem,
    stop: Questions,
    start: Sequence[Genome],
    settings: SearchSettings,
    context: Context,
) -> Found:
    """Searches from the genomes given; the best is never lost.

    Continues bit for bit from the last checkpoint that the scratch holds.

    Args:
        problem: what is solved.
        stop: the fold that stops the search and chooses.
        start: the first generation; the first one is what a search is compared with.
        settings: how long.
        context: crew, scratch, streams.
    """
    shared = context.crew.put(problem)
    state = checkpoints.latest(context.scratch, settings.generations, context.checkpoint_every)
    if state is None:
        groups = [start[span.start : span.stop] for span in _spans(len(start), context)]
        counts = _counted(problem, groups, shared, context)
        population = founded(_individuals(problem, start, counts))
        state = _judged(problem, stop, None, population)
    begun, population = state.turn, state.population
    with ThreadPoolExecutor(1) as beside:
        judging: Future[State] = beside.submit(lambda known: known, state)
        for turn in range(state.turn + 1, settings.generations + 1):
            # What is not judged yet can only prolong the search.
            if turn - state.chosen_turn > settings.patience:
                state = judging.result()
                if turn - state.chosen_turn > settings.patience:
                    break
            children, counts = _generation(problem, population, turn, shared, context)
            state = _told(judging, context)
            if begun < state.turn and state.turn % context.checkpoint_every == 0:
                checkpoints.write(context.scratch, state)
            population = problem.optimizer.select(
                population, _individuals(problem, children, counts)
            )
            judging = beside.submit(_judged, problem, stop, state, population)
        state = _told(judging, context)
    return _found(problem, stop, start[0], state)


def _told(judging: Future[State], context: Context) -> State:
    """The verdict; those who watch learn the best value so far."""
    state = judging.result()
    observe(context.progress, "objective", state.course[-1][0])
    return state


def _generation(
    problem: Problem, population: Population, turn: int, shared: Shared, context: Context
) -> tuple[list[Genome], Integers]:
    """The children of a generation with their counts.

    Questions are cut into shards only where individuals alone would keep too few workers busy.
    """
    crew, members = context.crew, len(population.members)
    parents = crew.put(Parents.of(population, turn, context.streams))
    if len(problem.shards) == 1 or 2 * crew.workers <= members:
        spans = factored(members, crew.workers, are_short=len(problem.shards) <= _SHORT)
        items = [(parents, span.start, span.stop) for span in spans]
        made = list(crew.map(make_and_count, items, shared=shared, phase="generations"))
        children = [child for genomes, _ in made for child in genomes]
        return children, np.concatenate([counts for _, counts in made])
    items = [(parents, span.start, span.stop) for span in _spans(members, context)]
    # They stay with the workers, each of whom asks them some of the questions.
    kept = list(crew.map(make_children, items, shared=shared, keep=True, phase="children"))
    counted = _counted(problem, kept, shared, context)
    return [child for one in kept for child in crew.fetch(one)], counted


def _spans(count: int, context: Context) -> list[range]:
    """Equal batches of genomes: each is counted in as many items as there are shards."""
    many = min(count, context.crew.workers)
    borders = [count * part // many for part in range(many + 1)]
    return [range(begin, end) for begin, end in pairwise(borders)]


def _counted(
    problem: Problem, groups: Sequence[Group], shared: Shared, context: Context
) -> Integers:
    """The counts of the genomes of each group, added up over the shards."""
    items = [(group, *shard) for group in groups for shard in problem.shards]
    parts = list(context.crew.map(count_shard, items, shared=shared, phase="generations"))
    step = len(problem.shards)
    return np.concatenate([added(parts[at : at + step]) for at in range(0, len(parts), step)])


def _individuals(problem: Problem, genomes: Sequence[Genome], counts: Integers) -> list[Individual]:
    losses = (problem.fitness.loss(one) for one in counts)
    return [Individual(genome, (loss,)) for genome, loss in zip(genomes, losses, strict=True)]


def _judged(
    problem: Problem, stop: Questions, before: State | None, population: Population
) -> State:
    """The next state: the best of the generation on the fold that stops."""
    leader = population.leaders[0]
    if before is not None and np.array_equal(leader.genome, before.population.leaders[0].genome):
        course = (*before.course, before.course[-1])
        turn = before.turn + 1
        return State(turn, population, before.chosen, before.chosen_turn, course)
    loss = problem.fitness.loss(problem.count(leader.genome, stop))
    if before is None:
        return State(0, population, leader.genome, 0, ((leader.fitness[0], loss),))
    turn, course = before.turn + 1, (*before.course, (leader.fitness[0], loss))
    if loss < before.chosen_loss:
        return State(turn, population, leader.genome, turn, course)
    return State(turn, population, before.chosen, before.chosen_turn, course)


def _found(problem: Problem, stop: Questions, first: Genome, state: State) -> Found:
    figures = [
        (
            problem.fitness.value(problem.count(genome, problem.questions)),
            problem.fitness.value(problem.count(genome, stop)),
        )
        for genome in (first, state.chosen)
    ]
    return Found(state.chosen, figures[0], figures[1], state.turn, state.chosen_turn)
