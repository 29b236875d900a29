"""Neighborhoods of a whole table, spread over workers by ranges of points.

The index is put once and stands in the memory of each node; items carry ranges alone. An item
that names a partition handle instead of a range can take its place without a change to callers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.ports import Scratch
from distanon.kernels.neighbors import Neighborhoods, NeighborIndex, Ties
from distanon.runtime.crew import Crew, Kept, Shared


@overload
def neighborhoods(
    crew: Crew,
    index: Shared,
    n_points: int,
    k: int,
    ties: Ties,
    blocks: int,
    *,
    keep: Literal[True] = True,
    scratch: Scratch | None = None,
) -> list[tuple[int, int, Kept]]: ...
@overload
def neighborhoods(
    crew: Crew,
    index: Shared,
    n_points: int,
    k: int,
    ties: Ties,
    blocks: int,
    *,
    keep: Literal[False],
    scratch: Scratch | None = None,
) -> list[tuple[int, int, Neighborhoods]]: ...
def neighborhoods(
    crew: Crew,
    index: Shared,
    n_points: int,
    k: int,
    ties: Ties,
    blocks: int,
    *,
    keep: bool = True,
    scratch: Scratch | None = None,
) -> list[tuple[int, int, Kept]] | list[tuple[int, int, Neighborhoods]]:
    """The neighborhoods of all points, block by block.

    Args:
        crew: who works.
        index: a NeighborIndex that the crew was given by `put`.
        n_points: how many points the index has.
        k: as `NeighborIndex.neighborhoods`.
        ties: likewise.
        blocks: into how many ranges the points are cut; says nothing about results.
        keep: leave the lists where they were made.
        scratch: where each block is kept beyond a crash, and looked for first; one scratch for
            one index, k and ties.

    Returns:
        (start, stop, neighborhoods of the points start … stop - 1), in order; the neighborhoods
        kept, or (keep=False) themselves.

    Raises:
        InfeasibleError: k is less than 1 or more than the number of other records.
    """
    ranges = list(_ranges(n_points, blocks))
    items = [(start, stop, k, ties, scratch) for start, stop in ranges]
    results = crew.map(_of_range, items, shared=index, keep=keep, phase="neighborhoods")
    return [(*where, found) for where, found in zip(ranges, results, strict=True)]


def neighborhoods_by_place(
    crew: Crew,
    index: Shared,
    runs: Sequence[tuple[int, int]],
    k: int,
    ties: Ties,
    *,
    scratch: Scratch | None = None,
    order: str = "",
    beside: Sequence[tuple[Callable[[Any], Any], Any]] = (),
) -> tuple[list[Kept], list[Any]]:
    """The neighborhoods of all points, those that lie together in one block: the fastest way.

    Args:
        crew: who works.
        index: a NeighborIndex that the crew was given by `put`.
        runs: what its `runs` returned.
        k: as `NeighborIndex.at_places`.
        ties: likewise.
        scratch: as for `neighborhoods`.
        order: `NeighborIndex.order_digest`, part of the names there: another processor may put
            points in another order.
        beside: pure functions and what they are called with, first of all: other work for which
            nobody should have to wait.

    Returns:
        For each run the neighborhoods of the points in it, kept; and what `beside` returned.

    Raises:
        InfeasibleError: k is less than 1 or more than the number of other records.
    """
    names = [f"neighborhoods-{order}-{start}-{stop}" for start, stop in runs]
    searches = [(*run, k, ties, scratch, name) for run, name in zip(runs, names, strict=True)]
    items = [*beside, *searches]
    found = list(crew.map(_of_run, items, shared=index, keep=True, phase="neighborhoods"))
    others = [crew.fetch(kept) for kept in found[: len(beside)]]
    return found[len(beside) :], others


def nearest(
    crew: Crew, index: Shared, queries: NDArray[np.float64], k: int, ties: Ties, blocks: int
) -> Neighborhoods:
    """The neighborhoods of query points that are not the index's own.

    Args:
        crew: who works.
        index: a NeighborIndex that the crew was given by `put`.
        queries: float64, shape (m, D).
        k: as `NeighborIndex.nearest`.
        ties: likewise.
        blocks: into how many ranges the queries are cut; says nothing about results.

    Returns:
        The neighborhoods of all queries, in their order.

    Raises:
        InfeasibleError: k is less than 1 or more than the number of records.
    """
    items = [(queries[start:stop], k, ties) for start, stop in _ranges(len(queries), blocks)]
    found = crew.map(_of_queries, items, shared=index, phase="nearest records")
    return Neighborhoods.join(list(found))


def _of_range(
    index: NeighborIndex, item: tuple[int, int, int, Ties, Scratch | None]
) -> Neighborhoods:
    start, stop, k, ties, scratch = item
    name = f"neighborhoods-{start}-{stop}"
    return _stored(scratch, name, lambda: index.neighborhoods(start, stop, k, ties))


def _of_run(
    index: NeighborIndex,
    item: tuple[int, int, int, Ties, Scratch | None, str] | tuple[Callable[[Any], Any], Any],
) -> Any:
    if len(item) == 2:
        function, argument = item
        return function(argument)
    start, stop, k, ties, scratch, name = item
    return _stored(scratch, name, lambda: index.at_places(start, stop, k, ties))


def _stored(
    scratch: Scratch | None, name: str, search: Callable[[], Neighborhoods]
) -> Neighborhoods:
    """What an earlier attempt left under this name, or what is found now, and left."""
    stored = scratch.find(name) if scratch is not None else None
    if stored is not None:
        return from_table(stored.read())
    found = search()
    if scratch is not None:
        scratch.write(name, as_table(found))
    return found


def as_table(found: Neighborhoods) -> pa.Table:
    """One row a query; what belongs to its neighbors as lists."""
    starts = pa.array(found.starts, pa.int64())
    lists = {
        "points": pa.array(found.points),
        "weights": pa.array(found.weights),
        "distances": pa.array(found.distances),
    }
    columns = {
        name: pa.LargeListArray.from_arrays(starts, values) for name, values in lists.items()
    }
    columns["radius"] = pa.array(found.radius)
    columns["next_distance"] = pa.array(found.next_distance)
    return pa.table(columns)


def from_table(table: pa.Table) -> Neighborhoods:
    """What `as_table` was given."""
    columns = {
        name: table.column(name).combine_chunks().flatten().to_numpy(zero_copy_only=False)
        for name in ("points", "weights", "distances")
    }
    lengths = [
        np.diff(chunk.offsets.to_numpy()) for chunk in table.column("points").chunks if len(chunk)
    ]
    starts = np.cumsum(np.concatenate([np.zeros(1, dtype=np.int64), *lengths]))
    return Neighborhoods(
        starts.astype(np.int64),
        columns["points"],
        columns["weights"],
        columns["distances"],
        table.column("radius").to_numpy(),
        table.column("next_distance").to_numpy(),
    )


def _of_queries(index: NeighborIndex, item: tuple[NDArray[np.float64], int, Ties]) -> Neighborhoods:
    return index.nearest(*item)


def _ranges(n: int, blocks: int) -> Iterator[tuple[int, int]]:
    """At most `blocks` ranges of nearly equal length that cover 0 … n - 1."""
    blocks = max(1, min(blocks, n))
    for block in range(blocks):
        start, stop = n * block // blocks, n * (block + 1) // blocks
        if start < stop:
            yield start, stop
