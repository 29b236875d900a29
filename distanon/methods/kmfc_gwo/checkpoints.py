"""A search's state as a table in the scratch; resumed, it goes on bit for bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from distanon.data.ports import Scratch
from distanon.methods.kmfc_gwo.cells import CellChanges
from distanon.methods.kmfc_gwo.problem import Solution
from distanon.optimizers.population import Individual, Population

_INTEGERS = pa.list_(pa.int64())
_SCHEMA = pa.schema(
    [
        ("is_leader", pa.bool_()),
        ("genome", pa.binary()),
        ("fitness", pa.list_(pa.float64())),
        ("pairs", _INTEGERS),
        ("cell_nodes", pa.list_(_INTEGERS)),
        ("cell_values", pa.list_(_INTEGERS)),
        ("cell_losses", pa.list_(pa.float64())),
        ("cell_counts", pa.list_(_INTEGERS)),
        ("counts", _INTEGERS),
        ("losses", pa.list_(pa.float64())),
    ]
)


@dataclass(frozen=True, slots=True)
class State:
    """A search after an iteration.

    Attributes:
        iteration: how many are done.
        population: after it.
        course: the greedy solution's fitness, then the best after each iteration from 0.
    """

    iteration: int
    population: Population
    course: tuple[tuple[float, ...], ...]


def write(scratch: Scratch, state: State) -> None:
    """Writes a checkpoint, at once or not at all."""
    population = state.population
    marked = [(False, one) for one in population.members]
    marked += [(True, one) for one in population.leaders]
    table = pa.Table.from_pylist([_row(mark, one) for mark, one in marked], schema=_SCHEMA)
    scratch.write(_name(state.iteration), table)
    course = pa.table({"fitness": pa.array(state.course, pa.list_(pa.float64()))})
    scratch.write(f"{_name(state.iteration)}-course", course)


def latest(scratch: Scratch, iterations: int, every: int) -> State | None:
    """The last checkpoint before `iterations`; None: there is none."""
    for iteration in range((iterations - 1) // every * every, 0, -every):
        found = scratch.find(_name(iteration))
        course = scratch.find(f"{_name(iteration)}-course")
        if found is not None and course is not None:
            rows = found.read().to_pylist()
            members = tuple(_individual(row) for row in rows if not row["is_leader"])
            leaders = tuple(_individual(row) for row in rows if row["is_leader"])
            fitness = tuple(tuple(one) for one in course.read().column("fitness").to_pylist())
            return State(iteration, Population(members, leaders), fitness)
    return None


def _name(iteration: int) -> str:
    return f"kmfc-search-{iteration}"


def _row(is_leader: bool, individual: Individual) -> dict[str, Any]:  # noqa: FBT001 - a column
    solution: Solution = individual.extra
    cells = solution.cells
    return {
        "is_leader": is_leader,
        "genome": individual.genome.tobytes(),
        "fitness": list(individual.fitness),
        "pairs": solution.pairs.ravel().tolist(),
        "cell_nodes": [one.nodes.tolist() for one in cells],
        "cell_values": [one.values.tolist() for one in cells],
        "cell_losses": [one.loss for one in cells],
        "cell_counts": [[one.failing, one.decoys] for one in cells],
        "counts": [solution.edits, solution.open_units, solution.open_links],
        "losses": list(solution.losses),
    }


def _individual(row: dict[str, Any]) -> Individual:
    parts = (row[name] for name in ("cell_nodes", "cell_values", "cell_losses", "cell_counts"))
    cells = tuple(
        CellChanges(np.array(nodes, np.int64), np.array(values, np.int64), loss, *counts)
        for nodes, values, loss, counts in zip(*parts, strict=True)
    )
    pairs = np.array(row["pairs"], np.int64).reshape(-1, 2)
    edits, units, links = row["counts"]
    one, two, three = row["losses"]
    solution = Solution(pairs, cells, edits, units, links, (one, two, three))
    genome = np.frombuffer(row["genome"], np.uint8)
    return Individual(genome, tuple(row["fitness"]), solution)
