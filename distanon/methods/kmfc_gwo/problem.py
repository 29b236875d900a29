"""The problem that optimizers solve: genomes over candidate edits, repaired and evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from distanon.data.graph import Graph
from distanon.data.streams import Streams
from distanon.kernels.degree_repair import Levels, repair
from distanon.methods.kmfc_gwo.candidates import Candidates
from distanon.methods.kmfc_gwo.cells import CellChanges, SensitiveColumn, changes, grouped
from distanon.methods.kmfc_gwo.finish import Finish
from distanon.methods.kmfc_gwo.links import thinned
from distanon.methods.kmfc_gwo.objective import Objective
from distanon.methods.kmfc_gwo.targets import CHOICE_BITS, DegreeGroups
from distanon.optimizers.population import Genome, Individual, Optimizer

Integers = NDArray[np.int64]
Constraints = Literal["rules", "penalty"]

_PENALTY = 10.0  # of one violation, beside an objective of about 1
_MOST_FINISHED = 400  # units that are settled pair by pair; more are left as a violation
_COMPARED = 1 << 20  # comparisons of pairs that are made at once


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """All that an evaluation reads; put once, read by every worker.

    Attributes:
        graph: with the edge floor's edits, before the search.
        floor: int64, shape (p, 2): pairs that the edge floor edited; edits touch them only where
            a promise could not be kept otherwise.
        floor_costs: of those: weight in IL_G, scatter, number.
        class_of: int64, shape (n,): what an intruder tells apart without degrees.
        groups: who gets one degree; None: degrees are not known to the intruder.
        level_starts: of each class in the table of degrees, `targets.level_starts`.
        least: K.
        candidates: edge edits.
        weights: float64, shape (c,): each edit's part of Σ|G − G′|.
        scatter: float64, shape (c,): each edit's part of the clustering error's numerator.
        columns: sensitive attributes.
        objective: F.
        budget: edits at most.
        constraints: rules: Deb's; penalty: violations are added to the objective.
        with_decoys: whether cells are changed in classes that need none.
        link_limit: λ of link confidence; None: not promised.
    """

    graph: Graph
    floor: Integers
    floor_costs: tuple[float, float, int]
    class_of: Integers
    groups: DegreeGroups | None
    level_starts: Integers
    least: int
    candidates: Candidates
    weights: NDArray[np.float64]
    scatter: NDArray[np.float64]
    columns: tuple[SensitiveColumn, ...]
    objective: Objective
    budget: int
    constraints: Constraints
    with_decoys: bool
    link_limit: Fraction | None = None

    @property
    def bits(self) -> int:
        """Length of a genome: edits, three bits a group for its degree, one a sensitive cell."""
        n_groups = 0 if self.groups is None else len(self.groups.sizes)
        return len(self.candidates) + CHOICE_BITS * n_groups + self.graph.nodes * len(self.columns)


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """A genome made whole.

    Attributes:
        pairs: int64, shape (p, 2): edited pairs beside those that the genome's bits name, sorted.
        cells: the changes of each sensitive attribute.
        edits: pairs that differ from the original graph.
        open_units: degrees that could not be settled, in units.
        open_links: edges above the link confidence that is promised.
        losses: IL_G, IL_A, CE.
    """

    pairs: Integers
    cells: tuple[CellChanges, ...]
    edits: int
    open_units: int
    open_links: int
    losses: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Step:
    """One wolf's work in one iteration.

    Attributes:
        guides: whom it follows; none: its genome is completed as it is.
        individual: where it stands.
        progress: in (0, 1].
        optimizer: how it moves; None: it stays.
        streams: of the run.
        key: iteration and wolf.
        skip: how freely the repair passes over cheap edits.
    """

    guides: Sequence[Individual]
    individual: Individual
    progress: float
    optimizer: Optimizer | None
    streams: Streams
    key: tuple[int, int]
    skip: float


def take_steps(problem: Problem, steps: Sequence[Step]) -> list[Individual]:
    """Several steps, one after another."""
    return [take_step(problem, step) for step in steps]


def take_step(problem: Problem, step: Step) -> Individual:
    """Moves a wolf, completes its solution and evaluates it."""
    generator = step.streams.generator("kmfc step", *step.key)
    genome = step.individual.genome
    if step.optimizer is not None:
        genome = step.optimizer.propose(step.guides, step.individual, step.progress, generator)
    return complete(problem, genome, generator, step.skip)


def complete(
    problem: Problem, genome: Genome, generator: np.random.Generator, skip: float
) -> Individual:
    """The nearest solution that keeps the promises, by repair and pruning, and its fitness.

    Args:
        problem: what is solved.
        genome: any bits.
        generator: of all that is drawn.
        skip: probability of passing over an edit in the first round, and how freely the order
            in which nodes are served departs from that of their need.
    """
    flags = np.unpackbits(genome)[: problem.bits].copy()
    count = len(problem.candidates)
    edges = flags[:count]
    final, pairs, left = _edges(problem, flags, edges, generator, skip)
    class_of = _classes(problem, final)
    pairs, links = _links(problem, edges, pairs, class_of, generator)
    classes = grouped(class_of)
    cells = []
    for place, column in enumerate(problem.columns):
        stop = len(flags) - problem.graph.nodes * (len(problem.columns) - place - 1)
        bits = flags[stop - problem.graph.nodes : stop]
        seed = int(generator.integers(2**62))
        if column.is_bound:
            found = changes(column, classes, bits, seed, with_decoys=problem.with_decoys)
        else:
            none = np.empty(0, np.int64)
            found = CellChanges(none, none, 0.0, 0, 0)
        bits[:] = 0
        bits[found.nodes[column.suggested[found.nodes] == found.values]] = 1
        cells.append(found)
    return _judged(problem, flags, edges, pairs, tuple(cells), final, (left, links))


def _edges(
    problem: Problem,
    flags: NDArray[np.uint8],
    edges: NDArray[np.uint8],
    generator: np.random.Generator,
    skip: float,
) -> tuple[Integers, Integers, int]:
    """Degrees, extra pairs and open units after the repair; `edges` is changed in place."""
    degrees = problem.graph.degrees()
    none = np.empty((0, 2), np.int64)
    if problem.groups is None:
        edges[:] = 0
        return degrees, none, 0
    groups, count = problem.groups, len(edges)
    many = CHOICE_BITS * len(groups.sizes)
    choices = flags[count : count + many].reshape(-1, CHOICE_BITS) @ np.array([4, 2, 1])
    level = groups.chosen(choices, degrees)[groups.group_of]
    want = level - degrees
    starts = problem.level_starts
    tally = np.bincount(starts[problem.class_of] + level, minlength=int(starts[-1]))
    levels = Levels(problem.class_of, starts, tally.astype(np.int64), problem.least)
    noise = np.exp(skip * generator.standard_normal(problem.graph.nodes))
    seed = int(generator.integers(2**62))
    repair(problem.candidates.inc, levels, edges, level, want, noise, skip, seed)
    pairs = none
    if 0 < np.abs(want).sum() <= _MOST_FINISHED:
        made = problem.candidates.inc.ends[edges > 0].astype(np.int64)
        kept = frozenset(map(tuple, problem.floor.tolist()))
        pairs = Finish(problem.graph, made, levels, level, want, kept).run()
    return level - want, pairs, int(np.abs(want).sum())


def _links(
    problem: Problem,
    edges: NDArray[np.uint8],
    pairs: Integers,
    class_of: Integers,
    generator: np.random.Generator,
) -> tuple[Integers, int]:
    """Extra pairs with those that link confidence needs, and edges still too many."""
    if problem.link_limit is None:
        return pairs, 0
    removed, added = _removed_added(problem, edges, pairs)
    kept = frozenset(map(tuple, problem.floor.tolist()))
    toggled, left = thinned(
        problem.graph.edited(removed, added),
        class_of,
        problem.link_limit,
        kept,
        generator,
        keeps_degrees=problem.groups is not None,
    )
    n = problem.graph.nodes
    keys: Integers = np.setxor1d(pairs[:, 0] * n + pairs[:, 1], toggled[:, 0] * n + toggled[:, 1])
    return np.stack([keys // n, keys % n], axis=1), left


def _classes(problem: Problem, degrees: Integers) -> Integers:
    """The classes that the release shows, numbered without gaps."""
    if problem.groups is None:
        return problem.class_of
    key = problem.class_of * (int(degrees.max(initial=0)) + 1) + degrees
    numbered: Integers = np.unique(key, return_inverse=True)[1].ravel()
    return numbered


def _judged(
    problem: Problem,
    flags: NDArray[np.uint8],
    edges: NDArray[np.uint8],
    pairs: Integers,
    cells: tuple[CellChanges, ...],
    degrees: Integers,
    left: tuple[int, int],
) -> Individual:
    """The individual with its losses: sums over its edits alone."""
    made = np.flatnonzero(edges)
    weight, scatter, number = problem.floor_costs
    weight += float(problem.weights[made].sum())
    scatter += float(problem.scatter[made].sum())
    number += len(made)
    objective = problem.objective
    if len(pairs):
        # A pair beside the candidates is a new edit, or takes one of them or of the floor back.
        taken = _among(pairs, problem.candidates.inc.ends[made].astype(np.int64), degrees)
        taken |= _among(pairs, problem.floor, degrees)
        sign = np.where(objective.graph.has(pairs), -1, 1).astype(np.int8)
        costs = objective.pair_costs(pairs, sign)
        turn = np.where(taken, -1, 1)
        weight += float((turn * costs[0]).sum())
        scatter += float((turn * costs[1]).sum())
        number += int(turn.sum())
    losses = (
        objective.graph_loss(weight),
        objective.attributes_loss(sum(change.loss for change in cells)),
        objective.clustering_error(scatter, degrees),
    )
    total = objective.total(*losses)
    over = max(0, number - problem.budget)
    violation = left[0] / 2 + left[1] + over + sum(change.failing for change in cells)
    fitness = (float(violation), total)
    if problem.constraints == "penalty":
        share = violation / max(1, problem.objective.graph.edges)
        fitness = (total + _PENALTY * share + (1.0 if violation else 0.0), total)
    solution = Solution(pairs, cells, number, *left, losses)
    return Individual(np.packbits(flags), fitness, solution)


def _among(pairs: Integers, others: Integers, degrees: Integers) -> NDArray[np.bool_]:
    """Which pairs stand among the others; a solution has few of these, so nothing is hashed."""
    n = len(degrees)
    wanted, known = (ends[:, 0] * n + ends[:, 1] for ends in (pairs, others))
    if len(wanted) * len(known) > _COMPARED:
        return np.isin(wanted, known)
    found: NDArray[np.bool_] = (wanted[:, None] == known).any(axis=1)
    return found


def edited_pairs(problem: Problem, individual: Individual) -> tuple[Integers, Integers]:
    """What a solution removes from and adds to `problem.graph`: int64, shape (p, 2) each."""
    solution: Solution = individual.extra
    edges = np.unpackbits(individual.genome)[: len(problem.candidates)]
    return _removed_added(problem, edges, solution.pairs)


def _removed_added(
    problem: Problem, edges: NDArray[np.uint8], pairs: Integers
) -> tuple[Integers, Integers]:
    """Edges that go and pairs that come, where `pairs` turns what the bits say."""
    made, n = problem.candidates.inc.ends[edges > 0].astype(np.int64), problem.graph.nodes
    first, second = (part[:, 0] * n + part[:, 1] for part in (made, pairs))
    keys: Integers = np.setxor1d(first, second)
    both = np.stack([keys // n, keys % n], axis=1)
    is_edge = problem.graph.has(both)
    return both[is_edge], both[~is_edge]
