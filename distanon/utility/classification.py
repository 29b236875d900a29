"""Classifiers that learn from the release, tested on original records, beside the original's.

The quasi-identifiers predict each sensitive attribute. Random forest, logistic regression and
1-nearest neighbor, with fixed parameters and seeds, learn once from originals and once from the
released rows of the same people; both are tested on the same people, so that differences are
paired.

Source: methods.md, section D (utility: train on release, test on original).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.common_codes import common_codes, is_number
from distanon.data.evidence import Evidence
from distanon.data.measurement import Measurement
from distanon.data.schema import Attribute, AttributeType
from distanon.data.streams import Streams
from distanon.kernels.neighbors import NeighborIndex, distinct
from distanon.runtime.crew import Crew
from distanon.sharded.people import people_of, released_points

RECORDS = 30_000
"""People whose records are learnt from where there are more: a seeded sample."""
TESTS = 10_000
"""People on whom it is tested where there are more."""
LABELS = 50
"""Values of a sensitive attribute beyond which it is not predicted."""
CLASSIFIERS = ("random_forest", "logistic_regression", "nearest_neighbor")
_FOLDS = 2
_Z = 1.959963984540054

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
_Side: TypeAlias = Literal["original", "release"]
_Item: TypeAlias = tuple[str, _Side, int]


@dataclass(frozen=True, slots=True)
class _Learning:
    """One fold: what is learnt from, and what is tested; the workers share all folds.

    Attributes:
        features: float64, by side: rows to learn from.
        labels: int64, by side.
        tested: float64: originals or control records, as points.
        truth: int64: their labels.
    """

    features: Mapping[str, Floats]
    labels: Mapping[str, Integers]
    tested: Floats
    truth: Integers


def measure(
    evidence: Evidence,
    attribute: Attribute,
    *,
    crew: Crew,
    streams: Streams,
    records: int = RECORDS,
    tests: int = TESTS,
) -> list[Measurement]:
    """How well one sensitive attribute is predicted by what the release teaches.

    Tested on control records where there are some, else on originals that were left out of the
    learning: half of the people, and then the other half. The rows of a group that was formed
    with them still know a little of them, which control records rule out.

    Args:
        evidence: with the original, and the source of each row or control records.
        attribute: sensitive; of numbers it is predicted whether they lie above the median.
        crew: the workers: one classifier on one table is one item.
        streams: draws samples and halves.
        records: how many people are learnt from at most.
        tests: how many are predicted at most.

    Returns:
        For each classifier the accuracy of the release with Wilson's 95 % interval, that of the
        original, and the paired difference with its interval; and the accuracy of the commonest
        released value.
    """
    if evidence.original is None or not len(evidence.release):
        return []
    name = attribute.name
    if evidence.sources is None and evidence.control is None:
        return []
    labels = _labels(evidence, attribute)
    if isinstance(labels, str):
        figures = [f"classification.{one}.{name}" for one in CLASSIFIERS]
        return [Measurement(one, math.nan, goal="higher", note=labels) for one in figures]
    folds = _folds(evidence, labels, streams, records, tests)
    if not folds or any(not len(fold.truth) for fold in folds):
        return []
    hits = _all_hits(evidence, name, folds, crew, (records, tests))
    truth = np.concatenate([fold.truth for fold in folds])
    where = "control records" if evidence.control is not None else "originals left out of it"
    result = []
    for one in CLASSIFIERS:
        result += _figures(one, name, hits[one, "release"], hits[one, "original"], where)
    guesses = np.concatenate([fold.truth == _commonest(fold.labels["release"]) for fold in folds])
    result.append(
        Measurement(
            f"classification.commonest.{name}",
            float(guesses.mean()),
            n=len(truth),
            note="the commonest released value for everybody",
        )
    )
    return result


def _labels(evidence: Evidence, attribute: Attribute) -> dict[str, Integers] | str:
    """Numbers of the labels of originals, released rows and control records; or why not.

    A record without a label has -1.
    """
    name = attribute.name
    columns = {
        "original": evidence.original_table.column(name),
        "release": evidence.release_table.column(name),
    }
    if evidence.control is not None:
        columns["control"] = evidence.control.read([name]).column(name)
    if attribute.type == AttributeType.NUMERIC and all(map(is_number, columns.values())):
        found = {side: _numbers(column) for side, column in columns.items()}
        middle = float(np.nanmedian(found["original"])) if len(found["original"]) else math.nan
        return {
            side: np.where(np.isnan(values), -1, values > middle).astype(np.int64)
            for side, values in found.items()
        }
    codes = common_codes(*columns.values())
    labels = {
        side: np.where(codes.says[own], own, -1)
        for side, own in zip(columns, codes.columns, strict=True)
    }
    count = len(np.unique(labels["original"][labels["original"] >= 0]))
    if not 2 <= count <= LABELS:
        return f"predicted where an attribute has 2 to {LABELS} values"
    return labels


def _folds(
    evidence: Evidence,
    labels: Mapping[str, Integers],
    streams: Streams,
    records: int,
    tests: int,
) -> list[_Learning]:
    """What is learnt and what is tested: one fold with control records, else halves."""
    people = people_of(evidence)
    everybody = np.arange(len(people.originals))
    if people.control is not None:
        held = np.arange(len(people.control))
        tested = streams.sample(held[labels["control"] >= 0], tests, "classification control")
        points = people.space.embed(people.control[tested])
        chosen = streams.sample(everybody, records, "classification records")
        return [_learning(evidence, labels, chosen, points, labels["control"][tested])]
    half_of = streams.generator("classification halves").integers(0, _FOLDS, len(everybody))
    folds = []
    for half in range(_FOLDS):
        chosen = streams.sample(
            everybody[half_of != half], records // _FOLDS, f"classification records {half}"
        )
        others = everybody[(half_of == half) & (labels["original"] >= 0)]
        tested = streams.sample(others, tests // _FOLDS, f"classification tests {half}")
        points = people.original_points[tested]
        folds.append(_learning(evidence, labels, chosen, points, labels["original"][tested]))
    return folds


def _learning(
    evidence: Evidence,
    labels: Mapping[str, Integers],
    chosen: Integers,
    tested: Floats,
    truth: Integers,
) -> _Learning:
    """A fold that learns from some originals and from their rows."""
    if evidence.sources is None:
        rows = np.arange(len(evidence.release))
    else:
        # In the order of the sources: rows of a release are sorted by their values, and where
        # records tie the first is the nearest.
        order = np.argsort(evidence.sources, kind="stable")
        rows = order[np.isin(evidence.sources[order], chosen)]
    rows = rows[labels["release"][rows] >= 0]
    chosen = chosen[labels["original"][chosen] >= 0]
    return _Learning(
        {
            "original": people_of(evidence).original_points[chosen],
            "release": released_points(evidence)[rows],
        },
        {"original": labels["original"][chosen], "release": labels["release"][rows]},
        tested,
        truth,
    )


def _all_hits(
    evidence: Evidence, name: str, folds: list[_Learning], crew: Crew, limits: tuple[int, int]
) -> dict[tuple[str, str], NDArray[np.bool_]]:
    """By classifier and side, which people are predicted right; the original's are kept."""
    kept = evidence.made_of_original.setdefault("classification", {})
    key = (name, *limits)
    sides: list[_Side] = ["release"] if key in kept else ["original", "release"]
    items: list[_Item] = [
        (one, side, place) for one in CLASSIFIERS for side in sides for place in range(len(folds))
    ]
    shared = crew.put(folds)
    found = list(crew.map(_hits, items, shared=shared, phase="classification"))
    hits = {
        (one, side): np.concatenate(
            [part for part, item in zip(found, items, strict=True) if item[:2] == (one, side)]
        )
        for one in CLASSIFIERS
        for side in sides
    }
    if key not in kept:
        kept[key] = {one: hits[one, "original"] for one in CLASSIFIERS}
    return hits | {(one, "original"): right for one, right in kept[key].items()}


