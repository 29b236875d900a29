"""What equal released rows alone let an intruder expect, whatever their values.

Source: El Emam & Dankar, JAMIA 15 (2008) 627-637 (prosecutor, journalist and marketer risk);
    Sweeney 2002 (k-map).
"""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.classes import common_classes, equal_rows
from distanon.data.evidence import Evidence
from distanon.data.measurement import Measurement
from distanon.runtime.crew import Crew
from distanon.sharded.large import class_sizes
from distanon.sharded.people import ReleasedRegions, around, people_of, regions_of

Integers = NDArray[np.int64]


def risks(evidence: Evidence, *, crew: Crew, blocks: int = 8) -> list[Measurement]:
    """Journalist and marketer risk by the release's own classes, and by a population's.

    Args:
        evidence: with a population, each class has as many people as of these may be behind it.
        crew: the workers.
        blocks: items of work.
    """
    counts = class_sizes(evidence, crew)
    rows = len(evidence.release)
    result = [
        Measurement(
            "identity.journalist",
            1.0 / int(counts.min()),
            goal="lower",
            n=rows,
            note="1 / the smallest number of rows with equal quasi-identifiers",
        ),
        Measurement(
            "identity.marketer",
            len(counts) / rows,
            goal="lower",
            n=rows,
            note="distinct released quasi-identifiers per row",
        ),
    ]
    if evidence.population is None or evidence.original is None:
        return result
    return result + _in_population(evidence, crew, blocks)


def _in_population(evidence: Evidence, crew: Crew, blocks: int) -> list[Measurement]:
    """The same where an intruder must find a person in a population."""
    if not evidence.is_generalized and _is_changed(evidence):
        reason = "values were changed: people of the population who have them are others"
        names = ("k_map", "journalist_in_population", "marketer_in_population")
        return [Measurement(f"identity.{name}", math.nan, note=reason) for name in names]
    people, rows = _people_behind(evidence, crew, blocks)
    found = people > 0
    total = int(rows.sum())
    smallest = int(people[found].min()) if found.any() else 0
    risk = float((rows[found] / people[found]).sum()) / total
    note = "by the people of the population who may be behind a class"
    return [
        Measurement(
            "identity.k_map",
            float(smallest),
            goal="higher",
            unit="1",
            n=total,
            note=f"the fewest, {note.removeprefix('by ')}",
            is_public=False,
        ),
        Measurement(
            "identity.journalist_in_population",
            1.0 / smallest if smallest else 0.0,
            goal="lower",
            n=total,
            note=f"1 / the fewest, {note}",
        ),
        Measurement(
            "identity.marketer_in_population",
            risk,
            goal="lower",
            n=total,
            note=f"mean over rows of 1 / their number, {note}",
        ),
    ]


def _people_behind(evidence: Evidence, crew: Crew, blocks: int) -> tuple[Integers, Integers]:
    """People of the population in each class of the release, and the rows of the class.

    Values count where they are equal, generalized cells where they contain.
    """
    if evidence.is_generalized:
        known = people_of(evidence)
        released = ReleasedRegions.of(known.space, regions_of(evidence))
        values = known.originals[:0] if known.population is None else known.population
        return around(crew, crew.put(released), released, values, blocks).people, released.rows
    names = list(evidence.space.names)
    population = evidence.population
    table = evidence.release_table.select(names)
    others = table if population is None else population.read(names)
    ours, theirs = common_classes(table, others, names)
    classes, rows = np.unique(ours, return_counts=True)
    people = np.bincount(theirs, minlength=int(max(ours.max(), theirs.max(initial=0))) + 1)
    return people[classes].astype(np.int64), rows.astype(np.int64)


def _is_changed(evidence: Evidence) -> bool:
    """Whether rows of values differ from their sources; without these it is not known."""
    if evidence.sources is None:
        return False
    names = evidence.quasi_identifiers
    table = evidence.original_table.select(names).take(pa.array(evidence.sources))
    return not bool(equal_rows(table, evidence.release_table, names).all())
