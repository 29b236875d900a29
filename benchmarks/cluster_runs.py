"""Runs that are submitted to a cluster: what the way there costs, and twenty of them at once."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from measured_jobs import MARK, ROOT, Watch
from rows import Row, at_least, at_most, beside, shown

sys.path.insert(0, str(ROOT / "cluster" / "local"))

from up import cluster

_FAILS = 600  # neighbors in a table of 517 records
_RUNS = 20
_GIGA = 1e9


@dataclass(frozen=True)
class Said:
    """How a command of distanon went.

    Attributes:
        seconds: until it ended.
        code: of its end.
        text: what it printed.
        told: what it printed to stderr.
    """

    seconds: float
    code: int
    text: str
    told: str


@contextlib.contextmanager
def small_cluster(mark: str) -> Iterator[None]:
    """A head, two workers of one CPU and S3, which this process and its commands reach.

    Args:
        mark: what all its processes have in their environment.
    """
    before = dict(os.environ)
    os.environ.update({MARK: mark, "PYTHONPATH": str(ROOT)})
    try:
        with cluster(workers=2, cpus=1) as environment:
            os.environ.update(environment)
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def distanon(*command: str) -> Said:
    """Runs a command of distanon."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "distanon", *command],
        capture_output=True,
        text=True,
        check=False,
    )
    return Said(time.perf_counter() - began, done.returncode, done.stdout, done.stderr)


def spec_of(name: str, **more: Any) -> dict[str, Any]:
    """A small job from and to S3."""
    return {
        "spec": 1,
        "name": name,
        "seed": 20_240_115,
        "input": {"table": {"path": "builtin:forest-fires", "default_role": "quasi_identifier"}},
        "method": {"name": "dptpe", "k": 5},
        "measure": {"draws": 1, "budget_s": 5},
        "runtime": {"workers": 1},
        "output": f"s3://releases/{name}/",
        "private": f"s3://private/{name}/",
        **more,
    }


def overhead(folder: Path) -> Iterator[Row]:
    """The same small job submitted and run here, the best of interleaved rounds."""
    rounds = 2
    found: dict[str, list[tuple[float, Mapping[str, Any]]]] = {"run": [], "submit": []}
    for number in range(rounds):
        for way, options in (("run", ["--quiet"]), ("submit", ["--wait", "--quiet"])):
            name = f"{way}-{number}"
            path = written(folder / f"{name}.yaml", spec_of(name))
            said = distanon(way, path, *options)
            if said.code:
                raise SystemExit(f"{name} failed: {said.told[-2000:]}")
            found[way].append((said.seconds, run_facts(name)))
    here, there = (min(found[way], key=lambda one: one[0]) for way in ("run", "submit"))
    yield beside(
        "small job, s from the command to its end: submitted", "run here", there[0], here[0]
    )
    for phase in here[1]["seconds"]:
        both = (one[1]["seconds"].get(phase, 0.0) for one in (there, here))
        yield beside(f"small job, phase {phase}, s: submitted", "run here", *both)
    for label, (seconds, facts) in (("submitted", there), ("run here", here)):
        inside = sum(facts["seconds"].values())
        yield shown(f"small job, s before, between and after its phases: {label}", seconds - inside)


def sweep(folder: Path, mark: str, at_once: int | None = None) -> Iterator[Row]:
    """Twenty runs submitted at once, one of which can't succeed."""
    from distanon.runtime.submission import JobServer
    from distanon.spec import parse

    name = "sweep" if at_once is None else f"sweep-of-{at_once}"
    neighbors = [*range(2, _RUNS + 1), _FAILS]
    spec = spec_of(name, sweep={"method.k": neighbors})
    path = written(folder / f"{name}.yaml", spec)
    label = f"sweep of {_RUNS} on 2 CPUs, {'' if at_once is None else f'{at_once} at once, '}"
    began = time.perf_counter()
    with Watch(mark) as watch:
        said = distanon("submit", path, *([] if at_once is None else ["--at-once", str(at_once)]))
        if said.code:
            raise SystemExit(f"{name} was not taken: {said.told[-2000:]}")
        answered = time.perf_counter() - began
        ended = JobServer(os.environ["DISTANON_ADDRESS"]).wait(parse(yaml.safe_dump(spec)).run_id)
        seconds = time.perf_counter() - began
    table = folder / f"{name}.parquet"
    collected = distanon("collect", f"s3://private/{name}/", "--to", str(table), "--json")
    if collected.code:
        raise SystemExit(f"{name} can't be collected: {collected.told[-2000:]}")
    yield from _outcome(label, json.loads(collected.text), table)
    yield at_most(
        f"{label}exit code of the sweep itself apart from that of its failed run",
        abs((ended.exit_code or 0) - 3),
        0,
    )
    yield shown(f"{label}s until the command answers", answered)
    yield shown(f"{label}s until all have ended", seconds)
    yield at_most(
        f"{label}GB of all processes at the peak, cluster and S3 included", watch.peak / _GIGA, 8.0
    )
    yield shown(f"{label}GB of the largest process", watch.largest / _GIGA)


def _outcome(label: str, collected: Mapping[str, Any], table: Path) -> Iterator[Row]:
    import pyarrow.parquet as pq

    rows = pq.read_table(table).to_pylist()
    held = {row["run"] for row in rows if row["status"] == "held" and row["metric"]}
    without = [row for row in rows if not row["metric"]]
    reasons = [row["reason"] for row in without if f"method.k {_FAILS}" in row["reason"]]
    yield at_least(f"{label}runs with results in the aggregate", len(held), _RUNS - 1)
    yield at_most(f"{label}rows of runs without a result", len(without), 1)
    yield at_least(f"{label}of them with the reason", len(reasons), 1)
    yield at_most(f"{label}runs that `collect` knows", len(collected["runs"]), _RUNS)


def run_facts(name: str) -> dict[str, Any]:
    """What run.json says of the one run below a private prefix."""
    from distanon.storage.store import Store

    return dict(json.loads(Store(f"s3://private/{name}/", private=True).read("run.json")))


def written(path: Path, spec: Mapping[str, Any]) -> str:
    """Writes a spec; its path."""
    path.write_text(yaml.safe_dump(dict(spec)))
    return str(path)


def submitted(folder: Path, parts: Sequence[str], *, full: bool) -> Iterator[Row]:
    """The parts that need a cluster, on one."""
    mark = uuid.uuid4().hex
    with small_cluster(mark):
        if "overhead" in parts:
            yield from overhead(folder)
        if "sweep" in parts:
            yield from sweep(folder, mark)
            if full:
                yield from sweep(folder, mark, _RUNS)
