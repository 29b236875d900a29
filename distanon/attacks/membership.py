"""Membership: does a release tell whether a person was in the data?

An intruder holds the quasi-identifiers of people, some of whose records were released and some of
whose were held out, and ranks them by the distance to the closest released row.

Source: methods.md, section D (membership).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from distanon.attacks.auc import auc
from distanon.data.evidence import Evidence
from distanon.data.measurement import Measurement
from distanon.data.streams import Streams
from distanon.kernels.neighbors import NeighborIndex, distinct
from distanon.runtime.crew import Crew
from distanon.sharded.neighbors import nearest
from distanon.sharded.people import (
    ReleasedRegions,
    nearest_to,
    people_of,
    regions_of,
    released_points,
)

TARGETS = 30_000
"""People of each kind that are ranked where there are more: a seeded sample."""
_DIGITS = 12
"""Distances that differ beyond it differ by rounding alone."""


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
        The area under the ROC curve, with a 95 % interval. 0.5 is what a coin reaches. From a
        generalized row the distance is that to its region: 0 where it contains the person.
    """
    if evidence.original is None or evidence.control is None or not len(evidence.release):
        return []
    people = people_of(evidence)
    if people.control is None:
        return []
    if evidence.is_generalized:
        released = ReleasedRegions.of(people.space, regions_of(evidence))
        shared = crew.put(released)

        def distances(values: NDArray[np.float64]) -> NDArray[np.float64]:
            return nearest_to(crew, shared, released, values, blocks).distances
    else:
        index = crew.put(NeighborIndex.build(distinct(released_points(evidence))))

        def distances(values: NDArray[np.float64]) -> NDArray[np.float64]:
            asked = distinct(people.space.embed(values))
            found = nearest(crew, index, asked.rows, 1, "include", blocks)
            return found.radius[asked.point_of]

    known = np.arange(len(people.originals)) if evidence.sources is None else evidence.sources
    inside = streams.sample(np.unique(known), targets, "membership input")
    outside = streams.sample(np.arange(len(people.control)), targets, "membership control")
    members, others = distances(people.originals[inside]), distances(people.control[outside])
    area, low, high = auc(-np.round(members, _DIGITS), -np.round(others, _DIGITS))
    note = "distance to the closest released row, input against control; a coin reaches 0.5"
    n = len(members) + len(others)
    return [Measurement("membership.auc", area, low, high, goal="lower", unit="1", n=n, note=note)]
