"""Equivalence classes: the records that share a tuple of values, exactly.

Two cells are the same when their values are. A missing cell (null) is a value of its own: it
differs from NaN, from the empty text and from the marker of a suppressed cell. Every NaN is the
same NaN, and -0.0 is 0.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

SUPPRESSED = "*"
"""What stands in a cell that was suppressed."""

_LARGEST_KEY = 2**62


@dataclass(frozen=True, slots=True)
class Codes:
    """A column as numbers of its distinct values.

    Attributes:
        code_of: int64, shape (n,): for each row the number of its value, numbered from 0 in
            order of first appearance.
        values: the distinct values by number; a missing one is null.
    """

    code_of: NDArray[np.int64]
    values: pa.Array

    @property
    def is_marker(self) -> NDArray[np.bool_]:
        """Shape (number of values,): whether it says nothing: missing, NaN or suppressed."""
        return are_markers(self.values)


@dataclass(frozen=True, slots=True)
class Classes:
    """A partition of the records.

    Attributes:
        class_of: int64, shape (n,): the class of each record; classes are numbered from 0 in
            order of first appearance.
        sizes: int64, shape (c,): records of each class, at least 1.
        firsts: int64, shape (c,): the first record of each class.
    """

    class_of: NDArray[np.int64]
    sizes: NDArray[np.int64]
    firsts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True, slots=True)
class ClassSizes:
    """How large classes are, for the certificate; without classes all are 0.

    Attributes:
        classes: how many.
        records: in all of them.
        smallest: size of the smallest class.
        median: the lower median of the sizes.
        largest: size of the largest class.
    """

    classes: int
    records: int
    smallest: int
    median: int
    largest: int


def equivalence_classes(table: pa.Table, columns: Sequence[str]) -> Classes:
    """The classes of equal tuples over some columns; without columns all records are one class.

    Mixed-radix keys over the codes of the columns, made dense again before they would overflow:
    O(rows · columns), with hashing and without sorting. Up to 2³¹ rows.
    """
    key = np.zeros(table.num_rows, np.int64)
    radix = 1
    for name in columns:
        column = encode(table.column(name))
        count = len(column.values)
        if radix * max(count, 1) > _LARGEST_KEY:
            key, radix = _dense(key)
        key = key * count + column.code_of
        radix *= max(count, 1)
    return partition_of(key)


def common_classes(
    one: pa.Table, other: pa.Table, columns: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The classes over the rows of two tables together.

    Where a column has two types, numbers are compared as numbers and all else as text.

    Args:
        one: m rows.
        other: n rows.
        columns: of both tables.

    Returns:
        int64, shape (m,) and (n,): equal tuples have equal numbers, in either table.
    """
    joined = {}
    for name in columns:
        ours, theirs = canonical(one.column(name)), canonical(other.column(name))
        if ours.type != theirs.type:
            ours, theirs = _comparable(ours), _comparable(theirs)
        if ours.type != theirs.type:
            ours, theirs = ours.cast(pa.large_string()), theirs.cast(pa.large_string())
        joined[name] = pa.chunked_array([*ours.chunks, *theirs.chunks], ours.type)
    if not columns:
        return np.zeros(one.num_rows, np.int64), np.zeros(other.num_rows, np.int64)
    class_of = equivalence_classes(pa.table(joined), columns).class_of
    return class_of[: one.num_rows], class_of[one.num_rows :]


def partition_of(key: NDArray[np.int64]) -> Classes:
    """The classes of equal keys, shape (n,), numbered by first appearance."""
    class_of, count = _dense(key)
    sizes = np.bincount(class_of, minlength=count).astype(np.int64)
    firsts = np.empty(count, np.int64)
    # Written from the last record to the first, so that the first one stays.
    firsts[class_of[::-1]] = np.arange(len(key) - 1, -1, -1, dtype=np.int64)
    return Classes(class_of, sizes, firsts)


def encode(column: pa.ChunkedArray | pa.Array) -> Codes:
    """The distinct values of a column and the number of each row's value."""
    column = canonical(column)
    encoded = pc.dictionary_encode(column, null_encoding="encode")
    if isinstance(encoded, pa.ChunkedArray):
        encoded = _joined(encoded)
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return Codes(codes, encoded.dictionary)


