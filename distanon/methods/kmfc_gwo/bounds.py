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
from distanon.kernels.degree_groups import grouped_by_degree, medians_cost
from distanon.methods.kmfc_gwo.cells import SensitiveColumn
from distanon.methods.kmfc_gwo.links import excess_links

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Least numbers of edits and of changed cells.

    Attributes:
        edges: edits when each of the given clusters gets one degree: Σ|degree − median| / 2.
        edges_free: edits when the nodes of a class may be grouped freely by degree; never above
            `edges`. It bounds every solution.
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
        edges = -(-medians_cost(degrees, labels) // 2)
        free = -(-medians_cost(degrees, grouped_by_degree(degrees, class_of, least)) // 2)
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
        if rules.distance == cell_repair.EQUAL:
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
    t = column.rules.t
    sizes = range(k, min(2 * k, nodes + 1))
    reachable = [nearest(tally, size) <= t + 1e-12 for size in sizes]
    if not any(reachable):
        least = min(nearest(tally, size) for size in sizes)
        works = next((s for s in range(k, nodes + 1) if nearest(tally, s) <= t + 1e-12), nodes)
        raise InfeasibleError(
            f"promises.t_closeness: t is {t:g}, but no class of {k} to {sizes[-1]} nodes comes "
            f"nearer than {least:.4g} to the distribution of column {column.name!r}; the smallest "
            f"t that works is {np.ceil(least * 1e4) / 1e4:g}, the smallest k {works}"
        )
    while not reachable[-1]:
        reachable.pop()
    far = [place for place, near in enumerate(reachable) if not near]
    return k + (far[-1] + 1 if far else 0)


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
