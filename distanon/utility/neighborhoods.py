"""Neighborhood stability: how much of each record's k-neighborhood the release keeps.

S = mean over p of |N_k(p) ∩ N_k(f(p))| / max(|N_k(p)|, |N_k(f(p))|), records compared by number.

Source: Zhang et al., neighborhood stability, read as |∩| / k where no distances tie (R).
Deviation: the larger neighborhood divides, so that a release of equal rows does not score 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distanon.data.evidence import Evidence
from distanon.data.measurement import Measurement
from distanon.data.streams import Streams
from distanon.kernels.neighbors import Neighborhoods, NeighborIndex, Ties, distinct
from distanon.runtime.crew import Crew
from distanon.sharded.indexes import original_index

SAMPLE = 30_000
"""Records whose neighborhoods are compared where the table has more: an interval then says so."""
_WORK = 200_000_000
"""Neighborhood entries that one figure may cost before fewer records are compared."""
_BATCH = 4_000_000
"""Entries that one item of work holds at a time."""
_PILOT = 64


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over records, exact where low = value = high."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two tables of the same records, ready to be compared; what the workers share.

    Attributes:
        before: the originals.
        after: the release; its record numbers are release rows.
        sources: int64, original record number of each release row.
        points: int64, shape (c, 2): the distinct pairs (original point, release point).
        counts: int64, shape (c,): how many release rows are of this pair.
        pair_of: int64: the pair of each release row.
    """

    before: NeighborIndex
    after: NeighborIndex
    sources: NDArray[np.int64]
    points: NDArray[np.int64]
    counts: NDArray[np.int64]
    pair_of: NDArray[np.int64]


def measure(
    evidence: Evidence,
    *,
    crew: Crew,
    streams: Streams,
    k: int,
    ties: Ties = "include",
    sample: int = SAMPLE,
    blocks: int = 8,
) -> list[Measurement]:
    """Stability in the owner's scale (the original's ranges) and in the analyst's (the release's).

    Args:
        evidence: with the original and the source of each release row; without them there is
            nothing to compare and the list is empty.
        crew: the workers.
        streams: draws the sample, where there is one.
        k: size of a neighborhood.
        ties: what belongs to it where distances tie.
        sample: how many records are compared at most.
        blocks: items of work.
    """
    sources = evidence.sources
    if evidence.original is None or sources is None:
        return []
    names = ("neighborhoods.stability_owner", "neighborhoods.stability_analyst")
    fault = _fault(sources, k)
    if fault:
        return [Measurement(name, math.nan, goal="higher", note=fault) for name in names]
    before = original_index(evidence)
    result = []
    for name, points in zip(names, (evidence.release_points, evidence.analyst_points), strict=True):
        estimate = stability(
            before,
            points,
            sources,
            crew=crew,
            streams=streams,
            k=k,
            ties=ties,
            sample=sample,
            blocks=blocks,
        )
        sampled = estimate.n < len(sources)
        result.append(
            Measurement(
                name,
                estimate.value,
                estimate.low if sampled else None,
                estimate.high if sampled else None,
                goal="higher",
                n=estimate.n,
                note=f"k = {k}, ties: {ties}" + (", a sample of the records" if sampled else ""),
            )
        )
    return result


def _fault(sources: NDArray[np.int64], k: int) -> str:
    rows = len(sources)
    if rows < k + 1:
        return f"k = {k} needs at least {k + 1} released records, there are {rows}"
    if len(np.unique(sources)) < rows:
        return "several released rows stand for one record: neighborhoods do not compare"
    return ""


def stability(
    before: NeighborIndex,
    release: NDArray[np.float64],
    sources: NDArray[np.int64],
    *,
    crew: Crew,
    streams: Streams,
    k: int,
    ties: Ties = "include",
    sample: int = SAMPLE,
    blocks: int = 8,
) -> Estimate:
    """Mean share of each neighborhood that is kept.

    Args:
        before: the originals, all of them.
        release: float64, shape (m, D), m ≥ k + 1: released rows in one scale.
        sources: int64, shape (m,): the original's number of each released row, none twice.
        crew: the workers.
        streams: draws the sample.
        k: size of a neighborhood, at least 1.
        ties: what belongs to it where distances tie.
        sample: how many neighborhoods are compared at most.
        blocks: items of work, never changing the result.

    Returns:
        Over all m rows, or over a seeded sample of them with a 95 % interval. Equal records with
        equal releases are compared once, so that tables of few values cost their distinct pairs.
    """
    # In the order of their sources, so that the lowest numbers win ties on both sides.
    order = np.argsort(sources, kind="stable")
    pair = _pair(before, release[order], sources[order])
    rows = streams.generator("stability sample").permutation(len(sources))
    compare = _compare_pairs if ties == "include" else _compare_rows
    _, entries = compare(pair, _asking(pair, rows[:_PILOT], ties), k)
    per_query = max(1.0, entries / min(_PILOT, len(rows)))
    affordable = max(_PILOT, min(sample, int(_WORK / per_query)))
    if ties == "include" and len(pair.counts) <= affordable:
        asking, weights = np.arange(len(pair.counts), dtype=np.int64), pair.counts
    else:
        asking = _asking(pair, np.sort(rows[:affordable]), ties)
        weights = np.ones(len(asking), dtype=np.int64)
    pieces = max(blocks, math.ceil(len(asking) * per_query / _BATCH))
    items = [(compare, part, k) for part in np.array_split(asking, pieces) if len(part)]
    shares = np.concatenate(
        list(crew.map(_block, items, shared=crew.put(pair), phase="Neighborhood stability"))
    )
    return _estimate(shares, weights, len(sources))


