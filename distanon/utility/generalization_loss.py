"""NCP: how much of each attribute a released cell leaves open.

Source: normalized certainty penalty, Xu et al., KDD 2006.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from distanon.data.classes import partition_of
from distanon.data.evidence import Evidence
from distanon.data.measurement import Measurement
from distanon.data.space import AttributeSpace
from distanon.data.streams import Streams
from distanon.kernels.points import distinct
from distanon.runtime.crew import Crew

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def measure(
    evidence: Evidence, *, crew: Crew | None = None, streams: Streams | None = None
) -> list[Measurement]:
    """The mean penalty of a cell: 0 is a value, 1 the whole of its column.

    Generalized cells are judged by what they contain. Where all members of a group got one tuple
    of values, the cells are judged by the extent of the members' own values, which is for the
    owner: it tells of the originals. A suppressed record counts 1 in each attribute, for the owner
    too, since their number may be small.

    Args:
        evidence: with the original; with the source of each row too where values were released.
        crew: not used: this is one pass over the columns.
        streams: not used.

    Returns:
        An empty list for rows of values that do not stand for groups.
    """
    del crew, streams
    if evidence.original is None or not len(evidence.release) or not evidence.quasi_identifiers:
        return []
    if evidence.is_generalized:
        by_column = np.array([own.extent()[own.code_of].mean() for own in evidence.release_regions])
        name, note, is_public = "generalization.ncp", "by what the cells contain", True
    elif evidence.sources is not None and int(evidence.classes.sizes.min()) > 1:
        by_column = _of_members(evidence)
        name, note, is_public = "generalization.ncp_members", "by the members' own values", False
    else:
        return []
    rows = len(evidence.release)
    figures = [
        Measurement(
            name,
            math.fsum(by_column.tolist()) / len(by_column),
            goal="lower",
            n=rows,
            note=f"mean over cells, {note}",
            is_public=is_public,
        )
    ]
    lost = 0 if evidence.sources is None else _suppressed(evidence)
    if lost:
        whole = figures[0].value * rows + lost
        figures.append(
            Measurement(
                f"{name}_with_suppressed",
                whole / (rows + lost),
                goal="lower",
                n=rows + lost,
                note="a suppressed record counts 1",
                is_public=False,
            )
        )
    names = evidence.space.names
    figures += [
        Measurement(f"{name}.{column}", float(loss), goal="lower", n=rows, is_public=False)
        for column, loss in zip(names, by_column, strict=True)
    ]
    return figures


def extents(space: AttributeSpace, values: Floats, group_of: Integers) -> Floats:
    """How much of each attribute the members of each group cover.

    Args:
        space: of the attributes.
        values: float64, shape (n, q): members' values; NaN: missing.
        group_of: int64, shape (n,), each of 0 … g − 1 at least once.

    Returns:
        float64, shape (g, q), in [0, 1]. Numbers and ranks: (highest − lowest) / range, 1 where a
        value and a missing one meet; categories: (different ones − 1) / (all − 1), missing counted
        as one where it occurs.
    """
    groups = int(group_of.max()) + 1
    result = np.empty((groups, values.shape[1]))
    for place, (domain, is_nominal) in enumerate(zip(space.domains, space.nominal, strict=True)):
        column = values[:, place]
        if is_nominal:
            width = len(domain.categories) + 1
            pairs = np.unique(group_of * width + column.astype(np.int64))
            different = np.bincount(pairs // width, minlength=groups)
            most = len(domain.categories) - 1 + (domain.missing > 0)
            result[:, place] = (different - 1) / max(most, 1)
            continue
        missing = np.isnan(column)
        low, high = np.full(groups, np.inf), np.full(groups, -np.inf)
        np.minimum.at(low, group_of[~missing], column[~missing])
        np.maximum.at(high, group_of[~missing], column[~missing])
        spread = _spread(space, place)
        with np.errstate(invalid="ignore"):
            covered = (high - low) / spread
        gaps = np.bincount(group_of[missing], minlength=groups) > 0
        none = low > high
        result[:, place] = np.where(none, 0.0, np.where(gaps, 1.0, covered))
    return np.clip(result, 0.0, 1.0)


def _spread(space: AttributeSpace, place: int) -> float:
    """The range of an attribute in codes or ranks; 1 where it is constant."""
    domain = space.domains[place]
    low, high = domain.span or (0.0, float(len(domain.categories) - 1))
    return (high - low) or 1.0


def _of_members(evidence: Evidence) -> Floats:
    """The mean extent by attribute, each row counted once; shape (q,)."""
    sources = np.asarray(evidence.sources)
    group_of = partition_of(distinct(evidence.release_values).point_of).class_of
    covered = extents(evidence.space, evidence.original_values[sources], group_of)
    sizes = np.bincount(group_of)
    mean: Floats = (covered * sizes[:, None]).sum(axis=0) / len(sources)
    return mean


def _suppressed(evidence: Evidence) -> int:
    return len(evidence.original_values) - len(np.unique(np.asarray(evidence.sources)))
