"""The peers' side: reads what to do from standard input, does it, prints what it took.

Runs in `.venv-peers`, so it imports nothing of distanon.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow.parquet as pq


def main() -> None:
    """All works, one after the other."""
    asked = json.load(sys.stdin)
    warnings.simplefilter("ignore")
    peer = importlib.import_module(f"with_{asked['peer']}")
    told = [done(peer, work) | {"version": version(asked["peer"])} for work in asked["works"]]
    print(json.dumps(told, default=float))


def done(peer: ModuleType, asked: dict[str, Any]) -> dict[str, Any]:
    """One work, and what it took."""
    table = pq.read_table(asked["table"])
    index = [name for name in table.column_names if name.startswith("__index_level_")]
    data = table.drop_columns(index).to_pandas(ignore_metadata=True)  # rows are labelled 0, 1, …
    wall, cpu = time.perf_counter(), time.process_time()
    made, figures = peer.work(data, asked["settings"])
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    if made is not None:
        peer.records(made).to_parquet(asked["out"], index=False)
    return {
        "cpu_seconds": cpu,
        "wall_seconds": wall,
        "peak_bytes": peak(),
        "out_path": None if made is None else asked["out"],
        "figures": figures,
    }


def peak() -> int:
    """Bytes that this program had at most; `ru_maxrss` would count what its parent had, too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (found,) = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return 1024 * int(found)


if __name__ == "__main__":
    main()
