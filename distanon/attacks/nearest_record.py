"""Known people and released rows linked by the nearest, or by equal values.

Source: methods.md, section D (identity); distances are those of Wang et al. 2010.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distanon.data.classes import common_classes
from distanon.data.evidence import Evidence
from distanon.kernels.neighbors import NeighborIndex, distinct
from distanon.runtime.crew import Crew
from distanon.sharded.neighbors import nearest


@dataclass(frozen=True, slots=True)
class Setting:
    """What the attacks share.

    Attributes:
        crew: the workers.
        blocks: items of work of one attack.
        sources: int64, shape (m,): the original's number of each released row.
        rows: int64: the released rows under attack, ascending.
        targets: int64: the originals under attack, ascending; each has a released row.
    """

    crew: Crew
    blocks: int
    sources: NDArray[np.int64]
    rows: NDArray[np.int64]
    targets: NDArray[np.int64]


def release_to_original(
    setting: Setting, old: NeighborIndex, new: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Scores of released rows: is the nearest original the source?

    Equal rows are one: each is credited with the mean over all that equal it.

    Args:
        setting: who is attacked.
        old: all originals, in one scale with
        new: float64, shape (m, D): the released rows.

    Returns:
        float64, one for each of `setting.rows`, in [0, 1].
    """
    rows = distinct(new)
    asked = np.unique(rows.point_of[setting.rows])
    place = np.full(len(rows), -1, dtype=np.int64)
    place[asked] = np.arange(len(asked))
    alike = np.flatnonzero(place[rows.point_of] >= 0)
    truth = old.points.point_of[setting.sources[alike]]
    scores = _scores(setting, old, rows.rows[asked], place[rows.point_of[alike]], truth)
    return (scores / rows.counts[asked])[place[rows.point_of[setting.rows]]]


def original_to_release(
    setting: Setting, old: NDArray[np.float64], new: NeighborIndex
) -> NDArray[np.float64]:
    """Scores of known people: is the nearest released row, or one of those that tie, theirs?

    Args:
        setting: who is attacked.
        old: float64, shape (n, D): all originals, in one scale with
        new: the released rows.

    Returns:
        float64, one for each of `setting.targets`, in [0, 1].
    """
    place = np.searchsorted(setting.targets, setting.sources)
    place = np.minimum(place, len(setting.targets) - 1)
    theirs = np.flatnonzero(setting.targets[place] == setting.sources)
    truth = new.points.point_of[theirs]
    return _scores(setting, new, old[setting.targets], place[theirs], truth)


def _scores(
    setting: Setting,
    index: NeighborIndex,
    queries: NDArray[np.float64],
    asking: NDArray[np.int64],
    truth: NDArray[np.int64],
) -> NDArray[np.float64]:
    """For each query the share of its tied nearest candidates that are true.

    Args:
        setting: the workers.
        index: the candidates.
        queries: float64, shape (q, D); equal ones are searched for once.
        asking: int64: query of each true candidate.
        truth: int64: its point among the candidates.
    """
    points = distinct(queries)
    shared = setting.crew.put(index)
    found = nearest(setting.crew, shared, points.rows, 1, "include", setting.blocks)
    width = len(index.points)
    owner = np.repeat(np.arange(len(points)), np.diff(found.starts))
    candidates = owner * width + found.points
    among = np.isin(points.point_of[asking] * width + truth, candidates)
    hits = np.bincount(asking[among], minlength=len(queries))
    scores: NDArray[np.float64] = hits / found.sizes()[points.point_of]
    return scores


def exact_matches(evidence: Evidence, setting: Setting) -> NDArray[np.float64]:
    """Scores of targets by rows that equal them; 0 where none does."""
    names = list(evidence.space.names)
    theirs, ours = common_classes(
        evidence.original_table.select(names), evidence.release_table.select(names), names
    )
    count = int(max(theirs.max(), ours.max())) + 1
    rows = np.bincount(ours, minlength=count)
    same = theirs[setting.sources] == ours
    own = np.bincount(setting.sources[same], minlength=len(theirs))[setting.targets]
    found = rows[theirs[setting.targets]]
    scores: NDArray[np.float64] = own / np.maximum(found, 1)
    return scores


def knowing(evidence: Evidence, known: Sequence[int]) -> tuple[NDArray[np.float64], NeighborIndex]:
    """Originals and released rows as points that differ in the known attributes alone."""
    hidden = np.ones(evidence.original_values.shape[1], dtype=np.bool_)
    hidden[list(known)] = False

    def points(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return evidence.space.embed(np.where(hidden, 0.0, values))

    index = NeighborIndex.build(distinct(points(evidence.release_values)))
    return points(evidence.original_values), index
