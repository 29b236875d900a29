"""Random search: what every other optimizer must beat at the same number of evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from distanon.optimizers.population import Genome, Individual, Population, best, random_genome


@dataclass(frozen=True, slots=True)
class RandomSearch:
    """Random subsets, whatever was found before.

    Attributes:
        bits: in a genome.
        density: the largest share of set bits; each proposal draws its own below that.
    """

    bits: int
    density: float

    def guides(
        self, population: Population, place: int, generator: np.random.Generator
    ) -> tuple[Individual, ...]:
        """Nobody."""
        del population, place, generator
        return ()

    def propose(
        self,
        guides: Sequence[Individual],
        individual: Individual,
        progress: float,
        generator: np.random.Generator,
    ) -> Genome:
        """A random subset of the bits."""
        del guides, individual, progress
        return random_genome(self.bits, self.density * generator.random(), generator)

    def select(self, population: Population, results: Sequence[Individual]) -> Population:
        """The new ones; the best are remembered."""
        return Population(tuple(results), best((*population.leaders, *results)))
