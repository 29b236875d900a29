"""How far the values of a class are from those of the whole: t-closeness, on integer counts."""

from __future__ import annotations

from heapq import heappush, heappushpop

import numpy as np
from numpy.typing import NDArray

from distanon.kernels.counts import (
    Counts,
    Integers,
    Ratios,
    excess,
    from_triplets,
    segment_sums,
    wide,
)

_WORTH_COMPILING = 500_000  # steps: below, loading the compiler would take longer
_LARGEST = 2**62


def equal_distances(counts: Counts, reference: NDArray[np.int64]) -> Ratios:
    """Earth mover's distance where all values are equally far: the total variation.

    Args:
        counts: c classes.
        reference: shape (n_values,): counts of the whole, with a sum above 0.

    Source: Li, Li & Venkatasubramanian, ICDE 2007, section 4.
    """
    return Ratios(_surplus(counts, reference), _denominators(counts, reference, 1))


def hierarchical_distances(
    counts: Counts, reference: NDArray[np.int64], ancestors: NDArray[np.int64]
) -> Ratios:
    """Earth mover's distance where values are as far as their lowest common ancestor is high.

    Args:
        counts: c classes.
        reference: shape (n_values,): counts of the whole, with a sum above 0.
        ancestors: int64, shape (H + 1, n_values): number of each value's ancestor at height
            0 (the value itself: 0 … n_values − 1) … H (the one top). Heights number by themselves.

    Source: Li, Li & Venkatasubramanian, ICDE 2007, section 4: cost(N) = height(N) / H ·
        min(pos_extra(N), neg_extra(N)). Nodes without records of the class have no positive
        extra and cost nothing, so they are never visited.
    """
    whole, height = int(reference.sum()), len(ancestors) - 1
    cost: Integers = wide(np.zeros(len(counts), np.int64), whole, whole * (height + 1))
    lower = counts
    for level in range(1, height + 1):
        above = ancestors[level]
        surplus = np.maximum(excess(lower, _lifted(reference, ancestors[level - 1])), 0)
        upper, parents = _merged(lower, ancestors[level - 1], above)
        positive = np.zeros(len(upper.classes), surplus.dtype)
        np.add.at(positive, parents, surplus)
        negative = positive - excess(upper, _lifted(reference, above))
        cost = cost + level * segment_sums(np.minimum(positive, negative), upper.starts)
        lower = upper
    return Ratios(cost, _denominators(counts, reference, max(height, 1)))


def ordered_distances(
    counts: Counts, reference: NDArray[np.int64], is_marker: NDArray[np.bool_] | None = None
) -> Ratios:
    """Earth mover's distance where values i and j are |i − j| / (v − 1) apart.

    Args:
        counts: c classes; values are numbered in their order.
        reference: shape (n_values,): counts of the whole, with a sum above 0.
        is_marker: shape (n_values,): values without a place in the order (missing, suppressed),
            at distance 1 from all others; v counts the rest.

    Source: Li, Li & Venkatasubramanian, ICDE 2007, section 4: Σ |F_class − F_whole| / (v − 1)
        over the distribution functions F.
    """
    marker = np.zeros(counts.n_values, np.bool_) if is_marker is None else is_marker
    steps = max(int((~marker).sum()) - 1, 1)
    ordered = _ranked(counts.without(marker), marker)
    line_reference = reference[~marker]
    whole = int(reference.sum())
    line = _line_costs(ordered, line_reference, whole, counts.totals)
    # What a class has too much and too little of the markers: each unit of it travels 1.
    beside = counts.without(~marker)
    surplus = excess(beside, reference, whole, counts.totals)
    more = segment_sums(np.maximum(surplus, 0), beside.starts)
    largest = int(counts.totals.max(initial=0))
    totals = wide(counts.totals, whole, largest)
    net = whole * wide(beside.totals, whole, largest) - totals * int(reference[marker].sum())
    uneven = np.flatnonzero(net != 0)
    if len(uneven):
        line[uneven] = _unbalanced(ordered, uneven, counts.totals, np.cumsum(line_reference), whole)
    moved = np.maximum(more, more - net).astype(object)
    return Ratios(line + steps * moved, _denominators(counts, reference, steps))


def _surplus(counts: Counts, reference: NDArray[np.int64]) -> Integers:
    """The sum of the positive excesses of each class, shape (c,)."""
    return segment_sums(np.maximum(excess(counts, reference), 0), counts.starts)


def _denominators(counts: Counts, reference: NDArray[np.int64], factor: int) -> Integers:
    """`factor` · N · n of each class, shape (c,), Python integers; 1 for an empty one."""
    product = counts.totals.astype(object) * (factor * int(reference.sum()))
    return np.where(counts.totals > 0, product, 1)


