"""Fuzzy c-means on rows that are partly sparse, compiled: distances, memberships, sums.

Centroids stand in columns: float64, shape (width + D, C), the sparse part first, so that one
pass over a node's values meets all centroids side by side. Sums run in the order of nodes and of
columns without reassociation: a block gives the same bits wherever it is computed.

Source: Bezdek 1981: J_m = Σ u_ic^m ‖x_i - v_c‖²; u_ic = 1 / Σ_j (d_ic / d_ij)^(2 / (m - 1));
v_c = Σ u^m x / Σ u^m.

One file, although long: numba compiles again what stands in a changed file, not its callers
in other files.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_SAME = 1e-10
"""Sparse parts count as equal below this share of their squared lengths: their distance is a
difference of sums, which rounding keeps above 0 where it is 0."""
_FAINT = 1e-20
"""Weights u^m below this change no bit of a sum that holds one of the size of 1."""


class Rows(NamedTuple):
    """The features of n nodes: a sparse part whose entries are all equal, then a dense one.

    Attributes:
        starts: int64, shape (n + 1,): where each node's sparse columns start; all 0 without any.
        columns: int32, shape (entries,): sparse columns, ascending for each node.
        weight: the value of every sparse entry.
        width: how many sparse columns there are; 0: none.
        dense: float64, shape (n, D), row-major, finite.
    """

    starts: Integers
    columns: NDArray[np.int32]
    weight: float
    width: int
    dense: Floats

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return len(self.dense)


class Sums(NamedTuple):
    """What a block of nodes adds to the next centroids, of which U are distinct.

    Attributes:
        sums: float64, shape (width + D, U): Σ u^m x.
        totals: float64, shape (U,): Σ u^m.
        objective: Σ u^m ‖x - v‖².
        labels: int64, shape (b,): the centroid of the greatest membership, the lowest of equals.
        squares: float64, shape (b,): squared distance to it.
        omitted: float64, shape (b,), in [0, 1]: how much membership the centroids that were left
            out can have at most; 0 where none was.
    """

    sums: Floats
    totals: Floats
    objective: float
    labels: Integers
    squares: Floats
    omitted: Floats


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that compiled code sees as it sees shared memory: one compiled form for both."""
    view = array.view()
    view.flags.writeable = False
    return view


def frozen(rows: Rows) -> Rows:
    """The rows as compiled code meets them in shared memory, too."""
    return Rows(
        read_only(rows.starts),
        read_only(rows.columns),
        float(rows.weight),
        int(rows.width),
        read_only(rows.dense),
    )


def columns_of(rows: Rows, nodes: Integers) -> Floats:
    """Some nodes' rows as centroids.

    Returns:
        float64, shape (width + D, len(nodes)).
    """
    filled = np.zeros((rows.width + rows.dense.shape[1], len(nodes)))
    if rows.width:
        for place, node in enumerate(nodes):
            filled[rows.columns[rows.starts[node] : rows.starts[node + 1]], place] = rows.weight
    filled[rows.width :] = rows.dense[nodes].T
    return filled


def lengths(rows: Rows, centroids: Floats) -> Floats:
    """Squared length of the sparse part of each centroid, float64, shape (C,)."""
    found: Floats = _lengths(read_only(np.ascontiguousarray(centroids)), rows.width)
    return found


def hard_sums(rows: Rows, labels: Integers, clusters: int) -> Floats:
    """Sum of the rows of each cluster.

    Args:
        rows: of n nodes.
        labels: int64, shape (n,), from 0 to C - 1.
        clusters: C.

    Returns:
        float64, shape (width + D, C).
    """
    found: Floats = _hard_sums(frozen(rows), read_only(labels), clusters)
    return found


def scatter(rows: Rows, labels: Integers, clusters: int) -> float:
    """Σ ‖x - mean of its cluster‖², at least 0; the smaller, the tighter the clusters.

    No cluster may be empty.
    """
    sums = hard_sums(rows, labels, clusters)
    own = len(rows.columns) * rows.weight * rows.weight + float((rows.dense * rows.dense).sum())
    between = (sums * sums).sum(axis=0) / np.bincount(labels, minlength=clusters)
    return max(0.0, own - float(between.sum()))


def fill_up(rows: Rows, labels: Integers, centroids: Floats, least: int, most: int) -> int:
    """Gives clusters of fewer than `least` nodes members of those of more than `most`.

    Args:
        rows: of n nodes.
        labels: int64, shape (n,), from 0 to C - 1; changed in place.
        centroids: float64, shape (width + D, C).
        least: what each of the former, in the order of their numbers, is filled up to: from the
            latter by the distance of their centroids, from each its nearest members first, the
            lowest numbers of equals first.
        most: what is left of each of the latter, at least; no less than `least`.

    Returns:
        How many nodes changed clusters. O(small clusters · C · (width + D)).
    """
    centroids = np.ascontiguousarray(centroids)
    sizes = np.bincount(labels, minlength=centroids.shape[1])
    order = np.argsort(labels, kind="stable")
    starts = np.cumsum(sizes) - sizes
    return int(_fill_up(frozen(rows), labels, centroids, (order, starts, sizes), least, most))


