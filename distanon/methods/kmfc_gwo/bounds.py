"""What no solution can go below, and what is refused before anything starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from distanon.data.graph import Graph
from distanon.errors import InfeasibleError
from distanon.kernels import cell_repair
from distanon.kernels.cell_repair import Rules
from distanon.kernels.degree_groups import medians_cost
from distanon.methods.kmfc_gwo.cells import SensitiveColumn
from distanon.methods.kmfc_gwo.links import excess_links
from distanon.methods.kmfc_gwo.pricing import lower_bound

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Least numbers of edits and of changed cells.

    Attributes:
        edges: edits when each of the given clusters gets one degree: Σ|degree − median| / 2, or
            `edges_free` where that is more.
        edges_free: edits when the nodes of a class may be grouped freely by degree; an edge that
            is removed must be there (`pricing.lower_bound`). It bounds every solution.
        links: edges above the link confidence that is promised, in the classes without degrees;
            each goes with one edit at least.
        cells: sensitive cells that the clusters need to be diverse and close enough, each
            cluster by itself.

    Source: methods.md, C4.
    """

    edges: int
    edges_free: int
    links: int
    cells: int


def bounds(
    graph: Graph,
    labels: Integers,
    class_of: Integers,
    least: int,
    columns: Sequence[SensitiveColumn],
    link_limit: Fraction | None,
    *,
    knows_degree: bool,
) -> Bounds:
    """The bounds for these clusters and classes; integers, shape (n,) each."""
    edges = free = links = 0
    degrees = graph.degrees()
    if knows_degree:
        free = lower_bound(graph, class_of, least)
        edges = max(free, -(-medians_cost(degrees, labels) // 2))
    if link_limit is not None and not knows_degree:
        links = excess_links(graph.pairs(), class_of, link_limit)
    cells = sum(_least_changes(column, labels) for column in columns)
    return Bounds(edges, free, links, cells)


def _least_changes(column: SensitiveColumn, labels: Integers) -> int:
    """One change adds one value at most, and moves 1/s of a cluster of s by 1 at most."""
    many = column.n_values
    n_clusters = int(labels.max(initial=-1)) + 1
    counts = np.zeros((n_clusters, many), np.int64)
    np.add.at(counts, (labels, column.original), 1)
    rules = column.rules
    needed = np.zeros(n_clusters, np.int64)
    if rules.diversity != cell_repair.NONE:
        known = (counts[:, ~rules.is_marker] > 0).sum(axis=1)
        needed = np.maximum(needed, int(np.ceil(rules.l)) - known)
    if rules.distance != cell_repair.NONE:
        whole = counts.sum(axis=0) / max(len(labels), 1)
        for place, own in enumerate(counts):
            over = cell_repair.distance(rules, own, whole) - rules.t
            needed[place] = max(needed[place], int(np.ceil(over * own.sum() - 1e-6)))
    return int(np.maximum(needed, 0).sum())


def least_size(k: int, nodes: int, columns: Sequence[SensitiveColumn]) -> int:
    """The size from which on a class can keep L and T: K where that is enough.

    Raises:
        InfeasibleError: no size from K to 2K − 1 can; says what would work.
    """
    size = k
    for column in columns:
        rules = column.rules
        if rules.diversity != cell_repair.NONE:
            _refuse_values(column, k, nodes)
            size = max(size, int(np.ceil(rules.l)))
        if rules.distance != cell_repair.NONE:
            size = max(size, _close_size(column, k, nodes))
    return size


def _refuse_values(column: SensitiveColumn, k: int, nodes: int) -> None:
    rules = column.rules
    present = np.bincount(column.original, minlength=column.n_values) > 0
    values = int(np.count_nonzero(present & ~rules.is_marker))
    if values < rules.l:
        works = f"the largest l that works is {values}" if values > 1 else "no l works"
        raise InfeasibleError(
            f"promises.l_diversity: l is {rules.l:g}, but column {column.name!r} has {values} "
            f"different values; {works}"
        )
    largest = min(2 * k - 1, nodes)
    if largest < rules.l:
        raise InfeasibleError(
            f"promises.l_diversity: l is {rules.l:g}, but classes have {largest} nodes at most; "
            f"the smallest k that works is {int(np.ceil((rules.l + 1) / 2))}"
        )


def _close_size(column: SensitiveColumn, k: int, nodes: int) -> int:
    """The least size from K to 2K − 1 from which on all sizes can be close enough."""
    tally = np.bincount(column.original, minlength=column.n_values)
    rules, t = column.rules, column.rules.t + 1e-12
    sizes = range(k, min(2 * k, nodes + 1))
    reachable = [closest(rules, tally, size) <= t for size in sizes]
    if not any(reachable):
        least = min(closest(rules, tally, size) for size in sizes)
        works = next((s for s in range(k, nodes + 1) if closest(rules, tally, s) <= t), nodes)
        raise InfeasibleError(
            f"promises.t_closeness: t is {rules.t:g}, but no class of {k} to {sizes[-1]} nodes "
            f"comes nearer than {least:.4g} to the distribution of column {column.name!r}; the "
            f"smallest t that works is {np.ceil(least * 1e4) / 1e4:g}, the smallest k {works}"
        )
    while not reachable[-1]:
        reachable.pop()
    far = [place for place, near in enumerate(reachable) if not near]
    return k + (far[-1] + 1 if far else 0)


def closest(rules: Rules, tally: Integers, size: int) -> float:
    """What no class of a size is nearer to the whole than, by the distance that the rules name.

    Args:
        rules: of the attribute; its distance is not NONE.
        tally: int64, shape (V,): how often each value occurs in the whole.
        size: s.

    Returns:
        equal: b(s). ordered: the least Σ |F_class − F_whole| / (v − 1), since a distribution
        function may be rounded value by value; with markers b(s) / (v − 1). hierarchical: the
        mean over heights of b(s) among the ancestors there, each by itself.
    """
    if rules.distance == cell_repair.EQUAL:
        return nearest(tally, size)
    if rules.distance == cell_repair.HIERARCHICAL:
        heights = rules.ancestors[:-1]
        lifted = [np.bincount(one, weights=tally).astype(np.int64) for one in heights]
        return sum(nearest(one, size) for one in lifted) / max(1, len(heights))
    steps = max(1, int(np.count_nonzero(tally[rules.order])) - 1)
    if tally[rules.is_marker].any():
        return nearest(tally, size) / steps
    whole = int(tally.sum())
    rest = np.cumsum(tally[rules.order]) * size % whole
    return float(np.minimum(rest, whole - rest).sum() / (whole * size * steps))


def nearest(tally: Integers, size: int) -> float:
    """b(s): the least total variation between any class of a size and the whole.

    Args:
        tally: int64, shape (V,): how often each value occurs in the whole.
        size: s.

    Returns:
        That of the composition by largest remainders, which is the nearest one.
    """
    whole = int(tally.sum())
    floors, rest = np.divmod(tally * size, whole)
    missing = size - int(floors.sum())
    counts = floors.copy()
    counts[np.argsort(-rest, kind="stable")[:missing]] += 1
    return float(np.abs(counts * whole - tally * size).sum() / (2 * whole * size))


def refuse_degrees(graph: Graph, k: int, budget: float) -> None:
    """Refuses a budget that is too small whatever the classes: k nodes of each degree need more.

    Raises:
        InfeasibleError: with the smallest budget that may work.
    """
    bound = lower_bound(graph, np.zeros(graph.nodes, np.int64), k)
    if bound > budget * graph.edges:
        smallest = np.ceil(bound / max(graph.edges, 1) * 1e4) / 1e4
        raise InfeasibleError(
            f"method.edit_budget {budget:g}: {k} nodes of each degree need at least {bound} edits "
            f"of {graph.edges} edges; the smallest budget that may work is {smallest:g}"
        )


def refuse_budget(found: Bounds, budget: float, edges: int, *, by_clusters: bool) -> None:
    """Refuses a budget of edits below the bound.

    Raises:
        InfeasibleError: with the smallest budget that may work.
    """
    bound = max(found.edges if by_clusters else found.edges_free, found.links)
    if bound > budget * edges:
        smallest = np.ceil(bound / max(edges, 1) * 1e4) / 1e4
        raise InfeasibleError(
            f"method.edit_budget {budget:g}: the promises need at least {bound} edits of "
            f"{edges} edges ({found.edges} with one degree for each of the clusters that were "
            f"found); the smallest budget that may work is {smallest:g}"
        )
