"""A release before it is staged: pieces in record order, and its published form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from distanon.data.ports import Partition
from distanon.data.schema import SOURCE, Schema


@dataclass(frozen=True, slots=True)
class Release:
    """What a method made.

    Attributes:
        pieces: partitions whose tables hold the published columns, in the order of
            `schema.published`, and `SOURCE` (int64) as the last column.
        schema: of the release: a method may have changed a column's arrow type.
        counts: facts that may be published: {"dispersed": 120, "suppressed": 0}.
        private: facts that may not: {"sigma": 0.236}.
        data: the release as the kind that was put in; set by `Method.anonymize` alone.
    """

    pieces: tuple[Partition, ...]
    schema: Schema
    counts: Mapping[str, int] = field(default_factory=dict)
    private: Mapping[str, Any] = field(default_factory=dict)
    data: Any = None


def sort_for_release(table: pa.Table) -> tuple[pa.Table, NDArray[np.int64]]:
    """Sorts rows by their published columns, so that their order says nothing.

    Args:
        table: published columns and `SOURCE`.

    Returns:
        The published columns alone, sorted from the first column to the last, missing values
        last; and the source record's number of each row. Rows that tie are identical.
    """
    names = [name for name in table.column_names if name != SOURCE]
    keys = pa.table(
        {str(place): _sortable(table.column(name)) for place, name in enumerate(names)}
        | {"source": table.column(SOURCE)}
    )
    order = pc.sort_indices(keys, sort_keys=[(name, "ascending") for name in keys.column_names])
    rows = table.take(order)
    sources = rows.column(SOURCE).to_numpy().astype(np.int64, copy=False)
    published = rows.select(names).replace_schema_metadata(None)
    return published, sources


def _sortable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column in a type that Arrow can sort: values for dictionaries, bytes for booleans."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if pa.types.is_boolean(kind):
        return column.cast(pa.int8())
    if pa.types.is_null(kind):
        return pa.chunked_array([pa.nulls(len(column), pa.int8())])
    return column
