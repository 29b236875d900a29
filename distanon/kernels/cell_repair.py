"""Changes as few sensitive cells as it takes until every class is diverse and close enough."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

NONE, DISTINCT, ENTROPY, RECURSIVE = 0, 1, 2, 3
EQUAL, ORDERED, HIERARCHICAL = 1, 2, 3
_SLACK = 1e-9  # floats here must not call close enough what exact integers do not


class Rules(NamedTuple):
    """What is asked of one sensitive attribute with V values.

    Attributes:
        diversity: NONE, DISTINCT, ENTROPY or RECURSIVE.
        l: of l-diversity.
        c: of the recursive kind.
        distance: NONE, EQUAL, ORDERED or HIERARCHICAL: of t-closeness.
        t: of t-closeness.
        margin: a value that is added to a class has at least so many cells there.
        is_marker: bool, shape (V,): missing or suppressed.
        order: int64: the values that have a place in the order, lowest first.
        ancestors: int64, shape (H + 1, V): number of each value's ancestor at each height.
    """

    diversity: int
    l: float  # noqa: E741
    c: float
    distance: int
    t: float
    margin: int
    is_marker: NDArray[np.bool_]
    order: Integers
    ancestors: Integers


@njit(cache=True, nogil=True)
def satisfied(rules: Rules, counts: Integers, whole: Floats) -> bool:
    """Whether a class with these counts, shape (V,), keeps the rules; whole: shares of values."""
    return bool(_diverse(rules, counts) and distance(rules, counts, whole) <= rules.t)


@njit(cache=True, nogil=True)
def _diverse(rules: Rules, counts: Integers) -> bool:
    if rules.diversity == NONE:
        return True
    known = np.sort(counts[~rules.is_marker & (counts > 0)])[::-1]
    if rules.diversity == DISTINCT:
        return len(known) >= rules.l
    total = known.sum()
    if total == 0:
        return False
    if rules.diversity == ENTROPY:
        entropy = np.log(total) - (known * np.log(known)).sum() / total
        return bool(entropy >= np.log(rules.l) - 1e-13)
    tail = known[int(rules.l) - 1 :].sum()
    return bool(known[0] + _SLACK < rules.c * tail)


@njit(cache=True, nogil=True)
def distance(rules: Rules, counts: Integers, whole: Floats) -> float:
    """Earth mover's distance of a class to the whole, from above: at most 1e-9 too large.

    Ordered with markers is bounded by a plan that may be dearer than the best.
    """
    size = counts.sum()
    if rules.distance == NONE or size == 0:
        return 0.0
    gap = counts / size - whole
    if rules.distance == EQUAL:
        return float(np.abs(gap).sum() / 2 + _SLACK)
    if rules.distance == ORDERED:
        return _ordered(rules, gap, whole) + _SLACK
    height = len(rules.ancestors) - 1
    cost = 0.0
    positive, negative = np.maximum(gap, 0.0), np.maximum(-gap, 0.0)
    for level in range(1, height + 1):
        above_positive, above_negative = np.zeros(len(gap)), np.zeros(len(gap))
        for value in range(len(gap)):
            below = rules.ancestors[level - 1, value]
            above = rules.ancestors[level, value]
            above_positive[above] += positive[below]
            above_negative[above] += negative[below]
            positive[below] = 0.0
            negative[below] = 0.0
        moved = np.minimum(above_positive, above_negative)
        cost += level / height * moved.sum()
        positive, negative = above_positive - moved, above_negative - moved
    return cost + _SLACK


@njit(cache=True, nogil=True)
def _ordered(rules: Rules, gap: Floats, whole: Floats) -> float:
    beside, net, shown, line = 0.0, 0.0, 0, 0.0
    for value in range(len(gap)):
        if rules.is_marker[value]:
            beside += max(gap[value], 0.0)
            net += gap[value]
        elif whole[value] > 0:
            shown += 1
            line += whole[value]
    moved = max(beside, beside - net)
    cost, running, upto = 0.0, 0.0, 0.0
    for place in range(len(rules.order)):
        value = rules.order[place]
        if whole[value] > 0:
            running += gap[value]
            upto += whole[value]
            # What leaves the line for the markers leaves it evenly.
            cost += abs(running + net * upto / line)
    return float(moved + cost / max(shown - 1, 1))


@njit(cache=True, nogil=True)
def repair_cells(
    rules: Rules,
    whole: Floats,
    starts: Integers,
    members: Integers,
    original: Integers,
    suggested: Integers,
    bits: NDArray[np.uint8],
    seed: int,
) -> tuple[Integers, NDArray[np.bool_]]:
    """The cells of one attribute after the changes that each class needs.

    Suggested changes of classes that need some come first; then values that a class lacks most
    are drawn, and taken by cells of the value that it has too many of; then changes that the
    class does not need are taken back.

    Args:
        rules: what each class must keep.
        whole: float64, shape (V,): share of each value in the release.
        starts: int64, shape (classes + 1,): where the members of each class start.
        members: int64, shape (n,): nodes, class by class.
        original: int64, shape (n,): the value of each node.
        suggested: int64, shape (n,): the value that its bit stands for.
        bits: uint8, shape (n,).
        seed: of the draws, below 2⁶³.

    Returns:
        int64, shape (n,): the values; and bool, shape (classes,): classes that can't be repaired.
    """
    state = np.array([seed], np.uint64)
    result = original.copy()
    failing = np.zeros(len(starts) - 1, np.bool_)
    for q in range(len(starts) - 1):
        nodes = members[starts[q] : starts[q + 1]]
        counts = _counted(original, nodes, len(whole))
        if satisfied(rules, counts, whole):
            continue
        for node in nodes:
            if bits[node] and suggested[node] != original[node]:
                result[node] = suggested[node]
        counts = _counted(result, nodes, len(whole))
        steps = 0
        while not satisfied(rules, counts, whole) and steps < 4 * len(nodes):
            steps += 1
            added = _lacking(rules, counts, whole, state)
            if added < 0 or not _change(rules, nodes, original, result, counts, whole, added):
                break
        _widen(rules, nodes, original, result, counts, whole)
        _take_back(rules, nodes, original, result, counts, whole)
        failing[q] = not satisfied(rules, counts, whole)
    return result, failing


@njit(cache=True, nogil=True)
def failing_classes(
    rules: Rules, whole: Floats, starts: Integers, members: Integers, values: Integers
) -> int:
    """How many classes do not keep the rules; arguments as in `repair_cells`."""
    found = 0
    for q in range(len(starts) - 1):
        nodes = members[starts[q] : starts[q + 1]]
        if not satisfied(rules, _counted(values, nodes, len(whole)), whole):
            found += 1
    return found


@njit(cache=True, nogil=True)
def decoys(
    rules: Rules,
    whole: Floats,
    starts: Integers,
    members: Integers,
    original: Integers,
    values: Integers,
    cells: int,
    seed: int,
) -> int:
    """Changes cells in classes that needed none, so that changed classes tell nothing.

    Args:
        rules: what each class must still keep.
        whole: float64, shape (V,).
        starts: as in `repair_cells`.
        members: as in `repair_cells`.
        original: int64, shape (n,).
        values: int64, shape (n,): after the repair; changed in place.
        cells: how many to change.
        seed: of the draws, below 2⁶³.

    Returns:
        How many were changed: fewer where classes without a change run out.
    """
    state = np.array([seed], np.uint64)
    order = np.arange(len(starts) - 1)
    for i in range(len(order) - 1, 0, -1):
        j = int(_random(state) * (i + 1))
        order[i], order[j] = order[j], order[i]
    done = 0
    for q in order:
        if done >= cells:
            break
        nodes = members[starts[q] : starts[q + 1]]
        is_touched = False
        for node in nodes:
            is_touched = is_touched or values[node] != original[node]
        if is_touched:
            continue
        counts = _counted(values, nodes, len(whole))
        added = _drawn(np.where(rules.is_marker, 0.0, whole), state)
        wide = 0
        while wide < max(rules.margin, 1) and added >= 0:
            if not _change(rules, nodes, original, values, counts, whole, added):
                break
            wide += 1
        if wide < max(rules.margin, 1) or not satisfied(rules, counts, whole):
            for node in nodes:
                values[node] = original[node]
        else:
            done += wide
    return done


@njit(cache=True, nogil=True)
def _counted(values: Integers, nodes: Integers, n_values: int) -> Integers:
    counts = np.zeros(n_values, np.int64)
    for node in nodes:
        counts[values[node]] += 1
    return counts


@njit(cache=True, nogil=True)
def _lacking(rules: Rules, counts: Integers, whole: Floats, state: NDArray[np.uint64]) -> int:
    """A value that the class has too little of, drawn by its deficit; −1: there is none."""
    deficits = np.maximum(whole * counts.sum() - counts, 0.0)
    if not _diverse(rules, counts):
        usable = ~rules.is_marker & (whole > 0)
        if rules.diversity == DISTINCT:
            weights = np.where(usable & (counts == 0), whole, 0.0)
        else:
            weights = np.where(usable & (counts < counts[usable].max()), deficits, 0.0)
            if weights.sum() <= 0:
                least = counts[usable].min()
                weights = np.where(usable & (counts == least), whole, 0.0)
        return _drawn(weights, state)
    return _drawn(deficits, state)


@njit(cache=True, nogil=True)
def _drawn(weights: Floats, state: NDArray[np.uint64]) -> int:
    total = weights.sum()
    if total <= 0:
        return -1
    aim = _random(state) * total
    chosen = -1
    for value in range(len(weights)):
        if weights[value] > 0:
            chosen = value
            aim -= weights[value]
            if aim < 0:
                break
    return chosen


@njit(cache=True, nogil=True)
def _change(
    rules: Rules,
    nodes: Integers,
    original: Integers,
    values: Integers,
    counts: Integers,
    whole: Floats,
    added: int,
) -> bool:
    """Gives a value to a cell of the one that the class has too many of; its first such cell."""
    is_diverse = _diverse(rules, counts)
    best, most = -1, -np.inf
    for node in nodes:
        value = values[node]
        if value == added:
            continue
        if counts[value] == 1 and not rules.is_marker[value] and rules.diversity != NONE:
            continue
        surplus = counts[value] - (whole[value] * len(nodes) if is_diverse else 0.0)
        if value != original[node]:
            surplus -= 0.01
        if surplus > most:
            best, most = node, surplus
    if best < 0:
        return False
    counts[values[best]] -= 1
    counts[added] += 1
    values[best] = added
    return True


@njit(cache=True, nogil=True)
def _widen(
    rules: Rules,
    nodes: Integers,
    original: Integers,
    values: Integers,
    counts: Integers,
    whole: Floats,
) -> None:
    """A value that was added gets as many cells as the margin asks, if the class allows."""
    for value in range(len(whole)):
        if _added(nodes, original, values, value) == 0:
            continue
        while counts[value] < min(rules.margin, len(nodes) // 2):
            before = values[nodes].copy()
            if not _change(rules, nodes, original, values, counts, whole, value):
                break
            if not satisfied(rules, counts, whole):
                for place in range(len(nodes)):
                    values[nodes[place]] = before[place]
                counts[:] = _counted(values, nodes, len(whole))
                break


@njit(cache=True, nogil=True)
def _added(nodes: Integers, original: Integers, values: Integers, value: int) -> int:
    found = 0
    for node in nodes:
        if values[node] == value and original[node] != value:
            found += 1
    return found


@njit(cache=True, nogil=True)
def _take_back(
    rules: Rules,
    nodes: Integers,
    original: Integers,
    values: Integers,
    counts: Integers,
    whole: Floats,
) -> None:
    """Undoes changes that the class does not need; a value stays at the margin or has no change."""
    for node in nodes:
        new, old = values[node], original[node]
        if new == old:
            continue
        values[node] = old
        counts[new] -= 1
        counts[old] += 1
        is_wide = counts[new] >= rules.margin or _added(nodes, original, values, new) == 0
        if not (is_wide and satisfied(rules, counts, whole)):
            values[node] = new
            counts[new] += 1
            counts[old] -= 1


@njit(cache=True, nogil=True)
def _random(state: NDArray[np.uint64]) -> float:
    """The next number in [0, 1): SplitMix64 (Steele, Lea & Flood, OOPSLA 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    word = state[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    word ^= word >> np.uint64(31)
    return float(word >> np.uint64(11)) * 2.0**-53
