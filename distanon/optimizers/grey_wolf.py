"""Binary grey wolf optimizer: every wolf moves between the three leaders of the pack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from distanon.optimizers.population import Genome, Individual, Population, best

Transfer = Literal["v", "s"]


@dataclass(frozen=True, slots=True)
class GreyWolf:
    """Grey wolf optimizer over bits.

    With a = 2 − 2·progress, A = 2a·r₁ − a and C = 2r₂ for each bit, a wolf at x takes the bit of
    α, β or δ, each with probability 1/3, which then changes by the transfer of A·|C·x_ℓ − x|:

    * v: it is flipped with probability |tanh(A·|C·x_ℓ − x|)|, so a bit that neither the leader
      nor the wolf has set is never set: a step costs O(ones).
    * s: it is set with probability 1 / (1 + exp(−10·(A·|C·x_ℓ − x| − 0.5))), at least 0.0067
      for every bit, so a step costs O(bits) and sparse solutions are lost.

    Attributes:
        bits: in a genome.
        transfer: v or s.

    Source: Mirjalili, Mirjalili & Lewis, Advances in Engineering Software 69 (2014) 46-61,
        equations 3.1 to 3.7; Emary, Zawbaa & Hassanien, Neurocomputing 172 (2016) 371-381,
        second approach for the leaders' crossover, first one for s.
    Deviation: the v-shaped transfer is the default.
    """

    bits: int
    transfer: Transfer = "v"

    def guides(
        self, population: Population, place: int, generator: np.random.Generator
    ) -> tuple[Individual, ...]:
        """α, β and δ."""
        del place, generator
        return population.leaders

    def propose(
        self,
        guides: Sequence[Individual],
        individual: Individual,
        progress: float,
        generator: np.random.Generator,
    ) -> Genome:
        """The wolf's next position."""
        pack = [guide.genome for guide in guides]
        if self.transfer == "v":
            union = np.bitwise_or.reduce([individual.genome, *pack])
            places = np.flatnonzero(np.unpackbits(union))
        else:
            places = np.arange(self.bits)
        own = np.unpackbits(individual.genome)[places].astype(np.float64)
        led = np.stack([np.unpackbits(genome)[places] for genome in pack])
        draws = generator.random((4, len(places)))
        leader = np.minimum((draws[0] * len(pack)).astype(np.int64), len(pack) - 1)
        taken = led[leader, np.arange(len(places))]
        a = 2.0 - 2.0 * progress
        step = (2.0 * a * draws[1] - a) * np.abs(2.0 * draws[2] * taken - own)
        if self.transfer == "v":
            result = taken ^ (draws[3] < np.abs(np.tanh(step)))
        else:
            result = taken | (draws[3] < 1.0 / (1.0 + np.exp(-10.0 * (step - 0.5))))
        flags = np.zeros(self.bits, np.uint8)
        flags[places] = result
        return np.packbits(flags)

    def select(self, population: Population, results: Sequence[Individual]) -> Population:
        """All wolves move; the leaders are the best three that were ever seen."""
        return Population(tuple(results), best((*population.leaders, *results)))
