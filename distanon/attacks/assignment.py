"""The optimal assignment: all released rows linked to originals at once, at the least cost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from distanon.kernels.neighbors import distinct


def assignment_scores(
    old: NDArray[np.float64],
    new: NDArray[np.float64],
    sources: NDArray[np.int64],
    shuffle: Callable[[int], NDArray[np.int64]],
) -> NDArray[np.float64]:
    """How likely the optimal assignment gives each released row its source.

    Equal originals, and equal released rows, can be exchanged at no cost: a row is credited with
    the mean over all such exchanges, not with what the solver happened to choose.

    Args:
        old: float64, shape (n, D).
        new: float64, shape (m, D), m ≤ n.
        sources: int64, shape (m,).
        shuffle: a permutation of so many numbers: the order of the originals must not help.

    Returns:
        float64, shape (m,), in [0, 1].
    """
    from scipy.optimize import linear_sum_assignment

    order = shuffle(len(old))
    rows, columns = linear_sum_assignment(squared_distances(new, old[order]))
    before, after = distinct(old), distinct(new)
    assigned = np.empty(len(new), dtype=np.int64)
    assigned[rows] = before.point_of[order[columns]]
    width = len(before)
    flows, counts = np.unique(after.point_of * width + assigned, return_counts=True)
    wanted = before.point_of[sources]
    key = after.point_of * width + wanted
    place = np.minimum(np.searchsorted(flows, key), len(flows) - 1)
    flow = np.where(flows[place] == key, counts[place], 0)
    scores: NDArray[np.float64] = flow / (after.counts[after.point_of] * before.counts[wanted])
    return scores


def squared_distances(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """All pairs; a missing value is 1 away from any value and 0 from another missing one."""
    result = np.zeros((len(one), len(other)))
    for left, right in zip(one.T, other.T, strict=True):
        away = np.subtract.outer(left, right)
        gaps = np.isnan(left)[:, None] != np.isnan(right)[None, :]
        np.square(away, out=away)
        result += np.where(gaps, 1.0, np.nan_to_num(away, copy=False))
    return result
