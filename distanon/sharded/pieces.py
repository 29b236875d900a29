"""A table in pieces that lie apart in space: no process ever holds all of its records.

Partitions are ranges of record numbers. Here records are exchanged through the scratch, so that
those which lie together stand in one piece, cut by a k-d tree over a seeded sample. The cuts
depend on the data, the seed and the number of pieces; results not even on that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.ports import Partition, Scratch
from distanon.data.space import AttributeSpace
from distanon.data.streams import Streams
from distanon.data.table import Dataset
from distanon.kernels.partition import Cuts
from distanon.kernels.piece_cuts import piece_cuts
from distanon.kernels.pieces import Boxes, Piece
from distanon.runtime.crew import Crew, Kept

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_TOGETHER = 2**25  # numbers of a table that one process may hold: 256 MB, and as much in codes
_PIECE = 2**22  # numbers of a piece: 32 MB, some ten times that with index, lists and copies
_EVEN = 4  # a multiple of this, so that few workers have the same number of pieces each
_SAMPLE = 1000  # records to a piece that say where to cut
_NUMBER = "number"


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """The records of a table in pieces.

    Attributes:
        kept: of each a `kernels.pieces.Piece`, whose values are codes; they stay with workers.
        boxes: of all pieces.
        points: distinct points of each piece.
        records: of the whole table.
        picked: float64 (s, q), in codes: the values of the records that were asked for.
        seen: what `look` said of each partition, in their order; none where nobody asked.
    """

    kept: tuple[Kept, ...]
    boxes: Boxes
    points: tuple[int, ...]
    records: int
    picked: Floats
    seen: tuple[Any, ...] = ()

    def __len__(self) -> int:
        """How many there are."""
        return len(self.kept)


def pieces_for(records: int, columns: int) -> int:
    """Into how many pieces a table should be cut: 1 where one process can hold it."""
    numbers = records * columns
    return 1 if numbers <= _TOGETHER else -(-numbers // (_EVEN * _PIECE)) * _EVEN


def cut_into_pieces(
    crew: Crew,
    scratch: Scratch,
    dataset: Dataset,
    space: AttributeSpace,
    streams: Streams,
    pieces: int,
    picks: Integers | None = None,
    look: Callable[[Floats], Any] | None = None,
) -> Pieces:
    """Exchanges the records of a table into pieces.

    Args:
        crew: who works.
        scratch: through which the records go; one scratch for one data set, space and seed.
        dataset: n records, n at least 1.
        space: of the attributes that count.
        streams: randomness of the sample.
        pieces: at most so many.
        picks: numbers of records whose values are wanted, ascending: they are read on the way.
        look: what is asked of each partition's values, float64 (m, q), in codes, on the way: a
            pure function that can be pickled and changes none of them. All partitions are then
            read once more than the exchange reads them, else only those with records of the sample.

    Returns:
        The pieces that have records. The driver held a sample of 1,000 records to a piece.
    """
    records = len(dataset)
    sample = np.arange(records)
    if records > _SAMPLE * pieces:
        drawn = streams.generator("pieces").choice(records, _SAMPLE * pieces, replace=False)
        sample = np.sort(drawn)
    picks = np.zeros(0, np.int64) if picks is None else picks
    both = np.union1d(sample, picks)
    values, seen = _read(crew, dataset, space, both, look)
    cuts = piece_cuts(space.embed(values[np.searchsorted(both, sample)]), pieces)
    items = [(part, scratch, pieces) for part in dataset.partitions]
    sent = list(crew.map(_exchange, items, shared=crew.put((cuts, space)), phase="exchange"))
    is_gapped = any(gapped for gapped, _ in sent)
    columns = [[part for part in row if part is not None] for row in _by_piece(sent)]
    builds = [(is_gapped, *parts) for parts in columns if parts]
    kept = tuple(crew.map(_build, builds, shared=crew.put(space), keep=True, phase="pieces"))
    told = list(crew.map(_about, kept, phase="pieces"))
    boxes = Boxes.join([box for box, _ in told])
    picked = values[np.searchsorted(both, picks)]
    return Pieces(kept, boxes, tuple(points for _, points in told), records, picked, seen)


def values_of(crew: Crew, dataset: Dataset, space: AttributeSpace, records: Integers) -> Floats:
    """The values of some records (ascending), in codes, float64 (s, q)."""
    return _read(crew, dataset, space, records, None)[0]


def _read(
    crew: Crew,
    dataset: Dataset,
    space: AttributeSpace,
    records: Integers,
    look: Callable[[Floats], Any] | None,
) -> tuple[Floats, tuple[Any, ...]]:
    """As `values_of`; and what `look` says of each partition."""
    items = []
    for part in dataset.partitions:
        low, high = np.searchsorted(records, (part.start, part.stop))
        if low < high or look is not None:
            items.append((part, records[low:high] - part.start))
    shared = crew.put((space, look))
    found = list(crew.map(_values, items, shared=shared, phase="sample"))
    values = np.concatenate([np.empty((0, len(space.names))), *(some for some, _ in found)])
    return values, tuple(seen for _, seen in found) if look is not None else ()


def _values(
    shared: tuple[AttributeSpace, Callable[[Floats], Any] | None],
    item: tuple[Partition, Integers],
) -> tuple[Floats, Any]:
    space, look = shared
    part, places = item
    values = space.encode(part.read(space.names))
    return values[places], None if look is None else look(values)


def _by_piece(
    sent: list[tuple[bool, tuple[Partition | None, ...]]],
) -> list[tuple[Partition | None, ...]]:
    return list(zip(*(parts for _, parts in sent), strict=True))


def _exchange(
    shared: tuple[Cuts, AttributeSpace], item: tuple[Partition, Scratch, int]
) -> tuple[bool, tuple[Partition | None, ...]]:
    """Writes the records of a partition for each piece, unless an earlier attempt did.

    Returns:
        Whether values are missing; for each piece what was written, None where there is nothing.
    """
    cuts, space = shared
    part, scratch, pieces = item
    where = f"{pieces}-{part.start}-{part.stop}"
    done = scratch.find(f"exchange-{where}")
    if done is not None:
        told = done.read()
        written = [
            scratch.find(f"piece-{number}-{where}") if rows else None
            for number, rows in enumerate(told.column("rows").to_pylist())
        ]
        if all(
            (one is not None) == bool(rows)
            for one, rows in zip(written, told.column("rows").to_pylist(), strict=True)
        ):
            return bool(told.column("gapped")[0].as_py()), tuple(written)
    values = space.encode(part.read(space.names))
    rows = space.embed(values)
    gapped = bool(np.isnan(rows).any())
    piece_of = cuts.locate(rows)
    count = int(cuts.groups.max()) + 1
    order = np.argsort(piece_of, kind="stable")
    borders = np.searchsorted(piece_of[order], np.arange(count + 1))
    sent: list[Partition | None] = []
    for number in range(count):
        mine = order[borders[number] : borders[number + 1]]
        table = _as_table(values[mine], mine + part.start)
        sent.append(scratch.write(f"piece-{number}-{where}", table) if len(mine) else None)
    told = pa.table({"rows": np.diff(borders), "gapped": [gapped] * count})
    scratch.write(f"exchange-{where}", told)
    return gapped, tuple(sent)


def _as_table(values: Floats, numbers: Integers) -> pa.Table:
    columns = {str(place): pa.array(column) for place, column in enumerate(values.T)}
    return pa.table({_NUMBER: pa.array(numbers), **columns})


def _build(space: AttributeSpace, item: tuple[bool, *tuple[Partition, ...]]) -> Piece:
    """A piece from what all partitions have for it, in their order."""
    is_gapped, *parts = item
    table = pa.concat_tables([part.read() for part in parts])
    numbers = table.column(_NUMBER).to_numpy()
    values = np.empty((table.num_rows, len(space.names)), order="F")
    for place in range(values.shape[1]):
        values[:, place] = table.column(str(place)).to_numpy()
    return Piece.build(space.embed(values), numbers, values, gapped=is_gapped)


def _about(_: None, piece: Piece) -> tuple[Boxes, int]:
    return piece.boxes, len(piece)
