"""Genetic algorithm: tournaments, uniform crossover, mutation, elitism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from distanon.optimizers.population import Genome, Individual, Population, best


@dataclass(frozen=True, slots=True)
class Genetic:
    """Genetic algorithm over bits.

    Attributes:
        bits: in a genome.
        tournament: how many draw lots to become a parent.
        mutation: probability that a set bit is dropped in the child.
        elite: how many of the best survive as they are.

    Source: Holland 1975; Syswerda, ICGA 1989 (uniform crossover).
    Deviation: mutation drops set bits only, so that sparse solutions stay sparse.
    """

    bits: int
    tournament: int = 2
    mutation: float = 0.02
    elite: int = 1

    def guides(
        self, population: Population, place: int, generator: np.random.Generator
    ) -> tuple[Individual, ...]:
        """Two parents, each the winner of a tournament."""
        del place
        return tuple(self._winner(population.members, generator) for _ in range(2))

    def propose(
        self,
        guides: Sequence[Individual],
        individual: Individual,
        progress: float,
        generator: np.random.Generator,
    ) -> Genome:
        """The child of the two parents."""
        del individual, progress
        first, second = (np.unpackbits(guide.genome) for guide in guides)
        differing = np.flatnonzero(first != second)
        taken = differing[generator.random(len(differing)) < 0.5]
        first[taken] = second[taken]
        lit = np.flatnonzero(first)
        first[lit[generator.random(len(lit)) < self.mutation]] = 0
        return np.packbits(first[: self.bits])

    def select(self, population: Population, results: Sequence[Individual]) -> Population:
        """The children, of which the worst give way to the elite."""
        leaders = best((*population.leaders, *results))
        elite = leaders[: min(self.elite, len(results))]
        order = sorted(range(len(results)), key=lambda place: results[place].fitness)
        members = list(results)
        for place, one in zip(order[len(order) - len(elite) :], elite, strict=True):
            members[place] = one
        return Population(tuple(members), leaders)

    def _winner(self, members: Sequence[Individual], generator: np.random.Generator) -> Individual:
        drawn = generator.integers(len(members), size=self.tournament).tolist()
        return members[min(drawn, key=lambda place: members[place].fitness)]
