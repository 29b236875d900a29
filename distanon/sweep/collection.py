"""The figures of many runs in one tidy table, and side by side."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from distanon.errors import ResumeError, SpecError
from distanon.job.journal import HELD, RUN, Journal, by_prefix_alone
from distanon.storage.store import StorageSettings, Store
from distanon.sweep.records import SWEEP, RunRecord, read_sweep

SCHEMA = pa.schema(
    {
        "run": pa.string(),
        "method": pa.string(),
        "parameters": pa.string(),
        "seed": pa.string(),
        "status": pa.string(),
        "reason": pa.string(),
        "metric": pa.string(),
        "value": pa.float64(),
        "ci_low": pa.float64(),
        "ci_high": pa.float64(),
        "n": pa.int64(),
        "unit": pa.string(),
        "goal": pa.string(),
    }
)
"""Columns of the table: one row a figure; a run without figures is one row without a metric."""

_COMPARED = (
    "identity.highest",
    "neighborhoods.stability_owner",
    "clustering.kmeans_f",
    "classes.k",
    "topology.edges_kept",
    "topology.clustering",
)
_GOOD = ("done", "published", HELD)


@dataclass(frozen=True, slots=True)
class Collection:
    """What was gathered.

    Attributes:
        table: of `SCHEMA`, runs in the order of their ids; private, since it holds seeds.
    """

    table: pa.Table

    @property
    def runs(self) -> dict[str, str]:
        """The status of each run."""
        columns = (self.table.column(name).to_pylist() for name in ("run", "status"))
        return dict(zip(*columns, strict=True))

    def reasons(self) -> dict[str, str]:
        """Why runs have no result."""
        columns = (self.table.column(name).to_pylist() for name in ("run", "reason"))
        return {run: reason for run, reason in zip(*columns, strict=True) if reason}

    def compared(self) -> tuple[list[str], dict[str, list[float | None]]]:
        """The leading figures side by side.

        Returns:
            Their names, those that a run has; and for each run, and each method that was
            measured beside it ("RUN · METHOD"), its values in that order.
        """
        rows = [row for row in self.table.to_pylist() if row["metric"] in _COMPARED]
        names = [name for name in _COMPARED if any(row["metric"] == name for row in rows)]
        values: dict[str, dict[str, float | None]] = {}
        first: dict[str, str] = {}
        for row in rows:
            own = first.setdefault(row["run"], row["method"])
            label = row["run"] if row["method"] == own else f"{row['run']} · {row['method']}"
            values.setdefault(label, {})[row["metric"]] = row["value"]
        return names, {label: [of.get(name) for name in names] for label, of in values.items()}

    def write(self, path: str, storage: StorageSettings | None = None) -> None:
        """Writes the table as one parquet file.

        Raises:
            SpecError: the name does not end in .parquet.
            AccessError: it can't be written.
        """
        if not path.endswith(".parquet"):
            raise SpecError(f"--to {path}: expected a name that ends in .parquet")
        sink = io.BytesIO()
        pq.write_table(self.table, sink)
        folder, slash, name = path.rpartition("/")
        Store(folder if slash else ".", storage or StorageSettings()).write(name, sink.getvalue())


def collect(places: Sequence[str], storage: StorageSettings | None = None) -> Collection:
    """Gathers the figures of all runs whose private prefixes are these, or lie below them.

    Args:
        places: private prefixes, or folders of them.
        storage: how they are reached.

    Raises:
        ResumeError: there is no run.
        AccessError: a place can't be read.
    """
    settings = storage or StorageSettings()
    runs: dict[str, list[dict[str, Any]]] = {}
    expected: dict[str, RunRecord] = {}
    for place in places:
        top = Store(place, settings, private=True)
        with by_prefix_alone(place):
            names = sorted(entry.name for entry in top.list())
        for name in names:
            path = PurePosixPath(name)
            folder = top if str(path.parent) == "." else top.child(str(path.parent))
            if path.name == RUN:
                found = _rows(Journal(folder))
                runs[found[0]["run"]] = found
            elif path.name == SWEEP:
                sweep = read_sweep(folder)
                expected |= {run.run_id: run for run in sweep.runs} if sweep is not None else {}
    for run_id, record in expected.items():
        if run_id not in runs:
            runs[run_id] = [_without_figures(record)]
    if not runs:
        raise ResumeError(f"{', '.join(places)}: no run of distanon is here or below")
    rows = [row for run_id in sorted(runs) for row in runs[run_id]]
    return Collection(pa.Table.from_pylist(rows, SCHEMA))


def _rows(journal: Journal) -> list[dict[str, Any]]:
    """The rows of one run."""
    run = journal.read_run()
    method = run["spec"]["method"]
    status = run["status"] if not run.get("reason") or run["status"] in _GOOD else "failed"
    shared = {
        "run": run["run_id"],
        "method": method["name"],
        "parameters": _parameters(method),
        "seed": None if run.get("seed") is None else str(run["seed"]),
        "status": status,
        "reason": run.get("reason", "") if status not in _GOOD else "",
    }
    rows = list(_figures(journal, shared)) if status in _GOOD else []
    return rows or [shared]


def _figures(journal: Journal, shared: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for place, subject in enumerate(journal.read_metrics()):
        own = {} if not place else {"method": subject.label, "parameters": "{}"}
        for one in subject.measurements.values():
            yield {
                **shared,
                **own,
                "metric": one.name,
                "value": None if one.value != one.value else one.value,
                "ci_low": one.ci_low,
                "ci_high": one.ci_high,
                "n": one.n,
                "unit": one.unit,
                "goal": one.goal,
            }


def _without_figures(record: RunRecord) -> dict[str, Any]:
    """A run of a sweep that left nothing of its own."""
    return {
        "run": record.run_id,
        "method": str(record.changes.get("method.name", "")),
        "parameters": json.dumps(dict(record.changes), sort_keys=True),
        "seed": None,
        "status": record.status,
        "reason": record.reason,
    }


def _parameters(method: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in method.items() if name != "name"}
    return json.dumps(rest, sort_keys=True)