def _hits(folds: list[_Learning], item: _Item) -> NDArray[np.bool_]:
    """Which of a fold's people one classifier predicts right."""
    classifier, side, place = item
    fold = folds[place]
    features, labels = fold.features[side], fold.labels[side]
    if len(np.unique(labels)) < 2:
        predicted = np.full(len(fold.truth), _commonest(labels))
    elif classifier == "nearest_neighbor":
        predicted = _nearest_labels(features, labels, fold.tested)
    else:
        predicted = _fitted(classifier, features, labels, fold.tested)
    right: NDArray[np.bool_] = predicted == fold.truth
    return right


def _fitted(classifier: str, features: Floats, labels: Integers, tested: Floats) -> Integers:
    """Predictions of scikit-learn's classifiers, on one thread so that sums have one order."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    model: Any
    if classifier == "random_forest":
        model = RandomForestClassifier(100, min_samples_leaf=2, random_state=0, n_jobs=1)
    else:
        model = LogisticRegression(max_iter=500)
    gaps = np.asarray(np.isnan(np.vstack([features, tested])).any(axis=0))
    with threadpool_limits(1):
        model.fit(_filled(features, gaps), labels)
        return np.asarray(model.predict(_filled(tested, gaps)), dtype=np.int64)


def _nearest_labels(features: Floats, labels: Integers, tested: Floats) -> Integers:
    """The label of the nearest row; of rows that tie, of the first."""
    index = NeighborIndex.build(distinct(features))
    asked = distinct(tested)
    found = index.nearest(asked.rows, 1, "truncate")
    first = index.points.records[index.points.starts[found.points]]
    return labels[first][asked.point_of]


def _filled(points: Floats, gaps: NDArray[np.bool_]) -> Floats:
    """Missing numbers in the middle, and for each column with gaps one that says where."""
    missing = np.isnan(points)
    return np.hstack([np.where(missing, 0.5, points), missing[:, gaps].astype(np.float64)])


def _commonest(labels: Integers) -> int:
    """The commonest label, of several the lowest; -1 where there is none."""
    return int(np.argmax(np.bincount(labels))) if len(labels) else -1


def _numbers(column: pa.ChunkedArray) -> Floats:
    values: Floats = column.cast(pa.float64(), safe=False).to_numpy().astype(np.float64)
    return values


def _figures(
    classifier: str, name: str, release: NDArray[np.bool_], original: NDArray[np.bool_], where: str
) -> list[Measurement]:
    n = len(release)
    rate, low, high = _accuracy(release)
    begin = f"classification.{classifier}"
    return [
        Measurement(
            f"{begin}.{name}",
            rate,
            low,
            high,
            goal="higher",
            n=n,
            note=f"learnt from the release, tested on {where}",
        ),
        Measurement(
            f"{begin}_original.{name}",
            *_accuracy(original),
            n=n,
            note=f"learnt from the original, tested on {where}",
            is_public=False,
        ),
        Measurement(
            f"{begin}_change.{name}",
            *difference(release, original),
            goal="higher",
            unit="1",
            n=n,
            note="accuracy of the release less that of the original, on the same people",
        ),
    ]


def difference(
    one: NDArray[np.bool_], other: NDArray[np.bool_]
) -> tuple[float, float | None, float | None]:
    """Mean of one − other over pairs, and the normal 95 % limits of the mean.

    Where all pairs differ alike the variance can't be estimated: the limits then are what so many
    pairs without an exception leave open (the rule of three).
    """
    away = one.astype(np.float64) - other.astype(np.float64)
    n = len(away)
    mean = float(away.sum()) / n
    if n < 2:
        return mean, None, None
    half = _Z * math.sqrt(float(np.square(away - mean).sum()) / (n - 1) / n)
    half = half or min(1.0, -math.log(0.05) / n)
    return mean, max(-1.0, mean - half), min(1.0, mean + half)


def _accuracy(right: NDArray[np.bool_]) -> tuple[float, float, float]:
    """Share of right predictions and Wilson's 95 % limits."""
    from scipy.stats import binomtest

    hits, n = int(right.sum()), len(right)
    limits = binomtest(hits, n).proportion_ci(0.95, method="wilson")
    return hits / n, float(limits.low), float(limits.high)
