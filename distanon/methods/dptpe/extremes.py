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


def extremes(crew: Crew, dataset: Dataset, space: AttributeSpace, k: int) -> Floats:
    """Columns whose k-th smallest and largest values are those of the whole table's columns.

    Args:
        crew: who works.
        dataset: n records.
        space: of q attributes.
        k: at least 1.

    Returns:
        float64, shape (m, q), in codes; NaN where a column is shorter. At least 4k values of each
        column where it has as many, all of them where it has fewer.
    """
    shared = crew.put((space, 4 * k))
    told: list[Ends] = list(crew.map(_ends, dataset.partitions, shared=shared, phase="bounds"))
    columns = [_column([part[place] for part in told], k) for place in range(len(space.names))]
    result = np.full((max(len(column) for column in columns), len(columns)), np.nan)
    for place, column in enumerate(columns):
        result[: len(column), place] = column
    return result


def deviations(crew: Crew, dataset: Dataset, space: AttributeSpace) -> Floats:
    """The standard deviation of each column, float64 (q,); one column at a time is in memory."""
    shared = crew.put(space)
    found = []
    for place in range(len(space.names)):
        items = [(part, place) for part in dataset.partitions]
        column = np.concatenate(list(crew.map(_values, items, shared=shared, phase="spreads")))
        found.append(zscore_spreads(column[:, None])[0])
    return np.array(found)


def _ends(shared: tuple[AttributeSpace, int], part: Partition) -> Ends:
    """Of each column how many values are present, the smallest and the largest, ascending."""
    space, most = shared
    found = []
    for column in space.encode(part.read(space.names)).T:
        present = np.sort(column[~np.isnan(column)])
        found.append((len(present), present[:most].copy(), present[-most:].copy()))
    return found


def _column(parts: Ends, k: int) -> Floats:
    lows = np.sort(np.concatenate([low for _, low, _ in parts]))
    if sum(count for count, _, _ in parts) < 4 * k:
        return lows  # all there are
    highs = np.sort(np.concatenate([high for _, _, high in parts]))
    return np.concatenate((lows[:k], np.full(2 * k, lows[k - 1]), highs[-k:]))


def _values(space: AttributeSpace, item: tuple[Partition, int]) -> Floats:
    part, place = item
    return space.encode(part.read(space.names))[:, place].copy()
