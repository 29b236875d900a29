"""The problem that the genetic search solves: which candidates represent the records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distanon.data.streams import Streams
from distanon.kernels.first_chosen import Candidates, Questions
from distanon.methods.reconstruction.fitness import Fitness
from distanon.optimizers.choice_genetic import ChoiceGenetic, choices
from distanon.optimizers.population import Genome, Individual, Population
from distanon.optimizers.subset_genetic import SubsetGenetic

Integers = NDArray[np.int64]
Genomes = Sequence[Genome] | NDArray[np.uint8]

SHARD = 50_000
"""Questions that one item asks; more are spread over items, whose counts are added up."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """All that an evaluation reads; put once, read by every worker.

    Attributes:
        optimizer: over subsets of the candidates, or over one candidate a group.
        questions: of the fold that the search fits to.
        candidates: what may be chosen.
        answers: int64, shape (c,) or (c, w): what each candidate answers, `Fitness.count`.
        firsts: int64, shape (g,): the first candidate of each group; None: subsets are chosen.
        fitness: what is measured.
    """

    optimizer: SubsetGenetic | ChoiceGenetic
    questions: Questions
    candidates: Candidates
    answers: Integers
    firsts: Integers | None
    fitness: Fitness

    @property
    def shards(self) -> tuple[tuple[int, int], ...]:
        """Ranges of the questions, whatever the number of workers."""
        asked = len(self.questions.rows)
        return tuple((start, min(start + SHARD, asked)) for start in range(0, max(1, asked), SHARD))

    def chosen(self, genome: Genome) -> NDArray[np.uint8]:
        """The candidates that a genome takes, uint8 (c,)."""
        if self.firsts is None:
            return np.unpackbits(genome)[: len(self.answers)]
        flags = np.zeros(len(self.answers), np.uint8)
        flags[self.firsts + choices(genome, len(self.firsts))] = 1
        return flags

    def count(self, genome: Genome, questions: Questions) -> Integers:
        """What `Fitness.count` says of a genome."""
        return self.fitness.count(questions, self.candidates, self.chosen(genome), self.answers)


@dataclass(frozen=True, slots=True, eq=False)
class Parents:
    """A generation as workers need it to make the next one; put once, read by every worker.

    Attributes:
        genomes: uint8, shape (p, bytes).
        losses: of each.
        turn: number of the generation that is made of them.
        streams: of the run.
    """

    genomes: NDArray[np.uint8]
    losses: Sequence[float]
    turn: int
    streams: Streams

    @staticmethod
    def of(population: Population, turn: int, streams: Streams) -> Parents:
        """Its members."""
        members = population.members
        losses = [member.fitness[0] for member in members]
        return Parents(np.stack([member.genome for member in members]), losses, turn, streams)

    @property
    def population(self) -> Population:
        """The members, without those that were the best before them."""
        pairs = zip(self.genomes, self.losses, strict=True)
        return Population(tuple(Individual(genome, (loss,)) for genome, loss in pairs), ())


def make_children(problem: Problem, item: tuple[Parents, int, int]) -> NDArray[np.uint8]:
    """Some children of a generation; each draws parents and bits from streams of its own.

    Args:
        problem: whose optimizer.
        item: the parents; the place of the first child, and one more than the last's.

    Returns:
        uint8, shape (children, bytes): genomes.
    """
    parents, start, stop = item
    population, turn, children = parents.population, parents.turn, []
    for place in range(start, stop):
        generator = parents.streams.generator("reconstruction parents", turn, place)
        guides = problem.optimizer.guides(population, place, generator)
        generator = parents.streams.generator("reconstruction child", turn, place)
        children.append(problem.optimizer.propose(guides, guides[0], 1.0, generator))
    return np.stack(children)


def count_shard(problem: Problem, item: tuple[Genomes, int, int]) -> Integers:
    """The counts of each genome on some of the questions.

    Args:
        problem: whose questions.
        item: genomes; the first question, and one more than the last.

    Returns:
        int64, shape (genomes, …): of each what `Fitness.count` says.
    """
    genomes, start, stop = item
    questions = problem.questions.part(start, stop)
    return np.stack([problem.count(genome, questions) for genome in genomes])


def make_and_count(
    problem: Problem, item: tuple[Parents, int, int]
) -> tuple[NDArray[np.uint8], Integers]:
    """The children that `make_children` makes, with their counts on all questions.

    Shard by shard, so that what is read of the questions is still in the cache for the next child.
    """
    genomes = make_children(problem, item)
    return genomes, added([count_shard(problem, (genomes, *shard)) for shard in problem.shards])


def added(parts: Sequence[Integers]) -> Integers:
    """The counts of genomes from those of each shard."""
    total: Integers = np.sum(parts, axis=0)
    return total


def load() -> None:
    """Loads what a worker needs for the search and before it."""
    from distanon.kernels import kd_search
    from distanon.methods.reconstruction import folds

    del folds, kd_search
