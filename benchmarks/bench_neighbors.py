"""Exact k-neighborhoods against scipy's cKDTree: queries per CPU second, one thread.

Ours finds the neighborhoods of every record with all ties; the peer, which has no notion of ties,
gets the same queries. Distances are compared: the k-th must agree.

    python benchmarks/bench_neighbors.py [--quick] [--json]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable

from distanon.runtime.pinning import pin

pin()  # one thread for both, before numpy is imported

import numpy as np  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from rows import Row, Sheet, times_more  # noqa: E402
from scipy.spatial import cKDTree  # noqa: E402

from distanon.data.builtin import path_of  # noqa: E402
from distanon.kernels.neighbors import NeighborIndex, distinct  # noqa: E402

ROUNDS = 3


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
    name = f"{name}, k = {k}, queries / CPU s"
    return times_more(name, "scipy cKDTree", count / own, count / other, goal)


def main() -> int:
    """Prints the rows; 1 when one misses its goal."""
    parser = argparse.ArgumentParser(description="exact neighborhoods against scipy's cKDTree")
    parser.add_argument("--quick", action="store_true", help="k = 10 alone")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    arguments = parser.parse_args()
    sizes = (10,) if arguments.quick else (10, 30)
    sheet = Sheet(arguments.json)
    for name, goal in (("magic", 1.0), ("poker-hand", 2.0)):
        matrix = scaled(name)
        for k in sizes:
            sheet.add(compare(name, matrix, k, goal))
    return sheet.status()


if __name__ == "__main__":
    sys.exit(main())
