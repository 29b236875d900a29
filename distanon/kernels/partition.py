"""Groups of near records by median cuts (strict Mondrian), and the tree of these cuts.

A cut depends on the records of its group alone, and the groups are numbered from left to right
in the tree: the partition is the same in whatever order the records come, and groups may be cut
further anywhere (`grow` on a range of rows), so that the work can be spread without changing it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from distanon.kernels.counts import Counts
from distanon.kernels.median_cuts import Axes, Codes, Floats, Integers, descend, propose
from distanon.kernels.other_borders import other_cuts

Booleans = NDArray[np.bool_]
Tree = NDArray[np.int64]
"""A hierarchy, shape (H + 1, m): number of each category's ancestor at height 0 … H. Categories
stand in an order in which all that lie under one node follow one another."""


@dataclass(frozen=True, slots=True, eq=False)
class Limit:
    """What every group must keep in one sensitive attribute.

    Attributes:
        codes: int64, shape (n,): number of each record's value.
        n_values: how many there are.
        test: of counts of c groups, bool (c,); picklable.
    """

    codes: Integers
    n_values: int
    test: Callable[[Counts], Booleans]

    def holds(self, counts: Counts) -> Booleans:
        """Whether each group keeps it, shape (c,)."""
        return self.test(counts)

    def of(self, records: NDArray[np.integer]) -> Self:
        """The same limit on some records, shape (m,)."""
        return replace(self, codes=self.codes[records])


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """Cuts as a forest: nodes 0 … r − 1 are the roots.

    Attributes:
        attributes: int32, shape (nodes,): which value decides; −1: no cut, a group.
        thresholds: float64, shape (nodes,): values up to it go left; above it, or missing, right.
        lefts: int32, shape (nodes,): the left node; −1 at a group.
        rights: int32, shape (nodes,).
        groups: int32, shape (nodes,): number of the group; −1 at a cut.
    """

    attributes: Codes
    thresholds: Floats
    lefts: Codes
    rights: Codes
    groups: Codes

    def locate(self, values: Floats, within: Integers | None = None) -> Integers:
        """The group that each of some records would belong to, int64 (m,).

        Args:
            values: float64, shape (m, q), as `partition` got them; NaN is missing.
            within: int64, shape (m,): the given group of each record; None: there was one.
        """
        roots = np.zeros(len(values), np.int64) if within is None else within.astype(np.int64)
        return descend(
            self.attributes,
            self.thresholds,
            self.lefts,
            self.rights,
            self.groups,
            roots,
            np.ascontiguousarray(values, dtype=np.float64),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Partitioning:
    """Groups of records.

    Attributes:
        labels: int64, shape (n,): the group of each record, numbered from 0 without gaps.
        cuts: what made them.
    """

    labels: Integers
    cuts: Cuts

    def __len__(self) -> int:
        return int(np.count_nonzero(self.cuts.attributes < 0))

    def locate(self, values: Floats, within: Integers | None = None) -> Integers:
        """As `Cuts.locate`."""
        return self.cuts.locate(values, within)


@dataclass(slots=True, eq=False)
class Rows:
    """Records on their way into groups; `grow` moves them.

    Attributes:
        codes: int32, shape (n, q), row-major: number of each distinct value, missing last.
        records: int32, shape (n,): which record stands in each row.
        people: int32, shape (n,): who is behind it; shape (0,): each row is a person.
    """

    codes: Codes
    records: Codes
    people: Codes

    def part(self, start: int, stop: int) -> Rows:
        """A copy of some rows; people are numbered anew, so that few take little room."""
        people = self.people[start:stop].copy()  # none, too: what workers share is read-only
        if len(people):
            people = np.unique(people, return_inverse=True)[1].astype(np.int32)
        return Rows(self.codes[start:stop].copy(), self.records[start:stop].copy(), people)


@dataclass(frozen=True, slots=True, eq=False)
class Growth:
    """A forest whose leaves are ranges of rows; roots first.

    Attributes:
        attributes: int32 (nodes,), −1 at leaves.
        borders: int32 (nodes,): last code of the left side.
        lefts: int32 (nodes,), −1 at leaves; the right node is the one after.
        starts: int64 (nodes,): its rows.
        stops: int64 (nodes,).
    """

    attributes: Codes
    borders: Codes
    lefts: Codes
    starts: Integers
    stops: Integers

    def shifted(self, rows: int) -> Growth:
        """The same forest, its rows so many further on."""
        return replace(self, starts=self.starts + rows, stops=self.stops + rows)


def partition(
    values: Floats,
    widths: Floats,
    minimum: int,
    *,
    within: Integers | None = None,
    limits: Sequence[Limit] = (),
    subjects: Integers | None = None,
    trees: Sequence[Tree | None] | None = None,
    sets: Booleans | None = None,
) -> Partitioning:
    """Cuts records into groups of at least `minimum`, the widest attribute at its median first.

    A cut lies between two distinct values, beside the median, and stands if both sides have
    enough records and keep every limit; else the border on the other side of the median is
    tried, then the next widest attribute. Where limits refuse all of these, the most even border
    that stands is taken, of the widest attribute that has one (`other_borders`). Missing is a
    value beyond all others; a group that mixes it with values counts as wide as the attribute can
    be, and they are parted first.

    Args:
        values: float64, shape (n, q); NaN is missing. Nominal attributes are places in an order.
        widths: float64, shape (q,): extents are divided by them; 0: constant, never cut.
        minimum: records of each side, at least 1; different subjects where these are given.
        within: int64, shape (n,): groups from 0, without gaps, to go on cutting in.
        limits: of sensitive attributes.
        subjects: int64, shape (n,): a number for the person behind each record.
        trees: hierarchy of each attribute whose values are places 0 … m − 1 of categories:
            cut between children of the lowest common ancestor alone.
        sets: bool, shape (q,): attributes that are as wide as a group's values are many.

    Source: LeFevre, DeWitt & Ramakrishnan, ICDE 2006, section 3 (strict multidimensional
        partitioning).
    Deviation: the source cuts after the median; of the two borders beside it we take the one that
        parts the records more evenly, then the other one; then, for limits' sake, any border.
    """
    axes, codes = dictionary(values, widths, trees, sets)
    n = len(codes)
    rows = rows_of(codes, subjects)
    starts, stops = np.zeros(1, np.int64), np.full(1, n, np.int64)
    if within is not None:
        order = np.argsort(within, kind="stable").astype(np.int32)
        rows = _taken(rows, order)
        sizes = np.bincount(within)
        stops = np.cumsum(sizes).astype(np.int64)
        starts = stops - sizes
    growth = grow(axes, rows, starts, stops, minimum, limits)
    return finished(axes, rows, growth)


def dictionary(
    values: Floats,
    widths: Floats,
    trees: Sequence[Tree | None] | None = None,
    sets: Booleans | None = None,
) -> tuple[Axes, Codes]:
    """The distinct values of each attribute, and each record's numbers of them.

    Args:
        values: float64, shape (n, q); NaN is missing.
        widths: float64, shape (q,).
        trees: as in `partition`.
        sets: likewise.

    Returns:
        The axes; int32, shape (n, q), row-major.
    """
    n, q = values.shape
    codes = np.empty((n, q), np.int32)
    found = []
    for j in range(q):
        distinct, codes[:, j] = numbered(values[:, j])
        found.append(distinct)
    return axes_of(found, widths, trees, sets), codes


def numbered(column: Floats) -> tuple[Floats, Codes]:
    """The distinct present values, ascending; and the place of each, missing as their number."""
    present = ~np.isnan(column)
    seen = column if present.all() else column[present]
    found = np.full(len(column), 0, np.int32)
    low, high = (float(seen.min()), float(seen.max())) if len(seen) else (0.0, 0.0)
    if len(seen) and high - low <= 4 * len(seen) + 1024 and _is_whole(seen):
        # Whole numbers in a narrow range: counting beats sorting.
        place = (seen - low).astype(np.int32)
        is_used = np.zeros(int(high - low) + 1, np.bool_)
        is_used[place] = True
        distinct = np.flatnonzero(is_used).astype(np.float64) + low
        number = (np.cumsum(is_used) - 1).astype(np.int32)[place]
    else:
        distinct, inverse = np.unique(seen, return_inverse=True)
        number = inverse.astype(np.int32)
    if present.all():
        return distinct, number
    found[present] = number
    found[~present] = len(distinct)
    return distinct, found


def axes_of(
    distinct: Sequence[Floats],
    widths: Floats,
    trees: Sequence[Tree | None] | None = None,
    sets: Booleans | None = None,
) -> Axes:
    """How attributes with these distinct values are cut.

    Args:
        distinct: of each attribute, ascending.
        widths: float64, shape (q,).
        trees: as in `partition`.
        sets: likewise.
    """
    counts = np.array([len(one) for one in distinct], np.int64)
    heights, levels, firsts, lasts, at = [], [], [], [], 0
    for values, tree in zip(distinct, trees or [None] * len(distinct), strict=True):
        levels.append(at)
        heights.append(0 if tree is None or not len(values) else len(tree) - 1)
        if not heights[-1] or tree is None:
            continue
        for ancestors in tree[:, values.astype(np.int64)]:
            first, last = _spans(ancestors)
            firsts.append(first)
            lasts.append(last)
            at += len(first)
    none = np.zeros(0, np.int32)
    return Axes(
        counts,
        np.cumsum(counts) - counts,
        np.concatenate([*distinct, np.zeros(0)]),
        np.asarray(widths, np.float64),
        np.zeros(len(distinct), np.bool_) if sets is None else np.asarray(sets, np.bool_),
        np.array(heights, np.int64),
        np.array(levels, np.int64),
        np.concatenate([none, *firsts]),
        np.concatenate([none, *lasts]),
    )


def rows_of(codes: Codes, subjects: Integers | None = None) -> Rows:
    """Records in their own order; `codes` is the rows' own from now on."""
    people = np.zeros(0, np.int32)
    if subjects is not None:
        people = np.unique(subjects, return_inverse=True)[1].astype(np.int32)
    return Rows(codes, np.arange(len(codes), dtype=np.int32), people)


