"""A release before it is staged: pieces in record order, and its published form."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from distanon.data import categories, codes
from distanon.data.coarsening import top_coded
from distanon.data.ports import Partition
from distanon.data.schema import SOURCE, Attribute, AttributeType, Role, Schema

_PSEUDONYM_DIGITS = 32
_LARGEST_KEY = 2**62


@dataclass(frozen=True, slots=True)
class Release:
    """What a method made.

    Attributes:
        pieces: partitions whose tables hold the published columns, in the order of
            `schema.published`, and `SOURCE` (int64) as the last column.
        schema: of the release: a method may have changed a column's arrow type.
        counts: facts that may be published: {"dispersed": 120, "suppressed": 0}.
        private: facts that may not: {"sigma": 0.236}.
        fitted: what masks later records in the same way, for the private prefix: cuts, tuples
            and bounds of groups, never single records; empty where a method has no such thing.
        data: the release as the kind that was put in; set by `Method.anonymize` alone.
    """

    pieces: tuple[Partition, ...]
    schema: Schema
    counts: Mapping[str, int] = field(default_factory=dict)
    private: Mapping[str, Any] = field(default_factory=dict)
    fitted: Mapping[str, pa.Table] = field(default_factory=dict)
    data: Any = None

    def __repr__(self) -> str:
        """Without values of the data, nor whose record a row is: a notebook may keep it."""
        records = sum(piece.stop - piece.start for piece in self.pieces)
        names = ", ".join(attribute.name for attribute in self.schema.published)
        return f"Release({records} records of {names}; the rows are in .data)"


def publishable(table: pa.Table, schema: Schema) -> pa.Table:
    """What holds for every method, done to a piece before it is published.

    Columns that are not published go; identifiers that are kept become keyed pseudonyms; values
    above `top_code` become it; a missing value is null (never NaN) and −0.0 is 0.0, so that
    equal values have equal bytes; dictionaries hold their used values, sorted, but those of an
    ordered column all values in its order, so that pieces can be joined; no metadata.

    Args:
        table: at least the published columns, and `SOURCE` or not.
        schema: of the release.

    Returns:
        The columns of `schema.published`, in that order, then `SOURCE` if it was there; in the
        table's arrow types but for what `publishable_schema` says.

    Raises:
        InputError: a `top_code` below every value that the column's type can hold.
    """
    columns = {
        attribute.name: _publishable_column(table.column(attribute.name), attribute)
        for attribute in schema.published
    }
    if SOURCE in table.column_names:
        columns[SOURCE] = table.column(SOURCE)
    return pa.table(columns)


def publishable_schema(schema: Schema) -> Schema:
    """The schema of what `publishable` returns.

    Pseudonyms are text, dictionaries unordered unless their order is known, string views and
    run-end encoded columns plain.
    """
    return Schema(tuple(_published(attribute) for attribute in schema.published))


def sort_for_release(table: pa.Table) -> tuple[pa.Table, NDArray[np.int64]]:
    """Sorts rows by their published columns, so that their order says nothing.

    Args:
        table: published columns and `SOURCE`.

    Returns:
        The published columns alone, sorted from the first column to the last, missing values
        last; and the source record's number of each row. Rows that tie are identical, their
        sources ascend. Missing values are as `publishable` leaves them; dictionaries hold their
        used values alone, sorted or in their column's order.
    """
    places = [place for place, name in enumerate(table.column_names) if name != SOURCE]
    columns = [_tidy(table.column(place)) for place in places]
    source = table.column(SOURCE).cast(pa.int64())
    order = _order(columns, source)
    names = [table.column_names[place] for place in places]
    sources = source.take(order).to_numpy().astype(np.int64, copy=False)
    if not columns:
        return table.select([]), sources
    # Column by column, and what is sorted lets go of what it was.
    del table, source
    columns.reverse()
    return pa.table([columns.pop().take(order) for _ in names], names=names), sources


def order_for_release(table: pa.Table) -> pa.Array:
    """The row numbers of a table in the order of `sort_for_release`, which has the arguments."""
    columns = [_tidy(table.column(name)) for name in table.column_names if name != SOURCE]
    return _order(columns, table.column(SOURCE).cast(pa.int64()))


def _order(columns: Sequence[pa.ChunkedArray | pa.Array], source: pa.ChunkedArray) -> pa.Array:
    keys = [*_keys(columns), source]
    ordered = pa.table(keys, names=[str(place) for place in range(len(keys))])
    return pc.sort_indices(ordered, sort_keys=[(n, "ascending") for n in ordered.column_names])


def _keys(columns: Sequence[pa.ChunkedArray | pa.Array]) -> list[pa.ChunkedArray | pa.Array]:
    """What sorts as the columns do, first to last, in less memory and time.

    Texts become their ranks, and neighboring ranks one number where it can hold them.
    """
    keys: list[pa.ChunkedArray | pa.Array] = []
    joined, radix = np.zeros(0, np.int64), 1
    for column in columns:
        ranked = _ranks(column)
        if radix > 1 and (ranked is None or radix * ranked[1] > _LARGEST_KEY):
            keys.append(pa.array(joined))
            radix = 1
        if ranked is None:
            keys.append(_sortable(column))
        elif radix > 1:
            joined, radix = joined * ranked[1] + ranked[0], radix * ranked[1]
        else:
            joined, radix = ranked
    return [*keys, pa.array(joined)] if radix > 1 else keys


def _ranks(column: pa.ChunkedArray | pa.Array) -> tuple[NDArray[np.int64], int] | None:
    """The rank of each row's text, missing last, int64 (n,), and how many ranks there are.

    None where values are compared as they are.
    """
    values = codes.plain(column)
    if not codes.is_text(values.type):
        return None
    encoded = values.dictionary_encode()
    many = len(encoded.dictionary)
    rank = np.empty(many + 1, np.int64)
    rank[pc.sort_indices(encoded.dictionary).to_numpy()] = np.arange(many)
    rank[many] = many
    places = pc.fill_null(encoded.indices, many).to_numpy(zero_copy_only=False)
    return rank[places], many + 1


def _protected(column: pa.ChunkedArray, attribute: Attribute) -> pa.ChunkedArray | pa.Array:
    if _is_pseudonym(attribute):
        return _pseudonyms(column, attribute.pseudonym_key or b"")
    if attribute.top_code is not None:
        return top_coded(column, attribute.top_code, attribute.name)
    return column


def _publishable_column(
    column: pa.ChunkedArray, attribute: Attribute
) -> pa.ChunkedArray | pa.Array:
    column = _protected(column, attribute)
    if _is_ordered(attribute):
        kind = _ordered_type(attribute.arrow_type)
        order = categories.as_array(attribute.order or (), kind)
        places, _ = categories.places(codes.plain(column), order)
        indices = pa.array(places.astype(np.int32), mask=places < 0)
        return codes.as_dictionary(indices, order, kind)
    if pa.types.is_dictionary(column.type):
        return _reduced(column)
    return _tidy(column)


def _is_ordered(attribute: Attribute) -> bool:
    """Whether the column is a dictionary with an order that means something, and it is known."""
    kind = attribute.arrow_type
    return pa.types.is_dictionary(kind) and bool(kind.ordered) and attribute.order is not None


def _ordered_type(kind: pa.DataType) -> pa.DataType:
    return pa.dictionary(kind.index_type, _written_type(kind.value_type), ordered=True)


def _is_pseudonym(attribute: Attribute) -> bool:
    return attribute.role in (Role.IDENTIFIER, Role.SUBJECT)


def _published(attribute: Attribute) -> Attribute:
    if _is_pseudonym(attribute):
        return replace(attribute, arrow_type=pa.string(), type=AttributeType.NOMINAL)
    if _is_ordered(attribute):
        return replace(attribute, arrow_type=_ordered_type(attribute.arrow_type))
    return replace(attribute, arrow_type=_written_type(attribute.arrow_type))


def _pseudonyms(column: pa.ChunkedArray, key: bytes) -> pa.Array:
    """HMAC-SHA256 of each value's text, 32 hexadecimal digits; missing stays missing.

    Equal texts have equal pseudonyms under one key, whatever the column and its type, so that
    tables can be joined by them.
    """
    encoded = codes.as_text(codes.plain(column)).dictionary_encode()
    names = [
        hmac.digest(key, text.encode(), "sha256").hex()[:_PSEUDONYM_DIGITS]
        for text in encoded.dictionary.to_pylist()
    ]
    return pa.array(names, pa.string()).take(encoded.indices)


def _tidy(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """Equal values in equal bytes: one missing value, one zero, dictionaries of used values."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _reduced_in_order(column) if kind.ordered else _reduced(column)
    plain = _written_type(kind)
    if pa.types.is_floating(kind) or plain != kind:
        column = codes.plain(column)
    return column if column.type == plain else column.cast(plain)


