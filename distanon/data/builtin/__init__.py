"""The public data sets that the package ships, as small parquet files (README.md beside them)."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parent

NAMES = ("adult", "forest-fires", "magic", "poker-hand")
"""Tables: what may stand after `builtin:` in `input.table.path`."""

GRAPHS = ("lastfm-asia",)
"""Graphs: what may stand after `builtin:` in `input.graph.path`."""


def path_of(name: str) -> Path:
    """The parquet file of a data set.

    Args:
        name: one of `NAMES`.

    Raises:
        KeyError: there is no such data set.
    """
    if name not in NAMES:
        raise KeyError(name)
    return _FOLDER / f"{name}.parquet"


def graph_paths_of(name: str) -> tuple[Path, Path]:
    """The parquet files of a graph: its edges and its nodes.

    Args:
        name: one of `GRAPHS`.

    Raises:
        KeyError: there is no such graph.
    """
    if name not in GRAPHS:
        raise KeyError(name)
    return _FOLDER / name / "edges.parquet", _FOLDER / name / "nodes.parquet"
