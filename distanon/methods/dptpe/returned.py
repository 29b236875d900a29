"""What is known of records travels from DPTPE's pieces to the partitions they were read from.

A record's substitute travels only where its own values don't tell it: the partition has those.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.ports import Partition, Scratch
from distanon.kernels.pieces import Piece
from distanon.methods.dptpe.passes import Choice, Known
from distanon.methods.dptpe.publication import Counts, Fates, Plan, publish, published
from distanon.methods.dptpe.substitutes import Source, Substitutes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Return:
    """Where what is known of records goes.

    Attributes:
        spans: first and last record number (exclusive) of each partition.
        scratch: where what is known is put for each partition.
        name: of the tables.
    """

    spans: tuple[tuple[int, int], ...]
    scratch: Scratch
    name: str


def send(
    shared: tuple[Choice, Return], item: tuple[Piece, Known, int, Integers, Floats]
) -> tuple[Partition | None, ...]:
    """Writes what is known of a piece's records for each partition."""
    choice, back = shared
    piece, known, at, given, values = item
    traits, points = known.traits, piece.points
    substitutes, source = piece.values.copy(), known.source.copy()
    substitutes[given], source[given] = values, Source.NEAREST_DIFFERING
    leads = piece.leads
    swaps = np.empty_like(known.swaps)
    swaps[points.records] = known.swaps
    written: list[Partition | None] = []
    for start, stop in back.spans:
        low, high = np.searchsorted(piece.numbers, (start, stop))
        if low == high:
            written.append(None)
            continue
        point = points.point_of[low:high]
        columns: dict[str, Any] = {
            "number": piece.numbers[low:high],
            "reach": traits.reach[point],
        }
        columns |= _columns("mean", traits.means[point])
        columns |= _columns("swap", swaps[low:high])
        if choice.is_asked:
            columns["source"] = source[point]
            is_lead = leads[point] == columns["number"]
            columns["substitute"] = sent_along(substitutes, point, columns["source"], is_lead)
        name = f"{back.name}-{at}-{start}-{stop}"
        written.append(back.scratch.write(name, pa.table(columns)))
    return tuple(written)


def sent_along(
    substitutes: Floats, point: Integers, source: NDArray[np.int8], is_lead: Booleans
) -> pa.LargeListArray:
    """What each of m records' substitutes need that the record's own values don't tell.

    The mean is finished for the values of the point, which are those of its first record: that
    one's partition has them, bit for bit.

    Args:
        substitutes: float64 (u, q), of the points.
        point: int64 (m,), of each record.
        source: int8 (m,), of `Source`.
        is_lead: bool (m,): whether the record is the first of its point.

    Returns:
        Lists of q numbers, NaN among them; empty where nothing is needed.
    """
    has = (source == Source.NEAREST_DIFFERING) | ((source == Source.NEIGHBORS_MEAN) & ~is_lead)
    values = substitutes[point[has]]
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(has))) * values.shape[1]
    return pa.LargeListArray.from_arrays(starts, values.ravel())


def substituted(sent: pa.ChunkedArray, places: Integers, original: Floats) -> Floats:
    """What `Substitutes` takes as values, from what `sent_along` sent of the records at places."""
    own, at = original, 0
    for part in sent.chunks:
        has = np.flatnonzero(part.value_lengths().to_numpy())
        if len(has):
            own = original.copy() if own is original else own
            own[places[at + has]] = part.flatten().to_numpy().reshape(len(has), -1)
        at += len(part)
    return own


def _columns(name: str, values: Floats) -> dict[str, Floats]:
    return {f"{name}-{place}": column.copy() for place, column in enumerate(values.T)}


def release_partition(
    plan: Plan, item: tuple[Partition, Scratch, Booleans, bool, *tuple[Partition, ...]]
) -> tuple[Partition, Counts]:
    """The release of a partition, from what the pieces know of its records."""
    partition, scratch, chosen, is_asked, *parts = item
    done = published(partition, scratch)
    if done is not None:
        return done
    table = pa.concat_tables([part.read() for part in parts])
    numbers = table.column("number").to_numpy()
    order = np.argsort(numbers)

    def matrix(name: str, width: int) -> Floats:
        columns: Iterator[Floats] = (
            table.column(f"{name}-{place}").to_numpy()[order] for place in range(width)
        )
        result = np.empty((len(order), width), order="F")
        for place, column in enumerate(columns):
            result[:, place] = column
        return result

    def fates(original: Floats) -> Fates:
        substitutes = None
        if is_asked:
            sent, source = table.column("substitute"), table.column("source").to_numpy()[order]
            own = substituted(sent, numbers - partition.start, original)
            substitutes = Substitutes(own, source)
        return Fates(
            chosen,
            matrix("mean", len(plan.space.names)),
            table.column("reach").to_numpy()[order],
            matrix("swap", int(plan.space.nominal.sum())),
            substitutes,
        )

    return publish(plan, partition, scratch, fates)