def _lifted(reference: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Counts of the nodes above the values, by node number."""
    lifted = np.zeros(int(nodes.max(initial=-1)) + 1, np.int64)
    np.add.at(lifted, nodes, reference)
    return lifted


def _merged(
    lower: Counts, nodes: NDArray[np.int64], above: NDArray[np.int64]
) -> tuple[Counts, NDArray[np.int64]]:
    """Counts by the nodes one level higher, and the place of each triplet's parent among them."""
    parent_of = np.zeros(int(nodes.max(initial=-1)) + 1, np.int64)
    parent_of[nodes] = above
    n_parents = int(above.max(initial=-1)) + 1
    keys, parents = np.unique(
        lower.classes * np.int64(n_parents) + parent_of[lower.values], return_inverse=True
    )
    sums = np.zeros(len(keys), np.int64)
    np.add.at(sums, parents, lower.counts)
    return from_triplets(keys // n_parents, keys % n_parents, sums, len(lower), n_parents), parents


def _ranked(counts: Counts, is_marker: NDArray[np.bool_]) -> Counts:
    """Counts without markers, their values numbered anew without gaps."""
    ranks = np.cumsum(~is_marker) - 1
    n_values = int((~is_marker).sum())
    return from_triplets(counts.classes, ranks[counts.values], counts.counts, len(counts), n_values)


def _line_costs(
    counts: Counts, reference: NDArray[np.int64], whole: int, totals: NDArray[np.int64]
) -> Integers:
    """Σ_i |N·P_i − n·Q_i| over all but the last value; P, Q cumulated; shape (c,), Python integers.

    Between two values of a class P is constant and Q ascends: one binary search finds where the
    sign changes, and prefix sums of Q do the rest, so the cost is O(m log v), not O(c·v).
    """
    upto = np.cumsum(reference)
    prefix = np.concatenate((np.zeros(1, np.int64), np.cumsum(upto)))
    last = max(counts.n_values - 1, 0)
    running = np.cumsum(counts.counts)
    before = np.concatenate((np.zeros(1, np.int64), running))[counts.starts[:-1]]
    own = running - before[counts.classes]
    left = np.minimum(counts.values, last)
    right = np.full(len(left), last, np.int64)
    follows = counts.classes[1:] == counts.classes[:-1]
    right[:-1][follows] = left[1:][follows]
    quotient = (wide(own, whole, int(totals.max(initial=0))) * whole) // totals[counts.classes]
    turn = np.searchsorted(upto, quotient.astype(np.int64), side="right")
    turn = np.clip(turn, left, right)
    above = segment_sums(own * (2 * turn - left - right), counts.starts)
    below = segment_sums(prefix[left] + prefix[right] - 2 * prefix[turn], counts.starts)
    heads = np.full(len(counts), last, np.int64)
    filled = np.diff(counts.starts) > 0
    heads[filled] = left[counts.starts[:-1][filled]]
    below = below + prefix[heads]
    line: Integers = above.astype(object) * whole + totals.astype(object) * below.astype(object)
    return line


def _unbalanced(
    ordered: Counts,
    places: NDArray[np.int64],
    totals: NDArray[np.int64],
    upto: NDArray[np.int64],
    whole: int,
) -> Integers:
    """`unbalanced_cost` of some classes, shape (p,), Python integers; compiled where it pays."""
    largest = int(totals.max(initial=0))
    steps = len(places) * len(upto)
    if steps > _WORTH_COMPILING and len(upto) * whole * largest < _LARGEST:
        from distanon.kernels.unbalanced import unbalanced_costs

        found = unbalanced_costs(
            places, ordered.starts, ordered.values, ordered.counts, totals, upto, whole
        )
        return np.asarray(found.astype(object))
    costs = np.empty(len(places), object)
    wide_upto = wide(upto, whole, largest)
    for at, place in enumerate(places):
        span = slice(ordered.starts[place], ordered.starts[place + 1])
        own = np.zeros(len(upto), np.int64)
        own[ordered.values[span]] = ordered.counts[span]
        gaps = whole * wide(np.cumsum(own), whole, largest) - int(totals[place]) * wide_upto
        costs[at] = unbalanced_cost([int(gap) for gap in gaps])
    return costs


def unbalanced_cost(gaps: list[int]) -> int:
    """What moving along the order costs where markers take up (or give) the difference.

    Args:
        gaps: N·P_i − n·Q_i for each ordered value; the last one is the difference δ.

    Returns:
        The least Σ |gap_i − r_i| over the r that ascend from 0 to δ: r_i is what has left the
        line for the markers up to i, at distance 1 each, which is counted elsewhere.

    Source: isotonic regression in the L1 norm with one heap (slope trick).
    """
    if gaps and gaps[-1] < 0:
        gaps = [-gap for gap in gaps]
    cost = 0
    heap: list[int] = []
    for gap in gaps[:-1]:
        inside = min(max(gap, 0), gaps[-1])
        cost += abs(gap - inside)
        top = -heappushpop(heap, -inside) if heap else inside
        if top > inside:
            cost += top - inside
            heappush(heap, -inside)
        else:
            heappush(heap, -top)
    return cost
