"""In which order and at which width attributes are cut into groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distanon.data.space import AttributeSpace
from distanon.methods.reconstruction.confidential import Confidential
from distanon.methods.reconstruction.settings import CutRule

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_QUANTILES = 32  # of a number, when it is asked what it tells
_LEAST = 0.05  # of the most telling attribute: none is left uncut


@dataclass(frozen=True, slots=True, eq=False)
class Axes:
    """The values that are cut.

    Attributes:
        places: for each attribute the place of each category, missing last, float64 (m + 1,);
            None: its values themselves.
        values: float64, shape (n, q): categories by their places.
        widths: float64, shape (q,): extents are divided by them; 0: constant.
    """

    places: tuple[Floats | None, ...]
    values: Floats
    widths: Floats


def axes_of(
    space: AttributeSpace, values: Floats, confidential: Confidential, k: int, rule: CutRule
) -> Axes:
    """Puts categories in order.

    Args:
        space: q attributes.
        values: float64, shape (n, q), in codes.
        confidential: label or number of each record.
        k: categories of fewer records get the distribution of all: one person's category must
            not tell that person's label by its place.
        rule: label: categories with like distributions of the label stand side by side, and an
            attribute is the wider the more it tells of the label (the spread of the label's
            shrunk means over its values); range: categories by their number, all attributes
            alike.

    Source: methods.md, section B; Fisher, JASA 53 (1958) 789-798, for two labels; of more, the
        first principal component of the distributions, after Coppersmith, Hong & Hosking, Data
        Mining and Knowledge Discovery 3 (1999) 197-217.
    """
    ordered = values.copy()
    places: list[Floats | None] = []
    widths = np.zeros(values.shape[1])
    outcomes = _outcomes(confidential) if rule == "label" else None
    told = np.ones(values.shape[1])
    for place, domain in enumerate(space.domains):
        if not space.nominal[place]:
            places.append(None)
            present = ordered[:, place][~np.isnan(ordered[:, place])]
            widths[place] = np.ptp(present) if len(present) else 0.0
            if outcomes is not None:
                told[place] = _told(_quantiles(ordered[:, place]), outcomes, k)
            continue
        numbers, count = values[:, place].astype(np.int64), len(domain.categories) + 1
        own = np.arange(count, dtype=np.float64)
        if outcomes is not None:
            own = _by_label(numbers, count, outcomes, k)
            told[place] = _told(numbers, outcomes, k)
        places.append(own)
        ordered[:, place] = own[numbers]
        widths[place] = max(0, len(np.unique(numbers)) - 1)
    if told.max(initial=0.0) > 0:
        widths /= np.maximum(told / told.max(), _LEAST)
    return Axes(tuple(places), ordered, widths)


def _outcomes(confidential: Confidential) -> Floats:
    """What is averaged over a category: indicators of the labels, or the number; (n, w)."""
    if confidential.steps is not None:
        steps = confidential.steps.astype(np.float64)
        known = steps >= 0
        middle = steps[known].mean() if known.any() else 0.0
        return np.where(known, steps, middle)[:, None]
    indicators = np.eye(confidential.n_labels)[confidential.labels]
    return indicators[:, 1:] if confidential.n_labels == 2 else indicators


def _by_label(numbers: Integers, count: int, outcomes: Floats, k: int) -> Floats:
    """The place of each category by its shrunk mean outcome; the lower number first in a tie."""
    deviations, many = _deviations(numbers, count, outcomes, k)
    keys = np.round(deviations @ _direction(deviations, many), 12)
    rank = np.empty(count)
    # Categories that do not occur come last, so that the others have no gaps.
    rank[np.lexsort((np.arange(count), keys, many == 0))] = np.arange(count)
    return rank


def _deviations(numbers: Integers, count: int, outcomes: Floats, k: int) -> tuple[Floats, Floats]:
    """Shrunk mean outcome of each category less that of all, (count, w); records of each."""
    whole = outcomes.mean(axis=0)
    many = np.bincount(numbers, minlength=count).astype(np.float64)
    sums = np.stack(
        [np.bincount(numbers, column, minlength=count) for column in outcomes.T], axis=1
    )
    means = (sums + k * whole) / (many + k)[:, None]
    means[many < k] = whole
    return means - whole, many


def _told(numbers: Integers, outcomes: Floats, k: int) -> float:
    """How far the outcomes of a category are from those of all: root mean square over records."""
    count = int(numbers.max(initial=0)) + 1
    deviations, many = _deviations(numbers, count, outcomes, k)
    return float(np.sqrt((many @ (deviations**2).sum(axis=1)) / max(1, len(numbers))))


def _quantiles(column: Floats) -> Integers:
    """In which part of a number's or rank's distribution each record is; missing apart."""
    present = ~np.isnan(column)
    result = np.full(len(column), _QUANTILES, np.int64)
    if present.any():
        shares = np.arange(1, _QUANTILES) / _QUANTILES
        borders = np.unique(np.quantile(column[present], shares, method="lower"))
        result[present] = np.searchsorted(borders, column[present], side="left")
    return result


def _direction(deviations: Floats, weights: Floats) -> Floats:
    """The first principal component, its first large entry positive."""
    if deviations.shape[1] == 1:
        return np.ones(1)
    scatter = (deviations * weights[:, None]).T @ deviations
    direction: Floats = np.linalg.eigh(scatter)[1][:, -1]
    large = np.abs(direction) >= 0.5 * np.abs(direction).max()
    return direction * (1.0 if direction[large.argmax()] > 0 else -1.0)
