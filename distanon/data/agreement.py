"""One value for all members of a cluster, never a least or greatest one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from distanon.data.space import AttributeSpace

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def agreed_values(labels: Integers, values: Floats, space: AttributeSpace) -> Floats:
    """The quasi-identifiers that all members of a cluster get.

    Args:
        labels: int64, shape (n,): clusters, numbered from 0 without gaps.
        values: float64, shape (n, q), in codes of the space.
        space: of the q attributes.

    Returns:
        float64, shape (clusters, q): the mode of categories, the lower median of numbers and
        ranks; the least of equally frequent ones; missing where more than half (nominal: most)
        are.
    """
    n_clusters = int(labels.max(initial=-1)) + 1
    result = np.empty((n_clusters, values.shape[1]))
    for place, is_nominal in enumerate(space.nominal):
        rule = _mode if is_nominal else _median
        result[:, place] = _by_cluster(labels, values[:, place], n_clusters, rule)
    return result


def _by_cluster(
    labels: Integers, column: Floats, n_clusters: int, rule: Callable[[Floats], float]
) -> Floats:
    order = np.argsort(labels, kind="stable")
    cuts = np.cumsum(np.bincount(labels, minlength=n_clusters))[:-1]
    return np.array([rule(part) for part in np.split(column[order], cuts)])


def _mode(column: Floats) -> float:
    found, counts = np.unique(column, return_counts=True)
    return float(found[np.argmax(counts)])


def _median(column: Floats) -> float:
    present = np.sort(column[~np.isnan(column)])
    if 2 * len(present) < len(column):
        return float("nan")
    return float(present[(len(present) - 1) // 2])
