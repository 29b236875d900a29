"""The cluster: two workers against one, a model of many, what submission costs, a sweep of twenty.

    python benchmarks/bench_cluster.py [--part scaling|model|forecast|overhead|sweep …]
        [--method NAME …] [--rounds N] [--quick] [--full] [--json]

Times are wall times: run it on a machine that does nothing else. With --quick jobs are small and
without goals for their speed; with --full a sweep also has all its runs at once.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from distanon.runtime.pinning import pin

pin()

import cluster_forecasts  # noqa: E402
import cluster_jobs  # noqa: E402
import cluster_runs  # noqa: E402
import cluster_scaling  # noqa: E402
from measured_jobs import run  # noqa: E402
from rows import Row, Sheet  # noqa: E402

PARTS = ("scaling", "model", "forecast", "overhead", "sweep")


def scaling(methods: Sequence[str], rounds: int, folder: Path, *, quick: bool) -> Iterator[Row]:
    """Each method's job on one worker and on two."""
    for name in methods:
        run(cluster_jobs.QUICK[name](folder).on(1), folder / "first")  # compiles
        jobs = cluster_jobs.QUICK if quick else cluster_jobs.JOBS
        goal = {} if not quick else {"goal": None}
        yield from cluster_scaling.scaling(jobs[name](folder), rounds, folder, **goal)


def main() -> int:
    """Prints the rows; 1 when one misses its goal."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--part", action="append", choices=PARTS, help="by default all")
    parser.add_argument("--method", action="append", choices=list(cluster_jobs.JOBS))
    parser.add_argument("--rounds", type=int, default=2, help="of --part scaling")
    parser.add_argument("--quick", action="store_true", help="small jobs, no goals for speed")
    parser.add_argument("--full", action="store_true", help="also a sweep with all runs at once")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    asked = parser.parse_args()
    parts, sheet = asked.part or PARTS, Sheet(asked.json)
    methods = asked.method or list(cluster_jobs.JOBS)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if "scaling" in parts:
            for row in scaling(methods, asked.rounds, folder, quick=asked.quick):
                sheet.add(row)
        if "model" in parts:
            for row in cluster_forecasts.model(methods, folder, quick=asked.quick):
                sheet.add(row)
        if "forecast" in parts and not asked.quick:
            for row in cluster_forecasts.foretold(methods, folder):
                sheet.add(row)
        if {"overhead", "sweep"} & set(parts):
            for row in cluster_runs.submitted(folder, parts, full=asked.full):
                sheet.add(row)
    return sheet.status()


if __name__ == "__main__":
    sys.exit(main())
