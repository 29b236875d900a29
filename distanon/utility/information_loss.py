"""What happened to each column: how far values moved, and what became of their distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distanon.data.evidence import Evidence
from distanon.data.measurement import Measurement
from distanon.data.region_points import shares
from distanon.data.streams import Streams
from distanon.runtime.crew import Crew


@dataclass(frozen=True, slots=True)
class _Column:
    """One quasi-identifier, before and after.

    Attributes:
        name: of the column.
        is_ordered: numeric or ordinal, in units of its range; else numbers of categories.
        before: float64, shape (m,): the originals behind the released rows; NaN is missing.
        after: float64, shape (m,): the released rows.
        whole: float64, shape (n,): all originals.
        shares: float64, shape (categories + 1,): rows of each category, those of a set of c
            categories counting 1/c for each; None where cells are plain.
    """

    name: str
    is_ordered: bool
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    whole: NDArray[np.float64]
    shares: NDArray[np.float64] | None = None


def measure(
    evidence: Evidence, *, crew: Crew | None = None, streams: Streams | None = None
) -> list[Measurement]:
    """Change of every quasi-identifier and of their correlations.

    Args:
        evidence: with the original and the source of each released row; without them, the list
            is empty.
        crew: not used: this is a few passes over the columns.
        streams: not used.

    Returns:
        Lengths are in units of the original's range (ranks: of the number of categories less 1).
        A range counts as its middle, a set of categories as equal shares of its members.
        What would tell the original's means and spreads is not public.
    """
    del crew, streams
    if evidence.original is None or evidence.sources is None or not len(evidence.release):
        return []
    columns = _columns(evidence)
    rows = len(evidence.release)
    same = np.ones(rows, dtype=np.bool_)
    for column in columns:
        same &= ~_differs(column.before, column.after)
    if evidence.is_generalized:
        order = np.argsort(evidence.sources, kind="stable")
        for own in evidence.release_regions:
            same &= own.extent()[own.code_of][order] == 0.0
    result = [
        Measurement(
            "change.rms",
            displacement_rms(evidence),
            unit="range",
            n=rows,
            note="root mean square displacement of a record over numeric and ordinal columns",
        ),
        Measurement("change.unchanged", float(same.mean()), goal="lower", n=rows),
    ]
    for column in columns:
        result += _ordered(column) if column.is_ordered else _nominal(column)
    return result + _correlations([column for column in columns if column.is_ordered])


def displacement_rms(evidence: Evidence) -> float:
    """Root mean square displacement of a record: what noise of equal size must have.

    Returns:
        √ mean_p Σ_j (x_j − x′_j)² over the numeric and ordinal quasi-identifiers, in units of the
        original's ranges. A value that became missing, or was, counts 1.
    """
    total = np.zeros(len(evidence.release))
    for column in _columns(evidence):
        if column.is_ordered:
            away = np.nan_to_num(column.after - column.before)
            gaps = np.isnan(column.after) != np.isnan(column.before)
            total += np.where(gaps, 1.0, away * away)
    return math.sqrt(float(total.mean())) if len(total) else math.nan


def _columns(evidence: Evidence) -> list[_Column]:
    """The columns, rows in the order of their sources so that sums have one order."""
    space = evidence.space
    sources = np.asarray(evidence.sources)
    order = np.argsort(sources, kind="stable")
    result = []
    for place, attribute in enumerate(space.attributes):
        whole = evidence.original_values[:, place]
        after = evidence.release_values[order, place]
        is_ordered = not bool(space.nominal[place])
        if is_ordered:
            low, spread = _range(whole)
            whole, after = (whole - low) / spread, (after - low) / spread
            if space.ordinal[place]:
                # Ranks are scaled by the categories that exist, not by those that occur.
                ranks = max(1, len(space.domains[place].categories) - 1)
                whole, after = whole * (spread / ranks), after * (spread / ranks)
        own = None
        if evidence.is_generalized and not is_ordered:
            own = shares(evidence.release_regions[place])
        before = whole[sources[order]]
        result.append(_Column(attribute.name, is_ordered, before, after, whole, own))
    return result


def _range(values: NDArray[np.float64]) -> tuple[float, float]:
    present = values[~np.isnan(values)]
    if not len(present):
        return 0.0, 1.0
    low, high = float(present.min()), float(present.max())
    return low, (high - low) or 1.0


def _ordered(column: _Column) -> list[Measurement]:
    from scipy.stats import wasserstein_distance

    both = ~np.isnan(column.before) & ~np.isnan(column.after)
    n = int(both.sum())
    old, new = _present(column.whole), _present(column.after)
    if not n:
        return []
    away = float(np.abs(column.after - column.before)[both].mean())
    moved = float(wasserstein_distance(old, new))
    mean = float(new.mean() - old.mean())
    spread = float(old.std())
    ratio = float(new.std()) / spread - 1.0 if spread > 0 else math.nan
    name = column.name
    return [
        Measurement(f"change.mean_absolute.{name}", away, unit="range", n=n),
        Measurement(f"change.earth_movers.{name}", moved, goal="lower", unit="range", n=n),
        Measurement(f"change.mean.{name}", mean, unit="range", n=n, is_public=False),
        Measurement(f"change.std.{name}", ratio, unit="1", n=n, is_public=False),
    ]


def _nominal(column: _Column) -> list[Measurement]:
    n = len(column.after)
    changed = float(_differs(column.before, column.after).mean())
    if column.shares is None:
        width = int(np.nanmax([column.whole.max(), column.after.max()])) + 1
        new = np.bincount(column.after.astype(np.int64), minlength=width) / n
    else:
        width, new = len(column.shares), column.shares / n
    old = np.bincount(column.whole.astype(np.int64), minlength=width) / len(column.whole)
    moved = 0.5 * float(np.abs(old - new).sum())
    return [
        Measurement(f"change.share_changed.{column.name}", changed, n=n),
        Measurement(
            f"change.earth_movers.{column.name}",
            moved,
            goal="lower",
            unit="share",
            n=n,
            note="all categories equally far apart",
        ),
    ]


def _correlations(columns: list[_Column]) -> list[Measurement]:
    """Mean and largest change of a correlation over pairs of columns."""
    changes = []
    for place, one in enumerate(columns):
        for other in columns[:place]:
            before = _correlation(one.whole, other.whole)
            after = _correlation(one.after, other.after)
            if not math.isnan(before):
                # A column that became constant has lost its correlation.
                changes.append(abs((0.0 if math.isnan(after) else after) - before))
    if not changes:
        return []
    mean, pairs = math.fsum(changes) / len(changes), len(changes)
    return [
        Measurement("change.correlation_mean", mean, goal="lower", unit="1", n=pairs),
        Measurement("change.correlation_max", max(changes), goal="lower", unit="1", n=pairs),
    ]


def _correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Pearson's, over records where both are present; NaN where one is constant."""
    both = ~np.isnan(one) & ~np.isnan(other)
    if not both.any():
        return math.nan
    left, right = one[both] - one[both].mean(), other[both] - other[both].mean()
    scale = math.sqrt(float((left * left).sum()) * float((right * right).sum()))
    if scale <= 1e-14 * both.sum():
        return math.nan
    return float((left * right).sum()) / scale


def _differs(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.bool_]:
    differs: NDArray[np.bool_] = (one != other) & ~(np.isnan(one) & np.isnan(other))
    return differs


def _present(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values[~np.isnan(values)]
