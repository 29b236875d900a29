"""Completes a set of edge edits until every node has the degree that it wants, with few edits.

An edit is a candidate: a pair of nodes whose edge is there (sign −1: it may be removed) or not
(sign +1: it may be added). `want` is what each node still lacks (above 0) or has too much of.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class Incidence(NamedTuple):
    """The candidates of every node; arrays alone, so that compiled code can take them.

    Attributes:
        ends: int32, shape (c, 2): the pair of each candidate.
        sign: int8, shape (c,): +1 an addition, −1 a removal.
        starts: int64, shape (2, n + 1): where a node's removals [0] and additions [1] start.
        ids: int32, shape (2, c·2 at most): candidate numbers, cheapest first within a node.
    """

    ends: NDArray[np.int32]
    sign: NDArray[np.int8]
    starts: NDArray[np.int64]
    ids: NDArray[np.int32]


def incidence(
    nodes: int,
    ends: NDArray[np.int32],
    sign: NDArray[np.int8],
    cost: NDArray[np.float64],
) -> Incidence:
    """Each node's candidates by (cost, number)."""
    starts = np.zeros((2, nodes + 1), np.int64)
    lists = []
    for side, wanted in enumerate((-1, 1)):
        chosen = np.flatnonzero(sign == wanted)
        rows = np.concatenate([ends[chosen, 0], ends[chosen, 1]])
        both = np.concatenate([chosen, chosen])
        order = np.lexsort((both, cost[both], rows))
        lists.append(both[order].astype(np.int32))
        np.cumsum(np.bincount(rows, minlength=nodes), out=starts[side, 1:])
    ids = np.zeros((2, max(len(one) for one in lists)), np.int32)
    for side, one in enumerate(lists):
        ids[side, : len(one)] = one
    return Incidence(ends, sign, starts, ids)


class Levels(NamedTuple):
    """The degrees that a node may have: those that enough nodes of its class will have.

    Attributes:
        class_of: int64, shape (n,): nodes that an intruder tells apart by degree alone.
        starts: int64, shape (classes + 1,): where a class begins in `counts`; degree d of class
            q is at starts[q] + d, if below starts[q + 1].
        counts: int64: how many nodes of the class are to have that degree; changed in place.
        least: K.
    """

    class_of: NDArray[np.int64]
    starts: NDArray[np.int64]
    counts: NDArray[np.int64]
    least: int


@njit(cache=True, nogil=True)
def repair(
    inc: Incidence,
    levels: Levels,
    bits: NDArray[np.uint8],
    level: Integers,
    want: Integers,
    noise: NDArray[np.float64],
    skip: float,
    seed: int,
) -> None:
    """Takes back what nobody needs, then adds the cheapest edits that serve most.

    In this order: one edit that serves both its ends; an augmenting exchange (two edits for one)
    that does; no edit, where the class has enough nodes of the degree that a node came to; one
    edit that serves one end, where the other may drift to the next degree of its class; a moved
    end (two edits that serve one node each); three edits that serve two.

    Args:
        inc: the candidates.
        levels: the classes, and how many of their nodes are to have each degree.
        bits: uint8, shape (c,): which edits are made; changed in place.
        level: int64, shape (n,): the degree that each node is to have; changed in place.
        want: int64, shape (n,): `level` minus the degree in the unedited graph; on return what
            the edits leave open.
        noise: float64, shape (n,), above 0: factors of the order in which nodes are served: those
            that have the fewest partners for what they want come first.
        skip: probability of passing over an edit on the first round: what makes two repairs of
            the same bits differ.
        seed: of those draws, below 2⁶³.
    """
    state = np.array([seed], np.uint64)
    _settle(inc, bits, want)
    _take_back(inc, bits, want, state)
    order = np.argsort(_plenty(inc, bits, want) * noise, kind="mergesort")
    if skip > 0:
        _pair(inc, bits, want, order, skip, state)
    _pair(inc, bits, want, order, 0.0, state)
    _exchange(inc, bits, want, order)
    _accept(levels, level, want, order)
    _drift(inc, levels, bits, level, want, order)
    _move(inc, bits, want, order)
    _bridge(inc, bits, want, order)
    _accept(levels, level, want, order)


@njit(cache=True, nogil=True)
def _may_leave(levels: Levels, node: int, old: int, new: int) -> bool:
    """Whether a node may have another degree, both shared by enough others then."""
    base = levels.starts[levels.class_of[node]]
    if new < 0 or base + new >= levels.starts[levels.class_of[node] + 1]:
        return False
    counts = levels.counts
    return bool(counts[base + old] > levels.least and counts[base + new] >= levels.least)


