"""The perturbed graph: the problem is set up, searched, and its best solution published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from distanon.data.graph_release import GraphRelease
from distanon.data.unchanged_edges import refuse_unchanged
from distanon.errors import InfeasibleError
from distanon.kernels.counts import exact
from distanon.methods.base import Context
from distanon.methods.kmfc_gwo.bounds import Bounds, bounds, refuse_budget
from distanon.methods.kmfc_gwo.candidates import enumerate_candidates
from distanon.methods.kmfc_gwo.clustered import Work, released_nodes
from distanon.methods.kmfc_gwo.floor import Floored, floored
from distanon.methods.kmfc_gwo.objective import Objective, Shares
from distanon.methods.kmfc_gwo.pricing import cheapest_groups
from distanon.methods.kmfc_gwo.problem import Problem, Solution, edited_pairs
from distanon.methods.kmfc_gwo.search import Found, SearchSettings, search
from distanon.methods.kmfc_gwo.targets import (
    DegreeGroups,
    classes_of,
    degree_groups,
    level_starts,
)
from distanon.promises.base import Promise
from distanon.promises.link_confidence import LinkConfidence

if TYPE_CHECKING:
    from distanon.methods.kmfc_gwo.method import ClusteredSearch

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_MOST, _PER_EDIT, _FEWEST = 1_500_000, 32, 10_000


def perturb(
    method: ClusteredSearch, work: Work, promises: Mapping[str, Promise], context: Context
) -> GraphRelease:
    """Searches for the edits and makes them.

    Raises:
        InfeasibleError: the budget is below the bound, or no solution within it was found.
    """
    published = work.values
    if "attributes" in method.knowledge:
        published = work.agreed[work.labels]
    class_of = _classes(method, work, published)
    knows = "degree" in method.knowledge
    least = work.least
    linked = promises.get("link_confidence")
    limit = exact(linked.at_most) if isinstance(linked, LinkConfidence) else None
    limits = bounds(
        work.dataset.graph, work.labels, class_of, least, work.columns, limit, knows_degree=knows
    )
    by_clusters = method.degree_groups == "clusters"
    refuse_budget(limits, method.edit_budget, work.dataset.graph.edges, by_clusters=by_clusters)
    problem, base = _problem(method, work, published, class_of, limits, context)
    problem = replace(problem, link_limit=limit)
    shared = context.crew.put(problem)
    settings = SearchSettings(
        method.optimizer,
        method.transfer,
        method.wolves,
        method.iterations,
        context.checkpoint_every,
    )
    found = search(problem, shared, settings, context)
    _refuse(method, problem, found)
    return _release(work, published, problem, base, found, limits)


def _classes(method: ClusteredSearch, work: Work, published: Floats) -> Integers:
    """What the intruder tells apart without degrees."""
    if method.knowledge == "cluster":
        return work.labels
    if method.knowledge == "degree":
        return np.zeros(len(work.dataset), np.int64)
    return classes_of(published)


def _problem(
    method: ClusteredSearch,
    work: Work,
    published: Floats,
    class_of: Integers,
    limits: Bounds,
    context: Context,
) -> tuple[Problem, Floored]:
    graph = work.dataset.graph
    groups = None
    if "degree" in method.knowledge:
        groups = _groups(method, work, class_of, limits, context)
    base = _with_floor(method, work, groups, context)
    kept = np.concatenate([base.removed, base.added])
    none = np.zeros(len(work.dataset), np.int64)
    listed = enumerate_candidates(
        base.graph,
        groups if groups is not None else DegreeGroups(none, none[:1, None], none[:1] + 1),
        work.labels,
        _most(method, limits) if groups is not None else 0,
        kept,
    )
    columns = len(work.dataset.schema.published)
    shares = Shares(
        method.w_G, method.w_A, method.w_C, method.w_edges, method.w_attributes, method.w_degree
    )
    objective = Objective.of(
        graph,
        work.labels,
        work.space,
        (work.values, published),
        columns,
        method.edge_weight,
        shares,
    )
    weights, scatter = objective.pair_costs(listed.inc.ends.astype(np.int64), listed.inc.sign)
    signs = np.repeat(np.array([-1, 1], np.int8), [len(base.removed), len(base.added)])
    floor_weight, floor_scatter = objective.pair_costs(kept, signs)
    options = np.zeros((1, 1), np.int64) if groups is None else groups.options
    problem = Problem(
        base.graph,
        kept,
        (float(floor_weight.sum()), float(floor_scatter.sum()), len(kept)),
        class_of,
        groups,
        level_starts(class_of, options, none if groups is None else groups.group_of),
        work.least,
        listed,
        weights,
        scatter,
        work.columns,
        objective,
        int(method.edit_budget * graph.edges),
        method.constraints,
        method.decoys,
    )
    return problem, base


def _groups(
    method: ClusteredSearch, work: Work, class_of: Integers, limits: Bounds, context: Context
) -> DegreeGroups:
    """Who gets one degree; of least difference where moved edges serve most nodes anyway."""
    graph, rule = work.dataset.graph, method.degree_groups
    if rule == "classes" and method.edge_floor is None:
        most = _most(method, limits)
        return cheapest_groups(graph, work.labels, class_of, work.least, most, context.crew)
    return degree_groups(graph.degrees(), work.labels, class_of, work.least, rule)


def _with_floor(
    method: ClusteredSearch, work: Work, groups: DegreeGroups | None, context: Context
) -> Floored:
    graph = work.dataset.graph
    if method.edge_floor is None:
        none = np.empty((0, 2), np.int64)
        return Floored(graph, none, none)
    want = None
    if groups is not None:
        level = groups.chosen(np.zeros(len(groups.sizes), np.int64), graph.degrees())
        want = level[groups.group_of] - graph.degrees()
    generator = context.streams.generator("kmfc edge floor")
    return floored(graph, method.edge_floor, work.labels, want, generator)


def _most(method: ClusteredSearch, limits: Bounds) -> int:
    if method.candidates != "auto":
        return method.candidates
    return min(_MOST, max(_FEWEST, _PER_EDIT * limits.edges))


def _refuse(method: ClusteredSearch, problem: Problem, found: Found) -> None:
    """Refuses a search that ended without a solution.

    Raises:
        InfeasibleError: what is left open, and what would help.
    """
    solution: Solution = found.best.extra
    failing = sum(change.failing for change in solution.cells)
    if solution.open_units:
        raise InfeasibleError(
            f"method.k {method.k}: the search left {solution.open_units} degrees unshared; raise "
            "`candidates` or `iterations`, or lower k"
        )
    if solution.open_links:
        raise InfeasibleError(
            f"promises.link_confidence: {solution.open_links} edges stay above it; raise at_most, "
            "or raise k"
        )
    if failing:
        raise InfeasibleError(
            f"promises.t_closeness, l_diversity: {failing} classes can't keep them with the "
            "changes that were found; raise t or k, or lower l"
        )
    if solution.edits > problem.budget:
        share = solution.edits / max(1, problem.objective.graph.edges)
        raise InfeasibleError(
            f"method.edit_budget {method.edit_budget:g}: the best solution that was found edits "
            f"{share:.4f} of the edges; allow that many, or lower k"
        )
    if method.unchanged_edges == "refuse":
        refuse_unchanged(
            solution.edits,
            problem.objective.graph.edges,
            "ask for edits that move edges in any case: edge_floor: {kind: mates, share: 0.1}",
        )


def _release(
    work: Work,
    published: Floats,
    problem: Problem,
    base: Floored,
    found: Found,
    limits: Bounds,
) -> GraphRelease:
    removed, added = edited_pairs(problem, found.best)
    graph = base.graph.edited(removed, added)
    solution: Solution = found.best.extra
    before = work.dataset.graph.pairs()
    both = int(graph.has(before).sum())
    table = released_nodes(work, published, solution.cells)
    is_other = ~_same(published, work.values)
    told = {}
    if work.coarse is not None:
        is_label = work.coarse.are_labels(published)
        told = {"quasi_identifier_cells_generalized": int(np.count_nonzero(is_label))}
        is_other &= ~is_label
    edits = {
        "edges_removed": len(before) - both,
        "edges_added": graph.edges - both,
        "edges_moved_by_floor": len(base.removed),
        "quasi_identifier_cells_changed": int(np.count_nonzero(is_other)),
        **told,
        "sensitive_cells_changed": sum(len(change.nodes) for change in solution.cells),
        "sensitive_cells_decoys": sum(change.decoys for change in solution.cells),
        "clusters": work.clusters.count,
        "candidates": len(problem.candidates),
        "candidates_dropped": problem.candidates.dropped,
        "edit_bound": limits.edges,
        "edit_bound_free_of_clusters": limits.edges_free,
        "edit_bound_of_links": limits.links,
    }
    loss_g, loss_a, error = solution.losses
    private = {
        "objective": found.best.fitness[-1],
        "objective_course": [one[-1] for one in found.course],
        "greedy_objective": found.start[-1],
        "IL_G": loss_g,
        "IL_A": loss_a,
        "CE": error,
        "edits_over_bound": solution.edits / limits.edges if limits.edges else None,
        "edits_over_free_bound": solution.edits / limits.edges_free if limits.edges_free else None,
        "sensitive_cell_bound": limits.cells,
        "cluster_sizes": work.clusters.sizes,
        "wolf_bytes": int(found.best.genome.nbytes),
    }
    return GraphRelease(
        graph,
        table,
        work.schema,
        np.arange(len(work.dataset)),
        work.labels,
        counts=edits,
        private=private,
    )


def _same(first: Floats, second: Floats) -> NDArray[np.bool_]:
    result: NDArray[np.bool_] = (first == second) | (np.isnan(first) & np.isnan(second))
    return result
