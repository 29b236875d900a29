"""The public data sets that the package ships, as small parquet files (README.md beside them)."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parent

NAMES = ("adult", "forest-fires", "magic", "poker-hand")
"""What may stand after `builtin:` in a spec."""


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