@njit(cache=True, nogil=True)
def _leave(levels: Levels, level: Integers, node: int, new: int) -> None:
    base = levels.starts[levels.class_of[node]]
    levels.counts[base + level[node]] -= 1
    levels.counts[base + new] += 1
    level[node] = new


@njit(cache=True, nogil=True)
def _accept(levels: Levels, level: Integers, want: Integers, order: Integers) -> None:
    """Nodes whose degree is shared by enough of their class as it is."""
    for node in order:
        new = level[node] - want[node]
        if want[node] != 0 and _may_leave(levels, node, level[node], new):
            _leave(levels, level, node, new)
            want[node] = 0


@njit(cache=True, nogil=True)
def _drift(
    inc: Incidence,
    levels: Levels,
    bits: NDArray[np.uint8],
    level: Integers,
    want: Integers,
    order: Integers,
) -> None:
    """Edits that serve one end; the other, content so far, takes the next degree."""
    for node in order:
        if want[node] == 0:
            continue
        s = 1 if want[node] > 0 else -1
        side = (s + 1) // 2
        for place in range(inc.starts[side, node], inc.starts[side, node + 1]):
            c = inc.ids[side, place]
            if bits[c]:
                continue
            other = _other(inc, c, node)
            if want[other] != 0:
                continue
            new = level[other] + s
            if _may_leave(levels, other, level[other], new):
                _leave(levels, level, other, new)
                _toggle(inc, bits, want, c)
                want[other] = 0
                if want[node] == 0:
                    break


@njit(cache=True, nogil=True)
def _settle(inc: Incidence, bits: NDArray[np.uint8], want: Integers) -> None:
    """What is wanted once the edits are made."""
    for c in np.flatnonzero(bits):
        want[inc.ends[c, 0]] -= inc.sign[c]
        want[inc.ends[c, 1]] -= inc.sign[c]


@njit(cache=True, nogil=True)
def _toggle(inc: Incidence, bits: NDArray[np.uint8], want: Integers, c: int) -> None:
    effect = -inc.sign[c] if bits[c] else inc.sign[c]
    bits[c] = 1 - bits[c]
    want[inc.ends[c, 0]] -= effect
    want[inc.ends[c, 1]] -= effect


@njit(cache=True, nogil=True)
def _take_back(
    inc: Incidence, bits: NDArray[np.uint8], want: Integers, state: NDArray[np.uint64]
) -> None:
    """Undoes edits whose absence leaves no more open than their presence, in random order."""
    made = np.flatnonzero(bits)
    for i in range(len(made) - 1, 0, -1):
        j = int(_random(state) * (i + 1))
        made[i], made[j] = made[j], made[i]
    changed = True
    while changed:
        changed = False
        for c in made:
            if not bits[c]:
                continue
            s = inc.sign[c]
            left, right = want[inc.ends[c, 0]], want[inc.ends[c, 1]]
            if abs(left + s) + abs(right + s) <= abs(left) + abs(right):
                _toggle(inc, bits, want, int(c))
                changed = True


@njit(cache=True, nogil=True)
def _plenty(inc: Incidence, bits: NDArray[np.uint8], want: Integers) -> NDArray[np.float64]:
    """How many partners each node has for each unit that it wants."""
    found = np.zeros(len(want))
    for c in range(len(bits)):
        a, b = inc.ends[c, 0], inc.ends[c, 1]
        if not bits[c] and inc.sign[c] * want[a] > 0 and inc.sign[c] * want[b] > 0:
            found[a] += 1.0
            found[b] += 1.0
    return found / np.maximum(np.abs(want), 1)


@njit(cache=True, nogil=True)
def _other(inc: Incidence, c: int, node: int) -> int:
    return int(inc.ends[c, 1] if inc.ends[c, 0] == node else inc.ends[c, 0])


