"""Identity: an intruder links records of known people to released rows by nearest distance.

Source: methods.md, section D (identity); distances are those of Wang et al. 2010.
The intruder measures in the owner's scale. Its ranges are not published, so this is the strongest
intruder of this kind: with rougher ranges the rates are at most a little lower.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distanon.attacks.assignment import assignment_scores
from distanon.attacks.intervals import wilson
from distanon.data.evidence import Evidence
from distanon.data.measurement import Measurement
from distanon.data.streams import Streams
from distanon.kernels.neighbors import NeighborIndex, distinct
from distanon.runtime.crew import Crew
from distanon.sharded.indexes import original_index, release_index
from distanon.sharded.neighbors import nearest

TARGETS = 30_000
"""Targets that are attacked where there are more: a seeded sample."""
ASSIGNMENT_RECORDS = 5_000
"""The optimal assignment takes memory for all pairs, and more than quadratic time."""
KNOWN = (3, 4)
"""How many quasi-identifiers an intruder knows who does not know them all."""


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


def measure(
    evidence: Evidence,
    *,
    crew: Crew,
    streams: Streams,
    targets: int = TARGETS,
    choices: int = 3,
    assignment: int = ASSIGNMENT_RECORDS,
    blocks: int = 8,
) -> list[Measurement]:
    """Linkage in both directions, by optimal assignment, and with few attributes known.

    Control records have no released row that could be theirs, so no rate is measured on them
    (what a release tells of them is `membership`'s question): the blind guess is what an intruder
    reaches without the release.

    Args:
        evidence: with the original and the source of each released row; without them only what
            the released rows show by themselves is measured.
        crew: the workers.
        streams: draws targets and known attributes.
        targets: how many are attacked at most in each direction.
        choices: how many sets of known attributes are tried; their mean is reported.
        assignment: how many records at most are assigned all at once.
        blocks: items of work of one attack.

    Returns:
        Shares with Wilson's 95 % intervals. A target whose c nearest candidates tie, its own among
        them, counts 1/c.
    """
    if not len(evidence.release):
        return []
    alone = _uniqueness(evidence)
    if evidence.original is None or evidence.sources is None:
        return alone
    setting = Setting(
        crew,
        blocks,
        evidence.sources,
        streams.sample(np.arange(len(evidence.sources)), targets, "identity rows"),
        streams.sample(np.unique(evidence.sources), targets, "identity targets"),
    )
    old, new = evidence.original_points, evidence.release_points
    found = release_to_original(setting, original_index(evidence), new)
    targets_found = original_to_release(setting, old, release_index(evidence))
    known_all = [
        _rate("identity.release_to_original", found),
        _rate("identity.original_to_release", targets_found),
    ]
    assigned = _assignment(evidence, streams, assignment)
    if not math.isnan(assigned.value):
        known_all.append(assigned)
    worst = max(known_all, key=lambda measurement: measurement.value)
    highest = Measurement(
        "identity.highest",
        worst.value,
        worst.ci_low,
        worst.ci_high,
        goal="lower",
        n=worst.n,
        note=f"the best attack: {worst.name.removeprefix('identity.').replace('_', ' ')}",
    )
    guess = Measurement(
        "identity.blind_guess",
        1.0 / min(len(old), len(new)),
        n=len(new),
        note="what an intruder reaches without looking; no rate on control records, since none "
        "of them has a released row to be linked to",
    )
    return [
        *known_all[:2],
        highest,
        assigned,
        *_knowing_few(evidence, setting, streams, choices),
        guess,
        *alone,
    ]


def release_to_original(
    setting: Setting, old: NeighborIndex, new: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Scores of released rows: is the nearest original the source?

    Args:
        setting: who is attacked.
        old: all originals, in one scale with
        new: float64, shape (m, D): the released rows.

    Returns:
        float64, one for each of `setting.rows`, in [0, 1].
    """
    truth = old.points.point_of[setting.sources[setting.rows]]
    return _scores(setting, old, new[setting.rows], np.arange(len(truth)), truth)


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


def _knowing_few(
    evidence: Evidence, setting: Setting, streams: Streams, choices: int
) -> list[Measurement]:
    """Known people linked to released rows by 3 or 4 attributes."""
    attributes = evidence.original_values.shape[1]
    result = []
    for size in KNOWN:
        if size >= attributes:
            continue
        tried = min(choices, math.comb(attributes, size))
        draw = streams.generator("identity known attributes", size)
        sets: set[tuple[int, ...]] = set()
        while len(sets) < tried:
            sets.add(tuple(sorted(draw.choice(attributes, size, replace=False).tolist())))
        scores = [
            original_to_release(setting, *_projected(evidence, known)) for known in sorted(sets)
        ]
        # One target's scores under several sets are no independent targets: n stays.
        note = f"knows {size} quasi-identifiers; mean over {tried} choices of them"
        result.append(_rate(f"identity.known_{size}", np.mean(scores, axis=0), note))
    return result


def _projected(
    evidence: Evidence, known: tuple[int, ...]
) -> tuple[NDArray[np.float64], NeighborIndex]:
    """Originals and released rows as points that differ in the known attributes alone."""
    hidden = np.ones(evidence.original_values.shape[1], dtype=np.bool_)
    hidden[list(known)] = False

    def points(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return evidence.space.embed(np.where(hidden, 0.0, values))

    index = NeighborIndex.build(distinct(points(evidence.release_values)))
    return points(evidence.original_values), index


def _assignment(evidence: Evidence, streams: Streams, limit: int) -> Measurement:
    """All released rows assigned to originals at once, at the smallest sum of squared distances."""
    name = "identity.assignment"
    old, new = evidence.original_points, evidence.release_points
    sources = evidence.sources
    if sources is None or len(np.unique(sources)) < len(sources):
        return _not_measured(name, "several released rows stand for one record")
    if max(len(old), len(new)) > limit:
        return _not_measured(name, f"measured up to {limit} records")
    shuffle = streams.generator("identity assignment").permutation
    return _rate(name, assignment_scores(old, new, sources, shuffle))


def _uniqueness(evidence: Evidence) -> list[Measurement]:
    """What equal released rows alone let an intruder expect, whatever their values."""
    counts = evidence.classes.sizes
    rows = len(evidence.release)
    return [
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


def _rate(name: str, scores: NDArray[np.float64], note: str = "") -> Measurement:
    hits = float(scores.sum())
    low, high = wilson(hits, len(scores))
    note = note or "knows all quasi-identifiers"
    return Measurement(name, hits / len(scores), low, high, goal="lower", n=len(scores), note=note)


def _not_measured(name: str, reason: str) -> Measurement:
    return Measurement(name, math.nan, goal="lower", note=reason)
