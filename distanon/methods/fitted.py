"""The fitted transformation of a release: which group a new record belongs to, and its cells.

A method that publishes one set of cells for each group of records hands on, as the private
`Release.fitted`, what masks records that come later in the same way: how a group is found (by
the cuts that made it, or the nearest tuple), and the cells that the group was published with.
Nothing of single records is in it, but the columns' ranges and categories are: it is private.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data import categories, codes, generalization
from distanon.data.attribute_domain import AttributeDomain
from distanon.data.coding import Coding
from distanon.data.domain import Domain
from distanon.data.hierarchy import Hierarchy
from distanon.data.schema import Attribute, AttributeType, Schema
from distanon.data.space import AttributeSpace
from distanon.data.values import encode_column
from distanon.errors import InputError
from distanon.kernels.neighbors import NeighborIndex, distinct
from distanon.kernels.partition import Cuts

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

FORMAT = 1
_UNREADABLE = "the fitted transformation is not one that this version can read; run the job again"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Fitted:
    """How new records are masked.

    Attributes:
        columns: a table without rows: every column of the input, in the input's arrow types.
        space: the quasi-identifiers as they were fitted.
        cells: one row for each group: the cells that its records are published with, one column
            for each quasi-identifier.
        kept: bool, shape (g,): whether the group was published; False: it was suppressed.
        cuts: what leads a record to its group; None: the nearest of `tuples` does.
        places: for each attribute what the cuts compare instead of its values: for a nominal one
            the place of each category, missing last, float64 (m + 1,), NaN as `Cuts` takes it;
            None: the values themselves.
        tuples: float64, shape (g, q), in codes; None with cuts.
    """

    columns: pa.Table
    space: AttributeSpace
    cells: pa.Table
    kept: Booleans
    cuts: Cuts | None = None
    places: tuple[Floats | None, ...] = ()
    tuples: Floats | None = None

    def tables(self) -> dict[str, pa.Table]:
        """All of it as tables, for `Release.fitted`."""
        found = {
            "columns": self.columns,
            "attributes": _described(self.space),
            "cells": self.cells,
            "kept": pa.table({"kept": self.kept}),
        }
        for place, (attribute, its) in enumerate(
            zip(self.space.attributes, self.space.domains, strict=True)
        ):
            if attribute.type is not AttributeType.NUMERIC:
                values = categories.as_array(its.categories, attribute.arrow_type)
                found[f"categories-{place}"] = pa.table({"value": values})
            if attribute.hierarchy is not None:
                levels = zip(*attribute.hierarchy.levels, strict=True)
                found[f"hierarchy-{place}"] = pa.table(
                    {str(h): level for h, level in enumerate(levels)}
                )
        for place, order in enumerate(self.places):
            if order is not None:
                found[f"places-{place}"] = pa.table({"place": order})
        if self.cuts is not None:
            parts = ("attributes", "thresholds", "lefts", "rights", "groups")
            found["cuts"] = pa.table({part: getattr(self.cuts, part) for part in parts})
        if self.tuples is not None:
            numbered = {str(place): column for place, column in enumerate(self.tuples.T)}
            found["tuples"] = pa.table(numbered)
        return found

    @staticmethod
    def of(tables: Mapping[str, pa.Table], schema: Schema) -> Fitted:
        """Reads what `tables` wrote.

        Args:
            tables: by name.
            schema: roles and settings of the columns, as the job's spec has them.

        Raises:
            InputError: it is of another version, or of another schema.
        """
        try:
            columns = tables["columns"]
            names = tables["attributes"].column("name").to_pylist()
            attributes = tuple(schema[name] for name in names)
            fitted = _read(tables, columns, attributes)
        except (KeyError, ValueError, TypeError, pa.ArrowException):
            raise InputError(_UNREADABLE) from None
        return fitted

    def locate(self, table: pa.Table) -> Located:
        """The group of each of some records.

        Args:
            table: holds the quasi-identifiers, in types that compare with the fitted ones.

        Raises:
            InputError: text that is no number.
        """
        values = np.zeros((table.num_rows, len(self.space.attributes)))
        strange: dict[str, Booleans] = {}
        for place, (attribute, its) in enumerate(
            zip(self.space.attributes, self.space.domains, strict=True)
        ):
            column, is_strange = _known(table.column(attribute.name), attribute, its)
            values[:, place] = encode_column(column, attribute, its)
            if is_strange.any():
                strange[attribute.name] = is_strange
        groups = self._groups(values)
        for rows in strange.values():
            groups[rows] = -1
        counts = {name: int(rows.sum()) for name, rows in strange.items()}
        return Located(groups, counts, values)

    def outside(self, located: Located) -> Booleans:
        """Which records have a value beyond the published region of their group, bool (m,).

        A group's region spans its own records, and a new one may lie beside it. With plain cells
        each value that is not the published one counts.

        Raises:
            InputError: cells that can't be read.
        """
        beyond = located.groups < 0
        own = np.maximum(located.groups, 0)
        for place, (attribute, its) in enumerate(
            zip(self.space.attributes, self.space.domains, strict=True)
        ):
            regions = generalization.read(self.cells.column(attribute.name), attribute, its)
            beyond |= ~regions.contains(located.values[:, place], regions.code_of[own])
        return np.asarray(beyond, dtype=np.bool_)

    def _groups(self, values: Floats) -> Integers:
        if self.cuts is not None:
            compared = values.copy()
            for place, order in enumerate(self.places):
                if order is not None:
                    compared[:, place] = order[values[:, place].astype(np.int64)]
            return self.cuts.locate(compared)
        if self.tuples is None:
            raise InputError(_UNREADABLE)
        index = NeighborIndex.build(distinct(self.space.embed(self.tuples)))
        found = index.nearest(self.space.embed(values), 1, "truncate")
        return index.points.records[index.points.starts[found.points]].copy()


@dataclass(frozen=True, slots=True)
class Located:
    """Where new records belong.

    Attributes:
        groups: int64, shape (m,): -1 where a value is one that the fit has never seen.
        strange: how many such values each column has, where it has some.
        values: float64, shape (m, q), in the fitted codes.
    """

    groups: Integers
    strange: Mapping[str, int]
    values: Floats


def fitted_by_cuts(
    schema: Schema,
    space: AttributeSpace,
    cells: pa.Table,
    cuts: Cuts,
    places: Sequence[Floats | None] = (),
    kept: Booleans | None = None,
) -> dict[str, pa.Table]:
    """For `Release.fitted`, where cuts lead to the groups; the arguments as in `Fitted`.

    Args:
        schema: of the input.
        space: of the quasi-identifiers.
        cells: as published, one row for each group.
        cuts: one root; values in codes, or as `places` has them.
        places: empty: all attributes are compared by their codes.
        kept: None: all groups.
    """
    return Fitted(
        _without_rows(schema),
        space,
        cells,
        np.ones(cells.num_rows, np.bool_) if kept is None else kept,
        cuts=cuts,
        places=tuple(places),
    ).tables()


def fitted_by_nearest(
    schema: Schema,
    space: AttributeSpace,
    cells: pa.Table,
    tuples: Floats,
    kept: Booleans | None = None,
) -> dict[str, pa.Table]:
    """For `Release.fitted`, where a record belongs to the nearest tuple.

    Args:
        schema: of the input.
        space: of the quasi-identifiers.
        cells: as published, one row for each group.
        tuples: float64, shape (g, q), in codes.
        kept: None: all groups.
    """
    return Fitted(
        _without_rows(schema),
        space,
        cells,
        np.ones(cells.num_rows, np.bool_) if kept is None else kept,
        tuples=tuples,
    ).tables()


def _without_rows(schema: Schema) -> pa.Table:
    return pa.schema([(one.name, one.arrow_type) for one in schema]).empty_table()


def _described(space: AttributeSpace) -> pa.Table:
    """Type and domain of each attribute; categories stand in tables of their own."""
    rows = [
        {
            "name": attribute.name,
            "type": attribute.type.value,
            "format": FORMAT,
            "domain": json.dumps(asdict(replace(its, categories=()))),
        }
        for attribute, its in zip(space.attributes, space.domains, strict=True)
    ]
    kinds = pa.schema(
        [
            ("name", pa.string()),
            ("type", pa.string()),
            ("format", pa.int64()),
            ("domain", pa.string()),
        ]
    )
    return pa.Table.from_pylist(rows, kinds)


def _read(
    tables: Mapping[str, pa.Table], columns: pa.Table, attributes: tuple[Attribute, ...]
) -> Fitted:
    domains, found, places = {}, [], []
    for place, (attribute, row) in enumerate(
        zip(attributes, tables["attributes"].to_pylist(), strict=True)
    ):
        if row["format"] != FORMAT:
            raise InputError(_UNREADABLE)
        kind = columns.schema.field(attribute.name).type
        levels = tables.get(f"hierarchy-{place}")
        found.append(
            replace(
                attribute,
                type=AttributeType(row["type"]),
                arrow_type=kind,
                hierarchy=None if levels is None else _hierarchy(levels),
            )
        )
        domains[attribute.name] = _domain(row["domain"], tables.get(f"categories-{place}"))
        order = tables.get(f"places-{place}")
        places.append(None if order is None else order.column("place").to_numpy())
    cuts, tuples = tables.get("cuts"), tables.get("tuples")
    return Fitted(
        columns,
        AttributeSpace.of(found, Domain(domains, 0)),
        tables["cells"],
        tables["kept"].column("kept").to_numpy(zero_copy_only=False),
        cuts=None if cuts is None else Cuts(*(column.to_numpy() for column in cuts.columns)),
        places=tuple(places),
        tuples=None if tuples is None else np.column_stack([c.to_numpy() for c in tuples.columns]),
    )


def _hierarchy(levels: pa.Table) -> Hierarchy:
    columns = [column.to_pylist() for column in levels.columns]
    return Hierarchy(tuple(zip(*columns, strict=True)))


def _domain(text: str, values: pa.Table | None) -> AttributeDomain:
    settings: dict[str, Any] = json.loads(text)
    settings["coding"] = Coding(**settings["coding"])
    known = () if values is None else categories.distinct(codes.plain(values.column("value")))
    return AttributeDomain(**settings | {"categories": tuple(known)})


def _known(
    column: pa.ChunkedArray, attribute: Attribute, domain: AttributeDomain
) -> tuple[pa.ChunkedArray, Booleans]:
    """A column with null for what the fit has never seen, and where that is.

    A missing value is a value like any other: where the fit had none it is strange too.
    """
    missing = np.zeros(len(column), np.bool_)
    if not domain.missing:
        missing = ~codes.plain(column).is_valid().to_numpy(zero_copy_only=False)
    if attribute.type is AttributeType.NUMERIC:
        return column, missing
    kind = codes.value_type(attribute.arrow_type)
    values = codes.plain(column)
    try:
        values = values if values.type == kind else values.cast(kind)
    except pa.ArrowException:  # its message quotes the value
        raise InputError(
            f"column {attribute.name!r}: {values.type} that can't be read as {kind}, the type that "
            "the fitted table has"
        ) from None
    _, strange = categories.places(values, categories.as_array(domain.categories, kind))
    shown = pa.array(np.arange(len(values)), pa.int64(), mask=strange)
    return pa.chunked_array([values.take(shown)]), strange | missing
