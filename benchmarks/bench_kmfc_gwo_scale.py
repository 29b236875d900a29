"""KMFC-GWO on large graphs: github, and generated ones of up to 300,000 nodes.

Jobs run as a user runs them, on Ray with all CPUs; times end at `_SUCCESS`, memory is that of
all processes together. How cost grows is told by the exponent of N, fitted over the sizes:
that of CPU seconds, since wall times depend on what else runs.

    python benchmarks/bench_kmfc_gwo_scale.py [--quick] [--full] [--json]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from distanon.runtime.pinning import pin

pin()

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from measured_jobs import GRAPHS, Finished, graph_spec, needed, run  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from rows import Row, Sheet, at_least, at_most, shown  # noqa: E402

SIZES = (18_750, 75_000, 300_000)
DEGREE = 10  # mean, so 1.5 million edges at 300,000 nodes
GIGA = 1e9


def joined(nodes: int, seed: int) -> NDArray[np.int64]:
    """A generated graph: communities of about a hundred, hubs, a mean degree of ten.

    Returns:
        int64, shape (5 · nodes, 2): pairs, smaller node first, sorted, each once.
    """
    rng = np.random.default_rng(seed)
    wanted = nodes * DEGREE // 2
    weight = np.minimum(rng.pareto(2.0, nodes) + 1.0, 100.0)
    total = np.cumsum(weight)
    keys = np.empty(0, np.int64)
    while len(keys) < wanted:
        missing = 2 * (wanted - len(keys)) + 16
        first = np.searchsorted(total, rng.random(missing) * total[-1])
        anyone = np.searchsorted(total, rng.random(missing) * total[-1])
        community = first // 100 * 100 + rng.integers(0, 100, missing)
        second = np.where(rng.random(missing) < 0.7, np.minimum(community, nodes - 1), anyone)
        low, high = np.minimum(first, second), np.maximum(first, second)
        fresh = (low * nodes + high)[low < high]
        keys = np.unique(np.concatenate([keys, fresh]))
        if len(keys) > wanted:
            keys = np.sort(rng.choice(keys, wanted, replace=False))
    return np.stack([keys // nodes, keys % nodes], axis=1)


def written(nodes: int, folder: Path) -> dict[str, Any]:
    """Writes a generated graph; the `input.graph` that reads it.

    A region is common in its communities; who looks at the release may know it, but not the group.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(nodes + 1)
    pairs = joined(nodes, nodes)
    region = np.where(rng.random(nodes) < 0.9, np.arange(nodes) // 100 % 20, rng.integers(20))
    table = pa.table(
        {
            "node": np.arange(nodes),
            "region": pa.array([f"r{value}" for value in region]),
            "group": pa.array([f"g{value}" for value in rng.geometric(0.4, nodes).clip(max=8)]),
        }
    )
    pq.write_table(table, folder / "nodes.parquet")
    edges = pa.table({"source": pairs[:, 0], "target": pairs[:, 1]})
    pq.write_table(edges, folder / "edges.parquet")
    return {
        "edges": str(folder / "edges.parquet"),
        "nodes": str(folder / "nodes.parquet"),
        "columns": {
            "region": {"role": "quasi_identifier", "type": "nominal"},
            "group": {"role": "sensitive", "type": "nominal"},
        },
    }


def generated(nodes: int, wolves: int, iterations: int, folder: Path) -> Finished:
    """One job on a generated graph, hardly measured after its `_SUCCESS`."""
    method = {"l": 2, "t": 0.5, "wolves": wolves, "iterations": iterations}
    spec = graph_spec("generated", written(nodes, folder / "input"), method)
    return run(spec | {"measure": {"budget_s": 0.001, "draws": 1}}, folder / "run")


def github(iterations: int, folder: Path) -> list[Row]:
    """The graph of github from its files to a verified release."""
    graph = {
        "edges": str(GRAPHS / "github" / "git_edges.csv"),
        "nodes": str(GRAPHS / "github" / "git_target.csv"),
        "columns": {"ml_target": {"role": "sensitive", "type": "nominal"}},
    }
    method = {"l": 2, "t": 0.5, "knowledge": "degree", "iterations": iterations}
    spec = graph_spec("github", graph, method) | {"measure": {"budget_s": 60, "draws": 1}}
    done = run(spec, folder)
    name = f"github, K = 10, 30 wolves × {iterations}"
    return [
        at_least(f"{name}: all promises verified", float(done.kept), 1.0),
        at_most(f"{name}: minutes to _SUCCESS", done.seconds / 60, 15.0),
        shown(f"{name}: CPU s of all processes", done.cpu),
        at_most(f"{name}: peak memory of all processes, GB", done.peak / GIGA, 8.0),
        shown(f"{name}: IL_G", done.facts["IL_G"]),
        shown(f"{name}: IL_G / lower bound", done.facts["edits_over_bound"] or 0.0),
        *_phases(name, done),
    ]


def _phases(name: str, done: Finished) -> list[Row]:
    return [
        shown(f"{name}: clusters, s", done.phases.get("fuzzy clusters", 0.0)),
        shown(f"{name}: wolves, s", done.phases.get("wolves", 0.0)),
    ]


def growth(sheet: Sheet, sizes: Sequence[int], wolves: int, iterations: int, room: Path) -> None:
    """The same job on graphs of growing size, and the exponents of N."""
    table: list[tuple[float, ...]] = []
    settings = f"{wolves} wolves × {iterations}"
    for nodes in sizes:
        done = generated(nodes, wolves, iterations, room / str(nodes))
        name = f"generated, {nodes:,} nodes, {nodes * DEGREE // 2:,} edges, {settings}"
        clusters, wolf = (done.phases.get(key, 0.0) for key in ("fuzzy clusters", "wolves"))
        table.append((done.cpu, float(done.peak), done.seconds, clusters, wolf))
        sheet.add(
            at_least(f"{name}: all promises verified", float(done.kept), 1.0),
            shown(f"{name}: seconds to _SUCCESS", done.seconds),
            shown(f"{name}: CPU s of all processes", done.cpu),
            *_phases(name, done),
            shown(f"{name}: peak memory, GB", done.peak / GIGA),
            shown(f"{name}: IL_G / lower bound", done.facts["edits_over_bound"] or 0.0),
        )
    columns = np.log(np.maximum(np.array(table), 1e-3))
    walls = [f"{name}, wall time" for name in ("job to _SUCCESS", "clusters", "wolves")]
    named = ("CPU seconds of all processes", "peak memory", *walls)
    for name, column in zip(named, columns.T, strict=True):
        slope = np.polyfit(np.log(np.array(sizes)), column, 1)[0]
        sheet.add(shown(f"exponent of N: {name}", float(slope)))


def main() -> int:
    """Prints the rows; 1 when one misses its goal."""
    parser = argparse.ArgumentParser(description="social graphs of growing size")
    parser.add_argument("--quick", action="store_true", help="few iterations, smaller graphs")
    parser.add_argument("--full", action="store_true", help="100 iterations at every size too")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    arguments = parser.parse_args()
    needed("github")
    sheet = Sheet(arguments.json)
    sizes = (9_375, 18_750) if arguments.quick else SIZES
    effort = (4, 2) if arguments.quick else (8, 5)
    with tempfile.TemporaryDirectory() as place:
        room = Path(place)
        growth(sheet, sizes, *effort, room)
        sheet.add(*github(2 if arguments.quick else 100, room / "github"))
        if arguments.full:
            done = generated(SIZES[-1], 30, 100, room / "full")
            name = "generated, 300,000 nodes, 30 wolves × 100"
            sheet.add(
                at_least(f"{name}: all promises verified", float(done.kept), 1.0),
                shown(f"{name}: minutes to _SUCCESS", done.seconds / 60),
                shown(f"{name}: peak memory, GB", done.peak / GIGA),
            )
    return sheet.status()


if __name__ == "__main__":
    sys.exit(main())
