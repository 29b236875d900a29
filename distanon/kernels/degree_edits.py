"""Edits edges until every node has the degree that it is to have, with few edits.

Nodes want edges (above 0) or have too many (below 0). In turn, as long as any of these helps:
one edit that serves both its ends; a moved end, two edits that serve one node each; a bridge,
three edits that serve two nodes of one sign and leave the two between them as they were.

Source: the edits are those of Liu and Terzi 2008, section 6 (Supergraph, and its swaps), and of
    Casas-Roma, Herrera-Joancomartí and Torra 2017 (UMGA: addition, removal, rotation).
Deviation: neither says how partners are found, nor what happens when none is left; here all are
    looked through from a random place on, and what is left open is returned.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class _Rows(NamedTuple):
    """Ascending neighbors with room for more: those of i are row[starts[i] : starts[i] + size[i]].

    `state` holds one word of randomness.
    """

    starts: Integers
    size: Integers
    row: Integers
    state: NDArray[np.uint64]


def realize(
    starts: Integers, neighbors: NDArray[np.int32], level: Integers, seed: int
) -> tuple[Integers, Integers]:
    """A graph in which nodes have the degrees `level`, near to a given one.

    Args:
        starts: int64, shape (n + 1,): adjacency of a simple undirected graph.
        neighbors: int32, shape (2m,), ascending within a row.
        level: int64, shape (n,), 0 … n − 1, with an even sum.
        seed: of the places where partners are looked for first, below 2⁶³.

    Returns:
        The edges, int64, shape (m′, 2), smaller node first, sorted; and what each node still
        wants, int64, shape (n,): all 0 where the degrees were reached.
    """
    degrees = np.diff(starts)
    room = np.maximum(degrees, level) + 1
    places = np.concatenate([np.zeros(1, np.int64), np.cumsum(room)])
    row = np.zeros(int(places[-1]), np.int64)
    inside = np.arange(len(neighbors)) - np.repeat(starts[:-1], degrees)
    row[np.repeat(places[:-1], degrees) + inside] = neighbors
    rows = _Rows(places, degrees.copy(), row, np.array([seed], np.uint64))
    want = level - degrees
    while _pair(rows, want) + _move(rows, want) + _bridge(rows, want):
        pass
    one = np.repeat(np.arange(len(degrees)), rows.size)
    inside = np.arange(len(one)) - np.repeat(np.cumsum(rows.size) - rows.size, rows.size)
    other = row[places[one] + inside]
    return np.stack([one, other], axis=1)[one < other], want


@njit(cache=True, nogil=True)
def _random(rows: _Rows, below: int) -> int:
    """The next number in [0, below): SplitMix64 (Steele, Lea & Flood, OOPSLA 2014)."""
    rows.state[0] += np.uint64(0x9E3779B97F4A7C15)
    word = rows.state[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    word ^= word >> np.uint64(31)
    return int(word >> np.uint64(11)) % max(1, below)


@njit(cache=True, nogil=True)
def _place(rows: _Rows, node: int, other: int) -> int:
    """Where `other` stands, or would stand, in the row of `node`."""
    low = int(rows.starts[node])
    high = low + int(rows.size[node])
    while low < high:
        middle = (low + high) >> 1
        if rows.row[middle] < other:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def _joined(rows: _Rows, node: int, other: int) -> bool:
    place = _place(rows, node, other)
    return bool(place < rows.starts[node] + rows.size[node] and rows.row[place] == other)


@njit(cache=True, nogil=True)
def _toggle(rows: _Rows, one: int, other: int) -> None:
    """Parts two nodes that are joined, joins two that are not."""
    parts = _joined(rows, one, other)
    for node, end in ((one, other), (other, one)):
        place = _place(rows, node, end)
        stop = rows.starts[node] + rows.size[node]
        if parts:
            for i in range(place, stop - 1):
                rows.row[i] = rows.row[i + 1]
            rows.size[node] -= 1
        else:
            for i in range(stop, place, -1):
                rows.row[i] = rows.row[i - 1]
            rows.row[place] = end
            rows.size[node] += 1


@njit(cache=True, nogil=True)
def _wanting(want: Integers, sign: int) -> Integers:
    """Nodes that want edges (sign 1) or have too many (−1), those that want most first."""
    nodes = np.flatnonzero(sign * want > 0)
    return nodes[np.argsort(-sign * want[nodes], kind="mergesort")]


@njit(cache=True, nogil=True)
def _pair(rows: _Rows, want: Integers) -> int:
    """Joins nodes that both want edges, parts those that both have too many."""
    done = 0
    for sign in (1, -1):
        for node in _wanting(want, sign):
            if want[node] == 0:
                continue
            for other in _wanting(want, sign):
                if other != node and _joined(rows, node, other) == (sign < 0):
                    _toggle(rows, node, other)
                    want[node] -= sign
                    want[other] -= sign
                    done += 1
                    if want[node] == 0:
                        break
    return done


@njit(cache=True, nogil=True)
def _move(rows: _Rows, want: Integers) -> int:
    """Moves an edge's end from a node that has too many to one that wants some."""
    done = 0
    for taker in _wanting(want, 1):
        for giver in _wanting(want, -1):
            while want[taker] > 0 and want[giver] < 0 and _moved(rows, taker, giver):
                want[taker] -= 1
                want[giver] += 1
                done += 1
    return done


@njit(cache=True, nogil=True)
def _moved(rows: _Rows, taker: int, giver: int) -> bool:
    many = rows.size[giver]
    first = _random(rows, many)
    for step in range(many):
        end = rows.row[rows.starts[giver] + (first + step) % many]
        if end != taker and not _joined(rows, taker, end):
            _toggle(rows, giver, end)
            _toggle(rows, taker, end)
            return True
    return False


@njit(cache=True, nogil=True)
def _bridge(rows: _Rows, want: Integers) -> int:
    """Serves two nodes of one sign, or one node twice, over two others that lose nothing."""
    done = 0
    for sign in (1, -1):
        for node in _wanting(want, sign):
            for other in _wanting(want, sign):
                least = 2 if node == other else 1
                while sign * want[node] >= least and sign * want[other] >= least:
                    if not (_given(rows, node, other) if sign > 0 else _taken(rows, node, other)):
                        break
                    want[node] -= sign
                    want[other] -= sign
                    done += 1
    return done


@njit(cache=True, nogil=True)
def _given(rows: _Rows, node: int, other: int) -> bool:
    """An edge x–y becomes node–x and other–y."""
    n = len(rows.size)
    first = _random(rows, n)
    for step in range(n):
        x = (first + step) % n
        if x in (node, other) or rows.size[x] == 0 or _joined(rows, node, x):
            continue
        many = rows.size[x]
        start = _random(rows, many)
        for place in range(many):
            y = rows.row[rows.starts[x] + (start + place) % many]
            if y not in (other, node) and not _joined(rows, other, y):
                _toggle(rows, x, y)
                _toggle(rows, node, x)
                _toggle(rows, other, y)
                return True
    return False


@njit(cache=True, nogil=True)
def _taken(rows: _Rows, node: int, other: int) -> bool:
    """Edges node–x and other–y become x–y."""
    many, more = rows.size[node], rows.size[other]
    first, start = _random(rows, many), _random(rows, more)
    for step in range(many):
        x = rows.row[rows.starts[node] + (first + step) % many]
        if x == other:
            continue
        for place in range(more):
            y = rows.row[rows.starts[other] + (start + place) % more]
            if y not in (node, x) and not _joined(rows, x, y):
                _toggle(rows, node, x)
                _toggle(rows, other, y)
                _toggle(rows, x, y)
                return True
    return False