def _pair(before: NeighborIndex, release: NDArray[np.float64], sources: NDArray[np.int64]) -> _Pair:
    after = NeighborIndex.build(distinct(release))
    both = np.column_stack((before.points.point_of[sources], after.points.point_of))
    key = both[:, 0] * len(after.points) + both[:, 1]
    _, first, pair_of, counts = np.unique(
        key, return_index=True, return_inverse=True, return_counts=True
    )
    return _Pair(before, after, sources, both[first], counts, pair_of)


def _asking(pair: _Pair, rows: NDArray[np.int64], ties: Ties) -> NDArray[np.int64]:
    """What is asked about: pairs where ties are all included, else release rows."""
    return pair.pair_of[rows] if ties == "include" else rows


def _block(
    pair: _Pair, item: tuple[Callable[..., tuple[NDArray[np.float64], int]], NDArray[np.int64], int]
) -> NDArray[np.float64]:
    compare, asking, k = item
    return compare(pair, asking, k)[0]


def _compare_pairs(
    pair: _Pair, asking: NDArray[np.int64], k: int
) -> tuple[NDArray[np.float64], int]:
    """Shares kept for a record of each pair, all ties included; and how many entries it took.

    With ties included, the record itself always is the nearest of k + 1 and never crowds out
    another one.
    """
    queries = pair.points[asking]
    old = pair.before.nearest(pair.before.points.rows[queries[:, 0]], k + 1, "include")
    new = pair.after.nearest(pair.after.points.rows[queries[:, 1]], k + 1, "include")
    inside_old = _members(old, pair.points[:, 0], len(pair.before.points))
    inside_new = _members(new, pair.points[:, 1], len(pair.after.points))
    query, member = _common(inside_old, inside_new, len(pair.counts))
    common = np.bincount(query, weights=pair.counts[member], minlength=len(asking)) - 1.0
    larger = np.maximum(old.sizes(), new.sizes()) - 1
    return common / larger, len(inside_old[0]) + len(inside_new[0])


def _members(
    found: Neighborhoods, point_of: NDArray[np.int64], points: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each query with the pairs that hold one of its neighborhood's points."""
    order = np.argsort(point_of, kind="stable")
    counts = np.bincount(point_of, minlength=points)
    starts = np.cumsum(counts) - counts
    query = np.repeat(np.arange(len(found)), np.diff(found.starts))
    lengths = counts[found.points]
    offsets = np.cumsum(lengths) - lengths
    entries = np.arange(int(lengths.sum())) + np.repeat(starts[found.points] - offsets, lengths)
    return np.repeat(query, lengths), order[entries]


def _compare_rows(
    pair: _Pair, asking: NDArray[np.int64], k: int
) -> tuple[NDArray[np.float64], int]:
    """Shares kept for release rows, exactly k neighbors each; and how many entries it took."""
    numbers = pair.sources[asking]
    places = np.arange(len(asking), dtype=np.int64)
    nobody = np.full(len(asking), -1, dtype=np.int64)
    old = pair.before.nearest(
        pair.before.points.rows[pair.before.points.point_of[numbers]], k + 1, "truncate"
    )
    new = pair.after.nearest(
        pair.after.points.rows[pair.after.points.point_of[asking]], k + 1, "truncate"
    )
    before = _without(old.record_lists(pair.before.points, places, nobody)[1], numbers, k)
    after = _without(new.record_lists(pair.after.points, places, nobody)[1], asking, k)
    query = np.repeat(places, k)
    found, _ = _common(
        (query, before), (query, pair.sources[after]), len(pair.before.points.point_of)
    )
    return np.bincount(found, minlength=len(asking)) / k, 2 * len(query)


def _without(records: NDArray[np.int64], own: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """The k nearest others out of k + 1 records in ascending order for each query.

    Where the record itself is not among them, all are copies of it with lower numbers.
    """
    table = records.reshape(len(own), k + 1)
    drop = table == own[:, None]
    drop[~drop.any(axis=1), k] = True
    kept: NDArray[np.int64] = table[~drop]
    return kept


def _common(
    one: tuple[NDArray[np.int64], NDArray[np.int64]],
    other: tuple[NDArray[np.int64], NDArray[np.int64]],
    members: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The (query, member) entries that both hold."""
    keys = np.intersect1d(
        one[0] * members + one[1], other[0] * members + other[1], assume_unique=True
    )
    return keys // members, keys % members


def _estimate(shares: NDArray[np.float64], weights: NDArray[np.int64], records: int) -> Estimate:
    """The weighted mean, with a 95 % interval for a sample drawn without replacement.

    Equal shares in a sample do not say that all are: two records that lost everything and two
    that lost nothing are added before the interval is drawn.

    Source: Agresti & Coull, The American Statistician 52 (1998) 119-126.
    Deviation: shares in [0, 1], which vary less than hits and misses of the same mean.
    """
    n = int(weights.sum())
    mean = float((shares * weights).sum() / n)
    if n == records:
        return Estimate(mean, mean, mean, n)
    more = n + 4
    centre = (n * mean + 2.0) / more
    squares = float((np.square(shares - centre) * weights).sum())
    variance = (squares + 2.0 * centre**2 + 2.0 * (1.0 - centre) ** 2) / more
    half = 1.96 * math.sqrt(variance / more * (1.0 - n / records))
    low, high = max(0.0, min(mean, centre - half)), min(1.0, max(mean, centre + half))
    return Estimate(mean, low, high, n)
