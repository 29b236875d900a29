"""Degree and attributes against a graph whose nodes show labels: the regions that they stand for.

A person's own values lie inside the label of his node, at distance 0; a distance to the middle of
a label would send the intruder to nodes that show a value.

Source: methods.md, sections C and D (structural); Samarati 2001 (containment).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.attribute_domain import AttributeDomain
from distanon.data.graph_evidence import DEGREE, GraphEvidence
from distanon.data.regions import regions_of_values
from distanon.data.schema import Attribute, AttributeType, Role
from distanon.kernels.points import distinct
from distanon.kernels.regions import NearestRegions, Terms, nearest_regions
from distanon.runtime.crew import Crew
from distanon.sharded.people import ReleasedRegions, nearest_to

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_LOG_DEGREE = Attribute(DEGREE, Role.QUASI_IDENTIFIER, AttributeType.NUMERIC, pa.float64())


@dataclass(frozen=True, slots=True, eq=False)
class Looks:
    """What released nodes may stand for, and what originals are.

    Attributes:
        released: regions over all attributes and the logarithm of the degree.
        people: float64, shape (n, q + 1): attributes of the originals, then that logarithm.
    """

    released: ReleasedRegions
    people: Floats

    @staticmethod
    def of(evidence: GraphEvidence, old: Floats, new: Floats) -> Looks:
        """Of a release with its original.

        Args:
            evidence: of both.
            old: float64, shape (n,): logarithms of the original degrees, in [0, 1].
            new: float64, shape (rows,): of the released ones, in the same unit.
        """
        space = evidence.space
        places = [place for place, name in enumerate(space.names) if name != DEGREE]
        domain = AttributeDomain(len(new), 0, 0.0, 1.0)
        regions = [evidence.release_regions[place] for place in places]
        regions.append(regions_of_values(new, _LOG_DEGREE, domain))
        known = replace(
            space,
            attributes=(*(space.attributes[place] for place in places), _LOG_DEGREE),
            domains=(*(space.domains[place] for place in places), domain),
            centers=(*(space.centers[place] for place in places), 0.0),
            spreads=(*(space.spreads[place] for place in places), 1.0),
        )
        people = np.column_stack([evidence.original_values[:, places], old])
        return Looks(ReleasedRegions.of(known, regions), people)

    def people_to_rows(self, people: Integers, rows: Integers, crew: Crew, blocks: int) -> Floats:
        """Scores of known people: 1 / the rows that are nearest, their own among them.

        Args:
            people: int64, shape (t,): originals under attack.
            rows: int64, shape (t,): the released row of each.
            crew: the workers.
            blocks: items of work.
        """
        released = self.released
        found = nearest_to(crew, crew.put(released), released, self.people[people], blocks)
        return _scores(found, released.region_of[rows], released.rows)

    def rows_to_people(self, rows: Integers, people: Integers) -> Floats:
        """The same from each released row to the people who are nearest to what it shows."""
        kinds = distinct(self.people)
        terms, numbers = self.released.terms(kinds.rows)
        asked, place = np.unique(self.released.region_of[rows], return_inverse=True)
        sizes = [int(column.max()) + 1 for column in numbers.T]
        found = nearest_regions(_transposed(terms, sizes), self.released.regions[asked], numbers)
        return _scores(_for_each(found, place), kinds.point_of[people], kinds.counts)


def _scores(found: NearestRegions, own: Integers, many: Integers) -> Floats:
    """1 / the members of what was found for each target, 0 where his own is not among them."""
    owner = np.repeat(np.arange(len(own)), np.diff(found.starts))
    members = np.bincount(owner, weights=many[found.regions], minlength=len(own))
    hits = np.bincount(owner, weights=found.regions == own[owner], minlength=len(own))
    scores: Floats = hits / np.maximum(members, 1)
    return scores


def _for_each(found: NearestRegions, place: Integers) -> NearestRegions:
    """What was found for distinct queries, for each target: `place` is the query of each."""
    sizes = np.diff(found.starts)[place]
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    take = np.arange(starts[-1]) + np.repeat(found.starts[place] - starts[:-1], sizes)
    return NearestRegions(starts, found.regions[take], found.distances[place])


def _transposed(terms: Terms, sizes: list[int]) -> Terms:
    """The same distances with sets asking for values; `sizes`: values of each attribute."""
    tables = []
    for offset, width, many in zip(terms.offsets, terms.widths, sizes, strict=True):
        tables.append(terms.away[offset : offset + many * width].reshape(many, width).T)
    return Terms.of(tables)