@njit(cache=True, nogil=True)
def _random(state: NDArray[np.uint64]) -> float:
    """The next number in [0, 1): SplitMix64 (Steele, Lea & Flood, OOPSLA 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    word = state[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    word ^= word >> np.uint64(31)
    return float(word >> np.uint64(11)) * 2.0**-53


@njit(cache=True, nogil=True)
def _pair(
    inc: Incidence,
    bits: NDArray[np.uint8],
    want: Integers,
    order: Integers,
    skip: float,
    state: NDArray[np.uint64],
) -> None:
    """Edits that serve both ends."""
    for node in order:
        if want[node] == 0:
            continue
        s = 1 if want[node] > 0 else -1
        side = (s + 1) // 2
        for place in range(inc.starts[side, node], inc.starts[side, node + 1]):
            c = inc.ids[side, place]
            if not bits[c] and s * want[_other(inc, c, node)] > 0:
                if skip > 0 and _random(state) < skip:
                    continue
                _toggle(inc, bits, want, c)
                if want[node] == 0:
                    break


_FIRST, _LAST = 48, 96  # candidates looked at by an exchange: at its start, at its end


@njit(cache=True, nogil=True)
def _exchange(inc: Incidence, bits: NDArray[np.uint8], want: Integers, order: Integers) -> None:
    """u–w made, w–x taken back, x–y made: serves u and y, w and x are left as they were."""
    for u in order:
        while want[u] != 0:
            if not _exchanged(inc, bits, want, u):
                break


@njit(cache=True, nogil=True)
def _exchanged(inc: Incidence, bits: NDArray[np.uint8], want: Integers, u: int) -> bool:
    s = 1 if want[u] > 0 else -1
    side = (s + 1) // 2
    start, stop = inc.starts[side, u], inc.starts[side, u + 1]
    for i in range(start, min(stop, start + _FIRST)):
        first = inc.ids[side, i]
        if bits[first]:
            continue
        w = _other(inc, first, u)
        for j in range(inc.starts[side, w], inc.starts[side, w + 1]):
            second = inc.ids[side, j]
            if not bits[second]:
                continue
            x = _other(inc, second, w)
            if x == u:
                continue
            begin, end = inc.starts[side, x], inc.starts[side, x + 1]
            for k in range(begin, min(end, begin + _LAST)):
                third = inc.ids[side, k]
                if bits[third] or third == first:
                    continue
                y = _other(inc, third, x)
                if s * want[y] > (1 if y == u else 0):
                    _toggle(inc, bits, want, first)
                    _toggle(inc, bits, want, second)
                    _toggle(inc, bits, want, third)
                    return True
    return False


@njit(cache=True, nogil=True)
def _move(inc: Incidence, bits: NDArray[np.uint8], want: Integers, order: Integers) -> None:
    """An edge's end is moved from a node that has too many to one that has too few."""
    for v in order:
        place = inc.starts[1, v]
        while want[v] > 0 and place >= 0:
            place = _moved(inc, bits, want, v, place)


@njit(cache=True, nogil=True)
def _moved(inc: Incidence, bits: NDArray[np.uint8], want: Integers, v: int, begin: int) -> int:
    """Moves one end to v, by its candidates from `begin` on; which served, −1: none.

    Those that came before served nobody, and wants only shrink.
    """
    for i in range(begin, inc.starts[1, v + 1]):
        first = inc.ids[1, i]
        if bits[first]:
            continue
        w = _other(inc, first, v)
        for j in range(inc.starts[0, w], inc.starts[0, w + 1]):
            second = inc.ids[0, j]
            if not bits[second] and want[_other(inc, second, w)] < 0:
                _toggle(inc, bits, want, first)
                _toggle(inc, bits, want, second)
                return int(i)
    return -1


@njit(cache=True, nogil=True)
def _bridge(inc: Incidence, bits: NDArray[np.uint8], want: Integers, order: Integers) -> None:
    """u–w and x–y changed one way, w–x the other: serves u and y alone."""
    left = np.array([-want[want < 0].sum(), want[want > 0].sum()])
    for u in order:
        side = 1 if want[u] > 0 else 0
        place = inc.starts[side, u]
        while want[u] != 0 and place >= 0 and left[side] > 1:
            place = _bridged(inc, bits, want, u, place)
            left[side] -= 2 if place >= 0 else 0


@njit(cache=True, nogil=True)
def _bridged(inc: Incidence, bits: NDArray[np.uint8], want: Integers, u: int, begin: int) -> int:
    """Bridges u and another node, by u's candidates from `begin` on; which served, −1: none."""
    s = 1 if want[u] > 0 else -1
    side = (s + 1) // 2
    for i in range(begin, inc.starts[side, u + 1]):
        first = inc.ids[side, i]
        if bits[first]:
            continue
        w = _other(inc, first, u)
        for j in range(inc.starts[1 - side, w], inc.starts[1 - side, w + 1]):
            second = inc.ids[1 - side, j]
            if bits[second]:
                continue
            x = _other(inc, second, w)
            for k in range(inc.starts[side, x], inc.starts[side, x + 1]):
                third = inc.ids[side, k]
                if bits[third] or third == first:
                    continue
                y = _other(inc, third, x)
                if s * want[y] > (1 if y == u else 0):
                    _toggle(inc, bits, want, first)
                    _toggle(inc, bits, want, second)
                    _toggle(inc, bits, want, third)
                    return int(i)
    return -1
