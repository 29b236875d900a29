"""KMFC-GWO on ego-Facebook: the job and its losses, the wolves beside other searches, attacks.

Goals that are times are wall times of jobs on all CPUs; kernels are timed by CPU time. With
--full searches that are compared get 100 iterations each, else 10.

    python benchmarks/bench_kmfc_gwo.py [--quick] [--full] [--json]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from distanon.runtime.pinning import pin

pin()

import numpy as np  # noqa: E402
from dense_wolf import Dense  # noqa: E402
from ego_facebook import (  # noqa: E402
    NODES,
    SetUp,
    compared,
    context,
    floored,
    renumbered,
    searched,
    set_up,
    shape,
    spec_of,
)
from measured_jobs import needed, run  # noqa: E402
from rows import (  # noqa: E402
    Row,
    Sheet,
    at_least,
    at_most,
    beside,
    shown,
    times_less,
    times_more,
)

from distanon.data.schema import Schema  # noqa: E402
from distanon.data.streams import Streams  # noqa: E402
from distanon.kernels.percolation import percolate  # noqa: E402
from distanon.kernels.structural_loss import normalized_structural_loss  # noqa: E402
from distanon.methods import METHODS  # noqa: E402
from distanon.methods.base import GraphMethod  # noqa: E402
from distanon.methods.kmfc_gwo.clusters import ClusterSettings, find_clusters  # noqa: E402
from distanon.methods.kmfc_gwo.problem import (  # noqa: E402
    Problem,
    Step,
    _judged,
    edited_pairs,
    take_step,
    take_steps,
)
from distanon.methods.kmfc_gwo.search import OptimizerName, batched  # noqa: E402
from distanon.optimizers.population import Individual, random_genome  # noqa: E402
from distanon.runtime import crew  # noqa: E402
from distanon.runtime.crew import Crew, Shared  # noqa: E402
from distanon.runtime.settings import RuntimeSettings  # noqa: E402

SEED = 20_240_115
PACK = 30  # wolves of an iteration


@dataclass(frozen=True)
class Effort:
    """How long is searched, and how often."""

    iterations: int  # of the job
    compared: int  # of the searches that are compared
    wolves: int  # of these
    seeds: int
    steps: int  # that actors take


QUICK = Effort(5, 3, 8, 2, 40)
STANDARD = Effort(100, 10, 30, 5, 120)
FULL = Effort(100, 100, 30, 5, 240)


def cpu_seconds(work: Callable[[], object], rounds: int) -> float:
    """Median CPU time of a call."""
    times = []
    for _ in range(rounds):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return statistics.median(times)


def job(effort: Effort, folder: Path) -> list[Row]:
    """The job from its files to `_SUCCESS`."""
    done = run(spec_of({"wolves": 30, "iterations": effort.iterations}), folder)
    facts, name = done.facts, f"job, 30 wolves × {effort.iterations}"
    cells = done.counts["quasi_identifier_cells_changed"] / (2 * NODES)
    greedy = facts["greedy_objective"]
    return [
        at_least(f"{name}: all promises verified", float(done.kept), 1.0),
        at_most(f"{name}: minutes to _SUCCESS", done.seconds / 60, 3.0),
        shown(f"{name}: CPU s of all processes", done.cpu),
        at_most(f"{name}: peak memory of all processes, GB", done.peak / 1e9, 4.0),
        at_most(f"{name}: IL_G", facts["IL_G"], 0.09),
        at_most(f"{name}: IL_G / bound of its clusters", facts["edits_over_bound"], 1.25),
        at_most(f"{name}: IL_G / bound free of clusters", facts["edits_over_free_bound"], 1.25),
        at_least(f"{name}: average clustering", done.figures["topology.clustering"], 0.55),
        at_most(f"{name}: share of QI cells changed", cells, 0.03),
        times_less(f"{name}: F", "greedy", facts["objective"], greedy, 0.9999),
        at_most(f"{name}: one wolf, kB", facts["wolf_bytes"] / 1e3, 200.0),
        shown(f"{name}: IL_A", facts["IL_A"]),
        shown(f"{name}: CE", facts["CE"]),
    ]


def evaluation(given: SetUp) -> list[Row]:
    """One evaluation against the dense one, and a whole step with its repair."""
    problem, best = given.problem, searched(given.problem, "grey_wolf", 5, 1, SEED).best
    flags = np.unpackbits(best.genome)[: problem.bits]
    edges = flags[: len(problem.candidates)]
    degrees = problem.graph.edited(*edited_pairs(problem, best)).degrees()
    kept = best.extra

    def ours() -> Individual:
        left = (kept.open_units, kept.open_links)
        return _judged(problem, flags, edges, kept.pairs, kept.cells, degrees, left)

    dense = Dense.of(given, kept.cells)
    wolf = dense.wolf(given, best)
    values = ours().fitness[-1], dense.evaluate(wolf), best.fitness[-1]
    if not np.allclose(values, values[0], rtol=1e-9, atol=0.0):
        raise SystemExit(f"the evaluations disagree: {values}")
    own, other = cpu_seconds(ours, 51), cpu_seconds(lambda: dense.evaluate(wolf), 5)
    step = Step((), best, 1.0, None, Streams(SEED), (0, 0), 0.1)
    whole = cpu_seconds(lambda: take_step(problem, step), 9)
    return [
        times_more(
            "one evaluation of a wolf, / CPU s", "dense N × (N + M)", 1 / own, 1 / other, 100.0
        ),
        beside(
            "the same with repair and pruning, / CPU s", "dense, unrepaired", 1 / whole, 1 / other
        ),
    ]


def optimizers(given: SetUp, effort: Effort) -> list[Row]:
    """The wolves beside other searches: the same problem, first pack and number of evaluations."""
    names: tuple[OptimizerName, ...] = get_args(OptimizerName)
    items = [
        (name, seed, effort.wolves, effort.compared)
        for seed in range(effort.seeds)
        for name in names
    ]
    found: dict[str, list[float]] = {name: [] for name in names}
    for item, fitness in zip(items, compared(given.problem, items), strict=True):
        found[item[0]].append(fitness[-1] if not fitness[0] else float("inf"))
    middle = {name: statistics.median(values) for name, values in found.items()}
    spread = {name: max(values) - min(values) for name, values in found.items()}
    many = effort.wolves * (effort.compared + 1)
    label = f"median F of {effort.seeds} seeds, {many} evaluations, grey_wolf"
    rows = [times_less(label, "random", middle["grey_wolf"], middle["random"], 0.99999)]
    for name in ("firefly", "genetic"):
        allowed = (middle[name] + spread[name]) / middle[name]
        rows.append(times_less(label, name, middle["grey_wolf"], middle[name], allowed))
    return rows + [shown(f"spread of F, {name}", spread[name]) for name in names]


def floors(given: SetUp, effort: Effort) -> list[Row]:
    """A quarter of the edges moved to cluster mates, and to random nodes."""
    seeds = range(min(3, effort.seeds))
    items = [
        (kind, seed, effort.wolves, effort.compared)
        for seed in seeds
        for kind in ("mates", "random")
    ]
    found = floored(items)
    mates, other = (
        {key: statistics.fmean(one[key] for one in found[place::2]) for key in found[0]}
        for place in (0, 1)
    )
    closed = shape(given.dataset.graph)[1]
    name = f"floor mates 0.25, mean of {len(seeds)} seeds"
    return [
        at_least(f"{name}: all promises verified", mates["kept"], 1.0),
        at_most(f"{name}: IL_G", mates["IL_G"], 0.5),
        at_most(f"{name}: percolation recall, 16 seeds", mates["recall"], 0.15),
        shown(f"{name}: recall, matches revised", mates["revised"]),
        at_least(f"{name}: average clustering", mates["clustering"], 0.33),
        at_most(f"{name}: transitivity moved by", abs(mates["transitivity"] - closed), 0.06),
        at_most(f"{name}: fake-edge AUC, best predictor", mates["fake"], 0.8),
        beside("IL_G, mates", "random", mates["IL_G"], other["IL_G"]),
        beside("recall, mates", "original graph", mates["recall"], mates["unprotected"]),
        times_less("recall, mates", "random", mates["recall"], other["recall"], 0.9),
        times_more("clustering, mates", "random", mates["clustering"], other["clustering"], 1.1),
        times_less("fake-edge AUC, mates", "random", mates["fake"], other["fake"], 0.95),
    ]


def match(given: SetUp) -> Row:
    """One percolation match of the original with a release."""
    original, released = given.dataset.graph, given.release.graph
    if released is None:
        raise SystemExit("the release has no graph")
    shuffled, number = renumbered(released, SEED)
    hubs = np.argsort(-original.degrees(), kind="stable")[:16]
    seeds = np.stack([hubs, number[hubs]], axis=1)
    percolate(original, shuffled, seeds[:2])  # compiles
    spent = cpu_seconds(lambda: percolate(original, shuffled, seeds), 3)
    return at_most("one percolation match, CPU s", spent, 5.0)


def clusters(given: SetUp) -> Iterator[Row]:
    """Clusters by structure alone, and SaNGreeA's where the package has it."""
    bare = replace(given.dataset, nodes=None, schema=Schema(()))
    graph, settings = bare.graph, ClusterSettings(10, w_edges=1.0, w_attributes=0.0, w_degree=0.0)
    find_clusters(bare, None, settings, context(SEED))  # compiles
    started = time.process_time()
    labels = find_clusters(bare, None, settings, context(SEED)).labels
    spent = time.process_time() - started
    loss = normalized_structural_loss(graph.starts, graph.neighbors, labels)
    yield at_most("clusters by structure alone: NSIL", loss, 0.0235)
    yield shown("clusters by structure alone: CPU s", spent)
    peer = METHODS.get("sangreea")
    if peer is None or not issubclass(peer, GraphMethod):
        return
    method = peer.model_validate({"name": "sangreea", "k": 10})
    started = time.process_time()
    classes = method.release(bare, method.default_promises(), context(SEED)).classes
    theirs = time.process_time() - started
    if classes is not None:
        their_loss = normalized_structural_loss(graph.starts, graph.neighbors, classes)
        yield times_less("NSIL", "SaNGreeA", loss, their_loss, 0.99999)
        yield times_less("clustering, CPU s", "SaNGreeA", spent, theirs, 0.25)


