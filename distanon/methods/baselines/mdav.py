"""MDAV: microaggregation, the oldest way to k-anonymous numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from distanon.data.release import Release
from distanon.data.table import Dataset
from distanon.kernels.microaggregation import Mixed, microaggregate
from distanon.kernels.partition import partition
from distanon.methods.base import Context
from distanon.methods.baselines.whole_table import WholeTable
from distanon.methods.fitted import fitted_by_nearest
from distanon.methods.grouping import GroupMethod
from distanon.methods.groups import publish_cells
from distanon.methods.joining import group_averages, keep_promises, mixed_of
from distanon.methods.limits import (
    limits_of,
)
from distanon.promises.base import Promise

Integers = NDArray[np.int64]

_WHOLE = 4  # tables of up to so many cells are grouped as one


class MDAV(GroupMethod):
    """Groups of k to 2k - 1 near records, each published with its average tuple.

    Source: Domingo-Ferrer and Torra 2005, algorithm MDAV-generic; Soria-Comas et al. 2015 for
        the merging that keeps l and t.
    Deviation: tables of more than 4 · `cell` records are cut at medians into cells first, so that
        the time is O(n · cell / k) instead of O(n² / k); nominal attributes take part with the
        distance of the house.
    """

    summary: ClassVar[str] = (
        "groups each record with its k - 1 nearest (microaggregation) and publishes means, medians "
        "and most frequent values"
    )
    limits: ClassVar[str] = (
        "averages are no true values: of columns that depend on each other they may not fit "
        "together; who knows k - 1 of a group can work out the last one from a mean; medians and "
        "most frequent values are some member's own, and where no member has a value that others "
        "have too, they show one that a single record has, though not which"
    )

    name: Literal["mdav"] = "mdav"
    recoding: Literal["range", "value"] = Field(
        "value", description="publish the average tuple in the columns' types, or ranges as text"
    )
    cell: int = Field(
        8_192,
        ge=64,
        description="records of the cells that a table of more than four times as many is cut "
        "into, at medians, before it is grouped",
    )

    def release(
        self, dataset: Dataset, promises: Mapping[str, Promise], context: Context
    ) -> Release:
        """Groups all records and publishes their averages."""
        self.check(dataset, promises)
        table = WholeTable.read(dataset)
        space, values = table.space, table.values
        cells = self._cells(table, promises)
        labels = _grouped(mixed_of(space, values), cells, self.k, context)
        found = keep_promises(
            dataset, space, values, labels, promises, self.k, self.suppression, cells
        )
        tuples = group_averages(space, values[found.kept], found.labels[found.kept], found.groups)
        published = self.cells_of(table, found.labels, found.kept, found.groups, tuples)
        return publish_cells(
            table,
            found.labels,
            published,
            found.kept,
            context,
            self.name,
            {},
            {"cells": int(cells.max(initial=0)) + 1},
            fitted_by_nearest(dataset.schema, space, published, tuples),
        )

    def _cells(self, table: WholeTable, promises: Mapping[str, Promise]) -> Integers:
        """The cell of each record, int64 (n,): one for all, or median cuts that keep l and t."""
        least = max(self.cell, _WHOLE * self.k)
        if len(table.values) <= _WHOLE * least:
            return np.zeros(len(table.values), np.int64)
        widths = np.where(
            table.space.nominal,
            [max(1.0, len(its.categories) - 1.0) for its in table.space.domains],
            table.space.spreads,
        )
        values = table.values.copy()
        for place, its in enumerate(table.space.domains):
            if table.space.nominal[place]:
                values[values[:, place] == len(its.categories), place] = np.nan
        limits = limits_of(table.dataset, promises)
        return partition(values, widths, least, limits=limits).labels


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """What workers share: all records, and k."""

    records: Mixed
    k: int


def _grouped(records: Mixed, cells: Integers, k: int, context: Context) -> Integers:
    """The group of each record, cell by cell, numbered in the order of the cells."""
    order = np.argsort(cells, kind="stable")
    borders = np.searchsorted(cells[order], np.arange(int(cells.max(initial=0)) + 2))
    rows = [order[start:stop] for start, stop in pairwise(borders)]
    shared = context.crew.put(_Work(records, k))
    labels, groups = np.empty(len(cells), np.int64), 0
    found = context.crew.map(grouped_cell, rows, shared=shared, phase="microaggregate")
    for own, part in zip(rows, found, strict=True):
        labels[own] = groups + part
        groups += int(part.max()) + 1
    return labels


def grouped_cell(work: _Work, rows: Integers) -> Integers:
    """The groups of one cell's records, from 0."""
    return microaggregate(work.records.take(rows), work.k)
