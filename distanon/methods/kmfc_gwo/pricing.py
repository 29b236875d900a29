"""Prices of the units that nodes must lose: better groups of degrees, and a better lower bound.

Removing an edge serves both its ends. So the removals that a solution needs are a linear program
whose dual prices the units of each node, no two neighbors above 1 together. Prices rise where a
node has more to lose than its neighbors, and fall among these; groups are then cut by price.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distanon.data.graph import Graph
from distanon.kernels.degree_groups import evened
from distanon.kernels.degree_prices import cut_by_price, overpriced, rising
from distanon.kernels.degree_repair import Incidence, Levels, repair
from distanon.methods.kmfc_gwo.candidates import enumerate_candidates
from distanon.methods.kmfc_gwo.targets import DegreeGroups, level_starts
from distanon.runtime.crew import Crew

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_TRIED, _BOUNDING = 40, 96  # rounds
_STEP, _BOUNDING_STEP = 0.2, 0.1  # by how much prices move at first
_HALF, _BOUNDING_HALF = 10.0, 3.0  # after how many rounds they move by half of it
_AT_ONCE = 4  # groups that are tried in one call
_OPEN = 2  # edits that a unit is taken to need which the repair left open


@dataclass(frozen=True, slots=True, eq=False)
class Priced:
    """Groups at some prices.

    Attributes:
        group_of: int64, shape (n,).
        level: int64, shape (n,): the degree that each node is to get.
        value: of the dual at these prices, in edits.
    """

    group_of: Integers
    level: Integers
    value: float


def priced(graph: Graph, class_of: Integers, least: int, *, is_rising: bool) -> Iterator[Priced]:
    """Groups round by round, the first at equal prices, which are those of least Σ|degree − d|.

    Args:
        graph: original.
        class_of: int64, shape (n,): groups never cross classes; each has `least` nodes.
        least: nodes of a group.
        is_rising: keep prices from falling along the degrees of a class. Then groups of neighbors
            by degree are the best of all, and `value` is a lower bound of any solution's edits.

    Source: the subgradient method of Held, Wolfe and Crowder, Mathematical Programming 6 (1974)
        62-88, each price with a step of its own.
    """
    degrees = graph.degrees()
    order = np.lexsort((np.arange(len(degrees)), degrees, class_of))
    starts = np.concatenate(
        (np.zeros(1, np.int64), np.cumsum(np.bincount(class_of), dtype=np.int64))
    )
    prices = np.full(len(degrees), 0.5)
    rounds, step, half = _TRIED, _STEP, _HALF
    if is_rising:
        rounds, step, half = _BOUNDING, _BOUNDING_STEP, _BOUNDING_HALF
    for turn in range(rounds):
        group_of, level, cost = cut_by_price(order, starts, degrees, prices, least)
        served, excess = overpriced(graph.starts, graph.neighbors, prices)
        yield Priced(group_of, level, cost - excess)
        to_lose = np.maximum(degrees - level, 0)
        share = (to_lose - served) / np.maximum(np.maximum(to_lose, served), 1)
        prices = np.clip(prices + step / (1.0 + turn / half) * share, 0.0, 1.0)
        if is_rising:
            prices = rising(order, starts, prices)


def lower_bound(graph: Graph, class_of: Integers, least: int) -> int:
    """Edits that every graph needs in which nodes of a class share their degree with `least`.

    A node that comes to degree t loses at least degree − t edges or gains t − degree. Removals
    number at least Σ price · loss − Σ over edges of what the prices of its ends exceed 1 by (weak
    duality), additions half of all gains; both are least over all groups for rising prices.
    """
    values = (one.value for one in priced(graph, class_of, least, is_rising=True))
    return int(np.ceil(max(values, default=0.0) - 1e-6))


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """What groups are tried on.

    Attributes:
        inc: candidates.
        class_of: int64, shape (n,).
        starts: int64, shape (classes + 1,): of the table of degrees.
        degrees: int64, shape (n,).
        least: K.
    """

    inc: Incidence
    class_of: Integers
    starts: Integers
    degrees: Integers
    least: int


def cheapest_groups(
    graph: Graph, labels: Integers, class_of: Integers, least: int, most: int, crew: Crew
) -> DegreeGroups:
    """Of the groups at all prices those for which a greedy repair needs fewest edits.

    Args:
        graph: original.
        labels: int64, shape (n,): clusters.
        class_of: int64, shape (n,): groups never cross classes.
        least: nodes of a group.
        most: candidates.
        crew: tries them.
    """
    degrees = graph.degrees()
    rounds = list(priced(graph, class_of, least, is_rising=False))
    firsts = [_even_level(one, degrees) for one in rounds]
    levels = [first[one.group_of] for first, one in zip(firsts, rounds, strict=True)]
    reach = np.stack([levels[0], np.min(levels, axis=0), np.max(levels, axis=0)], axis=1)
    alone = np.arange(graph.nodes)
    every = DegreeGroups(alone, reach, np.ones(graph.nodes, np.int64))
    none = np.empty((0, 2), np.int64)
    listed = enumerate_candidates(graph, every, labels, most, none)
    starts = level_starts(class_of, reach, alone)
    shared = crew.put(Trial(listed.inc, class_of, starts, degrees, least))
    batches = [tuple(levels[at : at + _AT_ONCE]) for at in range(0, len(levels), _AT_ONCE)]
    found = crew.map(edits_of, batches, shared=shared, phase="degrees")
    edits = [number for batch in found for number in batch]
    best = int(np.argmin(edits))
    return DegreeGroups.of(degrees, rounds[best].group_of, firsts[best])


def edits_of(trial: Trial, levels: Sequence[Integers]) -> list[int]:
    """About how many edits a greedy repair needs for these degrees, int64, shape (n,) each."""
    return [_edits(trial, level) for level in levels]


def _edits(trial: Trial, level: Integers) -> int:
    bits = np.zeros(len(trial.inc.sign), np.uint8)
    places = trial.starts[trial.class_of] + level
    tally = np.bincount(places, minlength=int(trial.starts[-1])).astype(np.int64)
    levels = Levels(trial.class_of, trial.starts, tally, trial.least)
    want = level - trial.degrees
    equal = np.ones(len(level))
    repair(trial.inc, levels, bits, level.copy(), want, equal, 0.0, 0)
    return int(bits.sum()) + _OPEN * int(np.abs(want).sum())


def _even_level(one: Priced, degrees: Integers) -> Integers:
    """The degree of each group, their sum over all nodes even; int64, shape (groups,)."""
    level = np.zeros(int(one.group_of.max(initial=-1)) + 1, np.int64)
    level[one.group_of] = one.level
    return evened(level, one.group_of, degrees)
