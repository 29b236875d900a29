"""Groups that break a promise are left out, within a budget, or joined to their nearest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from distanon.data import categories
from distanon.data.finishing import MOST_DECIMALS
from distanon.data.schema import AttributeType
from distanon.data.space import AttributeSpace
from distanon.data.table import Dataset
from distanon.errors import InfeasibleError
from distanon.kernels.counts import Counts
from distanon.kernels.distributions import distinct_values
from distanon.kernels.microaggregation import Mixed, join_nearest
from distanon.kernels.representatives import Average, group_tuples
from distanon.methods.limits import limits_of, people_of
from distanon.promises.base import Promise

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Fails = Callable[[Integers, int], Booleans]

_AVERAGES: Mapping[AttributeType, Average] = {
    AttributeType.NUMERIC: "mean",
    AttributeType.ORDINAL: "median",
    AttributeType.NOMINAL: "mode",
    AttributeType.BINARY: "mode",
}


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """Groups that keep every promise.

    Attributes:
        labels: int64, shape (n,): the group of each record, -1 where it is suppressed.
        becomes: int64, shape (g,): the group that each given group has become, -1: suppressed.
        groups: how many there are.
    """

    labels: Integers
    becomes: Integers
    groups: int

    @property
    def kept(self) -> Booleans:
        """Which records are released, bool (n,)."""
        return self.labels >= 0


def keep_promises(
    dataset: Dataset,
    space: AttributeSpace,
    values: Floats,
    labels: Integers,
    promises: Mapping[str, Promise],
    k: int,
    suppression: float,
    cells: Integers | None = None,
) -> Grouped:
    """Suppresses groups that break a promise as far as the budget goes, and joins the rest.

    Args:
        dataset: n records.
        space: of the quasi-identifiers.
        values: float64, shape (n, q), in codes.
        labels: int64, shape (n,): groups from 0 without gaps.
        promises: what every group must keep.
        k: records of each group, different subjects where these are known.
        suppression: the share of the records that may be suppressed; the smallest groups first.
        cells: int64, shape (n,): groups lie inside cells, and are joined inside them as long as
            that helps; None: one cell.

    Raises:
        InfeasibleError: not even all records as one group keep the promises.

    Source: Soria-Comas, Domingo-Ferrer, Sánchez and Martínez 2015, t-closeness through
        microaggregation, IEEE TKDE 27, 3098-3110, algorithm 1 (merging of microaggregated groups).
    """
    people, count = people_of(dataset, promises), int(labels.max(initial=-1)) + 1
    everybody = np.ones(len(labels), np.bool_)
    fails = failing_groups(dataset, promises, k, people, everybody)(labels, count)
    out = _suppressed(labels, fails, int(suppression * len(labels)))
    for left_out in (out, np.zeros(count, np.bool_)) if out.any() else (out,):
        kept = ~left_out[labels]
        number = np.cumsum(~left_out) - 1
        found = _joined(
            space,
            values[kept],
            number[labels[kept]],
            failing_groups(dataset, promises, k, people, kept),
            None if cells is None else cells[kept],
        )
        if found is not None:
            becomes = np.where(left_out, -1, found[np.maximum(number, 0)])
            return Grouped(becomes[labels], becomes, int(found.max(initial=-1)) + 1)
    raise InfeasibleError(
        f"{dataset.source}: not even all records as one group keep the promises; ask for less"
    )


def failing_groups(
    dataset: Dataset,
    promises: Mapping[str, Promise],
    k: int,
    people: Integers | None,
    kept: Booleans,
) -> Fails:
    """A test of groups of some records: which of them break a promise.

    Args:
        dataset: n records; its sensitive columns are read.
        promises: k_anonymity, l_diversity and t_closeness count.
        k: records of each group, or people.
        people: int64, shape (n,), as `limits.people_of`.
        kept: bool, shape (n,): the m records that are released, which t is measured against.

    Returns:
        A function of labels, int64 (m,), and how many groups g there are; it returns bool (g,).
    """
    limits = [limit.of(np.flatnonzero(kept)) for limit in limits_of(dataset, promises, kept)]
    persons = None if people is None else people[kept]

    def fails(labels: Integers, groups: int) -> Booleans:
        if persons is None:
            small = np.bincount(labels, minlength=groups) < k
        else:
            many = int(persons.max(initial=-1)) + 1
            small = distinct_values(Counts.of(labels, persons, groups, many)) < k
        for limit in limits:
            small |= ~limit.holds(Counts.of(labels, limit.codes, groups, limit.n_values))
        return np.asarray(small, dtype=np.bool_)

    return fails


def group_averages(space: AttributeSpace, values: Floats, labels: Integers, groups: int) -> Floats:
    """The tuple of each group, in codes, as it may be released.

    Means of numbers, on the columns' grids and inside their `domain_bounds`; medians of ranks;
    the most frequent category.

    Args:
        space: of the quasi-identifiers.
        values: float64, shape (n, q).
        labels: int64, shape (n,).
        groups: g; none of them empty.
    """
    averages = tuple(_AVERAGES[attribute.type] for attribute in space.attributes)
    tuples = group_tuples(values, labels, groups, averages)
    for place in np.flatnonzero(space.numeric).tolist():
        attribute, its = space.attributes[place], space.domains[place]
        if its.decimals <= MOST_DECIMALS:
            tuples[:, place] = np.round(tuples[:, place], its.decimals)
        tuples[:, place] += 0.0  # no -0.0
        if attribute.domain_bounds is not None:
            low, high = (its.coding.code(float(end)) for end in attribute.domain_bounds)
            tuples[:, place] = np.clip(tuples[:, place], low, high)
    return tuples


def mixed_of(space: AttributeSpace, values: Floats) -> Mixed:
    """Records as what `kernels.microaggregation` takes, at the distances of the space.

    Args:
        space: scaled by ranges.
        values: float64, shape (n, q), in codes.
    """
    lines, columns, weights = [], [], []
    for place, (attribute, its) in enumerate(zip(space.attributes, space.domains, strict=True)):
        column = values[:, place]
        if not space.nominal[place]:
            spread = space.spreads[place]
            scaled = (column - space.centers[place]) / spread if spread else column * 0.0
            lines.append(scaled)
            continue
        code = column.astype(np.int64)
        if attribute.hierarchy is None:
            columns.append(code)
            weights.append(1.0)
            continue
        ways, top = attribute.hierarchy.parents(), attribute.hierarchy.height
        texts = categories.texts(its.categories, attribute.arrow_type)
        nodes = [(0, text) for text in texts]
        for height in range(top):
            number = {node: at for at, node in enumerate(sorted(set(nodes)))}
            columns.append(np.array([*(number[node] for node in nodes), len(number)])[code])
            weights.append(((height + 1) ** 2 - height**2) / top**2)
            nodes = [ways[node] for node in nodes]
    return Mixed(
        np.column_stack([np.empty((len(values), 0)), *lines]),
        np.column_stack([np.empty((len(values), 0), np.int64), *columns]).astype(np.int64),
        np.array(weights, dtype=np.float64),
    )


def _suppressed(labels: Integers, fails: Booleans, budget: int) -> Booleans:
    """Which failing groups are left out: the smallest first, as long as the budget lasts."""
    sizes = np.bincount(labels, minlength=len(fails))
    order = np.flatnonzero(fails)
    order = order[np.argsort(sizes[order], kind="stable")]
    out = np.zeros(len(fails), np.bool_)
    out[order[np.cumsum(sizes[order]) <= budget]] = True
    return out


def _joined(
    space: AttributeSpace,
    values: Floats,
    labels: Integers,
    fails: Fails,
    cells: Integers | None,
) -> Integers | None:
    """The group that each group becomes, int64 (g,); None: one group of all fails still."""
    count = int(labels.max(initial=-1)) + 1
    becomes = np.arange(count)
    while count > 1:
        now = becomes[labels]
        failing = fails(now, count)
        if not failing.any():
            return becomes
        tuples = mixed_of(space, group_averages(space, values, now, count))
        cell_of = np.zeros(count, np.int64)
        if cells is not None:
            cell_of[now] = cells
        number = _joined_within(tuples, failing, cell_of)
        if int(number.max()) + 1 == count:
            cells = None  # each group that fails is alone in its cell
        becomes, count = number[becomes], int(number.max()) + 1
    return becomes if len(labels) and not fails(becomes[labels], 1).any() else None


def _joined_within(tuples: Mixed, failing: Booleans, cell_of: Integers) -> Integers:
    """As `join_nearest`, cell by cell."""
    number = np.empty(len(failing), np.int64)
    order = np.argsort(cell_of, kind="stable")
    borders = np.searchsorted(cell_of[order], np.arange(int(cell_of.max(initial=-1)) + 2))
    groups = 0
    for start, stop in pairwise(borders):
        own = order[start:stop]
        found = join_nearest(tuples.take(own), failing[own])
        number[own] = groups + found
        groups += int(found.max(initial=-1)) + 1
    return number
