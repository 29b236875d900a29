"""What an ordered attribute's closeness costs where markers take up a difference, compiled.

The same as `closeness.unbalanced_cost` on 64-bit integers, for tables with many classes.
"""

from __future__ import annotations

from heapq import heappush, heappushpop

import numpy as np
from numba import njit
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@njit(cache=True, nogil=True)
def unbalanced_costs(
    places: Integers,
    starts: Integers,
    values: Integers,
    counts: Integers,
    totals: Integers,
    upto: Integers,
    whole: int,
) -> Integers:
    """The cost of each of some classes, int64, shape (p,).

    Args:
        places: int64, shape (p,): which classes.
        starts: int64, shape (c + 1,): the triplets of each class.
        values: int64, shape (m,): ranks of the values that have an order.
        counts: int64, shape (m,).
        totals: int64, shape (c,): records of each class, markers included.
        upto: int64, shape (v,): cumulated counts of the whole, markers left out.
        whole: records of the whole; v · whole · the largest class is below 2⁶².
    """
    costs = np.zeros(len(places), np.int64)
    last = len(upto) - 1
    for at in range(len(places)):
        place = places[at]
        mine = counts[starts[place] : starts[place + 1]].sum()
        end = whole * mine - totals[place] * upto[last]
        sign = -1 if end < 0 else 1
        end *= sign
        heap = [np.int64(0) for _ in range(0)]
        cost, running, triplet = np.int64(0), np.int64(0), starts[place]
        for rank in range(last):
            while triplet < starts[place + 1] and values[triplet] <= rank:
                running += counts[triplet]
                triplet += 1
            gap = sign * (whole * running - totals[place] * upto[rank])
            inside = min(max(gap, np.int64(0)), end)
            cost += abs(gap - inside)
            top = -heappushpop(heap, -inside) if len(heap) > 0 else inside
            if top > inside:
                cost += top - inside
                heappush(heap, -inside)
            else:
                heappush(heap, -top)
        costs[at] = cost
    return costs