def grow(
    axes: Axes,
    rows: Rows,
    starts: Integers,
    stops: Integers,
    minimum: int,
    limits: Sequence[Limit] = (),
    *,
    largest: int = 0,
) -> Growth:
    """Cuts ranges of rows until no cut is left, or until they are small enough.

    Args:
        axes: of the attributes.
        rows: moved in place.
        starts: int64, shape (r,): first row of each root, ascending.
        stops: int64, shape (r,).
        minimum: of each side.
        limits: on record numbers as in `rows.records`.
        largest: ranges of so many rows or fewer are left as they are.
    """
    nodes = _Nodes(starts, stops)
    open_nodes = np.flatnonzero(stops - starts > largest)
    skips = np.zeros(len(open_nodes), np.int64)
    while len(open_nodes):
        low, high = nodes.starts[open_nodes], nodes.stops[open_nodes]
        attributes, borders, middles = propose(
            axes, rows.codes, rows.records, rows.people, low, high, skips, minimum
        )
        stands = attributes >= 0
        beside = _cut_elsewhere(axes, rows, nodes, open_nodes[~stands], minimum, limits)
        open_nodes, skips = open_nodes[stands], skips[stands]
        low, high, middles = low[stands], high[stands], middles[stands]
        attributes, borders = attributes[stands], borders[stands]
        keeps = _keeps(rows, low, middles, high, limits)
        children = nodes.cut(open_nodes[keeps], attributes[keeps], borders[keeps], middles[keeps])
        children = np.concatenate((children, beside))
        if largest:
            sizes = nodes.stops[children] - nodes.starts[children]
            children = children[sizes > largest]
        open_nodes = np.concatenate((open_nodes[~keeps], children))
        skips = np.concatenate((skips[~keeps] + 1, np.zeros(len(children), np.int64)))
    return nodes.growth()


