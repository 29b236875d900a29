"""Jobs as a user runs them, with the time to `_SUCCESS` and the memory of all their processes."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import yaml

ROOT = Path(__file__).resolve().parents[1]
GRAPHS = Path(os.environ.get("DISTANON_DATA", ROOT.parent / "shared" / "data")) / "graphs"

MARK = "DISTANON_BENCHMARK_RUN"
_EVERY_S = 0.5


@dataclass(frozen=True)
class Finished:
    """What one job left.

    Attributes:
        seconds: from its start to `_SUCCESS`.
        phases: seconds of each phase.
        cpu: CPU seconds of all its processes, those after `_SUCCESS` included.
        peak: bytes that all its processes held together at the highest point.
        facts: private facts of the release, from the method.
        counts: public ones.
        kept: whether every promise was verified.
        figures: attacks and utility, by name.
        work: seconds that workers spent on items, by phase.
        largest: bytes that one process held of its own at the most, without the store of objects
            that Ray's processes share.
        shared: bytes of that store, at the most.
    """

    seconds: float
    phases: Mapping[str, float]
    cpu: float
    peak: int
    facts: Mapping[str, Any]
    counts: Mapping[str, int]
    kept: bool
    figures: Mapping[str, float]
    work: Mapping[str, float]
    largest: int = 0
    shared: int = 0


def needed(*names: str) -> None:
    """Ends the benchmark where a data set is not there.

    Raises:
        SystemExit: which, and where it was looked for.
    """
    for name in names:
        if not (GRAPHS / name).is_dir():
            raise SystemExit(f"{GRAPHS / name}: not there; set DISTANON_DATA")


def graph_spec(name: str, graph: Mapping[str, Any], method: Mapping[str, Any]) -> dict[str, Any]:
    """A job spec over a graph, its output and private prefix in the folder that it runs in."""
    return {
        "spec": 1,
        "name": name,
        "seed": 20_240_115,
        "input": {"graph": dict(graph)},
        "method": {"name": "kmfc_gwo", "k": 10, **method},
        "output": "./release/",
        "private": "./private/",
    }


def run(spec: Mapping[str, Any], folder: Path, *, watched: bool = True) -> Finished:
    """Runs a job in a process of its own, on Ray.

    Args:
        spec: with `output: ./release/` and `private: ./private/`.
        folder: an empty one.
        watched: whether memory and CPU time are looked at meanwhile, else they are 0. To look
            takes a sixth of a CPU, with some gigabytes: the job should not want it itself.

    Raises:
        SystemExit: the job failed; its last words.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "job.yaml").write_text(yaml.safe_dump(dict(spec)))
    mark = uuid.uuid4().hex
    environment = os.environ | {
        MARK: mark,
        "RAY_USAGE_STATS_ENABLED": "0",
        "PYTHONPATH": str(ROOT),
    }
    # As most users have it: what a Python has compiled once is there for the next.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "distanon", "run", "job.yaml", "--overwrite", "--quiet"]
    watch = Watch(mark)
    with (folder / "log").open("w") as log, watch if watched else contextlib.nullcontext():
        done = subprocess.run(
            command, cwd=folder, env=environment, stdout=log, stderr=log, check=False
        )
    if done.returncode:
        raise SystemExit(f"{spec['name']} failed: {(folder / 'log').read_text()[-2000:]}")
    facts = json.loads((folder / "private" / "run.json").read_text())
    return Finished(
        facts["seconds_to_success"],
        facts["seconds"],
        watch.cpu,
        watch.peak,
        facts["release"]["private"],
        facts["release"]["counts"],
        *_judged(folder / "private"),
        facts["work_seconds"],
        watch.largest,
        watch.shared,
    )


def without_start(done: Finished) -> float:
    """Seconds to `_SUCCESS` without those in which Ray started."""
    return done.seconds - done.phases["workers"]


def _judged(private: Path) -> tuple[bool, dict[str, float]]:
    """Whether all promises are kept, and the figures of the release."""
    from distanon.job import resume

    result = resume(str(private))  # a finished run is only read
    figures = {figure.name: figure.value for figure in result.measurements}
    return all(verdict.kept for verdict in result.verdicts), figures


class Watch:
    """Watches the memory and CPU time of all processes that inherit a mark in their environment.

    Shared pages are counted once (PSS), whoever of them maps them.
    """

    def __init__(self, mark: str) -> None:
        self.peak = self.largest = self.shared = 0
        self._spent: dict[Path, float] = {}
        self._mark = f"{MARK}={mark}".encode()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def cpu(self) -> float:
        """CPU seconds of all of them, as they were last seen."""
        return sum(self._spent.values())

    def _watch(self) -> None:
        while not self._over.wait(_EVERY_S):
            held = [self._bytes(process) for process in Path("/proc").glob("[0-9]*")]
            own, shared = zip(*held, strict=True)
            self.peak = max(self.peak, sum(own) + sum(shared))
            self.largest, self.shared = max(self.largest, *own), max(self.shared, sum(shared))

    def _bytes(self, process: Path) -> tuple[int, int]:
        """What a process holds of its own, and of memory that others may map."""
        with contextlib.suppress(OSError):  # it ended, or is another user's
            if self._mark not in (process / "environ").read_bytes():
                return 0, 0
            times = (process / "stat").read_text().rpartition(")")[2].split()[11:13]
            self._spent[process] = sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
            lines = (process / "smaps_rollup").read_text().splitlines()
            found = {
                words[0]: int(words[1]) * 1024 for line in lines[1:] if (words := line.split())
            }
            return found["Pss:"] - found["Pss_Shmem:"], found["Pss_Shmem:"]
        return 0, 0
