"""The tables on which neighborhoods are timed; all but two are drawn from a seed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from distanon.data.builtin import path_of

_AT_ONCE = 50_000


def builtin(name: str) -> NDArray[np.float64]:
    """The numeric columns of a built-in data set, each in 0 … 1."""
    table = pq.read_table(path_of(name))
    columns = [column.to_numpy() for column in table.columns if column.type != "string"]
    matrix = np.column_stack(columns[:10]).astype(np.float64)
    return np.asarray((matrix - matrix.min(0)) / np.ptp(matrix, axis=0))


def poker(n: int) -> NDArray[np.float64]:
    """Hands of five cards: suit and rank of each, as in Poker Hand, each in 0 … 1."""
    random = np.random.default_rng(2)
    matrix = np.empty((n, 10))
    for start in range(0, n, _AT_ONCE):
        part = matrix[start : start + _AT_ONCE]
        cards = np.argsort(random.random((len(part), 52), dtype=np.float32), axis=1)[:, :5]
        part[:, 0::2], part[:, 1::2] = cards // 13 / 3, cards % 13 / 12
    return matrix


def mixture(n: int, width: int) -> NDArray[np.float64]:
    """A hundred Gaussian clouds in the unit cube, each with its own axes, which get shorter.

    The longest axis has a deviation of 0.05, the last one e² times less.
    """
    random = np.random.default_rng(1)
    centers = random.random((100, width))
    lengths = 0.05 * np.exp(-2.0 * np.arange(width) / width)
    axes = [np.linalg.qr(random.normal(size=(width, width)))[0].T for _ in centers]
    matrix = np.empty((n, width))
    for start in range(0, n, _AT_ONCE):
        part = matrix[start : start + _AT_ONCE]
        cloud = random.integers(0, len(centers), len(part))
        part[:] = random.normal(size=part.shape) * lengths
        for number, turned in enumerate(axes):
            own = cloud == number
            part[own] = centers[number] + part[own] @ turned
    return matrix


TABLES: dict[str, Callable[[], NDArray[np.float64]]] = {
    "magic": lambda: builtin("magic"),
    "poker 25k": lambda: builtin("poker-hand"),
    "poker 1.025M": lambda: poker(1_025_010),
    "mixture 1M x 8": lambda: mixture(1_000_000, 8),
    "mixture 1M x 16": lambda: mixture(1_000_000, 16),
    "mixture 200k x 50": lambda: mixture(200_000, 50),
}
