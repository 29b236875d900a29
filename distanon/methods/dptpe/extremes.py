"""The extremes and the spreads of a table's columns, from what its partitions say of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from distanon.data.ports import Partition
from distanon.data.space import AttributeSpace, zscore_spreads
from distanon.data.table import Dataset
from distanon.runtime.crew import Crew

Floats = NDArray[np.float64]
Ends = list[tuple[int, Floats, Floats]]


def extremes_of(told: list[Ends], k: int) -> Floats:
    """Columns whose k-th smallest and largest values are those of the whole table's columns.

    Args:
        told: what `ends_of` said of each part of the table, with this k.
        k: at least 1.

    Returns:
        float64, shape (m, q), in codes; NaN where a column is shorter. At least 4k values of each
        column where it has as many, all of them where it has fewer.
    """
    columns = [_column([part[place] for part in told], k) for place in range(len(told[0]))]
    result = np.full((max(len(column) for column in columns), len(columns)), np.nan)
    for place, column in enumerate(columns):
        result[: len(column), place] = column
    return result


def ends_of(values: Floats, k: int) -> Ends:
    """Of each column how many values are present, and its 4k smallest and largest, ascending."""
    from distanon.kernels.column_ends import column_ends

    return [column_ends(np.ascontiguousarray(column), 4 * k) for column in values.T]


def deviations(crew: Crew, dataset: Dataset, space: AttributeSpace) -> Floats:
    """The standard deviation of each column, float64 (q,); one column at a time is in memory."""
    shared = crew.put(space)
    found = []
    for place in range(len(space.names)):
        items = [(part, place) for part in dataset.partitions]
        column = np.concatenate(list(crew.map(_values, items, shared=shared, phase="spreads")))
        found.append(zscore_spreads(column[:, None])[0])
    return np.array(found)


def _column(parts: Ends, k: int) -> Floats:
    lows = np.sort(np.concatenate([low for _, low, _ in parts]))
    if sum(count for count, _, _ in parts) < 4 * k:
        return lows  # all there are
    highs = np.sort(np.concatenate([high for _, _, high in parts]))
    return np.concatenate((lows[:k], np.full(2 * k, lows[k - 1]), highs[-k:]))


def _values(space: AttributeSpace, item: tuple[Partition, int]) -> Floats:
    part, place = item
    return space.encode(part.read(space.names))[:, place].copy()
