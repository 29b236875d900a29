"""One job of each of the three methods, large enough that work dominates, with its input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import neighbor_tables
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench_kmfc_gwo_scale import written as written_graph

_PART = 1_000_000  # rows of an input's file
LABEL = "class"
SEED = 20_240_115


@dataclass(frozen=True)
class Job:
    """A job, whose spec names its input by an absolute path.

    Attributes:
        name: of the method and the size, for rows.
        spec: with output and private prefix in the folder that it runs in.
    """

    name: str
    spec: Mapping[str, Any]

    def on(self, workers: int) -> dict[str, Any]:
        """The spec with so many workers."""
        return {**self.spec, "runtime": {"workers": workers}}


def dptpe(records: int, folder: Path) -> Job:
    """DPTPE on a mixture of a hundred clouds in eight columns."""
    matrix = neighbor_tables.mixture(records, 8)
    table = pa.table({f"x{place}": column for place, column in enumerate(matrix.T)})
    place = _written(table, folder / f"mixture-{records}")
    table_input = {"path": place, "default_role": "quasi_identifier"}
    return _job(
        f"dptpe, {records:,} records × 8", "dptpe", {"table": table_input}, {"name": "dptpe"}
    )


def reconstruction(records: int, generations: int, folder: Path) -> Job:
    """Reconstruction of the same mixture, with a class that its columns tell in four of five."""
    matrix = neighbor_tables.mixture(records, 8)
    rng = np.random.default_rng(3)
    told = (matrix[:, 0] + matrix[:, 1] * matrix[:, 2] > matrix[:, 3]) ^ (rng.random(records) < 0.2)
    table = pa.table({f"x{place}": column for place, column in enumerate(matrix.T)})
    table = table.append_column(LABEL, pa.array(np.where(told, "yes", "no")))
    place = _written(table, folder / f"classes-{records}")
    table_input = {
        "path": place,
        "default_role": "quasi_identifier",
        "columns": {LABEL: "sensitive"},
    }
    method = {"name": "reconstruction", "generations": generations, "patience": generations or 1}
    name = f"reconstruction, {records:,} records × 8, {generations} generations of 40"
    return _job(name, "reconstruction", {"table": table_input}, method)


def kmfc_gwo(nodes: int, wolves: int, iterations: int, folder: Path) -> Job:
    """KMFC-GWO on a generated graph."""
    graph = written_graph(nodes, folder / f"graph-{nodes}")
    method = {"name": "kmfc_gwo", "l": 2, "t": 0.5, "wolves": wolves, "iterations": iterations}
    name = f"kmfc_gwo, {nodes:,} nodes, {5 * nodes:,} edges, {wolves} wolves × {iterations}"
    return _job(name, "kmfc-gwo", {"graph": graph}, method)


JOBS: Mapping[str, Callable[[Path], Job]] = {
    "dptpe": lambda folder: dptpe(4_300_000, folder),
    "kmfc_gwo": lambda folder: kmfc_gwo(75_000, 30, 100, folder),
    "reconstruction": lambda folder: reconstruction(800_000, 150, folder),
}
"""Those whose strong scaling is measured.

A generation of a reconstruction costs its driver, the crew and the wait for its last child 8 to 18
milliseconds, whatever its size: of 400,000 records it takes 220 to be made by one worker, and two
are 1.6 times as fast; of 800,000 three times that.
"""
CHECKED: Mapping[str, Callable[[Path], Job]] = {
    "dptpe": lambda folder: dptpe(400_000, folder),
    "kmfc_gwo": lambda folder: kmfc_gwo(5_000, 60, 10, folder),
    "reconstruction": lambda folder: reconstruction(50_000, 10, folder),
}
"""Those whose work is done again by workers that sleep."""
QUICK: Mapping[str, Callable[[Path], Job]] = {
    "dptpe": lambda folder: dptpe(200_000, folder),
    "kmfc_gwo": lambda folder: kmfc_gwo(5_000, 10, 3, folder),
    "reconstruction": lambda folder: reconstruction(50_000, 5, folder),
}


def _job(name: str, short: str, data: Mapping[str, Any], method: Mapping[str, Any]) -> Job:
    spec = {
        "spec": 1,
        "name": short,
        "seed": SEED,
        "input": dict(data),
        "method": {"k": 10, **method},
        "measure": {"budget_s": 0.001, "draws": 1},
        "output": "./release/",
        "private": "./private/",
    }
    return Job(name, spec)


def _written(table: pa.Table, folder: Path) -> str:
    """Writes a table in parts; the folder."""
    if not folder.is_dir():
        folder.mkdir(parents=True)
        for number, start in enumerate(range(0, table.num_rows, _PART)):
            pq.write_table(table.slice(start, _PART), folder / f"part-{number:03d}.parquet")
    return f"{folder}/"
