"""The nearest records of some points, in a table that no process holds: each partition in turn.

A partition says what is nearest among its own records. What ties with the nearest of all is in
these lists: so the candidates are those of one index over all records, with the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.classes import common_classes
from distanon.data.ports import Partition
from distanon.data.space import AttributeSpace
from distanon.data.table import Dataset
from distanon.errors import InputError
from distanon.kernels.neighbors import NeighborIndex, distinct
from distanon.kernels.ties import TIE_ABSOLUTE, TIE_RELATIVE
from distanon.runtime.crew import Crew

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

_PHASE = "nearest records"


@dataclass(frozen=True, slots=True)
class View:
    """How records become points.

    Attributes:
        space: of all attributes.
        hidden: bool (q,): attributes in which all records are alike.
    """

    space: AttributeSpace
    hidden: Booleans

    @staticmethod
    def of(space: AttributeSpace, known: tuple[int, ...] | None = None) -> View:
        """With some attributes known, by their places; None: all."""
        hidden = np.zeros(len(space.names), np.bool_)
        if known is not None:
            hidden[:] = True
            hidden[list(known)] = False
        return View(space, hidden)

    def points(self, values: Floats) -> Floats:
        """Values in codes, (n, q), as points, (n, D)."""
        if self.hidden.any():
            values = np.where(self.hidden, 0.0, values)
        return self.space.embed(values)

    def read(self, part: Partition) -> Floats:
        """The points of a partition's records."""
        return self.points(self.space.encode(part.read(self.space.names)))


def holds_values(crew: Crew, dataset: Dataset, space: AttributeSpace) -> bool:
    """Whether all cells are values of the space: none is a range, a set, a label or a marker."""
    told = crew.map(_encodes, dataset.partitions, shared=crew.put(space), phase=_PHASE)
    return all(list(told))


def scores_of_nearest(
    crew: Crew,
    view: View,
    candidates: Dataset,
    queries: Floats,
    asking: Integers,
    truth: Integers,
) -> Floats:
    """For each query the share of its tied nearest candidates that are true.

    Args:
        crew: who works.
        view: of the candidates' records.
        candidates: at least one record.
        queries: float64, shape (m, D).
        asking: int64, shape (t,): the query of each true candidate.
        truth: int64, shape (t,): its record number, in any order.

    Returns:
        float64, shape (m,), in [0, 1]. The driver holds the lists of ties.
    """
    points = distinct(queries)
    asked = points.point_of[asking]
    order = np.argsort(truth, kind="stable")
    borders = [part.start for part in candidates.partitions]
    cuts = np.searchsorted(truth[order], [*borders, len(candidates)])
    items = [
        (part, asked[order[low:high]], truth[order[low:high]] - part.start)
        for part, low, high in zip(candidates.partitions, cuts, cuts[1:], strict=False)
    ]
    least = np.full(len(points), np.inf)
    owner, distances, weights = np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64)
    true_at = np.full(len(order), np.inf)
    found = crew.map(_nearest, items, shared=crew.put((view, points.rows)), phase=_PHASE)
    for low, high, (radius, starts, some, counts, own) in zip(cuts, cuts[1:], found, strict=False):
        least = np.minimum(least, radius)
        owner = np.concatenate((owner, np.repeat(np.arange(len(points)), np.diff(starts))))
        distances, weights = np.concatenate((distances, some)), np.concatenate((weights, counts))
        near = distances <= _bounds(least)[owner]
        owner, distances, weights = owner[near], distances[near], weights[near]
        true_at[order[low:high]] = own
    sizes = np.bincount(owner, weights, minlength=len(points))
    among = true_at <= _bounds(least)[asked]
    hits = np.bincount(asking[among], minlength=len(queries))
    scores: Floats = hits / sizes[points.point_of]
    return scores


def rows_like(
    crew: Crew, view: View, dataset: Dataset, points: Floats
) -> tuple[Integers, Integers]:
    """Which records equal some points.

    Args:
        crew: who works.
        view: of the records.
        dataset: of the records.
        points: float64, shape (m, D), all different.

    Returns:
        int64: record numbers, ascending; and the place of the point that each equals.
    """
    told = crew.map(_like, dataset.partitions, shared=crew.put((view, points)), phase=_PHASE)
    rows, places = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for part, (row, place) in zip(dataset.partitions, told, strict=True):
        rows.append(row + part.start)
        places.append(place)
    return np.concatenate(rows), np.concatenate(places)


def equal_rows_of(
    crew: Crew, dataset: Dataset, known: pa.Table, owners: Integers
) -> tuple[Integers, Integers]:
    """How many records equal each of some tuples, and how many of these are its own.

    Args:
        crew: who works.
        dataset: of the records.
        known: m tuples, over columns of the data set.
        owners: int64, shape (n,): for each record the tuple whose own it is; -1: none's.

    Returns:
        int64, shape (m,) each.
    """
    items = [(part, owners[part.start : part.stop]) for part in dataset.partitions]
    total, own = np.zeros(known.num_rows, np.int64), np.zeros(known.num_rows, np.int64)
    for some, mine in crew.map(_equal, items, shared=crew.put(known), phase=_PHASE):
        total += some
        own += mine
    return total, own


def _bounds(least: Floats) -> Floats:
    return least * (1.0 + TIE_RELATIVE) + TIE_ABSOLUTE


def _encodes(space: AttributeSpace, part: Partition) -> bool:
    try:
        space.encode(part.read(space.names))
    except InputError:
        return False
    return True


def _nearest(
    shared: tuple[View, Floats], item: tuple[Partition, Integers, Integers]
) -> tuple[Floats, Integers, Floats, Integers, Floats]:
    """What is nearest in a partition, and how far away true candidates are: infinite, if farther.

    Returns:
        Of each query the least distance; starts, distances and records of the points that tie;
        and a distance for each true candidate.
    """
    view, queries = shared
    part, asking, places = item
    index = NeighborIndex.build(distinct(view.read(part)))
    found = index.nearest(queries, 1, "include")
    width = len(index.points)
    owner = np.repeat(np.arange(len(queries)), np.diff(found.starts))
    keys = owner * width + found.points
    order = np.argsort(keys)
    wanted = asking * width + index.points.point_of[places]
    at = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
    is_there = keys[order[at]] == wanted
    own = np.where(is_there, found.distances[order[at]], np.inf)
    return found.radius, found.starts, found.distances, found.weights.astype(np.int64), own


def _like(shared: tuple[View, Floats], part: Partition) -> tuple[Integers, Integers]:
    view, points = shared
    rows = distinct(np.concatenate((points, view.read(part))))
    place = np.full(len(rows), -1, np.int64)
    place[rows.point_of[: len(points)]] = np.arange(len(points))
    found = place[rows.point_of[len(points) :]]
    equal = np.flatnonzero(found >= 0)
    return equal, found[equal]


def _equal(known: pa.Table, item: tuple[Partition, Integers]) -> tuple[Integers, Integers]:
    part, owners = item
    names = known.column_names
    theirs, ours = common_classes(known, part.read(names), names)
    rows = np.bincount(ours, minlength=int(theirs.max(initial=0)) + 1)
    mine = np.flatnonzero(owners >= 0)
    mine = mine[theirs[owners[mine]] == ours[mine]]
    return rows[theirs], np.bincount(owners[mine], minlength=len(theirs))