def _cut_elsewhere(
    axes: Axes, rows: Rows, nodes: _Nodes, own: Integers, minimum: int, limits: Sequence[Limit]
) -> Integers:
    """Cuts nodes away from the median, where limits refused all cuts beside it; the children.

    Without limits there is nothing to find: a border farther out leaves a smaller side.
    """
    own = own[nodes.stops[own] - nodes.starts[own] >= 2 * minimum]
    if not limits or not len(own):
        return np.zeros(0, np.int64)
    found = other_cuts(
        axes,
        rows.codes,
        rows.records,
        rows.people,
        nodes.starts[own],
        nodes.stops[own],
        minimum,
        limits,
    )
    is_cut = found[0] >= 0
    return nodes.cut(own[is_cut], *(one[is_cut] for one in found))


def finished(axes: Axes, rows: Rows, growth: Growth) -> Partitioning:
    """The groups of a forest that is fully grown, numbered by their rows."""
    is_leaf = growth.attributes < 0
    leaves = np.flatnonzero(is_leaf)
    leaves = leaves[np.argsort(growth.starts[leaves], kind="stable")]
    groups = np.full(len(is_leaf), -1, np.int32)
    groups[leaves] = np.arange(len(leaves), dtype=np.int32)
    labels = np.empty(len(rows.records), np.int64)
    sizes = growth.stops[leaves] - growth.starts[leaves]
    labels[rows.records] = np.repeat(np.arange(len(leaves)), sizes)
    rights = np.where(is_leaf, -1, growth.lefts + 1).astype(np.int32)
    thresholds = _thresholds(axes, growth)
    return Partitioning(labels, Cuts(growth.attributes, thresholds, growth.lefts, rights, groups))


