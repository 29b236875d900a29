"""Genetic algorithm over choices: one option is taken in each of many groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distanon.optimizers.genetic import Genetic
from distanon.optimizers.population import Genome, Individual

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceGenetic(Genetic):
    """Genetic algorithm over one option a group.

    A child takes each group's option from either parent with probability 1/2; then, with
    probability `mutation`, a group draws anew. A genome is the options as words of as many bytes as
    the largest of them needs, since genomes travel; `bits` counts their bits.

    Attributes:
        options: int64, shape (groups,): how many each group has, at least 1.
    """

    options: Integers | None = None

    @staticmethod
    def over(options: Integers, tournament: int, mutation: float, elite: int) -> ChoiceGenetic:
        """The optimizer over groups with so many options."""
        bits = 8 * _word(options).itemsize * len(options)
        return ChoiceGenetic(bits, tournament, mutation, elite, options)

    def random(self, generator: np.random.Generator, share: float = 1.0) -> Genome:
        """A genome whose groups draw their option, with probability `share`, or take the first."""
        options = self._options()
        drawn = generator.integers(0, options)
        return written(np.where(generator.random(len(options)) < share, drawn, 0), options)

    def propose(
        self,
        guides: Sequence[Individual],
        individual: Individual,
        progress: float,
        generator: np.random.Generator,
    ) -> Genome:
        """The child of the two parents."""
        del individual, progress
        options = self._options()
        first, second = (choices(guide.genome, len(options)) for guide in guides)
        draws = generator.random((2, len(options)))
        child = np.where(draws[0] < 0.5, first, second)
        changing = np.flatnonzero(draws[1] < self.mutation)
        child[changing] = generator.integers(0, options[changing])
        return written(child, options)

    def _options(self) -> Integers:
        return np.empty(0, np.int64) if self.options is None else self.options


def written(taken: Integers, options: Integers) -> Genome:
    """The genome of the options taken.

    Args:
        taken: int64, shape (groups,).
        options: int64, shape (groups,): how many each group has.
    """
    return taken.astype(_word(options)).view(np.uint8)


def choices(genome: Genome, groups: int) -> Integers:
    """The options that a genome takes, int64, shape (groups,)."""
    return genome.view(f"<u{len(genome) // max(1, groups) or 1}").astype(np.int64)


def _word(options: Integers) -> np.dtype[np.unsignedinteger[Any]]:
    """The least unsigned integers that hold an option of every group."""
    most = int(options.max(initial=1)) - 1
    return np.dtype("<u1" if most < 2**8 else "<u2" if most < 2**16 else "<u4")