def squares_between(rows: Rows, nodes: Integers, centroids: Floats) -> Floats:
    """Squared distances of some nodes to some centroids.

    Args:
        rows: of all nodes.
        nodes: int64, shape (b,).
        centroids: float64, shape (width + D, C).

    Returns:
        float64, shape (b, C), at least 0.
    """
    centroids = read_only(np.ascontiguousarray(centroids))
    found: Floats = _squares_between(
        frozen(rows), read_only(nodes), centroids, read_only(lengths(rows, centroids))
    )
    return found


def memberships(squares: Floats, copies: Floats, m: float) -> Floats:
    """The membership of each node in each cluster.

    Args:
        squares: float64, shape (b, U): squared distances to distinct centroids.
        copies: float64, shape (U,): how many equal centroids each stands for.
        m: above 1.

    Returns:
        float64, shape (b, U): in one of the copies; times the copies each row adds up to 1. In
        logarithms: neither a far nor a near centroid over- or underflows. At distance 0 it is
        shared among the zero centroids.
    """
    shares = np.empty_like(squares)
    for row, share in zip(squares, shares, strict=True):
        _share(row, copies, 1.0 / (m - 1.0), share)
    return shares


def sum_block(
    rows: Rows, start: int, stop: int, centroids: Floats, copies: Floats, m: float
) -> Sums:
    """What the nodes start … stop - 1 add to the next centroids, all memberships counted.

    O((stop - start) · U · (D + sparse entries a node)) time, O((width + D) · U) memory.

    Args:
        rows: of all nodes.
        start: the first node.
        stop: one more than the last node.
        centroids: float64, shape (width + D, U), distinct.
        copies: float64, shape (U,): how many equal centroids each stands for.
        m: above 1.
    """
    found = _sum_block(
        frozen(rows),
        start,
        stop,
        read_only(np.ascontiguousarray(centroids)),
        read_only(lengths(rows, centroids)),
        read_only(copies),
        float(m),
    )
    sums, totals, objective, labels, squares = found
    return Sums(sums, totals, objective, labels, squares, np.zeros(stop - start))


def sum_nearest(
    dense: Floats,
    listed: tuple[Integers, Integers, Floats, Floats],
    copies: Floats,
    m: float,
) -> Sums:
    """What a block of nodes adds to the next centroids, from each node's nearest ones alone.

    Args:
        dense: float64, shape (b, D): the block's rows, which have no sparse part.
        listed: starts, int64, shape (b + 1,); distinct centroids, int64, and their distances,
            float64, by (distance, number); reach, float64, shape (b,): no centroid that was left
            out is nearer than this.
        copies: float64, shape (U,): how many equal centroids each stands for.
        m: above 1.
    """
    starts, numbers, distances, reach = listed
    return Sums(
        *_sum_nearest(
            read_only(np.ascontiguousarray(dense)),
            read_only(starts),
            read_only(numbers),
            read_only(distances),
            read_only(reach),
            read_only(copies),
            float(m),
        )
    )


def spread_nodes(rows: Rows, members: Integers, uniforms: Floats) -> Integers:
    """Nodes far from one another, as first centroids.

    Args:
        rows: of all nodes.
        members: int64, shape (b,): whom to choose from, at least as many as are chosen.
        uniforms: float64, shape (s,), in (0, 1): one for each node that is chosen.

    Returns:
        int64, shape (s,): distinct nodes; the first is drawn evenly, each other with a chance
        proportional to its squared distance from the nearest chosen one (evenly among the rest
        where all distances are 0).

    Source: Arthur and Vassilvitskii 2007, k-means++.
    """
    chosen: Integers = _spread_nodes(frozen(rows), read_only(members), read_only(uniforms))
    return chosen


@njit(cache=True, nogil=True)
def _squares(rows: Any, node: int, centroids: Any, norms: Any, out: Any) -> None:
    """Squared distances of one node to all centroids, into `out`."""
    clusters = centroids.shape[1]
    out[:] = 0.0
    if rows.width > 0:
        own = (rows.starts[node + 1] - rows.starts[node]) * rows.weight * rows.weight
        for c in range(clusters):
            out[c] = norms[c]
        for entry in range(rows.starts[node], rows.starts[node + 1]):
            row = centroids[rows.columns[entry]]
            for c in range(clusters):
                out[c] += rows.weight * (rows.weight - 2.0 * row[c])
        for c in range(clusters):
            if out[c] <= _SAME * (own + norms[c]):
                out[c] = 0.0
    for column in range(rows.dense.shape[1]):
        value = rows.dense[node, column]
        row = centroids[rows.width + column]
        for c in range(clusters):
            out[c] += (value - row[c]) * (value - row[c])


