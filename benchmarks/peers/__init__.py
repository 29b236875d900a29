"""Other packages on the same rows, each in a process of the environment that their pins need.

`make peers` makes that environment, `.venv-peers`; tables go in and out as parquet.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PEERS = ("pycanon", "anjana", "anonypy", "anonypyx")
"""Each has a script `with_NAME.py` beside this file, which says what settings it takes."""

PYTHON = Path(__file__).parents[2] / ".venv-peers" / "bin" / "python"


class PeerError(RuntimeError):
    """A peer is not there, or failed on these rows; says so in its own last words."""


@dataclass(frozen=True, slots=True)
class PeerResult:
    """What a peer did.

    Attributes:
        cpu_seconds: of all threads of its work alone, neither imports nor reading and writing.
        wall_seconds: of the same.
        peak_bytes: the most memory that its process held, all included.
        out_path: the table that it made; None: it makes none.
        figures: what it said, by name.
        version: of the package.
    """

    cpu_seconds: float
    wall_seconds: float
    peak_bytes: int
    out_path: str | None
    figures: Mapping[str, Any]
    version: str


def lacking() -> str:
    """Why no peer can be asked; "" where they can."""
    return "" if PYTHON.exists() else "the peers are not installed: `make peers` does it"


def run(
    peer: str,
    table_path: str,
    out_path: str,
    settings: Mapping[str, Any],
    timeout_s: float | None = None,
) -> PeerResult:
    """Lets a peer work on a parquet file.

    Args:
        peer: one of `PEERS`.
        table_path: what it gets.
        out_path: where its table goes, as parquet, one row for each record.
        settings: the peer's own; JSON values.
        timeout_s: after which it is stopped; None: never.

    Raises:
        PeerError: it is not installed, or it failed.
        subprocess.TimeoutExpired: it was stopped.
    """
    return run_all(peer, [(table_path, out_path, settings)], timeout_s)[0]


def run_all(
    peer: str,
    works: Sequence[tuple[str, str, Mapping[str, Any]]],
    timeout_s: float | None = None,
) -> list[PeerResult]:
    """Lets a peer do several works in one process, one after the other.

    Args:
        peer: one of `PEERS`.
        works: table path, path of the output and settings of each.
        timeout_s: after which it is stopped; None: never.

    Raises:
        PeerError: it is not installed, or it failed.
        subprocess.TimeoutExpired: it was stopped.
    """
    if lacking():
        raise PeerError(lacking())
    keys = ("table", "out", "settings")
    asked = {"peer": peer, "works": [dict(zip(keys, work, strict=True)) for work in works]}
    done = subprocess.run(
        [PYTHON, Path(__file__).with_name("child.py")],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
        env=os.environ | {"PYTHONHASHSEED": "0"},  # anonypy writes sets in the order of hashes
    )
    if done.returncode:
        raise PeerError(f"{peer}: {done.stderr.strip().splitlines()[-1:]}")
    return [PeerResult(**one) for one in json.loads(done.stdout.splitlines()[-1])]
