"""Identity on generalized rows: an intruder finds the rows whose regions contain a known person.

A person is among the rows that contain him, all equally likely, and a row among the people whom
it contains: each counts 1 / their number. Distances to the middles of ranges would say less.

Source: methods.md, section D (identity); Samarati 2001 (k-anonymity by containment).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distanon.runtime.crew import Crew
from distanon.sharded.people import People, ReleasedRegions, around, holds

WORK = 3_000_000_000
"""Pairs of people and regions that one direction looks at, before fewer rows are attacked."""

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Claims:
    """What an intruder who looks for containing rows reaches.

    Attributes:
        scores: float64, shape (t,): own rows / rows around, for each target.
        is_claimed: bool, shape (t,): whether any row contains the target.
    """

    scores: Floats
    is_claimed: NDArray[np.bool_]


def people_to_rows(
    crew: Crew,
    people: People,
    released: ReleasedRegions,
    sources: Integers,
    targets: Integers,
    blocks: int,
    known: Sequence[int] | None = None,
) -> Claims:
    """Known people linked to the rows that contain them.

    Args:
        crew: the workers.
        people: the originals.
        released: regions over the known attributes.
        sources: int64, shape (rows,): original of each row.
        targets: int64, ascending: originals under attack, each with a row.
        blocks: items of work.
        known: places of the known attributes; None: all.
    """
    values = people.originals if known is None else people.originals[:, list(known)]
    found = around(crew, crew.put(released), released, values[targets], blocks).rows
    place = np.minimum(np.searchsorted(targets, sources), len(targets) - 1)
    own = np.flatnonzero(targets[place] == sources)
    inside = holds(released, values[sources[own]], released.region_of[own])
    hits = np.bincount(place[own][inside], minlength=len(targets))
    return Claims(hits / np.maximum(found, 1), found > 0)


def rows_to_people(
    crew: Crew,
    people: People,
    released: ReleasedRegions,
    sources: Integers,
    rows: Integers,
    blocks: int,
) -> tuple[Floats, int]:
    """Released rows linked to the originals whom they contain.

    Equal rows are one: each is credited with the mean over the rows of its region.

    Args:
        crew: the workers.
        people: the originals.
        released: regions over all attributes.
        sources: int64, shape (rows,).
        rows: int64: the rows under attack.
        blocks: items of work.

    Returns:
        float64, shape (len(rows),), and how many different regions they have.
    """
    asked, place = np.unique(released.region_of[rows], return_inverse=True)
    some = released.only(asked)
    found = around(crew, crew.put(some), some, people.originals, blocks).people
    number = np.full(len(released.regions), -1, np.int64)
    number[asked] = np.arange(len(asked))
    own = np.flatnonzero(number[released.region_of] >= 0)
    inside = holds(released, people.originals[sources[own]], released.region_of[own])
    hits = np.bincount(number[released.region_of[own]][inside], minlength=len(asked))
    scores = hits / (np.maximum(found, 1) * released.rows[asked])
    return scores[place], len(asked)


def claimed(
    crew: Crew, released: ReleasedRegions, values: Floats, blocks: int
) -> NDArray[np.bool_]:
    """Which people some row contains, whether any of them is theirs or not."""
    found: NDArray[np.bool_] = around(crew, crew.put(released), released, values, blocks).rows > 0
    return found
