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
from distanon.optimizers.population import Genome, Individual
from distanon.optimizers.subset_genetic import SubsetGenetic

Integers = NDArray[np.int64]

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
class Batch:
    """Children to be made by one worker: evaluating one is too little for an item.

    Attributes:
        parents: uint8, shape (p, bytes): genomes.
        pairs: for each child the places of its parents.
        turn: the generation.
        start: place of the first child in the generation.
        streams: of the run.
    """

    parents: NDArray[np.uint8]
    pairs: Sequence[tuple[int, int]]
    turn: int
    start: int
    streams: Streams


def make_children(problem: Problem, batch: Batch) -> list[Genome]:
    """The children of a batch; each draws from a stream of its own."""
    children = []
    for place, pair in enumerate(batch.pairs, batch.start):
        generator = batch.streams.generator("reconstruction child", batch.turn, place)
        guides = [Individual(batch.parents[parent], (0.0,)) for parent in pair]
        children.append(problem.optimizer.propose(guides, guides[0], 1.0, generator))
    return children


def count_shard(problem: Problem, item: tuple[Sequence[Genome], int, int]) -> list[Integers]:
    """The counts of each genome on some of the questions.

    Args:
        problem: whose questions.
        item: genomes; the first question, and one more than the last.
    """
    genomes, start, stop = item
    questions = problem.questions.part(start, stop)
    return [problem.count(genome, questions) for genome in genomes]


def make_and_count(problem: Problem, batch: Batch) -> tuple[list[Genome], list[Integers]]:
    """The children of a batch with their counts on all questions.

    Shard by shard, so that what is read of the questions is still in the cache for the next child.
    """
    genomes = make_children(problem, batch)
    parts = [count_shard(problem, (genomes, *shard)) for shard in problem.shards]
    return genomes, added(parts)


def added(parts: Sequence[Sequence[Integers]]) -> list[Integers]:
    """The counts of genomes from those of each shard."""
    return [np.sum(counts, axis=0) for counts in zip(*parts, strict=True)]
