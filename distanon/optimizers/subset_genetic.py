"""Genetic algorithm over subsets of a fixed size: what both parents hold stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distanon.optimizers.genetic import Genetic
from distanon.optimizers.population import Genome, Individual, genome_of

Integers = NDArray[np.integer]


@dataclass(frozen=True, slots=True, eq=False)
class SubsetGenetic(Genetic):
    """Genetic algorithm over sets of bits with so many ones in each stratum.

    A child has all ones that its parents share, and fills up at random from those that only one
    of them has; then each of its ones is, with probability `mutation`, replaced by a random zero
    of the same stratum. All genomes have the same number of ones in a stratum, for ever.

    Attributes:
        strata: integers, shape (bits,): stratum of each bit, numbered from 0; None: all are one.
            Sixteen bits sort fastest.
        sizes: int64, shape (strata,): ones in each.

    Source: Zhu, Li & Wu, Decision Support Systems 48 (2009) 133-140 (a genetic algorithm selects
        the subset). Deviation: the operators are ours; the paper's are not public.
    """

    strata: Integers | None = None
    sizes: Integers | None = None

    def random(self, generator: np.random.Generator) -> Genome:
        """A random genome with `sizes` ones."""
        drawn = generator.permutation(self.bits)
        chosen = _first_of_each(drawn, self._strata(), self._sizes())
        return genome_of(chosen.astype(np.int64), self.bits)

    def propose(
        self,
        guides: Sequence[Individual],
        individual: Individual,
        progress: float,
        generator: np.random.Generator,
    ) -> Genome:
        """The child of the two parents."""
        del individual, progress
        first, second = (np.unpackbits(guide.genome)[: self.bits] for guide in guides)
        child = first & second
        strata = self._strata()
        drawn = generator.permutation(np.flatnonzero(first != second))
        missing = np.bincount(
            strata[np.flatnonzero(first > child)], minlength=int(strata.max()) + 1
        )
        child[_first_of_each(drawn, strata, missing)] = 1
        self._mutate(child, strata, generator)
        return np.packbits(child)

    def _strata(self) -> Integers:
        return np.zeros(self.bits, np.uint16) if self.strata is None else self.strata

    def _sizes(self) -> Integers:
        return np.zeros(1, np.int64) if self.sizes is None else self.sizes

    def _mutate(
        self, flags: NDArray[np.uint8], strata: Integers, generator: np.random.Generator
    ) -> None:
        members = np.flatnonzero(flags)
        leaving = members[generator.random(len(members)) < self.mutation]
        outside = np.flatnonzero(flags == 0)
        for stratum in np.unique(strata[leaving]).tolist():
            old = leaving[strata[leaving] == stratum]
            new = outside[strata[outside] == stratum]
            count = min(len(old), len(new))
            flags[old[:count]] = 0
            flags[generator.choice(new, count, replace=False)] = 1


def _first_of_each(places: Integers, strata: Integers, many: Integers) -> Integers:
    """The first so many places of each stratum."""
    order = np.argsort(strata[places], kind="stable")
    own = strata[places][order]
    rank = np.arange(len(own)) - np.searchsorted(own, np.arange(len(many)))[own]
    chosen: Integers = places[order[rank < many[own]]]
    return chosen
