"""The generations: workers make children and evaluate them, the driver selects and stops."""

from __future__ import annotations

from collections.abc import Sequence
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
    Batch,
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
    for turn in range(state.turn + 1, settings.generations + 1):
        if turn - state.chosen_turn > settings.patience:
            break
        children, counts = _generation(problem, state.population, turn, shared, context)
        results = _individuals(problem, children, counts)
        population = problem.optimizer.select(state.population, results)
        state = _judged(problem, stop, state, population)
        observe(context.progress, "objective", state.course[-1][0])
        if turn % context.checkpoint_every == 0 and turn < settings.generations:
            checkpoints.write(context.scratch, state)
    return _found(problem, stop, start[0], state)


def _generation(
    problem: Problem, population: Population, turn: int, shared: Shared, context: Context
) -> tuple[list[Genome], list[Integers]]:
    """The children of a generation with their counts.

    Questions are cut into shards only where individuals alone would keep too few workers busy.
    """
    if len(problem.shards) == 1 or 2 * context.crew.workers <= len(population.members):
        spans = list(factored(len(population.members), context.crew.workers))
        batches = _batches(problem, population, turn, spans, context)
        parts = context.crew.map(make_and_count, batches, shared=shared, phase="generations")
        made = list(parts)
        children = [child for genomes, _ in made for child in genomes]
        return children, [counts for _, many in made for counts in many]
    batches = _batches(problem, population, turn, _spans(len(population.members), context), context)
    # They stay with the workers, each of whom asks them some of the questions.
    kept = list(
        context.crew.map(make_children, batches, shared=shared, keep=True, phase="children")
    )
    counted = _counted(problem, kept, shared, context)
    return [child for one in kept for child in context.crew.fetch(one)], counted


def _spans(count: int, context: Context) -> list[range]:
    """Equal batches of genomes: each is counted in as many items as there are shards."""
    many = min(count, context.crew.workers)
    borders = [count * part // many for part in range(many + 1)]
    return [range(begin, end) for begin, end in pairwise(borders)]


def _batches(
    problem: Problem,
    population: Population,
    turn: int,
    spans: Sequence[range],
    context: Context,
) -> list[Batch]:
    members = population.members
    place_of = {id(member): place for place, member in enumerate(members)}
    pairs = []
    for place in range(len(members)):
        generator = context.streams.generator("reconstruction parents", turn, place)
        first, second = problem.optimizer.guides(population, place, generator)
        pairs.append((place_of[id(first)], place_of[id(second)]))
    genomes = np.stack([member.genome for member in members])
    batches = []
    for span in spans:
        drawn = pairs[span.start : span.stop]
        used = sorted({parent for pair in drawn for parent in pair})
        number = {parent: place for place, parent in enumerate(used)}
        own = [(number[first], number[second]) for first, second in drawn]
        batches.append(Batch(genomes[used], own, turn, span.start, context.streams))
    return batches


def _counted(
    problem: Problem, groups: Sequence[Group], shared: Shared, context: Context
) -> list[Integers]:
    """The counts of the genomes of each group, added up over the shards."""
    items = [(group, *shard) for group in groups for shard in problem.shards]
    parts = list(context.crew.map(count_shard, items, shared=shared, phase="generations"))
    step = len(problem.shards)
    return [counts for at in range(0, len(parts), step) for counts in added(parts[at : at + step])]


def _individuals(
    problem: Problem, genomes: Sequence[Genome], counts: Sequence[Integers]
) -> list[Individual]:
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
