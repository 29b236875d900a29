"""Neighborhoods of pieces, kept in the scratch: a run that goes on does not search again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.ports import Partition, Scratch
from distanon.kernels.pieces import Found
from distanon.sharded.neighbors import as_table, from_table

Finished = tuple[Partition, Partition]
"""What was written of a piece: its lists, and the points that occur in them."""

_POINTS = "points"  # written last: what says that a piece is whole


def finished(scratch: Scratch, names: Sequence[str]) -> dict[int, Finished]:
    """The pieces that an earlier attempt has finished, by their place among the names."""
    found = {}
    for place, name in enumerate(names):
        points = scratch.find(f"{name}-{_POINTS}")
        lists = None if points is None else scratch.find(name)
        if points is not None and lists is not None:
            found[place] = lists, points
    return found


def keep(found: Found, scratch: Scratch, name: str) -> None:
    """Writes what a piece has found; how much was computed for it is not kept."""
    lists = as_table(found.lists).append_column("query", pa.array(found.queries))
    scratch.write(name, lists)
    columns = {str(place): pa.array(column) for place, column in enumerate(found.values.T)}
    scratch.write(f"{name}-{_POINTS}", pa.table({"lead": pa.array(found.leads), **columns}))


def stored(_: None, item: Finished) -> Found:
    """What `keep` was given."""
    lists, points = (one.read() for one in item)
    values = np.empty((points.num_rows, points.num_columns - 1))
    for place in range(values.shape[1]):
        values[:, place] = points.column(str(place)).to_numpy()
    return Found(_numbers(lists, "query"), from_table(lists), _numbers(points, "lead"), values)


def _numbers(table: pa.Table, name: str) -> NDArray[np.int64]:
    numbers: NDArray[np.int64] = np.ascontiguousarray(table.column(name).to_numpy(), np.int64)
    return numbers
