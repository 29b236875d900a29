"""Binary firefly algorithm: every firefly flies towards some that are brighter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from distanon.optimizers.population import Genome, Individual, Population, best


@dataclass(frozen=True, slots=True)
class Firefly:
    """Firefly algorithm over bits.

    Towards each brighter firefly j at Hamming distance r (as a share of the bits that either has
    set), a differing bit is taken over with probability β₀·exp(−γ·r²); then each set bit is
    flipped with probability α·(1 − progress).

    Attributes:
        bits: in a genome.
        attraction: β₀, at distance 0.
        absorption: γ.
        noise: α at the start.
        sight: how many of the brighter ones it flies to, drawn at random.

    Source: Yang, SAGA 2009, LNCS 5792, 169-178; as used by Langari et al., Expert Systems with
        Applications 141 (2020) 112968 (KFCFA).
    Deviation: over bits; a firefly sees `sight` of the brighter ones, so that a round needs no
        more than that many genomes an item; noise flips set bits only, so that sparse solutions
        stay sparse.
    """

    bits: int
    attraction: float = 1.0
    absorption: float = 1.0
    noise: float = 0.05
    sight: int = 3

    def guides(
        self, population: Population, place: int, generator: np.random.Generator
    ) -> tuple[Individual, ...]:
        """Some of the brighter ones, the dimmest first; the brightest of all sees none."""
        own = population.members[place].fitness
        brighter = [one for one in population.members if one.fitness < own]
        if len(brighter) > self.sight:
            drawn = generator.choice(len(brighter), self.sight, replace=False)
            brighter = [brighter[place] for place in np.sort(drawn)]
        return tuple(sorted(brighter, key=lambda one: one.fitness, reverse=True))

    def propose(
        self,
        guides: Sequence[Individual],
        individual: Individual,
        progress: float,
        generator: np.random.Generator,
    ) -> Genome:
        """Where the firefly is after its flights."""
        own = np.unpackbits(individual.genome)
        for guide in guides:
            other = np.unpackbits(guide.genome)
            differing = np.flatnonzero(own != other)
            either = int(np.count_nonzero(own | other))
            distance = len(differing) / max(either, 1)
            chance = self.attraction * np.exp(-self.absorption * distance**2)
            taken = differing[generator.random(len(differing)) < chance]
            own[taken] = other[taken]
        lit = np.flatnonzero(own)
        own[lit[generator.random(len(lit)) < self.noise * (1.0 - progress)]] = 0
        return np.packbits(own[: self.bits])

    def select(self, population: Population, results: Sequence[Individual]) -> Population:
        """A firefly stays where it was unless it became no dimmer."""
        pairs = zip(population.members, results, strict=True)
        members = tuple(new if new.fitness <= old.fitness else old for old, new in pairs)
        return Population(members, best((*population.leaders, *results)))
