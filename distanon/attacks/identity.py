"""Identity: an intruder links records of known people to released rows.

To rows of values by nearest distance, to generalized rows by what they contain.

Source: methods.md, section D (identity); distances are those of Wang et al. 2010.
The intruder measures in the owner's scale. Its ranges are not published, so this is the strongest
intruder of this kind: with rougher ranges the rates are at most a little lower.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distanon.attacks.assignment import assignment_scores
from distanon.attacks.containment import WORK, claimed, people_to_rows, rows_to_people
from distanon.attacks.intervals import wilson_bounded
from distanon.attacks.nearest_in_parts import InParts
from distanon.attacks.nearest_record import (
    Setting,
    exact_matches,
    knowing,
    original_to_release,
    release_to_original,
)
from distanon.attacks.reidentification_risk import risks
from distanon.data.evidence import Evidence
from distanon.data.measurement import Measurement
from distanon.data.streams import Streams
from distanon.runtime.crew import Crew
from distanon.sharded.indexes import original_index, release_index
from distanon.sharded.large import class_sizes
from distanon.sharded.people import ReleasedRegions, people_of, regions_of

TARGETS = 30_000
"""Targets that are attacked where there are more: a seeded sample."""
ASSIGNMENT_RECORDS = 5_000
"""The optimal assignment takes memory for all pairs, and more than quadratic time."""
KNOWN = (3, 4)
"""How many quasi-identifiers an intruder knows who does not know them all."""


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

    Control records have no released row that could be theirs: they are the targets of whom an
    intruder who does not know who is in the release claims rows in vain. The blind guess is what
    he reaches without the release.

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
    alone = risks(evidence, crew=crew, blocks=blocks)
    if evidence.original is None or evidence.sources is None or not evidence.quasi_identifiers:
        return alone
    setting = Setting(
        crew,
        blocks,
        evidence.sources,
        streams.sample(np.arange(len(evidence.sources)), targets, "identity rows"),
        streams.sample(np.unique(evidence.sources), targets, "identity targets"),
    )
    rated = _Rated.of(evidence, crew)
    parts = InParts.of(evidence, setting)
    if parts is not None:
        directions, unsure, few = _in_parts(evidence, parts, rated, streams)
    else:
        linked = _by_containment if evidence.is_generalized else _by_distance
        directions, unsure, few = linked(evidence, setting, rated, streams)
    assigned = _assignment(evidence, rated, streams, assignment)
    known_all = [*directions, *([] if math.isnan(assigned.value) else [assigned])]
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
        1.0 / min(len(evidence.original), len(evidence.release)),
        n=len(evidence.release),
        note="what an intruder reaches without looking",
    )
    return [
        *directions,
        highest,
        assigned,
        *_knowing_few(evidence, rated, streams, choices, few),
        *unsure,
        guess,
        *alone,
    ]


@dataclass(frozen=True, slots=True)
class _Rated:
    """How scores become rates.

    Attributes:
        most: what the score of a target can be at the most: 1 / the smallest number of equal rows
            where each row is of another record, else 1.
    """

    most: float

    @staticmethod
    def of(evidence: Evidence, crew: Crew) -> _Rated:
        """By the classes of the release."""
        sources = evidence.sources
        if sources is None or len(np.unique(sources)) < len(sources):
            return _Rated(1.0)
        return _Rated(1.0 / int(class_sizes(evidence, crew).min()))

    def rate(
        self, name: str, scores: NDArray[np.float64], note: str, independent: int | None = None
    ) -> Measurement:
        """The mean score and its 95 % interval."""
        hits, n = float(scores.sum()), len(scores)
        low, high = wilson_bounded(hits, n, self.most, n if independent is None else independent)
        return Measurement(name, hits / n, low, high, goal="lower", n=n, note=note)


_Few = Callable[[Sequence[int]], NDArray[np.float64]]
"""Scores of the targets of an intruder who knows some attributes, by their places."""
_Linked = tuple[list[Measurement], list[Measurement], _Few]


def _by_distance(evidence: Evidence, setting: Setting, rated: _Rated, streams: Streams) -> _Linked:
    """Rows of values: nearest in both directions, and exactly equal."""
    old, new = evidence.original_points, evidence.release_points
    rows = release_to_original(setting, original_index(evidence), new)
    groups = len(np.unique(release_index(evidence).points.point_of[setting.rows]))
    targets = original_to_release(setting, old, release_index(evidence))
    equal = exact_matches(evidence, setting)
    found = _of_values(rated, rows, groups, targets, equal)
    unsure = _claiming_all(evidence, rated, streams, targets)
    return found, unsure, lambda known: original_to_release(setting, *knowing(evidence, known))


def _in_parts(evidence: Evidence, parts: InParts, rated: _Rated, streams: Streams) -> _Linked:
    """As `_by_distance`, of tables that no process holds."""
    rows, groups = parts.release_to_original()
    targets = parts.original_to_release()
    found = _of_values(rated, rows, groups, targets, parts.exact_matches())
    unsure = _claiming_all(evidence, rated, streams, targets)
    return found, unsure, lambda known: parts.original_to_release(tuple(known))


def _of_values(
    rated: _Rated,
    rows: NDArray[np.float64],
    groups: int,
    targets: NDArray[np.float64],
    equal: NDArray[np.float64],
) -> list[Measurement]:
    """The rates of both directions, and of equal values."""
    knows = "nearest, knowing all quasi-identifiers"
    return [
        rated.rate("identity.release_to_original", rows, knows, groups),
        rated.rate("identity.original_to_release", targets, knows),
        rated.rate(
            "identity.exact_match", equal, "rows that equal the target in all quasi-identifiers"
        ),
    ]


def _claiming_all(
    evidence: Evidence, rated: _Rated, streams: Streams, targets: NDArray[np.float64]
) -> list[Measurement]:
    """The rate without knowing membership, where the nearest row is claimed for everybody."""
    everybody = np.ones(len(targets), np.bool_)
    return _unknown_membership(
        evidence,
        rated,
        streams,
        targets,
        everybody,
        lambda numbers: np.ones(len(numbers), np.bool_),
    )


def _by_containment(
    evidence: Evidence, setting: Setting, rated: _Rated, streams: Streams
) -> _Linked:
    """Generalized rows: whom they contain, in both directions."""
    crew, blocks, sources = setting.crew, setting.blocks, setting.sources
    people, regions = people_of(evidence), regions_of(evidence)
    released = ReleasedRegions.of(people.space, regions)
    some = streams.sample(
        setting.rows, max(1, WORK // len(people.originals)), "identity rows of regions"
    )
    rows, groups = rows_to_people(crew, people, released, sources, some, blocks)
    of = streams.sample(
        setting.targets, max(1, WORK // len(released.regions)), "identity targets of regions"
    )
    targets = people_to_rows(crew, people, released, sources, of, blocks)
    found = [
        rated.rate(
            "identity.release_to_original",
            rows,
            "among the originals whom the row contains",
            groups,
        ),
        rated.rate(
            "identity.original_to_release",
            targets.scores,
            "among the rows that contain the target, knowing all quasi-identifiers",
        ),
    ]
    control = people.control

    def others(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        values = people.originals[:0] if control is None else control[numbers]
        return claimed(crew, released, values, blocks)

    def few(known: Sequence[int]) -> NDArray[np.float64]:
        part = ReleasedRegions.of(people.space, regions, known)
        return people_to_rows(crew, people, part, sources, of, blocks, known).scores

    unsure = _unknown_membership(
        evidence, rated, streams, targets.scores, targets.is_claimed, others
    )
    return found, unsure, few


def _unknown_membership(
    evidence: Evidence,
    rated: _Rated,
    streams: Streams,
    scores: NDArray[np.float64],
    is_claimed: NDArray[np.bool_],
    others: Callable[[NDArray[np.int64]], NDArray[np.bool_]],
) -> list[Measurement]:
    """Right claims of an intruder half of whose targets are not in the release.

    Args:
        evidence: with control records, who are the targets that are not in it.
        rated: how scores become a rate.
        streams: draws as many members as there are others, or fewer others.
        scores: of the members under attack.
        is_claimed: for which of them a row is claimed.
        others: tells the same of control records, by number.
    """
    if evidence.control is None:
        return []
    size = min(len(evidence.control), len(scores))
    members = streams.sample(np.arange(len(scores)), size, "identity members")
    outside = streams.sample(np.arange(len(evidence.control)), size, "identity control")
    claims = int(is_claimed[members].sum()) + int(others(outside).sum())
    if not claims:
        return []
    padded = np.zeros(claims)
    padded[: int(is_claimed[members].sum())] = scores[members][is_claimed[members]]
    note = "right claims among all; half of the targets (control records) are not in the release"
    return [rated.rate("identity.unknown_membership", padded, note)]


def _knowing_few(
    evidence: Evidence, rated: _Rated, streams: Streams, choices: int, scored: _Few
) -> list[Measurement]:
    """Known people linked to released rows by 3 or 4 attributes."""
    attributes = len(evidence.space.names)
    result = []
    for size in KNOWN:
        if size >= attributes:
            continue
        tried = min(choices, math.comb(attributes, size))
        draw = streams.generator("identity known attributes", size)
        sets: set[tuple[int, ...]] = set()
        while len(sets) < tried:
            sets.add(tuple(sorted(draw.choice(attributes, size, replace=False).tolist())))
        scores = [scored(known) for known in sorted(sets)]
        # One target's scores under several sets are no independent targets: n stays.
        note = f"knows {size} quasi-identifiers; mean over {tried} choices of them"
        result.append(rated.rate(f"identity.known_{size}", np.mean(scores, axis=0), note))
    return result


def _assignment(evidence: Evidence, rated: _Rated, streams: Streams, limit: int) -> Measurement:
    """All released rows assigned to originals at once, at the smallest sum of squared distances."""
    name = "identity.assignment"
    sources = evidence.sources
    if sources is None or len(np.unique(sources)) < len(sources):
        return _not_measured(name, "several released rows stand for one record")
    if evidence.original is None or max(len(evidence.original), len(evidence.release)) > limit:
        return _not_measured(name, f"measured up to {limit} records")
    old, new = evidence.original_points, evidence.release_points
    shuffle = streams.generator("identity assignment").permutation
    scores = assignment_scores(old, new, sources, shuffle)
    return rated.rate(name, scores, "knows all quasi-identifiers")


def _not_measured(name: str, reason: str) -> Measurement:
    return Measurement(name, math.nan, goal="lower", note=reason)
