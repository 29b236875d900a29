"""Attribute inference: the sensitive value of a known person, told by the rows that may be theirs.

What the same rows tell of people who are not in the release is knowledge about everybody, and no
fault of the release: the gain over them is what is left.

Source: methods.md, section D (attribute); the gain is Giomi et al., PoPETs 2023 (anonymeter).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.attacks.intervals import wilson
from distanon.data.common_codes import CommonCodes, common_codes, is_number
from distanon.data.evidence import Evidence
from distanon.data.measurement import Measurement
from distanon.data.schema import Attribute, AttributeType
from distanon.data.streams import Streams
from distanon.kernels.counts import Counts
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
"""People of each kind who are attacked where there are more: a seeded sample."""
_LARGEST = 900  # binary digits of a number that very many may be added up of
WIDTH = 0.05
"""A guessed number is right when it is this near, by the range of the released numbers."""

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The groups of equal rows that may be each target's: groups[starts[i]:starts[i + 1]].

    Attributes:
        starts: int64, shape (t + 1,); each target has at least one group.
        groups: int64.
    """

    starts: Integers
    groups: Integers

    @property
    def owners(self) -> Integers:
        """The target of each entry."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


@dataclass(frozen=True, slots=True)
class _Attack:
    """What is the same for every sensitive attribute.

    Attributes:
        group_of: int64, shape (rows,): the group of each released row.
        members: numbers of the originals under attack, and their candidates.
        others: the same of records that were held out; None: there are none.
    """

    group_of: Integers
    members: tuple[Integers, Candidates]
    others: tuple[Integers, Candidates] | None


def measure(
    evidence: Evidence, *, crew: Crew, streams: Streams, targets: int = TARGETS, blocks: int = 8
) -> list[Measurement]:
    """Shares of people whose sensitive value the rows that may be theirs tell.

    The intruder knows all quasi-identifiers, looks at the rows that are nearest (whose regions
    contain the person, where there are some) and guesses their commonest value, of numbers their
    mean, which is right within 5 % of the range.

    Args:
        evidence: with the original, and best with control records.
        crew: the workers.
        streams: draws the people where there are many.
        targets: how many of each kind are attacked at most.
        blocks: items of work.

    Returns:
        For each sensitive attribute the share with Wilson's 95 % interval (c tied values count
        1/c) and that of guessing the commonest value for everybody; with control records their
        share too, and the gain (r − r_control) / (1 − r_control).
    """
    sensitive = evidence.release.schema.sensitive
    if evidence.original is None or not sensitive or not len(evidence.release):
        return []
    if not evidence.quasi_identifiers:
        return []
    attack = _candidates(evidence, crew, streams, targets, blocks)
    result = []
    for attribute in sensitive:
        name = attribute.name
        truth = evidence.original_table.column(name).take(pa.array(attack.members[0]))
        beyond = None
        if attack.others is not None and evidence.control is not None:
            held = evidence.control.read([name]).column(name)
            beyond = held.take(pa.array(attack.others[0]))
        shown = evidence.release_table.column(name)
        result += _inferred(attribute, attack, shown, truth, beyond)
    return result


def gain(
    attacked: tuple[float, int], control: tuple[float, int]
) -> tuple[float, float | None, float | None]:
    """What an attack gains over its rate on people who are not in the release.

    Args:
        attacked: hits and targets among the members.
        control: likewise among the others.

    Returns:
        (r − r_control) / (1 − r_control), and its 95 % limits from the halves of Wilson's
        intervals; NaN where every control record was guessed.

    Source: Giomi et al. 2023, equation 3 and appendix (error propagation).
    """
    rate, other = attacked[0] / attacked[1], control[0] / control[1]
    if other >= 1.0:
        return math.nan, None, None
    halves = []
    for hits, n in (attacked, control):
        low, high = wilson(hits, n)
        halves.append((high - low) / 2.0)
    value = (rate - other) / (1.0 - other)
    half = math.hypot(halves[0] / (1.0 - other), halves[1] * (1.0 - rate) / (1.0 - other) ** 2)
    return value, value - half, min(1.0, value + half)


def majority(candidates: Candidates, counts: Counts, truth: Integers, commonest: int) -> Floats:
    """1 / (values that tie as the commonest of a target's rows) where the truth is one, else 0.

    Args:
        candidates: groups of each target.
        counts: of the values in each group, markers left out.
        truth: int64, shape (t,): number of each target's value.
        commonest: guessed where no candidate has a value.

    Returns:
        float64, shape (t,).
    """
    owners, entries = _entries(candidates, counts)
    width = counts.n_values
    keys, place = np.unique(owners * width + counts.values[entries], return_inverse=True)
    votes = np.bincount(place, weights=counts.counts[entries], minlength=len(keys))
    target, value = keys // width, keys % width
    most = np.zeros(len(truth))
    np.maximum.at(most, target, votes)
    leads = votes == most[target]
    tied = np.bincount(target[leads], minlength=len(truth))
    right = leads & (value == truth[target])
    hit = np.bincount(target[right], minlength=len(truth))
    blind = (truth == commonest).astype(np.float64)
    return np.where(tied > 0, hit / np.maximum(tied, 1), blind)


def _entries(candidates: Candidates, counts: Counts) -> tuple[Integers, Integers]:
    """The target and the triplet of every (target, group, value)."""
    lengths = np.diff(counts.starts)[candidates.groups]
    owners = np.repeat(candidates.owners, lengths)
    before = np.cumsum(lengths) - lengths
    entries = np.arange(int(lengths.sum())) + np.repeat(
        counts.starts[candidates.groups] - before, lengths
    )
    return owners, entries


def _candidates(
    evidence: Evidence, crew: Crew, streams: Streams, targets: int, blocks: int
) -> _Attack:
    """The nearest rows of members and of others, by groups of equal rows."""
    people = people_of(evidence)
    known = np.arange(len(people.originals))
    if evidence.sources is not None:
        known = np.unique(evidence.sources)
    chosen = streams.sample(known, targets, "attribute input")
    outside = None
    if people.control is not None:
        held = np.arange(len(people.control))
        outside = streams.sample(held, targets, "attribute control")
    if evidence.is_generalized:
        released = ReleasedRegions.of(people.space, regions_of(evidence))
        shared = crew.put(released)

        def ask(values: Floats) -> Candidates:
            found = nearest_to(crew, shared, released, values, blocks)
            return Candidates(found.starts, found.regions)

        group_of = released.region_of
    else:
        points = distinct(released_points(evidence))
        index = crew.put(NeighborIndex.build(points))

        def ask(values: Floats) -> Candidates:
            asked = distinct(people.space.embed(values))
            found = nearest(crew, index, asked.rows, 1, "include", blocks)
            found = found.take(asked.point_of)
            return Candidates(found.starts, found.points.astype(np.int64))

        group_of = points.point_of
    others = None
    if outside is not None and people.control is not None:
        others = outside, ask(people.control[outside])
    return _Attack(group_of, (chosen, ask(people.originals[chosen])), others)


def _inferred(
    attribute: Attribute,
    attack: _Attack,
    shown: pa.ChunkedArray,
    truth: pa.ChunkedArray,
    beyond: pa.ChunkedArray | None,
) -> list[Measurement]:
    """The figures of one attribute."""
    columns = [shown, truth, *([] if beyond is None else [beyond])]
    numeric = attribute.type == AttributeType.NUMERIC and all(is_number(one) for one in columns)
    guess = _guess_numbers if numeric else _guess_values
    asked = [attack.members[1]]
    if beyond is not None and attack.others is not None:
        asked.append(attack.others[1])
    found = guess(attack.group_of, columns, asked)
    if found is None or not len(found[0][0]):
        return []
    how = "their mean, right within 5 % of the range" if numeric else "their commonest value"
    name = attribute.name
    scores, blind = found[0]
    hits = math.fsum(scores.tolist())
    result = [
        _rate(f"attribute.inference.{name}", scores, f"the nearest rows: {how}"),
        _rate(f"attribute.inference.{name}.blind_guess", blind, "the same guess for everybody"),
    ]
    if len(found) > 1 and len(found[1][0]):
        others = found[1][0]
        result.append(
            _rate(f"attribute.control.{name}", others, "the same of people who are not in it")
        )
        compared = math.fsum(others.tolist()), len(others)
        value, low, high = gain((hits, len(scores)), compared)
        note = "(rate - control's) / (1 - control's)"
        if math.isnan(value):
            note = "every control record was guessed: there is nothing to gain"
        result.append(
            Measurement(
                f"attribute.gain.{name}",
                value,
                low,
                high,
                goal="lower",
                unit="1",
                n=len(scores),
                note=note,
            )
        )
    return result


def _guess_values(
    group_of: Integers, columns: list[pa.ChunkedArray], asked: list[Candidates]
) -> list[tuple[Floats, Floats]] | None:
    """Scores of the guesses, and of the blind one, of targets who have a value."""
    codes: CommonCodes = common_codes(*columns)
    shown, says = codes.columns[0], codes.says
    told = says[shown]
    if not told.any():
        return None
    groups = int(group_of.max()) + 1
    counts = Counts.of(group_of[told], shown[told], groups, len(says))
    commonest = int(np.argmax(np.bincount(shown[told], minlength=len(says))))
    result = []
    for candidates, truth in zip(asked, codes.columns[1:], strict=True):
        scores = majority(candidates, counts, truth, commonest)
        has = says[truth]
        result.append((scores[has], (truth[has] == commonest).astype(np.float64)))
    return result


def _guess_numbers(
    group_of: Integers, columns: list[pa.ChunkedArray], asked: list[Candidates]
) -> list[tuple[Floats, Floats]] | None:
    """The same for numbers: the mean of the candidates, near enough or not."""
    values = [_floats(column) for column in columns]
    shown, told = values[0], ~np.isnan(values[0])
    if not told.any():
        return None
    groups = int(group_of.max()) + 1
    low, high = float(shown[told].min()), float(shown[told].max())
    # From the lowest, so that large numbers keep their digits; in a unit that keeps sums finite.
    unit = math.ldexp(1.0, max(0, math.frexp(high - low)[1] - _LARGEST))
    shown, low, high = shown / unit, low / unit, high / unit
    totals = np.bincount(group_of[told], weights=shown[told] - low, minlength=groups)
    counts = np.bincount(group_of[told], minlength=groups)
    mean = math.fsum((shown[told] - low).tolist()) / int(told.sum())
    width = WIDTH * (high - low) * (1.0 + 1e-9)
    result = []
    for candidates, truth in zip(asked, values[1:], strict=True):
        people, owners = len(truth), candidates.owners
        total = np.bincount(owners, weights=totals[candidates.groups], minlength=people)
        count = np.bincount(owners, weights=counts[candidates.groups], minlength=people)
        guess = np.where(count > 0, total / np.maximum(count, 1.0), mean)
        has = ~np.isnan(truth)
        own = truth[has] / unit - low
        result.append(
            (
                (np.abs(guess[has] - own) <= width).astype(np.float64),
                (np.abs(mean - own) <= width).astype(np.float64),
            )
        )
    return result


def _floats(column: pa.ChunkedArray) -> Floats:
    values: Floats = column.cast(pa.float64(), safe=False).to_numpy().astype(np.float64)
    return values


def _rate(name: str, scores: Floats, note: str) -> Measurement:
    hits = math.fsum(scores.tolist())
    low, high = wilson(hits, len(scores))
    return Measurement(name, hits / len(scores), low, high, goal="lower", n=len(scores), note=note)
