"""Exact k-neighborhoods against scipy's cKDTree: queries per CPU second, one thread.

Ours finds the neighborhoods of every record with all ties; the peer, which has no notion of ties,
gets the same queries. Distances are compared: the k-th must agree.

    python benchmarks/bench_neighbors.py [--quick] [--json]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

from distanon.runtime.pinning import pin

pin()  # one thread for both, before numpy is imported

import numpy as np  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from scipy.spatial import cKDTree  # noqa: E402

from distanon.data.builtin import path_of  # noqa: E402
from distanon.kernels.neighbors import NeighborIndex, distinct  # noqa: E402

ROUNDS = 3


@dataclass(frozen=True)
class Row:
    """One line of the result; rates in queries per CPU second."""

    name: str
    peer: str
    ours: float
    theirs: float
    ratio: float
    goal: float
    ok: bool


def scaled(name: str) -> NDArray[np.float64]:
    """The numeric columns of a built-in data set, each in 0 … 1."""
    table = pq.read_table(path_of(name))
    columns = [column.to_numpy() for column in table.columns if column.type != "string"]
    matrix = np.column_stack(columns[:10]).astype(np.float64)
    return np.asarray((matrix - matrix.min(0)) / np.ptp(matrix, axis=0))


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time of one call."""
    started = time.process_time()
    work()
    return time.process_time() - started


def compare(name: str, matrix: NDArray[np.float64], k: int, goal: float) -> Row:
    """Both engines on all records, interleaved, medians of the rounds."""
    points = distinct(matrix)

    def ours() -> NDArray[np.float64]:
        index = NeighborIndex.build(points)
        return index.neighborhoods(0, len(points), k, "include").radius

    def theirs() -> NDArray[np.float64]:
        distances = np.asarray(cKDTree(matrix).query(matrix, k + 1)[0])
        return distances[:, k]

    if not np.allclose(ours()[points.point_of], theirs(), rtol=1e-9, atol=1e-12):
        raise SystemExit(f"{name}: the engines disagree on the k-th distance")
    times = [(cpu_seconds(ours), cpu_seconds(theirs)) for _ in range(ROUNDS)]
    own, other = (statistics.median(column) for column in zip(*times, strict=True))
    count = len(matrix)
    return Row(
        f"{name}, k = {k}",
        "scipy cKDTree",
        round(count / own),
        round(count / other),
        round(other / own, 2),
        goal,
        other / own >= goal,
    )


def main() -> int:
    """Prints the rows; 1 when one misses its goal."""
    parser = argparse.ArgumentParser(description="exact neighborhoods against scipy's cKDTree")
    parser.add_argument("--quick", action="store_true", help="k = 10 alone")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    arguments = parser.parse_args()
    sizes = (10,) if arguments.quick else (10, 30)
    rows = [
        compare(name, scaled(name), k, goal)
        for name, goal in (("magic", 1.0), ("poker-hand", 2.0))
        for k in sizes
    ]
    for row in rows:
        if arguments.json:
            print(json.dumps(asdict(row)))
        else:
            print(
                f"{row.name:24} {row.ours:>9,} / s   {row.peer} {row.theirs:>9,} / s   "
                f"{row.ratio:.2f} × (goal {row.goal:g}) {'ok' if row.ok else 'MISSED'}"
            )
    return 0 if all(row.ok for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
