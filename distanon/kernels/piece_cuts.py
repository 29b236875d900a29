"""Where a table is cut into pieces: a k-d tree of cuts over a sample, between distinct values.

The cuts are a function of the sample alone; each row belongs to one piece, equal rows to the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distanon.kernels.partition import Cuts

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_BALANCE = 0.5  # a cut that leaves less of the ideal on one side is taken where no other is better
_TRIES = 16  # columns tried


@dataclass(slots=True)
class _Node:
    """A cut, or a piece; as in `Cuts`."""

    column: int = -1
    threshold: float = float("nan")
    left: int = -1
    group: int = -1


def piece_cuts(sample: Floats, pieces: int) -> Cuts:
    """Cuts into at most so many pieces of nearly equal numbers of sampled rows.

    Args:
        sample: float64, shape (s, D), s at least 1; NaN is missing, and lies above all values.
        pieces: at least 1; there are fewer where the sample has fewer distinct rows.

    Returns:
        The cuts; their groups are the pieces, numbered from 0 without gaps.
    """
    lifted = _lifted(sample)
    nodes = [_Node()]
    todo = [(nodes[0], np.arange(len(sample)), pieces)]
    count = 0
    while todo:
        node, rows, share = todo.pop()
        cut = _best(lifted[rows], share) if share > 1 else None
        if cut is None:
            node.group, count = count, count + 1
            continue
        node.column, low, high = cut
        is_left = lifted[rows, node.column] <= low
        node.threshold = _between(low, high, sample[rows[~is_left], node.column])
        node.left = len(nodes)
        nodes += [_Node(), _Node()]
        todo.append((nodes[node.left + 1], rows[~is_left], share - share // 2))
        todo.append((nodes[node.left], rows[is_left], share // 2))
    lefts = np.array([node.left for node in nodes], np.int32)
    return Cuts(
        np.array([node.column for node in nodes], np.int32),
        np.array([node.threshold for node in nodes]),
        lefts,
        np.where(lefts >= 0, lefts + 1, -1).astype(np.int32),
        np.array([node.group for node in nodes], np.int32),
    )


def _lifted(rows: Floats) -> Floats:
    """The rows with missing values above all others."""
    gaps = np.isnan(rows)
    if not gaps.any():
        return rows
    tops = np.where(gaps, -np.inf, rows).max(axis=0)
    tops = np.where(np.isfinite(tops), tops, 0.0)
    lifted: Floats = np.where(gaps, tops + np.maximum(1.0, np.abs(tops)), rows)
    return lifted


def _best(rows: Floats, share: int) -> tuple[int, float, float] | None:
    """The column, the last value on the left and the first on the right; None: all are equal.

    The widest column, its gap at the cut counted once more: who asks across a wide gap seldom
    finds anything, and columns of few values have the widest.
    """
    spreads = rows.max(axis=0) - rows.min(axis=0)
    ideal = len(rows) * (share // 2) / share
    best, rank = None, (0.0, 0.0)
    for column in np.argsort(-spreads, kind="stable")[:_TRIES].tolist():
        if spreads[column] <= 0:
            break
        values = np.sort(rows[:, column])
        steps = np.flatnonzero(values[1:] > values[:-1]) + 1  # so many stand left of each step
        left = int(steps[np.argmin(np.abs(steps - ideal))])
        low, high = float(values[left - 1]), float(values[left])
        balance = min(left / ideal, (len(rows) - left) / (len(rows) - ideal))
        found = (min(balance, _BALANCE), spreads[column] + high - low)
        if found > rank:
            best, rank = (column, low, high), found
    return best


def _between(low: float, high: float, rights: Floats) -> float:
    """Half way to the next value; infinite where only missing ones are on the right."""
    if np.isnan(rights).all():
        return float(np.inf)
    middle = low + (high - low) / 2
    return middle if low <= middle < high else low