@njit(cache=True, nogil=True)
def _squares_between(rows: Any, nodes: Any, centroids: Any, norms: Any) -> Any:
    found = np.empty((len(nodes), centroids.shape[1]))
    for place in range(len(nodes)):
        _squares(rows, nodes[place], centroids, norms, found[place])
    return found


@njit(cache=True, nogil=True)
def _lengths(centroids: Any, width: int) -> Any:
    totals = np.zeros(centroids.shape[1])
    for column in range(width):
        for c in range(centroids.shape[1]):
            totals[c] += centroids[column, c] * centroids[column, c]
    return totals


@njit(cache=True, nogil=True)
def _hard_sums(rows: Any, labels: Any, clusters: int) -> Any:
    sums = np.zeros((rows.width + rows.dense.shape[1], clusters))
    for node in range(len(labels)):
        for entry in range(rows.starts[node], rows.starts[node + 1]):
            sums[rows.columns[entry], labels[node]] += rows.weight
        for column in range(rows.dense.shape[1]):
            sums[rows.width + column, labels[node]] += rows.dense[node, column]
    return sums


@njit(cache=True, nogil=True)
def _fill_up(rows: Any, labels: Any, centroids: Any, lists: Any, least: int, most: int) -> int:
    members, starts, sizes = lists
    donors = np.flatnonzero(sizes > most)
    table, moved = centroids[:, donors], 0
    gaps, center = np.empty(len(donors)), np.empty((len(centroids), 1))
    far, square = np.empty(sizes.max()), np.empty(1)
    for cluster in np.flatnonzero(sizes < least):
        center[:, 0] = centroids[:, cluster]
        norms = _lengths(center, rows.width)
        _to_donors(table, center[:, 0], gaps[: len(donors)])
        spent = 0
        while sizes[cluster] < least and spent < len(donors):
            place = np.argmin(gaps[: len(donors)])
            donor, gaps[place] = donors[place], np.inf
            count = min(least - sizes[cluster], sizes[donor] - most)
            if count <= 0:
                spent += 1
                continue
            own = members[starts[donor] : starts[donor] + sizes[donor]]
            for i in range(len(own)):
                _squares(rows, own[i], center, norms, square)
                far[i] = square[0]
            for _ in range(count):
                nearest = np.argmin(far[: len(own)])
                labels[own[nearest]], far[nearest] = cluster, np.inf
            _without(own, labels, donor)
            sizes[cluster] += count
            sizes[donor] -= count
            moved += count
            spent += 1
        left = sizes[donors] > most
        if 5 * left.sum() < 4 * len(donors):
            donors = donors[left]
            table = centroids[:, donors]
    return moved


@njit(cache=True, nogil=True)
def _to_donors(table: Any, center: Any, gaps: Any) -> None:
    """Squared distances of one centroid to those of a table's columns, into `gaps`."""
    gaps[:] = 0.0
    for column in range(len(table)):
        row, value = table[column], center[column]
        for c in range(len(row)):
            gaps[c] += (value - row[c]) * (value - row[c])


@njit(cache=True, nogil=True)
def _without(members: Any, labels: Any, cluster: int) -> None:
    """Puts those that are still the cluster's to the front, in their order."""
    kept = 0
    for node in members:
        if labels[node] == cluster:
            members[kept] = node
            kept += 1


@njit(cache=True, nogil=True)
def _share(squares: Any, copies: Any, power: float, shares: Any) -> int:
    """Memberships from squared distances, into `shares`; returns the nearest, lowest of equals."""
    nearest = int(np.argmin(squares))
    least = squares[nearest]
    if least <= 0.0:
        zeros = 0.0
        for c in range(len(squares)):
            zeros += copies[c] if squares[c] <= 0.0 else 0.0
        for c in range(len(squares)):
            shares[c] = 1.0 / zeros if squares[c] <= 0.0 else 0.0
        return nearest
    top = np.log(least)
    total = 0.0
    for c in range(len(squares)):
        shares[c] = np.exp(power * (top - np.log(squares[c])))
        total += copies[c] * shares[c]
    for c in range(len(squares)):
        shares[c] /= total
    return nearest


