"""The bytes of a published file: a function of its rows, types and column names alone.

Writers leak: a dictionary keeps values that no row uses, metadata keeps a data frame's index and
attributes. All that goes before anything is written.
"""

from __future__ import annotations

import io
from typing import BinaryIO, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from distanon.errors import InputError, SpecError
from distanon.storage.csv_text import CsvSettings, parse

OutputFormat = Literal["parquet", "csv"]

_ROW_GROUP = 131_072


def reduced(table: pa.Table) -> pa.Table:
    """The same rows without anything that no row shows.

    Dictionaries hold used values only: sorted, or in their own order where that means something.
    Field and schema metadata are gone.
    """
    columns = [
        _reduced_dictionary(column) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    fields = [
        pa.field(name, column.type)
        for name, column in zip(table.column_names, columns, strict=True)
    ]
    return pa.table(columns, schema=pa.schema(fields))


def write(table: pa.Table, stream: BinaryIO, kind: OutputFormat) -> None:
    """Writes a reduced table; equal tables give equal bytes.

    Raises:
        SpecError: CSV can't hold it.
    """
    if kind == "parquet":
        pq.write_table(
            table,
            stream,
            version="2.6",
            data_page_version="1.0",
            compression="zstd",
            compression_level=3,
            row_group_size=_ROW_GROUP,
        )
    else:
        # Text is always quoted, so that an empty text ("") differs from a missing value.
        options = pa_csv.WriteOptions(quoting_style="needed")
        try:
            pa_csv.write_csv(_without_dictionaries(table), stream, options)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise _inexact() from None


def read_csv(content: bytes, schema: pa.Schema, file: str) -> pa.Table:
    """A CSV file that `write` made, with the types that it had.

    Raises:
        SpecError: a column's type can't be told from its text.
    """
    names = schema.names
    if not content[content.find(b"\n") + 1 :]:
        return schema.empty_table()
    text = parse(content, CsvSettings(delimiter=",", encoding="utf-8"), file).table
    return pa.table(
        [_typed(text.column(name), schema.field(name)) for name in names], schema=schema
    )


def check_csv(table: pa.Table, content: bytes, file: str) -> None:
    """Checks that a CSV file holds the table: read and written again it must be the same.

    Raises:
        SpecError: a column can't be told from its text.
    """
    again = io.BytesIO()
    try:
        write(read_csv(content, table.schema, file), again, "csv")
    except InputError:
        raise _inexact() from None
    if again.getvalue() != content:
        raise _inexact()


def _inexact() -> SpecError:
    return SpecError("output_format: csv can't hold this table exactly; use parquet")


def _reduced_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    values = column.cast(kind.value_type)
    used = pc.unique(values).drop_null()
    if kind.ordered and column.num_chunks:
        order = column.unify_dictionaries().chunk(0).dictionary
        used = order.filter(pc.is_in(order, value_set=used))
    else:
        used = used.take(pc.sort_indices(used))
    indices = pc.index_in(values, value_set=used).combine_chunks().cast(kind.index_type)
    array = pa.DictionaryArray.from_arrays(indices, used, ordered=kind.ordered)
    return pa.chunked_array([array], kind)


def _without_dictionaries(table: pa.Table) -> pa.Table:
    return pa.table(
        {
            name: column.cast(column.type.value_type)
            if pa.types.is_dictionary(column.type)
            else column
            for name, column in zip(table.column_names, table.columns, strict=True)
        }
    )


def _typed(text: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    kind = field.type
    if pa.types.is_null(kind):
        return pa.chunked_array([pa.nulls(len(text))])
    try:
        if pa.types.is_dictionary(kind):
            return reduced(pa.table([text.cast(kind.value_type).cast(kind)], [field.name])).column(
                0
            )
        return text.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise SpecError(
            f"output_format: csv can't hold column {field.name} of type {kind}; use parquet"
        ) from None
