"""The pack's iterations: workers move and evaluate wolves, the driver picks α, β and δ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from distanon.data.ports import observe
from distanon.methods.base import Context
from distanon.methods.kmfc_gwo import checkpoints
from distanon.methods.kmfc_gwo.problem import Problem, Step, take_steps
from distanon.methods.kmfc_gwo.targets import CHOICE_BITS
from distanon.optimizers.firefly import Firefly
from distanon.optimizers.genetic import Genetic
from distanon.optimizers.grey_wolf import GreyWolf, Transfer
from distanon.optimizers.population import (
    Individual,
    Optimizer,
    Population,
    founded,
    genome_of,
    random_genome,
)
from distanon.optimizers.random_search import RandomSearch
from distanon.runtime.batches import factored
from distanon.runtime.crew import Shared

OptimizerName = Literal["grey_wolf", "firefly", "genetic", "random"]

_DENSITIES = (0.0, 0.001, 0.003, 0.01, 0.03)
"""Shares of set bits that the first pack is drawn with, in turn; 0: repair alone."""
_GREEDY = 5
"""Wolves that start from greedy solutions, with the first percentiles of `targets.PERCENTILES`."""
_SKIPS = (0.0, 0.05, 0.1, 0.2, 0.3)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How long and with what is searched.

    Attributes:
        optimizer: which.
        transfer: of the grey wolves.
        wolves: individuals of a generation.
        iterations: generations after the first one.
        checkpoint_every: iterations between two checkpoints.
    """

    optimizer: OptimizerName
    transfer: Transfer
    wolves: int
    iterations: int
    checkpoint_every: int


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found.

    Attributes:
        best: the best individual.
        start: fitness of the greedy solution.
        course: the best fitness after each iteration, the first pack's first.
    """

    best: Individual
    start: tuple[float, ...]
    course: tuple[tuple[float, ...], ...]


def search(problem: Problem, shared: Shared, settings: SearchSettings, context: Context) -> Found:
    """Searches from a pack of random solutions and a greedy one; never worse than greedy.

    Continues bit for bit from the last checkpoint that the scratch holds.

    Args:
        problem: what is solved.
        shared: the same, as the crew put it.
        settings: how.
        context: crew, scratch, streams.
    """
    optimizer = _optimizer(settings, problem.bits)
    state = checkpoints.latest(context.scratch, settings.iterations, settings.checkpoint_every)
    if state is None:
        population = _first_pack(problem, shared, settings, context)
        start = min(one.fitness for one in population.members[:_GREEDY])
        state = checkpoints.State(0, population, (start, population.leaders[0].fitness))
    population, course = state.population, list(state.course)
    for turn in range(state.iteration + 1, settings.iterations + 1):
        steps = _steps(population, optimizer, turn, settings, context)
        results = _taken(steps, shared, context, "wolves")
        population = optimizer.select(population, results)
        course.append(population.leaders[0].fitness)
        observe(context.progress, "objective", course[-1][-1])
        if turn % settings.checkpoint_every == 0 and turn < settings.iterations:
            state = checkpoints.State(turn, population, tuple(course))
            checkpoints.write(context.scratch, state)
    return Found(population.leaders[0], course[0], tuple(course[1:]))


def _optimizer(settings: SearchSettings, bits: int) -> Optimizer:
    if settings.optimizer == "grey_wolf":
        return GreyWolf(bits, settings.transfer)
    if settings.optimizer == "firefly":
        return Firefly(bits)
    if settings.optimizer == "genetic":
        return Genetic(bits)
    return RandomSearch(bits, _DENSITIES[-1])


def _first_pack(
    problem: Problem, shared: Shared, settings: SearchSettings, context: Context
) -> Population:
    """Greedy solutions, one a percentile; then random subsets at several densities, repaired."""
    nothing = genome_of(np.empty(0, np.int64), problem.bits)
    steps = [
        _placed(_greedy(problem, place), place, 0.0, context)
        for place in range(min(_GREEDY, settings.wolves))
    ]
    for place in range(len(steps), settings.wolves):
        generator = context.streams.generator("kmfc first pack", place)
        density = _DENSITIES[place % len(_DENSITIES)]
        genome = random_genome(problem.bits, density, generator) if density else nothing
        steps.append(_placed(genome, place, _SKIPS[place % len(_SKIPS)], context))
    return founded(_taken(steps, shared, context, "first pack"))


def _taken(steps: Sequence[Step], shared: Shared, context: Context, phase: str) -> list[Individual]:
    """What becomes of the steps, in their order."""
    batches = list(batched(steps, context.crew.workers))
    found = context.crew.map(take_steps, batches, shared=shared, phase=phase)
    return [individual for batch in found for individual in batch]


def batched(steps: Sequence[Step], workers: int) -> Iterator[tuple[Step, ...]]:
    """The steps of an iteration as they travel; those of a batch with their guides once."""
    spans = factored(len(steps), workers, are_short=False)
    return (tuple(steps[span.start : span.stop]) for span in spans)


def _greedy(problem: Problem, percentile: int) -> NDArray[np.uint8]:
    """No edit chosen beforehand; all groups get the degree at one percentile."""
    flags = np.zeros(problem.bits, np.uint8)
    if problem.groups is not None:
        start = len(problem.candidates)
        code = [percentile >> bit & 1 for bit in reversed(range(CHOICE_BITS))]
        flags[start : start + CHOICE_BITS * len(problem.groups.sizes)] = np.tile(
            np.array(code, np.uint8), len(problem.groups.sizes)
        )
    return np.packbits(flags)


def _placed(genome: NDArray[np.uint8], place: int, skip: float, context: Context) -> Step:
    start = Individual(genome, (np.inf,))
    return Step((), start, 1.0, None, context.streams, (0, place), skip)


def _steps(
    population: Population,
    optimizer: Optimizer,
    turn: int,
    settings: SearchSettings,
    context: Context,
) -> Sequence[Step]:
    """The items of one iteration; a worker needs nothing of an individual but its genome."""
    steps = []
    for place, member in enumerate(population.members):
        generator = context.streams.generator("kmfc guides", turn, place)
        guides = optimizer.guides(population, place, generator)
        steps.append(
            Step(
                tuple(Individual(one.genome, one.fitness) for one in guides),
                Individual(member.genome, member.fitness),
                turn / settings.iterations,
                optimizer,
                context.streams,
                (turn, place),
                _SKIPS[place % len(_SKIPS)] * (1.0 - turn / settings.iterations),
            )
        )
    return steps
