"""Decision-tree leaves: groups inside which the sensitive class is as even as it can be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field

from distanon.data.classes import encode
from distanon.data.domain import scan
from distanon.data.release import Release
from distanon.data.schema import Attribute, AttributeType
from distanon.data.space import AttributeSpace
from distanon.data.table import Dataset
from distanon.errors import SpecError
from distanon.kernels.label_tree import grow
from distanon.kernels.partition import Cuts, partition
from distanon.methods.base import Context
from distanon.methods.baselines.category_order import Ordered, ordered
from distanon.methods.baselines.whole_table import WholeTable
from distanon.methods.fitted import fitted_by_cuts
from distanon.methods.grouping import GroupMethod
from distanon.methods.groups import publish_cells
from distanon.methods.joining import keep_promises
from distanon.methods.limits import (
    limits_of,
    people_of,
)
from distanon.promises.base import Promise

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_BINS = 10  # of a numeric sensitive attribute


class DecisionTreeLeaves(GroupMethod):
    """The leaves of a classification tree on the sensitive class, at least k records each.

    Source: LeFevre, DeWitt and Ramakrishnan 2008 (workload-aware anonymization); Soria-Comas et
        al. 2015 for the merging that keeps l and t.
    Deviation: categories stand in the order of their class rates, shrunk towards the whole's, or
        branch by branch of their hierarchy.
    """

    summary: ClassVar[str] = (
        "groups by the leaves of a decision tree on the sensitive class: what a classifier needs "
        "stays"
    )
    limits: ClassVar[str] = (
        "groups follow the sensitive values, so that many have one value alone: whom an intruder "
        "places in one is known; ask for l or t"
    )

    name: Literal["decision_tree_leaves"] = "decision_tree_leaves"
    refine: bool = Field(
        True, description="cut leaves further at medians, as long as k, l and t hold"
    )

    def check(self, dataset: Dataset, promises: Mapping[str, Promise]) -> None:
        """Refuses tables without a sensitive column, too few records, an l out of reach."""
        if not dataset.schema.sensitive:
            raise SpecError(
                f"method.name: decision_tree_leaves grows its tree on a sensitive column, and "
                f"{dataset.source} has none; give one the role sensitive, or use mondrian"
            )
        super().check(dataset, promises)

    def release(
        self, dataset: Dataset, promises: Mapping[str, Promise], context: Context
    ) -> Release:
        """Grows the tree, cuts its leaves further, joins what breaks a promise, publishes."""
        self.check(dataset, promises)
        table = WholeTable.read(dataset)
        space = table.space
        classes = class_numbers(dataset)
        context.progress.start("grow the tree", 1)
        axes = _axes(space, table.values, classes, self.k)
        values = np.column_stack(
            [axes.column(column, place) for place, column in enumerate(table.values.T)]
        )
        cuts = grow(values, classes, self.k)
        if self.refine:
            cuts = self._refined(dataset, axes, values, cuts, promises)
        labels = cuts.locate(values)
        context.progress.advance()
        found = keep_promises(
            dataset, space, table.values, labels, promises, self.k, self.suppression
        )
        published = self.cells_of(table, found.labels, found.kept, found.groups)
        return publish_cells(
            table,
            found.labels,
            published,
            found.kept,
            context,
            self.name,
            {},
            {"leaves": int((cuts.groups >= 0).sum())},
            _fitted(dataset, space, published, cuts, found.becomes, axes.places),
        )

    def _refined(
        self,
        dataset: Dataset,
        axes: Ordered,
        values: Floats,
        cuts: Cuts,
        promises: Mapping[str, Promise],
    ) -> Cuts:
        """The tree with its leaves cut at medians, where k, l and t hold on both sides.

        Leaves that break l or t stay whole: no part of them could be any better. A set of
        categories is as wide as it spans in the order of rates, so that unlike ones are parted.
        """
        found = partition(
            values,
            axes.widths,
            self.k,
            within=cuts.locate(values),
            limits=limits_of(dataset, promises),
            subjects=people_of(dataset, promises),
            trees=axes.trees,
        )
        return _grafted(cuts, found.cuts)


def _axes(space: AttributeSpace, values: Floats, classes: Integers, k: int) -> Ordered:
    """What is cut: categories by their class rates, or branch by branch of their hierarchy."""
    axes = ordered(space, values, "frequency", None)
    places = [
        order
        if order is None or attribute.hierarchy is not None
        else rate_order(values[:, place], classes, len(order) - 1, k)
        for place, (attribute, order) in enumerate(zip(space.attributes, axes.places, strict=True))
    ]
    return replace(axes, places=tuple(places))


def class_numbers(dataset: Dataset) -> Integers:
    """The class of each record, int64 (n,): its sensitive values together.

    Numbers of more than 10 values are binned, at borders between distinct values that leave about
    equally many records in each bin; missing is a class.
    """
    key = np.zeros(len(dataset), np.int64)
    for attribute in dataset.schema.sensitive:
        codes = _class_codes(dataset, attribute)
        paired = key * (int(codes.max(initial=0)) + 1) + codes
        key = np.unique(paired, return_inverse=True)[1].astype(np.int64)
    return key


def _class_codes(dataset: Dataset, attribute: Attribute) -> Integers:
    column = dataset.read([attribute.name]).column(attribute.name)
    codes = encode(column)
    if attribute.type is not AttributeType.NUMERIC or len(codes.values) <= _BINS:
        # By value, not by appearance: classes must not depend on the order of the records.
        space = AttributeSpace.of([attribute], scan(dataset))
        ranks = space.encode(pa.table([codes.values], names=[attribute.name]))[:, 0]
        order = np.argsort(ranks, kind="stable")
        number = np.empty(len(order), np.int64)
        number[order] = np.arange(len(order))
        return number[codes.code_of]
    space = AttributeSpace.of([attribute], scan(dataset))
    values = space.encode(pa.table([column], names=[attribute.name]))[:, 0]
    present = np.sort(values[~np.isnan(values)])
    borders = np.unique(present[np.arange(1, _BINS) * len(present) // _BINS])
    bins = np.searchsorted(borders, values, side="right")
    return np.where(np.isnan(values), _BINS + 1, bins).astype(np.int64)


def rate_order(column: Floats, classes: Integers, categories: int, k: int) -> Floats:
    """The place of each category among all by its class rates, float64 (m + 1,).

    Rates are shrunk, (hits + k · global) / (count + k), and a category below k records gets the
    whole's: else the place of a category of one person would tell its class. Of more than two
    classes the first principal axis of the rates decides.

    Args:
        column: float64, shape (n,): category numbers, missing as `categories`.
        classes: int64, shape (n,).
        categories: m.
        k: of the release.

    Source: Breiman et al. 1984, section 9.4 (two classes); Coppersmith, Hong and Hosking 1999.
    """
    width = int(classes.max(initial=0)) + 1
    codes = column.astype(np.int64)
    hits = np.bincount(codes * width + classes, minlength=(categories + 1) * width)
    hits = hits.reshape(categories + 1, width)
    counts = hits.sum(axis=1, keepdims=True)
    whole = hits.sum(axis=0) / max(1, int(hits.sum()))
    rates = np.where(counts < k, whole, (hits + k * whole) / (counts + k))
    if width <= 2:
        score = rates[:, -1]
    else:
        apart = (rates - whole) * np.sqrt(counts)
        axis = np.linalg.eigh(apart.T @ apart)[1][:, -1]
        axis *= np.sign(axis[np.argmax(np.abs(np.round(axis, 9)))])
        score = rates @ axis
    order = np.argsort(np.round(score, 12), kind="stable")
    places = np.empty(categories + 1)
    places[order] = np.arange(categories + 1, dtype=np.float64)
    return places


def _grafted(tree: Cuts, forest: Cuts) -> Cuts:
    """The tree with the forest's tree number i in place of its leaf i."""
    nodes, leaves = len(tree.attributes), np.flatnonzero(tree.groups >= 0)
    roots = tree.groups[leaves]
    lefts = np.where(forest.lefts >= 0, forest.lefts + nodes, -1).astype(np.int32)
    rights = np.where(forest.rights >= 0, forest.rights + nodes, -1).astype(np.int32)
    moved = replace(forest, lefts=lefts, rights=rights)
    parts = {}
    for name in ("attributes", "thresholds", "lefts", "rights", "groups"):
        own, other = getattr(tree, name).copy(), getattr(moved, name)
        own[leaves] = other[roots]
        parts[name] = np.concatenate((own, other))
    return Cuts(**parts)


def _fitted(
    dataset: Dataset,
    space: AttributeSpace,
    cells: pa.Table,
    cuts: Cuts,
    becomes: Integers,
    places: tuple[Floats | None, ...],
) -> dict[str, pa.Table]:
    """The cuts, leading to the groups that leaves have become; the last one: suppressed."""
    is_leaf = cuts.groups >= 0
    leads_to = np.where(becomes < 0, cells.num_rows, becomes)
    groups = np.where(is_leaf, leads_to[np.maximum(cuts.groups, 0)], -1).astype(np.int32)
    gone = pa.table({field.name: pa.nulls(1, field.type) for field in cells.schema})
    known = pa.concat_tables([cells, gone])
    kept = np.arange(known.num_rows) < cells.num_rows
    return fitted_by_cuts(dataset.schema, space, known, replace(cuts, groups=groups), places, kept)
