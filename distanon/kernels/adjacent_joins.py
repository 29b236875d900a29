"""Groups of nodes in the order of their degrees, joined with the next until each keeps a rule."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


def mixed_ties(degrees: Integers, value_of: Integers) -> Integers:
    """Nodes by degree; among equal degrees the values alternate by how often they occur there.

    Args:
        degrees: int64, shape (n,).
        value_of: int64, shape (n,): the number of each node's value.

    Returns:
        int64, shape (n,): the nodes in that order, so that any stretch of one degree holds its
        values in about the same shares.
    """
    n = len(degrees)
    order = np.lexsort((np.arange(n), value_of, degrees))
    changes = (np.diff(degrees[order], prepend=-1) != 0) | (
        np.diff(value_of[order], prepend=-1) != 0
    )
    starts = np.flatnonzero(changes)
    sizes = np.diff(np.append(starts, n))
    place = np.arange(n) - np.repeat(starts, sizes)
    share = np.empty(n)
    share[order] = (2 * place + 1) / np.repeat(2 * sizes, sizes)
    return np.lexsort((np.arange(n), share, degrees)).astype(np.int64)


def joined_in_order(
    degrees: Integers, groups: Integers, failing: Callable[[Integers], Booleans]
) -> Integers:
    """Joins groups that break a rule with the group below or above, until none does.

    In each round every group that breaks the rule is joined with that of its two neighbors with
    which one common degree costs least more; a group takes part in one join of a round.

    Args:
        degrees: int64, shape (n,).
        groups: int64, shape (n,): numbered from 0 without gaps in the order of their degrees;
            the degrees of one are at most those of the next.
        failing: which groups of such an array break the rule. A union of groups that keep it
            keeps it.

    Returns:
        int64, shape (n,): groups numbered likewise; one of all nodes is the last resort.
    """
    ordered = np.sort(degrees)
    sums = np.concatenate((np.zeros(1, np.int64), np.cumsum(ordered)))

    def cost(start: int, stop: int) -> int:
        middle = (start + stop) // 2
        upper = sums[stop] - sums[middle] - (stop - middle) * ordered[middle]
        return int(upper + (middle - start) * ordered[middle] - (sums[middle] - sums[start]))

    while (count := int(groups.max(initial=-1)) + 1) > 1:
        broken = np.flatnonzero(failing(groups))
        if not len(broken):
            break
        cuts = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(groups)))).tolist()
        alone = [cost(cuts[one], cuts[one + 1]) for one in range(count)]
        free = np.ones(count, np.bool_)
        begins = np.ones(count, np.bool_)  # whether a group starts one of the next round
        for group in broken.tolist():
            lower = [one for one in (group - 1, group) if 0 <= one < count - 1]
            open_ = [one for one in lower if free[one] and free[one + 1]]
            if not open_:
                continue
            more = [cost(cuts[one], cuts[one + 2]) - alone[one] - alone[one + 1] for one in open_]
            best = open_[int(np.argmin(more))]
            free[best : best + 2] = False
            begins[best + 1] = False
        groups = (np.cumsum(begins) - 1)[groups]
    return groups
