"""Records against regions of a product space: how far each record is from which region.

A region is a tuple of one set for each attribute. The squared distance of a record to a region is
the sum, over the attributes in their order, of the squared distance of its value to that set; 0
says that the region contains the record. The terms come as tables over the distinct values and
the distinct sets, so that one look replaces a comparison.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Terms:
    """The squared distances of values to sets, attribute by attribute.

    Attributes:
        away: float64: for attribute j a block of (values of j) × (sets of j), row by row.
        offsets: int64, shape (q,): where the block of each attribute begins.
        widths: int64, shape (q,): how many sets each attribute has.
    """

    away: Floats
    offsets: Integers
    widths: Integers

    @staticmethod
    def of(tables: list[Floats]) -> Terms:
        """The tables of all attributes, each of shape (values, sets), as one block."""
        sizes = [table.size for table in tables]
        offsets = np.cumsum([0, *sizes[:-1]]).astype(np.int64)
        widths = np.array([table.shape[1] for table in tables], dtype=np.int64)
        away = np.concatenate([np.ascontiguousarray(table).ravel() for table in tables])
        return Terms(away.astype(np.float64), offsets, widths)


@dataclass(frozen=True, slots=True)
class NearestRegions:
    """The regions nearest to each record; those of record i are regions[starts[i]:starts[i + 1]].

    Attributes:
        starts: int64, shape (t + 1,).
        regions: int64, ascending for each record; all that tie.
        distances: float64, shape (t,): 0 where the regions contain the record.
    """

    starts: Integers
    regions: Integers
    distances: Floats


def nearest_regions(terms: Terms, records: Integers, regions: Integers) -> NearestRegions:
    """The regions that are nearest to each record, ties included; O(t · r), cut off early.

    Args:
        terms: of the values and sets that the others number.
        records: int64, shape (t, q): number of each record's value, by attribute.
        regions: int64, shape (r, q), r ≥ 1: number of each region's set, by attribute.

    Equal distances are d ≤ d_min · (1 + 1e-9) + 1e-12, as for neighborhoods.
    """
    place = (terms.away, terms.offsets, terms.widths)
    squares = _least(*place, records, regions)
    limits = (np.sqrt(squares) * (1.0 + 1e-9) + 1e-12) ** 2
    counts = _count_within(*place, records, regions, limits)
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    found = _within(*place, records, regions, limits, starts)
    return NearestRegions(starts, found, np.sqrt(squares))


def rows_around(
    terms: Terms, records: Integers, regions: Integers, rows: Integers, times: Integers
) -> tuple[Integers, Integers]:
    """How many rows lie around each record, and how many records in each region.

    Args:
        terms: as `nearest_regions`.
        records: likewise.
        regions: likewise.
        rows: int64, shape (r,): how many rows each region stands for.
        times: int64, shape (t,): how many people each record stands for.

    Returns:
        int64, shape (t,): rows of the regions that contain the record; int64, shape (r,): people
        whose record the region contains.
    """
    return _around(terms.away, terms.offsets, terms.widths, records, regions, rows, times)


@njit(cache=True, nogil=True)
def _least(
    away: Floats, offsets: Integers, widths: Integers, records: Integers, regions: Integers
) -> Floats:
    """The smallest squared distance of each record."""
    least = np.empty(len(records))
    attributes = len(offsets)
    rows = np.empty(attributes, np.int64)
    for record in range(len(records)):
        for place in range(attributes):
            rows[place] = offsets[place] + records[record, place] * widths[place]
        best = np.inf
        for region in range(len(regions)):
            total = 0.0
            for place in range(attributes):
                total += away[rows[place] + regions[region, place]]
                if total >= best:
                    break
            best = min(best, total)
            if best == 0.0:
                break
        least[record] = best
    return least


@njit(cache=True, nogil=True)
def _count_within(
    away: Floats,
    offsets: Integers,
    widths: Integers,
    records: Integers,
    regions: Integers,
    limits: Floats,
) -> Integers:
    """How many regions lie within each record's squared limit."""
    counts = np.zeros(len(records), np.int64)
    attributes = len(offsets)
    rows = np.empty(attributes, np.int64)
    for record in range(len(records)):
        for place in range(attributes):
            rows[place] = offsets[place] + records[record, place] * widths[place]
        for region in range(len(regions)):
            total = 0.0
            for place in range(attributes):
                total += away[rows[place] + regions[region, place]]
                if total > limits[record]:
                    break
            if total <= limits[record]:
                counts[record] += 1
    return counts


@njit(cache=True, nogil=True)
def _within(
    away: Floats,
    offsets: Integers,
    widths: Integers,
    records: Integers,
    regions: Integers,
    limits: Floats,
    starts: Integers,
) -> Integers:
    """The same regions, listed."""
    found = np.empty(starts[-1], np.int64)
    attributes = len(offsets)
    rows = np.empty(attributes, np.int64)
    for record in range(len(records)):
        for place in range(attributes):
            rows[place] = offsets[place] + records[record, place] * widths[place]
        at = starts[record]
        for region in range(len(regions)):
            total = 0.0
            for place in range(attributes):
                total += away[rows[place] + regions[region, place]]
                if total > limits[record]:
                    break
            if total <= limits[record]:
                found[at] = region
                at += 1
    return found


@njit(cache=True, nogil=True)
def _around(
    away: Floats,
    offsets: Integers,
    widths: Integers,
    records: Integers,
    regions: Integers,
    rows: Integers,
    times: Integers,
) -> tuple[Integers, Integers]:
    """Rows around each record, people in each region."""
    around = np.zeros(len(records), np.int64)
    inside = np.zeros(len(regions), np.int64)
    attributes = len(offsets)
    first = np.empty(attributes, np.int64)
    for record in range(len(records)):
        for place in range(attributes):
            first[place] = offsets[place] + records[record, place] * widths[place]
        for region in range(len(regions)):
            holds = True
            for place in range(attributes):
                if away[first[place] + regions[region, place]] > 0.0:
                    holds = False
                    break
            if holds:
                around[record] += rows[region]
                inside[region] += times[record]
    return around, inside
