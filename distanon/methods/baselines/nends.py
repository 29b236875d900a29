"""Nearest-neighbor data substitution: near items replace one another in cycles.

Symbols of the paper: NH a neighborhood of near items, c its size.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from distanon.data.finishing import finishing
from distanon.data.release import Release
from distanon.data.schema import AttributeType
from distanon.data.table import Dataset
from distanon.errors import InfeasibleError, SpecError
from distanon.methods.base import Context, Method
from distanon.methods.baselines.whole_table import WholeTable
from distanon.promises.base import Promise

SMALLEST_CYCLE = 3
"""In a cycle of two, both would hold the other's value."""


def groups_of_one_column(column: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """Groups of at least `size` near values of one attribute, missing ones in none.

    Args:
        column: float64, shape (n,); NaN is missing.
        size: of a group; smaller only where fewer values are present.

    Returns:
        Group number of each record, shape (n,); −1 where the value is missing.
    """
    order = np.argsort(column, kind="stable")
    present = len(column) - int(np.isnan(column).sum())
    pieces = max(1, present // size)
    result = np.full(len(column), -1, dtype=np.int64)
    result[order[:present]] = np.arange(present) * pieces // max(1, present)
    return result


def groups_of_records(points: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """Groups of `size` to 2·size − 1 near records, by median cuts of the widest column.

    Args:
        points: float64, shape (n, d), n ≥ 1, columns in one scale; NaN counts as the middle.
        size: smallest group; a table with fewer records is one group.

    Returns:
        Group number of each record, shape (n,).

    Deviation: the paper leaves open how near tuples are found.
    """
    middle = 0.5 * (np.fmin.reduce(points, axis=0) + np.fmax.reduce(points, axis=0))
    filled = np.where(np.isnan(points), np.nan_to_num(middle), points)
    result = np.empty(len(points), dtype=np.int64)
    todo = [np.arange(len(points))]
    groups = 0
    while todo:
        members = todo.pop()
        if len(members) < 2 * size:
            result[members] = groups
            groups += 1
            continue
        widest = int(np.argmax(np.ptp(filled[members], axis=0)))
        # Whole groups on both sides, so that few grow beyond `size`.
        cut = len(members) // size // 2 * size
        order = np.argsort(filled[members, widest], kind="stable")
        todo += [members[order[cut:]], members[order[:cut]]]
    return result


def substitutes(
    column: NDArray[np.float64], groups: NDArray[np.int64], uniforms: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Whose value each record gets: the next one's in its group's cycle.

    A group's cycle runs up its sorted values by every second one and down by the others, so that
    no value moves further than two places: of all cycles through the group, one with the smallest
    largest step.

    Args:
        column: float64, shape (n,); NaN is missing.
        groups: group number of each record, shape (n,); −1: in none.
        uniforms: a draw in (0, 1) for each record: the order of equal values, and with the
            first of a group its direction.

    Returns:
        Record numbers, shape (n,): a record's own where its value is missing, or where fewer than
        3 values of its group are present.

    Source: Parameswaran & Blough 2008, section 4 (substitution within a neighborhood; no two
        items swapped).
    """
    result = np.arange(len(column), dtype=np.int64)
    order = np.lexsort((uniforms, column, groups))
    order = order[(groups[order] >= 0) & ~np.isnan(column[order])]
    if len(order) == 0:
        return result
    _, first, sizes = np.unique(groups[order], return_index=True, return_counts=True)
    start = np.repeat(first, sizes)
    length = np.repeat(sizes, sizes)
    following = start + _next_place(np.arange(len(order)) - start, length)
    preceding = np.empty_like(following)
    preceding[following] = np.arange(len(order))
    ascending = uniforms[order[start]] < 0.5
    chosen = np.where(ascending, following, preceding)
    chosen = np.where(length < SMALLEST_CYCLE, np.arange(len(order)), chosen)
    result[order] = order[chosen]
    return result


def _next_place(place: NDArray[np.int64], length: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place after each in the cycle 0, 2, 4, …, 5, 3, 1 of so many places."""
    even = place % 2 == 0
    # From the last even place the cycle turns to the last odd one, and from 1 back to 0.
    last_odd = length - 1 - length % 2
    up = np.where(place + 2 < length, place + 2, np.maximum(last_odd, 0))
    down = np.where(place == 1, 0, place - 2)
    return np.where(even, up, down)


class NeNDS(Method):
    """Nearest-neighbor data substitution of the quasi-identifiers.

    Source: Parameswaran & Blough, Privacy preserving data obfuscation for inherently clustered
        data, 2008.
    Deviation: the cycle of a group takes every second value up and the others down, and runs in a
        drawn direction; near tuples are found by median cuts; nominal attributes go round in a
        drawn order inside groups of records, and stay as they are when attributes are grouped by
        themselves (the nearest values of a category are its own).
    """

    summary: ClassVar[str] = "replaces values by those of near records, in cycles"
    limits: ClassVar[str] = (
        "every released value is somebody's; by attribute, almost every record still lies "
        "nearest to its own"
    )
    keeps: ClassVar[frozenset[str]] = frozenset({"unchanged", "linkage"})

    name: Literal["nends"] = "nends"
    variant: Literal["attribute", "tuple"] = Field(
        "attribute",
        description="groups of near values of each attribute by itself, or of near records",
    )
    group_size: int = Field(
        10, ge=SMALLEST_CYCLE, description="values or records of a group, at least"
    )

    def check(self, dataset: Dataset, promises: Mapping[str, Promise]) -> None:
        """Refuses tables without quasi-identifiers or with fewer records than one group."""
        del promises
        attributes = dataset.schema.quasi_identifiers
        if not attributes:
            raise SpecError("method.name: nends needs at least one quasi-identifier")
        nominal = (AttributeType.NOMINAL, AttributeType.BINARY)
        if self.variant == "attribute" and all(a.type in nominal for a in attributes):
            raise SpecError(
                "method.variant: attribute substitutes numeric and ordinal quasi-identifiers, and "
                f"{dataset.source} has none; use tuple"
            )
        if len(dataset) < self.group_size:
            works = len(dataset)
            hint = (
                f"the largest that works is {works}"
                if works >= SMALLEST_CYCLE
                else (f"at least {SMALLEST_CYCLE} records are needed")
            )
            raise InfeasibleError(
                f"nends: group_size {self.group_size} needs as many records, {dataset.source} has "
                f"{works}; {hint}"
            )

    def release(
        self, dataset: Dataset, promises: Mapping[str, Promise], context: Context
    ) -> Release:
        """Substitutes all records' values."""
        self.check(dataset, promises)
        table = WholeTable.read(dataset)
        columns = self._substituted(table)
        context.progress.start("Substitution", len(columns))
        groups = None
        if self.variant == "tuple":
            groups = groups_of_records(table.space.embed(table.values), self.group_size)
        records = len(dataset)
        uniforms = context.streams.uniforms("nends", 0, records, table.values.shape[1])
        released = table.values.copy()
        replaced = 0
        for place in columns:
            column, draws = table.values[:, place], uniforms[:, place]
            own = groups_of_one_column(column, self.group_size) if groups is None else groups
            if table.space.nominal[place]:
                # All other categories are equally near: the drawn order decides.
                present = column < len(table.space.domains[place].categories)
                chosen = substitutes(np.where(present, draws, np.nan), own, draws)
            else:
                chosen = substitutes(column, own, draws)
            replaced += int((chosen != np.arange(records)).sum())
            released[:, place] = column[chosen]
            context.progress.advance()
        # Values are the data's own, and inside its extremes: only what the spec asks of a column
        # (its `domain_bounds`, `top_code` and `decimals`) changes them.
        space = table.space
        ends = finishing(space.attributes, space.domains, table.values, 1, "clip", "grid")
        released, _ = ends.finish(table.values, released)
        return table.write(
            released,
            context,
            f"{self.name}-{self.variant}",
            rule="clip",
            decimals="grid",
            counts={
                "cells_substituted": replaced,
                "cells_in_no_cycle": records * table.values.shape[1] - replaced,
                "columns_kept": table.values.shape[1] - len(columns),
            },
            private={},
        )

    def _substituted(self, table: WholeTable) -> list[int]:
        """Places of the attributes that are substituted."""
        nominal = table.space.nominal
        chosen = ~nominal if self.variant == "attribute" else np.ones(len(nominal), dtype=np.bool_)
        return [int(place) for place in np.flatnonzero(chosen)]
