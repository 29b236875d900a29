"""What every optimizer handles: individuals with a fitness, and the best that were ever seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Genome = NDArray[np.uint8]
"""Bits, packed by `np.packbits`; the spare bits of the last byte are 0."""


@dataclass(frozen=True, slots=True, eq=False)
class Individual:
    """One solution.

    Attributes:
        genome: uint8, shape (⌈bits / 8⌉,).
        fitness: compared from the first number on, lower is better: (violation, objective) are
            Deb's feasibility rules, since a feasible solution has violation 0.
        extra: what the problem wants to find again beside the bits; no optimizer looks at it.

    Source: Deb, Computer Methods in Applied Mechanics and Engineering 186 (2000) 311-338.
    """

    genome: Genome
    fitness: tuple[float, ...]
    extra: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Travels by its bytes that are not 0, where few are: calls stay small."""
        used = self.genome != 0
        if 2 * np.count_nonzero(used) > len(used):
            return Individual, (self.genome, self.fitness, self.extra)
        places = np.packbits(used)
        return _arrived, (
            len(used),
            places.tobytes(),
            self.genome[used].tobytes(),
            self.fitness,
            self.extra,
        )


def _arrived(
    length: int, places: bytes, used: bytes, fitness: tuple[float, ...], extra: Any
) -> Individual:
    """The individual as it was sent off."""
    genome = np.zeros(length, np.uint8)
    at = np.unpackbits(np.frombuffer(places, np.uint8), count=length).astype(bool)
    genome[at] = np.frombuffer(used, np.uint8)
    return Individual(genome, fitness, extra)


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """One generation.

    Attributes:
        members: in their places.
        leaders: the best ever seen, different from one another, best first; never get worse.
    """

    members: tuple[Individual, ...]
    leaders: tuple[Individual, ...]


class Optimizer(Protocol):
    """A search in rounds: guides are chosen, every member proposes, the next round is selected."""

    def guides(
        self, population: Population, place: int, generator: np.random.Generator
    ) -> tuple[Individual, ...]:
        """Those that the member at `place` looks at in its next step, run by the driver."""
        ...

    def propose(
        self,
        guides: Sequence[Individual],
        individual: Individual,
        progress: float,
        generator: np.random.Generator,
    ) -> Genome:
        """The member's next genome, run by a worker; progress is in (0, 1], 1 the last round."""
        ...

    def select(self, population: Population, results: Sequence[Individual]) -> Population:
        """The next generation, from the evaluated proposals in their places."""
        ...


LEADERS = 3


def founded(members: Sequence[Individual]) -> Population:
    """The first generation."""
    return Population(tuple(members), best(members))


def best(individuals: Iterable[Individual], count: int = LEADERS) -> tuple[Individual, ...]:
    """The best few with different genomes, best first; those that came first win ties."""
    chosen: list[Individual] = []
    seen: set[bytes] = set()
    for individual in sorted(individuals, key=lambda one: one.fitness):
        key = individual.genome.tobytes()
        if key not in seen:
            seen.add(key)
            chosen.append(individual)
        if len(chosen) == count:
            break
    return tuple(chosen)


def set_bits(genome: Genome) -> NDArray[np.int64]:
    """The places of the ones, ascending."""
    return np.flatnonzero(np.unpackbits(genome)).astype(np.int64)


def genome_of(places: NDArray[np.int64], bits: int) -> Genome:
    """The genome with ones in these places."""
    flags = np.zeros(bits, np.uint8)
    flags[places] = 1
    return np.packbits(flags)


def random_genome(bits: int, density: float, generator: np.random.Generator) -> Genome:
    """A random subset: every bit is set with probability `density`, in O(ones) draws."""
    ones = int(generator.binomial(bits, density)) if bits else 0
    return genome_of(generator.choice(bits, ones, replace=False) if ones else _NONE, bits)


_NONE = np.empty(0, np.int64)