def grafted(top: Growth, leaves: Integers, branches: Sequence[Growth]) -> Growth:
    """A forest with trees in place of some of its leaves.

    Args:
        top: whose leaves are to be cut further.
        leaves: int64, shape (b,): their nodes.
        branches: b forests of one root each, in the rows of `top`.
    """
    parts = [top]
    replaced = [one[leaves] for one in (top.attributes, top.borders, top.lefts)]
    at = len(top.attributes)
    for place, branch in enumerate(branches):
        # The root takes the leaf's place, the rest follows at the end.
        lefts = np.where(branch.lefts >= 0, branch.lefts + at - 1, -1).astype(np.int32)
        moved = replace(branch, lefts=lefts)
        for into, values in zip(
            replaced, (moved.attributes, moved.borders, moved.lefts), strict=True
        ):
            into[place] = values[0]
        parts.append(Growth(*(getattr(moved, name)[1:] for name in Growth.__slots__)))
        at += len(branch.attributes) - 1
    whole = Growth(*(np.concatenate([getattr(p, n) for p in parts]) for n in Growth.__slots__))
    for name, values in zip(("attributes", "borders", "lefts"), replaced, strict=True):
        getattr(whole, name)[leaves] = values
    return whole


class _Nodes:
    """A forest that grows, round by round."""

    def __init__(self, starts: Integers, stops: Integers) -> None:
        self.starts, self.stops = starts.astype(np.int64), stops.astype(np.int64)
        self._parents: list[tuple[Integers, Integers, Integers]] = []
        self._lefts: list[Integers] = []

    def cut(
        self, nodes: Integers, attributes: Integers, borders: Integers, middles: Integers
    ) -> Integers:
        """Gives nodes two children each; returns these, left and right in turn."""
        first = len(self.starts)
        children = np.arange(first, first + 2 * len(nodes))
        starts, stops = np.empty((2, 2 * len(nodes)), np.int64)
        starts[0::2], starts[1::2] = self.starts[nodes], middles
        stops[0::2], stops[1::2] = middles, self.stops[nodes]
        self.starts = np.concatenate((self.starts, starts))
        self.stops = np.concatenate((self.stops, stops))
        self._parents.append((nodes, attributes, borders))
        self._lefts.append(children[0::2])
        return children

    def growth(self) -> Growth:
        """The forest."""
        attributes, borders, lefts = np.full((3, len(self.starts)), -1, np.int32)
        for (nodes, attribute, border), left in zip(self._parents, self._lefts, strict=True):
            attributes[nodes], borders[nodes], lefts[nodes] = attribute, border, left
        return Growth(attributes, borders, lefts, self.starts, self.stops)


def _keeps(
    rows: Rows, starts: Integers, middles: Integers, stops: Integers, limits: Sequence[Limit]
) -> Booleans:
    """Whether both sides of each cut keep every limit."""
    keeps = np.ones(len(starts), np.bool_)
    if not limits or not len(starts):
        return keeps
    sides = np.stack((middles - starts, stops - middles), axis=1).ravel()
    class_of = np.repeat(np.arange(2 * len(starts)), sides)
    first = np.repeat(starts - (np.cumsum(stops - starts) - (stops - starts)), stops - starts)
    records = rows.records[first + np.arange(len(class_of))]
    for limit in limits:
        counts = Counts.of(class_of, limit.codes[records], 2 * len(starts), limit.n_values)
        held = limit.holds(counts)
        keeps &= held[0::2] & held[1::2]
    return keeps


def _thresholds(axes: Axes, growth: Growth) -> Floats:
    """Half way between the last value on the left and the next one; infinite before missing."""
    thresholds = np.full(len(growth.attributes), np.nan)
    cut = np.flatnonzero(growth.attributes >= 0)
    attribute, border = growth.attributes[cut], growth.borders[cut].astype(np.int64)
    at = axes.starts[attribute] + border
    is_last = border + 1 >= axes.counts[attribute]
    low = axes.values[at]
    high = axes.values[np.minimum(at + 1, len(axes.values) - 1)]
    middle = low + (high - low) / 2
    middle = np.where((middle >= low) & (middle < high), middle, low)
    thresholds[cut] = np.where(is_last, np.inf, middle)
    return thresholds


def _spans(ancestors: Integers) -> tuple[Codes, Codes]:
    """First and last place of the run of equal ancestors around each place."""
    places = np.arange(len(ancestors))
    begins = np.concatenate((np.ones(1, np.bool_), ancestors[1:] != ancestors[:-1]))
    run = np.cumsum(begins) - 1
    first = places[begins]
    last = np.concatenate((first[1:] - 1, places[-1:]))
    return first[run].astype(np.int32), last[run].astype(np.int32)


def _is_whole(values: Floats) -> bool:
    return bool((values == np.rint(values)).all())


def _taken(rows: Rows, order: Codes) -> Rows:
    people = rows.people[order] if len(rows.people) else rows.people
    return Rows(np.ascontiguousarray(rows.codes[order]), rows.records[order], people)