def are_markers(values: pa.Array) -> NDArray[np.bool_]:
    """Shape (n,): whether each value says nothing: missing, NaN or suppressed."""
    missing = pc.is_null(values, nan_is_null=True)
    marker = missing.to_numpy(zero_copy_only=False)
    if is_text(values.type):
        suppressed = pc.fill_null(pc.equal(values, SUPPRESSED), False)
        marker = marker | suppressed.to_numpy(zero_copy_only=False)
    return np.asarray(marker, dtype=np.bool_)


def canonical(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """The same values in a form in which equal values have equal bits."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if pa.types.is_null(kind):
        return column.cast(pa.int8())
    if pa.types.is_string_view(kind):
        return column.cast(pa.large_string())
    if pa.types.is_float16(kind):
        column = column.cast(pa.float32())
        kind = column.type
    if pa.types.is_floating(kind):
        nan = pa.scalar(float("nan"), kind)
        return pc.if_else(pc.is_nan(column), nan, pc.add(column, pa.scalar(0.0, kind)))
    return column


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this Arrow type holds text."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def class_sizes(sizes: NDArray[np.int64]) -> ClassSizes:
    """Count, smallest, median and largest of the sizes of classes, shape (c,)."""
    if len(sizes) == 0:
        return ClassSizes(0, 0, 0, 0, 0)
    sizes = np.sort(sizes)
    median = int(sizes[(len(sizes) - 1) // 2])
    return ClassSizes(len(sizes), int(sizes.sum()), int(sizes[0]), median, int(sizes[-1]))


def equal_rows(left: pa.Table, right: pa.Table, columns: Sequence[str]) -> NDArray[np.bool_]:
    """Whether rows at the same place hold the same tuple, shape (n,).

    Two numbers are compared as numbers whatever their types, a number and a text by the number
    that the text spells. Missing equals missing, null or NaN: nothing was changed there.

    Args:
        left: n rows.
        right: n rows.
        columns: of both tables.
    """
    same = np.ones(left.num_rows, np.bool_)
    for name in columns:
        ours, theirs = alike(canonical(left.column(name)), canonical(right.column(name)))
        equal = pc.fill_null(pc.equal(ours, theirs), False)
        missing = pc.and_(pc.is_null(ours, nan_is_null=True), pc.is_null(theirs, nan_is_null=True))
        same &= np.asarray(pc.or_(equal, missing).to_numpy(), dtype=np.bool_)
    return same


def alike(ours: pa.ChunkedArray, theirs: pa.ChunkedArray) -> tuple[pa.ChunkedArray, ...]:
    """Two columns in their canonical form, in one type in which they can be compared.

    What becomes of either depends on the other's type alone, never on its values.
    """
    if ours.type != theirs.type:
        ours, theirs = _comparable(ours), _comparable(theirs)
        if ours.type != theirs.type:
            ours, theirs = _numbers(ours), _numbers(theirs)
    return ours, theirs


def _comparable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Numbers as float64, all else as text."""
    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
        kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return column.cast(pa.float64(), safe=False)
    return column.cast(pa.large_string())


def _numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The numbers that a text column spells, a column of numbers as it is.

    A text that spells none becomes an infinity, which no data has: it differs from every number
    and from a missing cell.
    """
    if not is_text(column.type):
        return column
    spells = pc.match_substring_regex(column, r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
    return pc.if_else(spells, column, "inf").cast(pa.float64())


def _dense(key: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Keys numbered anew from 0 by first appearance, and how many there are."""
    encoded = pc.dictionary_encode(pa.array(key))
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    return codes.astype(np.int64, copy=False), len(encoded.dictionary)


def _joined(encoded: pa.ChunkedArray) -> pa.DictionaryArray:
    """The chunks of an encoded column as one array; Arrow gives them all the same dictionary."""
    if encoded.num_chunks == 0:
        return pa.DictionaryArray.from_arrays(
            pa.array([], pa.int32()), pa.array([], encoded.type.value_type)
        )
    indices = pa.concat_arrays([chunk.indices for chunk in encoded.chunks])
    return pa.DictionaryArray.from_arrays(indices, encoded.chunk(0).dictionary)