def _rate(workers: Crew, shared: Shared, steps: list[Step]) -> float:
    """Steps a second, in packs whose last wolf is waited for, sent out as the search does."""
    started, done = time.perf_counter(), 0
    for first in range(0, len(steps), PACK):
        pack = batched(steps[first : first + PACK], workers.workers)
        done += sum(len(batch) for batch in workers.map(take_steps, pack, shared=shared))
    return done / (time.perf_counter() - started)


def actors(problem: Problem, effort: Effort) -> Row:
    """Wolf evaluations a second of two actors and of one: the medians of interleaved rounds.

    Not the best of them: on a shared machine one core has a lucky second more often than two.
    """
    streams = Streams(SEED)
    steps = []
    for place in range(effort.steps):
        genome = random_genome(problem.bits, 0.003, streams.generator("bench", place))
        start = Individual(genome, (np.inf,))
        steps.append(Step((), start, 1.0, None, streams, (0, place), 0.1))
    rates: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(5):
        for count, found in rates.items():
            with crew(RuntimeSettings(workers=count)) as workers:
                shared = workers.put(problem)
                _rate(workers, shared, steps[: 8 * count])  # starts and compiles
                found.extend(_rate(workers, shared, steps) for _ in range(3))
    one, two = statistics.median(rates[1]), statistics.median(rates[2])
    return times_more("wolf evaluations / s, two actors", "one actor", two, one, 1.7)


def main() -> int:
    """Prints the rows; 1 when one misses its goal."""
    parser = argparse.ArgumentParser(description="KMFC-GWO on ego-Facebook")
    parser.add_argument("--quick", action="store_true", help="few wolves, iterations and seeds")
    parser.add_argument("--full", action="store_true", help="compared searches of 100 iterations")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    arguments = parser.parse_args()
    needed("ego-facebook")
    effort = QUICK if arguments.quick else FULL if arguments.full else STANDARD
    sheet = Sheet(arguments.json)
    with tempfile.TemporaryDirectory() as place:
        sheet.add(*job(effort, Path(place)))
    given = set_up(SEED)
    sheet.add(*evaluation(given), match(given), *clusters(given))
    sheet.add(actors(given.problem, effort))
    sheet.add(*optimizers(given, effort), *floors(given, effort))
    return sheet.status()


if __name__ == "__main__":
    sys.exit(main())
