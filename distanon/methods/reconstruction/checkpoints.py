"""A search's state as a table in the scratch; resumed, it goes on bit for bit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from distanon.data.ports import Scratch
from distanon.optimizers.population import Genome, Individual, Population

_MEMBER, _LEADER, _CHOSEN = range(3)
_SCHEMA = pa.schema(
    [("part", pa.int8()), ("genome", pa.binary()), ("fitness", pa.list_(pa.float64()))]
)


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A search after a generation.

    Attributes:
        turn: how many generations are done.
        population: after it.
        chosen: the genome that was best on the fold that stops.
        chosen_turn: the generation that it came from.
        course: for each generation from 0 the best loss on the fold of the search, and the loss
            of that genome on the fold that stops.
    """

    turn: int
    population: Population
    chosen: Genome
    chosen_turn: int
    course: tuple[tuple[float, float], ...]

    @property
    def chosen_loss(self) -> float:
        """Of the chosen genome, on the fold that stops."""
        return self.course[self.chosen_turn][1]


def write(scratch: Scratch, state: State) -> None:
    """Writes a checkpoint, at once or not at all."""
    population = state.population
    rows = [(_MEMBER, one.genome, one.fitness) for one in population.members]
    rows += [(_LEADER, one.genome, one.fitness) for one in population.leaders]
    rows += [(_CHOSEN, state.chosen, (float(state.chosen_turn),))]
    rows += [(_CHOSEN + 1, state.chosen[:0], losses) for losses in state.course]
    columns = [
        pa.array([part for part, _, _ in rows], pa.int8()),
        pa.array([genome.tobytes() for _, genome, _ in rows], pa.binary()),
        pa.array([list(fitness) for _, _, fitness in rows], pa.list_(pa.float64())),
    ]
    scratch.write(_name(state.turn), pa.table(columns, schema=_SCHEMA))


def latest(scratch: Scratch, generations: int, every: int) -> State | None:
    """The last checkpoint before the end; None: there is none."""
    for turn in range((generations - 1) // every * every, 0, -every):
        found = scratch.find(_name(turn))
        if found is not None:
            return _state(turn, found.read())
    return None


def _name(turn: int) -> str:
    return f"reconstruction-search-{turn}"


def _state(turn: int, table: pa.Table) -> State:
    parts = table.column("part").to_pylist()
    genomes = [np.frombuffer(one, np.uint8) for one in table.column("genome").to_pylist()]
    fitness = [tuple(one) for one in table.column("fitness").to_pylist()]
    of = {
        part: [place for place, own in enumerate(parts) if own == part]
        for part in range(_CHOSEN + 2)
    }
    members, leaders = (
        tuple(Individual(genomes[place], fitness[place]) for place in of[part])
        for part in (_MEMBER, _LEADER)
    )
    chosen = of[_CHOSEN][0]
    course = tuple((fitness[place][0], fitness[place][1]) for place in of[_CHOSEN + 1])
    turn_of = int(fitness[chosen][0])
    return State(turn, Population(members, leaders), genomes[chosen], turn_of, course)
