"""Strict mode: every record is kept, and shows the tuple that represents its release group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from distanon.data.finishing import finishing
from distanon.data.release import Release
from distanon.data.table import Dataset
from distanon.kernels.neighbors import NeighborIndex, distinct
from distanon.kernels.partition import Partitioning, partition
from distanon.kernels.representatives import group_tuples
from distanon.methods.base import Context
from distanon.methods.baselines.whole_table import WholeTable
from distanon.methods.fitted import fitted_by_cuts
from distanon.methods.groups import publish_cells, value_cells
from distanon.methods.limits import limits_of, people_of
from distanon.methods.reconstruction.confidential import Confidential
from distanon.methods.reconstruction.fitness import Fitness
from distanon.methods.reconstruction.folds import Asking, Folds, list_length
from distanon.methods.reconstruction.masks import averages, masked
from distanon.methods.reconstruction.order import Axes, axes_of
from distanon.methods.reconstruction.pool import Pool
from distanon.methods.reconstruction.problem import Problem
from distanon.methods.reconstruction.search import Found, search
from distanon.optimizers.choice_genetic import ChoiceGenetic, choices
from distanon.promises.base import Promise

if TYPE_CHECKING:
    from distanon.methods.reconstruction.method import Reconstruction

Floats = NDArray[np.float64]

_NEAR = (0.05, 0.1, 0.2, 0.4)
"""Shares of the groups that draw a candidate in the first half of the first generation."""


def release_strict(
    method: Reconstruction, dataset: Dataset, promises: Mapping[str, Promise], context: Context
) -> Release:
    """Groups the records, searches one representative for each group and publishes them."""
    table = WholeTable.read(dataset)
    confidential = Confidential.of(dataset, method.bins)
    axes = axes_of(table.space, table.values, confidential, method.k, method.cuts)
    groups = partition(
        axes.values,
        axes.widths,
        method.k,
        limits=limits_of(dataset, promises),
        subjects=people_of(dataset, promises),
    )
    pool = _pool(method, table, axes, groups, context)
    problem, folds, asking = _problem(method, table, confidential, groups, pool, context)
    stop = asking.questions(folds.stop, context)
    found = search(problem, stop, _start(method, problem, context), method.settings, context)
    taken = pool.firsts + choices(found.genome, len(pool.firsts))
    counts = {
        "representatives": len(taken),
        "exact_tuple": int(pool.is_exact[taken].sum()),
        "candidates": len(pool.tuples),
    }
    cells = value_cells(table.space, pool.tuples[taken])
    return publish_cells(
        table,
        groups.labels,
        cells,
        np.ones(len(table.values), np.bool_),
        context,
        "reconstruction",
        counts,
        told(found),
        fitted_by_cuts(dataset.schema, table.space, cells, groups.cuts, axes.places),
    )


def told(found: Found) -> dict[str, Any]:
    """What the owner learns of a search."""
    return {
        "figure_at_first_search_fold": found.first[0],
        "figure_at_first_stop_fold": found.first[1],
        "figure_search_fold": found.last[0],
        "figure_stop_fold": found.last[1],
        "generations": found.generations,
        "chosen_generation": found.chosen_turn,
    }


def _pool(
    method: Reconstruction, table: WholeTable, axes: Axes, groups: Partitioning, context: Context
) -> Pool:
    space, values = table.space, table.values
    masks = partition(axes.values, axes.widths, method.mask_size, within=groups.labels)
    ends = finishing(space.attributes, space.domains, values, method.k, "clip", "grid")
    moved = masked(space, values, masks.labels, method.numeric, context.streams)
    kinds = averages(space, method.numeric)
    middle = group_tuples(values, groups.labels, len(groups), kinds)
    unknown = np.full_like(middle, np.nan)
    return Pool.of(
        ends.finish(unknown, middle)[0], ends.finish(values, moved)[0], groups.labels, values
    )


def _problem(
    method: Reconstruction,
    table: WholeTable,
    confidential: Confidential,
    groups: Partitioning,
    pool: Pool,
    context: Context,
) -> tuple[Problem, Folds, Asking]:
    folds = Folds.of(len(table.values), method.held_out, context.streams)
    index = NeighborIndex.build(distinct(table.space.embed(pool.tuples)))
    asking = Asking(
        table.space.embed(table.values),
        index,
        confidential,
        None,
        list_length(len(pool.tuples), len(pool.firsts), method.neighbors),
    )
    shared = method.fitness == "expected" and not confidential.is_number
    answer = confidential.shares if shared else confidential.answers
    answers = answer(groups.labels, len(groups), folds.answers)
    optimizer = ChoiceGenetic.over(pool.options, method.tournament, method.mutation, method.elite)
    fitness = Fitness(method.fitness, method.neighbors, confidential.is_number)
    problem = Problem(
        optimizer,
        asking.questions(folds.search, context),
        asking.candidates,
        answers[pool.group_of],
        pool.firsts,
        fitness,
    )
    return problem, folds, asking


def _start(method: Reconstruction, problem: Problem, context: Context) -> list[NDArray[np.uint8]]:
    """The averages, then choices ever farther from them, the second half at random."""
    optimizer = problem.optimizer
    if not isinstance(optimizer, ChoiceGenetic):
        raise TypeError("strict mode chooses one candidate for each group")
    genomes = []
    for place in range(method.individuals):
        generator = context.streams.generator("reconstruction first", place)
        share = 1.0 if 2 * place >= method.individuals else _NEAR[place % len(_NEAR)]
        genomes.append(optimizer.random(generator, share if place else 0.0))
    return genomes
