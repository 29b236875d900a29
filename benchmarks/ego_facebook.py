"""ego-Facebook in the setting of all its benchmarks, and the work that processes share out."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from measured_jobs import GRAPHS, graph_spec
from numpy.typing import NDArray

from distanon import auditing
from distanon.attacks import link, percolation
from distanon.data.graph import Graph, GraphDataset
from distanon.data.graph_evidence import GraphEvidence
from distanon.data.graph_release import GraphRelease
from distanon.data.streams import Streams
from distanon.data.table import MemoryScratch
from distanon.job.graphs import evidence_in_memory, open_graph_dataset
from distanon.kernels.triangles import average_clustering, transitivity, triangles
from distanon.methods.base import Context
from distanon.methods.kmfc_gwo.method import KMFCGWO
from distanon.methods.kmfc_gwo.problem import Problem
from distanon.methods.kmfc_gwo.search import Found, OptimizerName, SearchSettings, search
from distanon.runtime.crew import SerialCrew, Shared
from distanon.spec import JobSpec

METHOD: Mapping[str, Any] = {"l": 2, "t": 0.5, "knowledge": "attributes+degree"}
NODES = 4039


def spec_of(method: Mapping[str, Any]) -> dict[str, Any]:
    """The job: K = 10, L = 2, T = 0.5 on education, gender and locale known."""
    folder = GRAPHS / "ego-facebook"
    known = {"role": "quasi_identifier", "type": "nominal"}
    graph = {
        "edges": str(folder / "facebook_combined.txt"),
        "nodes": str(folder / "nodes.csv"),
        "undeclared": "drop",
        "columns": {
            "gender": known,
            "locale": known,
            "education_type": {"role": "sensitive", "type": "nominal"},
        },
    }
    return graph_spec("ego-facebook", graph, {**METHOD, **method})


def opened() -> GraphDataset:
    """The graph with the three attributes."""
    return open_graph_dataset(JobSpec.model_validate(spec_of({})))[0]


def context(seed: int, crew: SerialCrew | None = None) -> Context:
    """Everything in this process."""
    return Context(crew or SerialCrew(), MemoryScratch(), Streams(seed))


class _Recorder(SerialCrew):
    """Keeps the problem that a method puts."""

    def __init__(self) -> None:
        super().__init__()
        self.problems: list[Problem] = []

    def put(self, value: Any) -> Shared:
        if isinstance(value, Problem):
            self.problems.append(value)
        return super().put(value)


@dataclass(frozen=True)
class SetUp:
    """One problem, with what it came from.

    Attributes:
        dataset: the original.
        release: a first solution, whose quasi-identifiers are those of all.
        problem: what optimizers solve.
    """

    dataset: GraphDataset
    release: GraphRelease
    problem: Problem


def set_up(seed: int) -> SetUp:
    """Forms the clusters and lists the candidates; hardly searches."""
    dataset, crew = opened(), _Recorder()
    method = KMFCGWO(k=10, wolves=5, iterations=0, edit_budget=1.0, **METHOD)
    release = method.release(dataset, method.default_promises(), context(seed, crew))
    return SetUp(dataset, release, crew.problems[0])


def searched(
    problem: Problem, optimizer: OptimizerName, wolves: int, iterations: int, seed: int
) -> Found:
    """One search in this process."""
    settings = SearchSettings(optimizer, "v", wolves, iterations, max(1, iterations))
    work = context(seed)
    return search(problem, work.crew.put(problem), settings, work)


_HELD: list[Problem] = []  # by each process of `compared`


def _hold(problem: Problem) -> None:
    _HELD.append(problem)


def _objective(item: tuple[OptimizerName, int, int, int]) -> tuple[float, ...]:
    optimizer, seed, wolves, iterations = item
    return searched(_HELD[0], optimizer, wolves, iterations, seed).best.fitness


def compared(
    problem: Problem, items: Iterable[tuple[OptimizerName, int, int, int]], processes: int = 2
) -> list[tuple[float, ...]]:
    """The best fitness of each search (optimizer, seed, wolves, iterations)."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, spawn, _hold, (problem,)) as pool:
        return list(pool.map(_objective, items))


def shape(graph: Graph) -> tuple[float, float]:
    """Average clustering coefficient and transitivity."""
    corners = triangles(graph.starts, graph.neighbors)
    return average_clustering(graph.degrees(), corners), transitivity(graph.degrees(), corners)


def _with_floor(item: tuple[str, int, int, int]) -> dict[str, float]:
    """A release with a quarter of the edges moved, attacked."""
    kind, seed, wolves, iterations = item
    dataset, work = opened(), context(seed)
    floor = {"kind": kind, "share": 0.25}
    settings = {"edge_floor": floor, "wolves": wolves, "iterations": iterations, **METHOD}
    method = KMFCGWO(k=10, **settings)
    promises = method.default_promises()
    release = method.release(dataset, promises, work)
    evidence = evidence_in_memory(release, dataset, method, work.streams)
    if not isinstance(evidence, GraphEvidence):
        raise TypeError("a perturbed release is a graph")
    verdicts = auditing.verify(promises, evidence, work.crew)
    figures = percolation.measure(evidence, crew=work.crew, streams=work.streams, seeds=(16,))
    figures += link.measure(evidence, streams=work.streams)
    clustering, closed = shape(evidence.graph)
    found = {figure.name: figure.value for figure in figures}
    fakes = [value for name, value in found.items() if name.startswith("link.fake.")]
    return {
        "kept": float(all(verdict.kept for verdict in verdicts)),
        "IL_G": release.private["IL_G"],
        "recall": found["structural.percolation_16"],
        "revised": found["structural.percolation_16.revised"],
        "unprotected": found["structural.percolation_16.identifiers_removed"],
        "clustering": clustering,
        "transitivity": closed,
        "fake": max(fakes),
    }


def floored(items: Iterable[tuple[str, int, int, int]]) -> list[dict[str, float]]:
    """What attacks find in releases with an edge floor (kind, seed, wolves, iterations)."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, spawn) as pool:
        return list(pool.map(_with_floor, items))


def renumbered(graph: Graph, seed: int) -> tuple[Graph, NDArray[np.int64]]:
    """The graph under random node numbers, and the new number of each node."""
    number = np.random.default_rng(seed).permutation(graph.nodes)
    return Graph.from_pairs(graph.nodes, number[graph.pairs()]), number