@njit(cache=True, nogil=True)
def _sum_block(
    rows: Any, start: int, stop: int, centroids: Any, norms: Any, copies: Any, m: float
) -> Any:
    clusters = centroids.shape[1]
    sums, totals = np.zeros(centroids.shape), np.zeros(clusters)
    labels, nearest = np.empty(stop - start, np.int64), np.empty(stop - start)
    squares, shares = np.empty(clusters), np.empty(clusters)
    objective = 0.0
    for node in range(start, stop):
        _squares(rows, node, centroids, norms, squares)
        label = _share(squares, copies, 1.0 / (m - 1.0), shares)
        labels[node - start], nearest[node - start] = label, squares[label]
        for c in range(clusters):
            if shares[c] > 0.0:
                shares[c] = np.exp(m * np.log(shares[c]))
            if shares[c] < _FAINT:
                shares[c] = 0.0
            totals[c] += shares[c]
            objective += copies[c] * shares[c] * squares[c]
        for entry in range(rows.starts[node], rows.starts[node + 1]):
            row = sums[rows.columns[entry]]
            for c in range(clusters):
                row[c] += shares[c] * rows.weight
        for column in range(rows.dense.shape[1]):
            value = rows.dense[node, column]
            row = sums[rows.width + column]
            for c in range(clusters):
                row[c] += shares[c] * value
    return sums, totals, objective, labels, nearest


@njit(cache=True, nogil=True)
def _sum_nearest(
    dense: Any, starts: Any, numbers: Any, distances: Any, reach: Any, copies: Any, m: float
) -> Any:
    nodes, columns = dense.shape
    sums, totals = np.zeros((columns, len(copies))), np.zeros(len(copies))
    labels, nearest, omitted = np.empty(nodes, np.int64), np.empty(nodes), np.zeros(nodes)
    objective, power, clusters = 0.0, 1.0 / (m - 1.0), copies.sum()
    for node in range(nodes):
        first, last = starts[node], starts[node + 1]
        squares = distances[first:last] * distances[first:last]
        shares, many = np.empty(last - first), copies[numbers[first:last]]
        label = _share(squares, many, power, shares)
        labels[node], nearest[node] = numbers[first + label], squares[label]
        left_out = clusters - many.sum()
        if left_out > 0 and squares[label] > 0.0:
            # All others as near as they can be: their weight beside the listed ones' weight.
            ratio = np.log(squares[label]) - 2.0 * np.log(reach[node])
            weight = left_out * np.exp(power * ratio) * shares[label]
            omitted[node] = weight / (1.0 + weight)
        for place in range(last - first):
            if shares[place] > 0.0:
                share = np.exp(m * np.log(shares[place]))
                centroid = numbers[first + place]
                totals[centroid] += share
                objective += many[place] * share * squares[place]
                for column in range(columns):
                    sums[column, centroid] += share * dense[node, column]
    return sums, totals, objective, labels, nearest, omitted


@njit(cache=True, nogil=True)
def _to_node(rows: Any, members: Any, center: int, marks: Any, least: Any) -> None:
    """Lowers `least` to the members' squared distances from one node."""
    square = rows.weight * rows.weight
    first, last = 0, 0
    if rows.width > 0:
        first, last = rows.starts[center], rows.starts[center + 1]
    for entry in range(first, last):
        marks[rows.columns[entry]] = True
    for place in range(len(members)):
        node = members[place]
        distance = 0.0
        if rows.width > 0:
            apart = last - first + rows.starts[node + 1] - rows.starts[node]
            for entry in range(rows.starts[node], rows.starts[node + 1]):
                apart -= 2 * marks[rows.columns[entry]]
            distance = apart * square
        for column in range(rows.dense.shape[1]):
            gap = rows.dense[node, column] - rows.dense[center, column]
            distance += gap * gap
        least[place] = min(least[place], distance)
    for entry in range(first, last):
        marks[rows.columns[entry]] = False


@njit(cache=True, nogil=True)
def _spread_nodes(rows: Any, members: Any, uniforms: Any) -> Any:
    least = np.full(len(members), np.inf)
    marks = np.zeros(rows.width, np.bool_)
    taken = np.zeros(len(members), np.bool_)
    chosen = np.empty(len(uniforms), np.int64)
    for turn in range(len(uniforms)):
        total = 0.0
        for place in range(len(members)):
            if turn > 0 and not taken[place]:
                total += least[place]
        # Where no distance is left, one of those that are not taken, evenly.
        even = total <= 0.0
        goal = uniforms[turn] * (len(members) - turn if even else total)
        found, passed = -1, 0.0
        for place in range(len(members)):
            if taken[place] or (not even and least[place] <= 0.0):
                continue
            found = place
            passed += 1.0 if even else least[place]
            if passed > goal:
                break
        taken[found] = True
        chosen[turn] = members[found]
        _to_node(rows, members, members[found], marks, least)
    return chosen