def _written_type(kind: pa.DataType) -> pa.DataType:
    """The type that is published; the order of a dictionary's values means nothing."""
    kind = codes.stored_type(kind)
    return pa.dictionary(kind.index_type, kind.value_type) if pa.types.is_dictionary(kind) else kind


def _reduced(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """A dictionary column with its used values alone, sorted; that order means nothing."""
    kind = _written_type(column.type)
    values = codes.plain(column)
    used = pc.drop_null(values.unique())
    used = used.take(pc.sort_indices(_sortable(used)))
    places, _ = categories.places(values, used)
    indices = pa.array(places.astype(np.int32), mask=places < 0)
    return codes.as_dictionary(indices, used, kind)


def _reduced_in_order(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """An ordered dictionary column with its used values alone, in their order."""
    kind = _ordered_type(column.type)
    chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    values = codes.plain(chunked)
    unified = chunked.unify_dictionaries()
    order = unified.chunk(0).dictionary if unified.num_chunks else categories.as_array((), kind)
    used = order.filter(pc.is_in(order, value_set=pc.drop_null(values.unique())))
    places, _ = categories.places(values, used)
    indices = pa.array(places.astype(np.int32), mask=places < 0)
    return codes.as_dictionary(indices, used, kind)


def _sortable(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """A column in a type that Arrow can sort: values for dictionaries, numbers for booleans."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _sortable(column.cast(kind.value_type))
    if pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return column.cast(pa.int8())
    if pa.types.is_float16(kind):
        return column.cast(pa.float32())
    return column.cast(codes.value_type(kind))
