"""Exact k-neighborhoods against other engines: queries per CPU second, one thread, float64.

Ours finds the neighborhoods of all records, with all ties (which no peer has a notion of). A peer
gets a seeded sample of the same queries, grown until it takes 5 s. Building an index is shared
out over all records, ours and theirs; finding equal records is not counted. Each peer's k-th
distances are compared with ours: one that is wrong is no peer.

    python benchmarks/bench_neighbors.py [--quick] [--full] [--json]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from distanon.runtime.pinning import pin

pin()  # one thread for all, before numpy is imported

import neighbor_peers  # noqa: E402
import neighbor_tables  # noqa: E402
import numpy as np  # noqa: E402
from peers.child import peak  # noqa: E402
from rows import Row, Sheet, at_least, at_most, shown, times_less, times_more  # noqa: E402

from distanon.kernels.candidates import Engine  # noqa: E402
from distanon.kernels.neighbors import NeighborIndex, distinct  # noqa: E402

GOALS = {
    "magic": 2.0,
    "poker 25k": 8.0,
    "poker 1.025M": 10.0,
    "mixture 1M x 8": 2.5,
    "mixture 1M x 16": 6.0,
    "mixture 200k x 50": 10.0,
}
QUICK = ("magic", "poker 25k")
ROUNDS = 3


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time of one call."""
    started = time.process_time()
    work()
    return time.process_time() - started


def warm_up() -> None:
    """Compiles, or loads what was compiled."""
    points = distinct(np.random.default_rng(0).random((3000, 3)))
    engines: tuple[Engine | None, ...] = (None, "tree", "brute")
    for engine in engines:
        NeighborIndex.build(points, engine).neighborhoods(0, len(points), 3, "include")


def compare(name: str, k: int, seconds: float) -> list[Row]:
    """Ours against scipy, and against the best of the others."""
    matrix = neighbor_tables.TABLES[name]()
    points = distinct(matrix)
    rounds = ROUNDS if len(matrix) < 100_000 else 1
    spent, radius = [], np.empty(len(points))
    for _ in range(rounds):
        started = time.process_time()
        index = NeighborIndex.build(points)
        for numbers, found in index.blocks(k, "include"):
            radius[numbers] = found.radius
        spent.append(time.process_time() - started)
    ours = len(points) / statistics.median(spent)
    expected = radius[points.point_of]
    rates = {
        peer: neighbor_peers.rate(peer, matrix, k, expected, seconds)
        for peer in neighbor_peers.PEERS
    }
    for peer, rate in rates.items():
        if rate is None:
            print(f"{name}: {peer} can't do this or is wrong", file=sys.stderr)
    label = f"{name} ({index.proposer.engine}), k = {k}, queries / CPU s"
    right = {peer: rate for peer, rate in rates.items() if rate is not None}
    scipy = right.pop("scipy cKDTree")
    best = max(right, key=lambda peer: right[peer])
    return [
        times_more(label, "scipy cKDTree", ours, scipy, GOALS[name]),
        times_more(label, f"best other: {best}", ours, right[best], 2.0),
    ]


def isotropic(width: int, n: int, k: int) -> Row:
    """The automatic choice against the better of tree and brute force, on part of the queries."""
    points = distinct(np.random.default_rng(width).normal(size=(n, width)))
    chosen = NeighborIndex.build(points).proposer.engine
    spent: dict[Engine, float] = {}
    engines: set[Engine] = {"tree", "brute", chosen}
    for engine in sorted(engines):
        index = NeighborIndex.build(points, engine)
        started = time.process_time()
        next(index.blocks(k, "include", size=8192))
        spent[engine] = time.process_time() - started
    others: tuple[Engine, Engine] = ("tree", "brute")
    best = min(others, key=lambda engine: spent[engine])
    name = f"isotropic {n} x {width}, k = {k}, CPU s for 8192 queries, chosen: {chosen}"
    return times_less(name, f"the better: {best}", spent[chosen], spent[best], 1.25)


def threads(n: int) -> Row:
    """Two threads against one, by the clock."""
    points = distinct(neighbor_tables.mixture(n, 8))
    index = NeighborIndex.build(points)
    spent: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(ROUNDS):
        for count, times in spent.items():
            started = time.perf_counter()
            index.neighborhoods(0, len(points), 10, "include", threads=count)
            times.append(time.perf_counter() - started)
    ratio = min(spent[1]) / min(spent[2])
    return at_least(f"mixture {n} x 8: two threads, times as fast as one", ratio, 1.7)


def peak_megabytes(n: int) -> float:
    """Peak memory above the state after imports, in a process of its own, in MB."""
    command = [sys.executable, __file__, "--memory", str(n)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout))


def measure_memory(n: int) -> None:
    """The child's part: the table itself, its distinct points, tree and blocks."""
    warm_up()
    before = peak()
    points = distinct(neighbor_tables.mixture(n, 8))
    for _, found in NeighborIndex.build(points).blocks(10, "include", size=16_384):
        found.sizes()
    print((peak() - before) / 1e6)


def main() -> int:
    """Prints the rows; 1 when one misses its goal."""
    parser = argparse.ArgumentParser(description="exact neighborhoods against other engines")
    parser.add_argument("--quick", action="store_true", help="the two small tables, k = 10")
    parser.add_argument("--full", action="store_true", help="also choice, threads and memory")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--only", action="append", help="one of the tables", choices=GOALS)
    parser.add_argument("--memory", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.memory:
        measure_memory(arguments.memory)
        return 0
    sheet = Sheet(arguments.json)
    sheet.add(shown("compiling, or loading what was compiled, CPU s", cpu_seconds(warm_up)))
    for name in arguments.only or (QUICK if arguments.quick else GOALS):
        for k in (10,) if arguments.quick else (10, 30):
            sheet.add(*compare(name, k, 1.0 if arguments.quick else 5.0))
    if arguments.full:
        for width in (10, 16, 24, 50):
            for k in (10, 30):
                sheet.add(isotropic(width, 200_000, k))
        sheet.add(threads(1_000_000))
        peak = peak_megabytes(1_000_000)
        sheet.add(at_most("mixture 1M x 8, k = 10, peak MB above imports", peak, 300.0))
    return sheet.status()


if __name__ == "__main__":
    sys.exit(main())
