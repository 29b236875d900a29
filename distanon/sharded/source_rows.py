"""Which released rows equal their sources, of tables that no process holds.

Workers say a fingerprint of each row; the driver compares 8 bytes to a row. Only rows whose
fingerprints agree are looked at, value by value, so that no collision can make two rows equal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from distanon.data.classes import alike, canonical, equal_rows, is_text
from distanon.data.ports import Partition
from distanon.data.table import Dataset
from distanon.runtime.crew import Crew

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

_TOGETHER = 2**23  # values of each side that are compared at once
_MISSING = np.uint64(0x9E3779B97F4A7C15)
_PHASE = "unchanged"


def rows_like_their_sources(
    crew: Crew, release: Dataset, original: Dataset, sources: Integers, columns: Sequence[str]
) -> Integers:
    """The released rows that hold exactly their sources' tuples.

    Args:
        crew: who works.
        release: m rows.
        original: n records.
        sources: int64, shape (m,), in 0 … n − 1.
        columns: of both tables.

    Returns:
        int64, ascending. The same as `data.classes.equal_rows` says of whole tables, whatever
        the partitions. The driver holds 8 bytes to a record, and some of the rows that agree.
    """
    if not columns:
        return np.arange(len(release))
    kinds = [(name, original.schema[name].arrow_type) for name in columns]
    theirs = [(name, release.schema[name].arrow_type) for name in columns]
    known = np.zeros(len(original), np.uint64)
    told = crew.map(_fingerprints, original.partitions, shared=crew.put(theirs), phase=_PHASE)
    for part, words in zip(original.partitions, told, strict=True):
        known[part.start : part.stop] = words
    agree = [np.zeros(0, np.int64)]
    told = crew.map(_fingerprints, release.partitions, shared=crew.put(kinds), phase=_PHASE)
    for part, words in zip(release.partitions, told, strict=True):
        same = words == known[sources[part.start : part.stop]]
        agree.append(np.flatnonzero(same) + part.start)
    rows = np.concatenate(agree)
    step = max(1, _TOGETHER // max(1, len(columns)))
    equal = [
        rows[at : at + step][_are_equal(crew, release, original, sources, some, columns)]
        for at in range(0, len(rows), step)
        for some in (rows[at : at + step],)
    ]
    return np.concatenate([np.zeros(0, np.int64), *equal])


def _are_equal(
    crew: Crew,
    release: Dataset,
    original: Dataset,
    sources: Integers,
    rows: Integers,
    columns: Sequence[str],
) -> NDArray[np.bool_]:
    """Whether these rows, ascending, equal their sources."""
    records, place = np.unique(sources[rows], return_inverse=True)
    ours = _taken(crew, release, rows, columns)
    theirs = _taken(crew, original, records, columns).take(pa.array(place.reshape(-1)))
    return equal_rows(ours, theirs, columns)


def _taken(crew: Crew, dataset: Dataset, rows: Integers, columns: Sequence[str]) -> pa.Table:
    """Some rows, ascending, picked where their partitions are read."""
    items = []
    for part in dataset.partitions:
        low, high = np.searchsorted(rows, (part.start, part.stop))
        if low < high:
            items.append((part, rows[low:high] - part.start))
    found = crew.map(_rows, items, shared=crew.put(list(columns)), phase=_PHASE)
    return pa.concat_tables(list(found))


def _rows(columns: list[str], item: tuple[Partition, Integers]) -> pa.Table:
    part, places = item
    table = part.read(columns)
    plain = {name: canonical(table.column(name)) for name in columns}
    return pa.table(plain).take(pa.array(places, pa.int64()))


def _fingerprints(others: list[tuple[str, pa.DataType]], part: Partition) -> Words:
    """A word for each row, uint64: equal where tuples are equal beside the other table's types."""
    table = part.read([name for name, _ in others] or None)
    words = np.zeros(table.num_rows, np.uint64)
    for name, other in others:
        ours = canonical(table.column(name))
        ours, _ = alike(ours, canonical(pa.chunked_array([], other)))
        words = _mixed(words * np.uint64(0x100000001B3) + _words(ours))
    return words


def _words(column: pa.ChunkedArray) -> Words:
    """A word for each value of a column in its canonical form; one for all that are missing."""
    missing = pc.is_null(column, nan_is_null=True).to_numpy()
    kind = column.type
    if pa.types.is_floating(kind):
        words = pc.fill_null(column.cast(pa.float64()), 0.0).to_numpy().view(np.uint64)
    elif pa.types.is_integer(kind) and kind != pa.uint64():
        words = pc.fill_null(column.cast(pa.int64()), 0).to_numpy().view(np.uint64)
    else:
        words = _of_distinct(column)
    return np.where(missing, _MISSING, _mixed(words))


def _of_distinct(column: pa.ChunkedArray) -> Words:
    """Of others than numbers: a word for each distinct value, by the text that it is."""
    encoded = column.combine_chunks().dictionary_encode()
    values = encoded.dictionary
    texts = values if is_text(values.type) else values.cast(pa.large_string())
    known = [
        int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
        for text in texts.to_pylist()
    ]
    places = pc.fill_null(encoded.indices, len(known)).to_numpy()
    words: Words = np.array([*known, 0], np.uint64)[places]
    return words


def _mixed(words: Words) -> Words:
    """Every bit depends on every bit (the finish of splitmix64)."""
    words = words ^ (words >> np.uint64(30))
    words = words * np.uint64(0xBF58476D1CE4E5B9)
    words = words ^ (words >> np.uint64(27))
    words = words * np.uint64(0x94D049BB133111EB)
    mixed: Words = words ^ (words >> np.uint64(31))
    return mixed
