"""Mondrian: records are cut into groups at medians, the widest attribute first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from distanon.data.domain import scan
from distanon.data.release import Release
from distanon.data.space import AttributeSpace
from distanon.data.table import Dataset
from distanon.errors import SpecError
from distanon.kernels.counts import Counts
from distanon.kernels.distributions import distinct_values
from distanon.kernels.median_cuts import Axes
from distanon.kernels.partition import (
    Growth,
    Limit,
    Partitioning,
    Rows,
    axes_of,
    finished,
    grafted,
    grow,
    numbered,
    rows_of,
)
from distanon.kernels.trimming import trimmed
from distanon.methods.base import Context
from distanon.methods.baselines.category_order import CategoryOrder, Ordered, label_of, ordered
from distanon.methods.baselines.whole_table import WholeTable
from distanon.methods.fitted import fitted_by_cuts
from distanon.methods.grouping import GroupMethod
from distanon.methods.groups import publish_cells
from distanon.methods.limits import (
    limits_of,
    people_of,
)
from distanon.promises.base import Promise

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

FRAGMENT = 131_072
"""Records that are cut further by one worker; changes no group."""


@dataclass(frozen=True, slots=True, eq=False)
class Fragments:
    """What workers cut further.

    Attributes:
        axes: of the attributes.
        rows: all of them.
        limits: of every group.
        minimum: records, or people, of every group.
    """

    axes: Axes
    rows: Rows
    limits: Sequence[Limit]
    minimum: int


class Mondrian(GroupMethod):
    """Mondrian multidimensional k-anonymity.

    Source: LeFevre, DeWitt & Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006.
    Deviation: cuts take the border nearer the median; l and t are kept in every group; categories
        without a hierarchy are cut in an order of their own, and count as wide as they are many.
    """

    summary: ClassVar[str] = (
        "groups of at least k records by median cuts; each group gets the region it spans, or "
        "its mean"
    )
    limits: ClassVar[str] = (
        "in a group everybody's sensitive values are seen, and l and t are all that bounds them; "
        "two releases of the same people can be crossed"
    )

    name: Literal["mondrian"] = "mondrian"
    category_order: CategoryOrder = Field(
        "frequency",
        description="how categories without a hierarchy stand when they are cut: by frequency; "
        "by the shrunk rate of the first sensitive attribute's most frequent value; by their text",
    )

    def check(self, dataset: Dataset, promises: Mapping[str, Promise]) -> None:
        """Refuses what not even one group of all records would keep."""
        if self.category_order == "label_rate" and not dataset.schema.sensitive:
            raise SpecError(
                "method.category_order: label_rate needs a sensitive column; use frequency"
            )
        super().check(dataset, promises)

    def release(
        self, dataset: Dataset, promises: Mapping[str, Promise], context: Context
    ) -> Release:
        """Groups all records and publishes the groups."""
        self.check(dataset, promises)
        asked = self.asked(promises)
        table = WholeTable.read(dataset)
        order = self._order(table)
        limits, people = limits_of(dataset, asked), people_of(dataset, asked)
        groups = cut(table, order, self.k, limits, people, context)
        labels, kept = groups.labels, np.ones(len(dataset), np.bool_)
        budget = int(self.suppression * len(dataset))
        if budget:
            kept = self._kept(table, order, labels, budget, people, asked)
        cells = self.cells_of(table, labels, kept, len(groups))
        fitted = fitted_by_cuts(dataset.schema, table.space, cells, groups.cuts, order.places)
        sizes = np.bincount(labels[kept])
        private = {"smallest group": int(sizes.min()), "largest group": int(sizes.max())}
        name = f"{self.name}-{self.recoding}"
        return publish_cells(table, labels, cells, kept, context, name, {}, private, fitted)

    def _kept(
        self,
        table: WholeTable,
        order: Ordered,
        labels: Integers,
        budget: int,
        people: Integers | None,
        asked: Mapping[str, Promise],
    ) -> Booleans:
        """The records that are released, bool (n,); groups that would break a promise stay whole.

        Leaving records out moves the whole that t is measured against, so that groups are judged
        again until all of them keep what is promised: none left out at last.
        """
        axes, rows = _rows(table, order, None)
        groups = int(labels.max()) + 1
        kept = trimmed(axes, rows.codes, labels, groups, self.k, budget)
        while not kept.all():
            counts = Counts.of(labels[kept], np.zeros(int(kept.sum()), np.int64), groups, 1)
            broken = counts.totals < self.k
            if people is not None:
                own = Counts.of(labels[kept], people[kept], groups, int(people.max()) + 1)
                broken = distinct_values(own) < self.k
            for limit in limits_of(table.dataset, asked, kept):
                own = Counts.of(labels[kept], limit.codes[kept], groups, limit.n_values)
                broken |= ~limit.holds(own)
            if not broken.any():
                break
            is_whole = np.bincount(labels[~kept], minlength=groups) == 0
            # A whole group fails only by what others lack: then all of them get it back.
            back = np.ones(groups, np.bool_) if (broken & is_whole).any() else broken
            kept = kept | back[labels]
        return kept

    def _order(self, table: WholeTable) -> Ordered:
        labels = None
        dataset = table.dataset
        if self.category_order == "label_rate":
            sensitive = AttributeSpace.of(dataset.schema.sensitive, scan(dataset))
            labels = label_of(dataset, sensitive)
        return ordered(table.space, table.values, self.category_order, labels)


def cut(
    table: WholeTable,
    order: Ordered,
    minimum: int,
    limits: Sequence[Limit],
    people: Integers | None,
    context: Context,
) -> Partitioning:
    """Cuts a table into groups: the first cuts here, fragments by the workers.

    Every cut looks at the records of its group alone, so that neither the number of workers nor
    where fragments begin changes a group.
    """
    axes, rows = _rows(table, order, people)
    n = len(rows.records)
    ends = np.zeros(1, np.int64), np.full(1, n, np.int64)
    top = grow(axes, rows, *ends, minimum, limits, largest=FRAGMENT)
    sizes = top.stops - top.starts
    leaves = np.flatnonzero((top.attributes < 0) & (sizes <= FRAGMENT) & (sizes >= 2 * minimum))
    shared = context.crew.put(Fragments(axes, rows, limits, minimum))
    items = [(int(top.starts[leaf]), int(top.stops[leaf])) for leaf in leaves]
    branches = []
    found: Iterator[tuple[NDArray[np.int32], Growth]]
    found = context.crew.map(cut_fragment, items, shared=shared, phase="cuts")
    for (start, stop), (records, branch) in zip(items, list(found), strict=True):
        rows.records[start:stop] = records
        branches.append(branch.shifted(start))
    return finished(axes, rows, grafted(top, leaves, branches))


def cut_fragment(work: Fragments, item: tuple[int, int]) -> tuple[NDArray[np.int32], Growth]:
    """Cuts a range of rows until no cut is left; returns its records in their new order."""
    start, stop = item
    part = work.rows.part(start, stop)
    ends = np.zeros(1, np.int64), np.full(1, stop - start, np.int64)
    return part.records, grow(work.axes, part, *ends, work.minimum, work.limits)


def _rows(table: WholeTable, order: Ordered, people: Integers | None) -> tuple[Axes, Rows]:
    """The records as what is cut; column by column, so that no second table of floats stands."""
    n, q = table.values.shape
    codes = np.empty((n, q), np.int32)
    distinct = []
    for place in range(q):
        found, codes[:, place] = numbered(order.column(table.values[:, place], place))
        distinct.append(found)
    return axes_of(distinct, order.widths, order.trees, order.is_set), rows_of(codes, people)
