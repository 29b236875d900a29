"""Inversion: an intruder who knows some records and finds their released rows undoes the mapping.

A release that turned, scaled or shifted all records alike is undone exactly by d + 1 known records
in general position; noise, means and substitutions are not.

Source: Liu, Giannella & Kargupta 2006 (known-sample attack on distance-preserving perturbation).
Deviation: any affine map is fitted, not an orthogonal one alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distanon.data.evidence import Evidence
from distanon.data.measurement import Measurement
from distanon.data.streams import Streams
from distanon.runtime.crew import Crew

TARGETS = 20_000
"""Records whose values are recovered where there are more: a seeded sample."""
TOLERANCE = 0.01
"""A value is recovered when it is this near, in units of its column's range."""


@dataclass(frozen=True, slots=True)
class _Tables:
    """Complete records, in units of each column's range; what the workers share.

    Attributes:
        original: float64, shape (n, d).
        release: float64, shape (n, d): their released rows.
        targets: int64: rows whose values are to be recovered.
    """

    original: NDArray[np.float64]
    release: NDArray[np.float64]
    targets: NDArray[np.int64]


def measure(
    evidence: Evidence,
    *,
    crew: Crew,
    streams: Streams,
    draws: int = 10,
    targets: int = TARGETS,
) -> list[Measurement]:
    """Shares of numeric values that are recovered within 1 % of their column's range.

    Args:
        evidence: with the original and the source of each released row; without them, the list
            is empty.
        crew: the workers: one draw is one item.
        streams: draws the known records.
        draws: how often known records are drawn.
        targets: how many records are to be recovered at most.

    Returns:
        With d + 1 known records, with 4 (d + 1) (rounded values need more), and the share of
        released values that are as near by themselves: what no attack is needed for.
    """
    if evidence.original is None or evidence.sources is None:
        return []
    names = ("inversion.known_sample", "inversion.known_more", "inversion.as_released")
    original, release = _numeric(evidence)
    rows, columns = original.shape
    if columns == 0 or rows < columns + 2:
        reason = "needs numeric quasi-identifiers and more complete records than d + 1"
        return [Measurement(name, math.nan, goal="lower", note=reason) for name in names]
    chosen = streams.generator("inversion targets").permutation(rows)[:targets]
    tables = _Tables(original, release, np.sort(chosen))
    shared = crew.put(tables)
    result = []
    sizes = (min(known, rows - 1) for known in (columns + 1, 4 * (columns + 1)))
    for name, known in zip(names, sizes, strict=False):
        items = [(streams, draw, known) for draw in range(draws)]
        shares = list(crew.map(_recovered, items, shared=shared, phase="Inversion"))
        low, high = _interval(shares)
        note = f"{known} known records, {draws} draws of them; values within 1 % of the range"
        mean = math.fsum(shares) / draws
        result.append(Measurement(name, mean, low, high, goal="lower", n=draws, note=note))
    near = _near(release[tables.targets], original[tables.targets])
    note = "released values within 1 % of the range of the true ones, without any attack"
    result.append(Measurement(names[2], near, goal="lower", n=len(tables.targets), note=note))
    return result


def invert(
    known: NDArray[np.float64], released: NDArray[np.float64], rows: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Released rows mapped back by the affine map that fits the known ones best.

    Args:
        known: float64, shape (m, d): records that the intruder knows.
        released: float64, shape (m, d): their released rows.
        rows: float64, shape (r, d): other released rows.

    Returns:
        float64, shape (r, d): the smallest map where m records do not determine one.
    """
    center, origin = released.mean(axis=0), known.mean(axis=0)
    answer = np.linalg.lstsq(released - center, known - origin, rcond=None)[0]
    recovered: NDArray[np.float64] = (rows - center) @ answer + origin
    return recovered


def _recovered(tables: _Tables, item: tuple[Streams, int, int]) -> float:
    """The share of values recovered from one draw of known records, these left out."""
    streams, draw, known = item
    generator = streams.generator("inversion known records", draw, known)
    rows = generator.choice(len(tables.original), known, replace=False)
    others = tables.targets[~np.isin(tables.targets, rows)]
    if not len(others):
        others = np.setdiff1d(np.arange(len(tables.original)), rows)
    recovered = invert(tables.original[rows], tables.release[rows], tables.release[others])
    return _near(recovered, tables.original[others])


def _near(values: NDArray[np.float64], truth: NDArray[np.float64]) -> float:
    return float((np.abs(values - truth) <= TOLERANCE * (1.0 + 1e-9)).mean())


def _numeric(evidence: Evidence) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Numeric columns that are not constant, rows complete in both tables, by sources."""
    sources = np.asarray(evidence.sources)
    order = np.argsort(sources, kind="stable")
    numeric = np.asarray(evidence.space.numeric)
    original = evidence.original_values[:, numeric]
    present = np.isfinite(original).any(axis=0)
    original, release = original[:, present], evidence.release_values[:, numeric][:, present]
    if not original.shape[1]:
        return np.empty((0, 0)), np.empty((0, 0))
    low = np.nanmin(original, axis=0)
    spread = np.nanmax(original, axis=0) - low
    moves = spread > 0
    original = (original[sources[order]] - low)[:, moves] / spread[moves]
    release = (release[order] - low)[:, moves] / spread[moves]
    complete = ~(np.isnan(original).any(axis=1) | np.isnan(release).any(axis=1))
    return original[complete], release[complete]


def _interval(shares: list[float]) -> tuple[float | None, float | None]:
    """Student's 95 % interval for the mean over draws, within [0, 1]; none for a single draw."""
    from scipy.stats import t

    draws = len(shares)
    if draws < 2:
        return None, None
    mean = math.fsum(shares) / draws
    variance = math.fsum((share - mean) ** 2 for share in shares) / (draws - 1)
    half = float(t.ppf(0.975, draws - 1)) * math.sqrt(variance / draws)
    return max(0.0, mean - half), min(1.0, mean + half)
