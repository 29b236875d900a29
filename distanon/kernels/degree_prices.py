"""Groups of nodes that get one degree, where losing an edge has its own price for each node.

An edge between two nodes that must both lose settles two units at once; a hub whose neighbors
must lose nothing pays a whole edit for each of its units. So a unit is worth a price from 0 to 1,
½ where nothing is known.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_GAIN = 0.5  # price of a unit to gain: two nodes that want an edge nearly always may have it
_EQUAL = 1e-12


@njit(cache=True, nogil=True)
def cut_by_price(
    order: Integers, starts: Integers, degrees: Integers, prices: Floats, least: int
) -> tuple[Integers, Integers, float]:
    """The cheapest cut of each class into groups of `least` to 2 · least − 1 neighbors by degree.

    Args:
        order: int64, shape (n,): nodes by (class, degree).
        starts: int64, shape (classes + 1,): where classes start in it; each has `least` nodes.
        degrees: int64, shape (n,).
        prices: float64, shape (n,): of a unit that the node must lose.
        least: nodes of a group, at least.

    Returns:
        The group of each node, int64 (n,), numbered by (class, degree); the degree that each node
        is to get, int64 (n,), the lowest of the best; and the sum over all nodes of the price of
        what they lose and half of what they gain. O(n · least).
    """
    n = len(order)
    group_of, level = np.empty(n, np.int64), np.empty(n, np.int64)
    first, total = 0, 0.0
    for place in range(len(starts) - 1):
        nodes = order[starts[place] : starts[place + 1]]
        cut, chosen, cost = _cut(degrees[nodes], prices[nodes], least)
        for i in range(len(nodes)):
            group_of[nodes[i]] = first + cut[i]
            level[nodes[i]] = chosen[i]
        first += cut[-1] + 1
        total += cost
    return group_of, level, total


@njit(cache=True, nogil=True)
def _cut(degrees: Integers, prices: Floats, least: int) -> tuple[Integers, Integers, float]:
    m = len(degrees)
    units, price, paid = np.zeros(m + 1), np.zeros(m + 1), np.zeros(m + 1)
    for i in range(m):
        units[i + 1] = units[i] + degrees[i]
        price[i + 1] = price[i] + prices[i]
        paid[i + 1] = paid[i] + prices[i] * degrees[i]
    best = np.full(m + 1, np.inf)
    before, chosen = np.zeros(m + 1, np.int64), np.zeros(m + 1, np.int64)
    best[0] = 0.0
    for stop in range(least, m + 1):
        i = stop - 1
        for start in range(stop - least, max(-1, stop - 2 * least), -1):
            # Where the degree is taken moves one way only as the group grows downwards.
            cost = _cost(degrees, units, price, paid, start, stop, i)
            while i > start:
                lower = _cost(degrees, units, price, paid, start, stop, i - 1)
                if lower > cost + _EQUAL:
                    break
                cost = lower
                i -= 1
            if best[start] + cost < best[stop] - _EQUAL:
                best[stop], before[stop], chosen[stop] = best[start] + cost, start, degrees[i]
    cut, level = np.empty(m, np.int64), np.empty(m, np.int64)
    number, stop = 0, m
    while stop > 0:
        cut[before[stop] : stop] = number
        level[before[stop] : stop] = chosen[stop]
        number += 1
        stop = before[stop]
    return number - 1 - cut, level, best[m]


@njit(cache=True, nogil=True)
def _cost(
    degrees: Integers, units: Floats, price: Floats, paid: Floats, start: int, stop: int, i: int
) -> float:
    """What it costs that the nodes from start to stop get the degree of the i-th."""
    own = degrees[i]
    gained = own * (i - start) - (units[i] - units[start])
    lost = paid[stop] - paid[i] - own * (price[stop] - price[i])
    return float(_GAIN * gained + lost)


@njit(cache=True, nogil=True)
def overpriced(
    starts: Integers, neighbors: NDArray[np.int32], prices: Floats
) -> tuple[Integers, float]:
    """Edges whose ends' prices are above 1 together: each is worth removing by itself.

    Returns:
        How many of them each node has, int64 (n,), and by how much all of them exceed 1.
    """
    count, excess = np.zeros(len(prices), np.int64), 0.0
    for node in range(len(prices)):
        for place in range(starts[node], starts[node + 1]):
            over = prices[node] + prices[neighbors[place]] - 1.0
            if over > 1e-9:
                count[node] += 1
            if over > 0.0 and neighbors[place] > node:
                excess += over
    return count, excess


@njit(cache=True, nogil=True)
def rising(order: Integers, starts: Integers, prices: Floats) -> Floats:
    """The nearest prices that fall nowhere along a class's degrees, float64 (n,).

    Source: Ayer et al., Annals of Mathematical Statistics 26 (1955) 641-647 (pooling of adjacent
        violators).
    """
    result = np.empty(len(order))
    mean, size = np.empty(len(order)), np.empty(len(order), np.int64)
    for place in range(len(starts) - 1):
        blocks = 0
        for i in range(starts[place], starts[place + 1]):
            mean[blocks], size[blocks] = prices[order[i]], 1
            blocks += 1
            while blocks > 1 and mean[blocks - 2] >= mean[blocks - 1]:
                both = size[blocks - 2] + size[blocks - 1]
                mean[blocks - 2] = (
                    mean[blocks - 2] * size[blocks - 2] + mean[blocks - 1] * size[blocks - 1]
                ) / both
                size[blocks - 2] = both
                blocks -= 1
        i = starts[place]
        for block in range(blocks):
            for _ in range(size[block]):
                result[order[i]] = mean[block]
                i += 1
    return result
