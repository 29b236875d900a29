"""Membership: does a release tell whether a person was in the data?

An intruder holds the quasi-identifiers of people, some of whose records were released and some of
whose were held out, and ranks them by the distance to the closest released row.

Source: methods.md, section D (membership).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from distanon.attacks.auc import auc
from distanon.data.domain import merge, scan
from distanon.data.evidence import Evidence
from distanon.data.measurement import Measurement
from distanon.data.schema import Schema
from distanon.data.space import AttributeSpace
from distanon.data.streams import Streams
from distanon.data.table import Dataset
from distanon.kernels.neighbors import NeighborIndex, distinct
from distanon.runtime.crew import Crew
from distanon.sharded.neighbors import nearest

TARGETS = 30_000
"""People of each kind that are ranked where there are more: a seeded sample."""
_DIGITS = 12
"""Distances that differ beyond it differ by rounding alone."""
_NAME = "membership people"


@dataclass(frozen=True, slots=True)
class _People:
    """Everybody whom the intruder knows, in one scale that favours no side.

    Attributes:
        space: by the ranges and categories of originals and control records together.
        originals: float64, shape (n, D): all originals.
        control: float64, shape (m, D): the records that were held out.
    """

    space: AttributeSpace
    originals: NDArray[np.float64]
    control: NDArray[np.float64]


def measure(
    evidence: Evidence, *, crew: Crew, streams: Streams, targets: int = TARGETS, blocks: int = 8
) -> list[Measurement]:
    """How well the distance to the closest released row tells input from control.

    Args:
        evidence: with the original and control records; without them the list is empty.
        crew: the workers.
        streams: draws the people where there are many.
        targets: how many of each kind are ranked at most.
        blocks: items of work.

    Returns:
        The area under the ROC curve, with a 95 % interval. 0.5 is what a coin reaches.
    """
    if evidence.original is None or evidence.control is None or not len(evidence.release):
        return []
    people = _people(evidence)
    table = evidence.release_table.select(list(people.space.names))
    released = people.space.embed(people.space.encode(table))
    index = crew.put(NeighborIndex.build(distinct(released)))

    def distances(points: NDArray[np.float64], numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        asked = distinct(points[numbers])
        found = nearest(crew, index, asked.rows, 1, "include", blocks)
        return found.radius[asked.point_of]

    known = np.arange(len(people.originals)) if evidence.sources is None else evidence.sources
    members = distances(
        people.originals, streams.sample(np.unique(known), targets, "membership input")
    )
    outside = np.arange(len(people.control))
    others = distances(people.control, streams.sample(outside, targets, "membership control"))
    area, low, high = auc(-np.round(members, _DIGITS), -np.round(others, _DIGITS))
    note = "distance to the closest released row, input against control; a coin reaches 0.5"
    n = len(members) + len(others)
    return [Measurement("membership.auc", area, low, high, goal="lower", unit="1", n=n, note=note)]


def _people(evidence: Evidence) -> _People:
    """The same for all releases of these originals, so made once."""
    made = evidence.made_of_original
    if _NAME not in made:
        original, control = cast("Dataset", evidence.original), cast("Dataset", evidence.control)
        attributes = evidence.space.attributes
        domains = [
            table.domain or scan(Dataset(Schema(attributes), table.partitions, table.source))
            for table in (original, control)
        ]
        space = AttributeSpace.of(attributes, merge(domains))
        names = list(space.names)
        originals, held = evidence.original_table.select(names), control.read(names)
        made[_NAME] = _People(
            space, space.embed(space.encode(originals)), space.embed(space.encode(held))
        )
    people: _People = made[_NAME]
    return people
