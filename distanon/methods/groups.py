"""How a method that groups records publishes them: one set of cells for each group.

`recoding: value` replaces the quasi-identifiers of a group's members by one tuple and keeps the
columns' types; `recoding: range` writes the region that the members span as text (see
`data/generalization`). All other columns stay as they are. Suppressed records are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data import codes
from distanon.data.finishing import finishing
from distanon.data.generalization import range_texts, set_texts
from distanon.data.ports import Partition, Scratch
from distanon.data.release import Release, publishable
from distanon.data.schema import SOURCE, Attribute, Schema
from distanon.data.space import AttributeSpace
from distanon.data.values import decode_column
from distanon.kernels.group_spans import member_sets, spans
from distanon.methods.base import Context
from distanon.methods.baselines.whole_table import WholeTable

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Publication:
    """All that a worker needs to publish a partition.

    Attributes:
        name: of the pieces.
        schema: of the release.
        cells: one row for each group, a column for each quasi-identifier.
        labels: int32, shape (n,): the group of each record; −1: suppressed.
    """

    name: str
    schema: Schema
    cells: pa.Table
    labels: NDArray[np.int32]


def value_cells(space: AttributeSpace, tuples: Floats) -> pa.Table:
    """Tuples of groups, float64 (c, q) in codes, as the cells that are published."""
    columns = {
        attribute.name: _takeable(decode_column(tuples[:, place], attribute, domain))
        for place, (attribute, domain) in enumerate(
            zip(space.attributes, space.domains, strict=True)
        )
    }
    return pa.table(columns)


def range_cells(table: WholeTable, labels: Integers, kept: Booleans, k: int) -> pa.Table:
    """The regions that the members of each group span, as the text that is published.

    Ends of numeric ranges are members' values. The outermost ones would be somebody's own, so
    that an end beyond the k-th lowest or highest value of the column is told as `domain_bounds`
    or, without these, that value rounded outwards; where even this lies inside, it is withheld.

    Args:
        table: n records.
        labels: int64, shape (n,), from 0 without gaps over the kept records.
        kept: bool, shape (n,).
        k: of the extremes.

    Returns:
        One row a group, one text column a quasi-identifier.
    """
    group_of = np.where(kept, labels, -1).astype(np.int32)
    groups = int(group_of.max(initial=-1)) + 1
    space = table.space
    columns = {}
    for place, attribute in enumerate(space.attributes):
        values = table.values[:, place]
        if space.nominal[place]:
            texts = _set_cells(space, place, values, group_of, groups)
        else:
            texts = _range_cells(space, place, values, group_of, groups, k)
        columns[attribute.name] = texts.cast(pa.string())
    return pa.table(columns)


def publish_cells(
    table: WholeTable,
    labels: Integers,
    cells: pa.Table,
    kept: Booleans,
    context: Context,
    name: str,
    counts: Mapping[str, int],
    private: Mapping[str, Any],
    fitted: Mapping[str, pa.Table] | None = None,
) -> Release:
    """Writes the cells of groups beside the columns that stay, partition by partition.

    Args:
        table: n records.
        labels: int64, shape (n,): the group of each, from 0; anything where not kept.
        cells: one row for each group, a column for each quasi-identifier.
        kept: bool, shape (n,): False: suppressed.
        context: where to write, and who does.
        name: of the method, for the pieces.
        counts: public facts beside records, groups and suppressed ones.
        private: facts that stay with the owner.
        fitted: for `Release.fitted`.
    """
    schema = _released_schema(table.dataset.schema, cells)
    group_of = np.where(kept, labels, -1).astype(np.int32)
    shared = context.crew.put(Publication(name, schema, cells, group_of))
    items = [(partition, context.scratch) for partition in table.dataset.partitions]
    pieces = list(context.crew.map(publish_piece, items, shared=shared, phase="release"))
    facts = {
        "records": int(np.count_nonzero(kept)),
        "suppressed": int(len(kept) - np.count_nonzero(kept)),
        "groups": cells.num_rows,
        "missing_cells": table.missing,
        **counts,
    }
    return Release(tuple(pieces), schema, facts, dict(private), dict(fitted or {}))


def publish_piece(plan: Publication, item: tuple[Partition, Scratch]) -> Partition:
    """Writes the release of one partition, unless an earlier attempt did."""
    partition, scratch = item
    name = f"{plan.name}-{partition.start}-{partition.stop}"
    written = scratch.find(name)
    if written is not None:
        return written
    group_of = plan.labels[partition.start : partition.stop]
    rows = np.flatnonzero(group_of >= 0)
    groups = pa.array(group_of[rows])
    shown = set(plan.cells.column_names)
    others = [a.name for a in plan.schema.published if a.name not in shown]
    kept = _rows_of(partition.read(others), rows, len(group_of))
    columns = {
        attribute.name: plan.cells.column(attribute.name).take(groups)
        if attribute.name in shown
        else kept.column(attribute.name)
        for attribute in plan.schema.published
    }
    numbers = pa.array(partition.start + rows.astype(np.int64))
    table = publishable(pa.table(columns), plan.schema).append_column(SOURCE, numbers)
    return scratch.write(name, table)


def _takeable(column: pa.Array) -> pa.Array:
    """A column of which Arrow can take rows: views and runs as plain values."""
    kind = column.type
    is_odd = pa.types.is_string_view(kind) or pa.types.is_run_end_encoded(kind)
    return codes.plain(column) if is_odd else column


def _rows_of(table: pa.Table, rows: Integers, total: int) -> pa.Table:
    """Some rows; string views as text, which Arrow takes rows of."""
    if len(rows) == total:
        return table
    for place, field in enumerate(table.schema):
        if pa.types.is_string_view(field.type):
            text = table.column(place).cast(pa.large_string())
            table = table.set_column(place, field.name, text)
    return table.take(pa.array(rows))


def _released_schema(schema: Schema, cells: pa.Table) -> Schema:
    """The schema with the types that the cells have."""
    kinds = {field.name: field.type for field in cells.schema}
    return Schema(tuple(_retyped(one, kinds.get(one.name, one.arrow_type)) for one in schema))


def _retyped(attribute: Attribute, kind: pa.DataType) -> Attribute:
    return attribute if attribute.arrow_type == kind else replace(attribute, arrow_type=kind)


def _set_cells(
    space: AttributeSpace, place: int, values: Floats, group_of: NDArray[np.int32], groups: int
) -> pa.Array:
    """Text of the categories in each group."""
    many = len(space.domains[place].categories) + 1
    set_of, starts, members = member_sets(values.astype(np.int32), group_of, groups, many)
    texts = set_texts(starts, members, space.attributes[place], space.domains[place])
    return texts.take(pa.array(set_of))


def _range_cells(
    space: AttributeSpace,
    place: int,
    values: Floats,
    group_of: NDArray[np.int32],
    groups: int,
    k: int,
) -> pa.Array:
    """Text of the range of numbers or ranks in each group."""
    attribute, domain = space.attributes[place], space.domains[place]
    low, high, holds_missing = spans(values, group_of, groups)
    withheld = None
    if space.numeric[place] and domain.span is not None:
        low, high, withheld = _protected(space, place, values, low, high, k)
    return range_texts(low, high, holds_missing, attribute, domain, withheld=withheld)


def _protected(
    space: AttributeSpace, place: int, values: Floats, low: Floats, high: Floats, k: int
) -> tuple[Floats, Floats, tuple[Booleans, Booleans]]:
    """Ranges whose ends tell no extreme: lower ends, upper ends, and which are withheld."""
    attribute, domain = space.attributes[place], space.domains[place]
    if attribute.top_code is not None:
        cap = _on_grid(domain.coding.code(attribute.top_code), domain.decimals)
        values, low, high = np.minimum(values, cap), np.minimum(low, cap), np.minimum(high, cap)
    present = values[~np.isnan(values)]
    ends = finishing([attribute], [domain], values[:, None], k, "clip", "grid")
    bottom, top = float(ends.lower[0]), float(ends.upper[0])
    at = min(k, max(1, len(present) // 4)) - 1  # as `finishing` takes it
    ordered = np.partition(present, (at, len(present) - 1 - at))
    below, above = low < ordered[at], high > ordered[len(present) - 1 - at]
    if attribute.domain_bounds is not None:
        is_range = low < high
        below |= is_range & (low == present.min())
        above |= is_range & (high == present.max())
    hidden = low < bottom, high > top
    return (
        np.where(above & (low > top), top, np.where(below | hidden[0], bottom, low)),
        np.where(below & (high < bottom), bottom, np.where(above | hidden[1], top, high)),
        hidden,
    )


def _on_grid(code: float, decimals: int) -> float:
    """The greatest number of the grid that is no greater."""
    return float(np.floor(code * 10.0**decimals) / 10.0**decimals)
