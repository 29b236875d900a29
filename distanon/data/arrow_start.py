"""Spares a process pandas, which Arrow imports with the first array that it makes of numbers."""

from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa

_NAME = "pandas"


class _Absent:
    """Finds no pandas."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Raises where pandas is asked for, else leaves the search to others."""
        if name == _NAME:
            raise ModuleNotFoundError(name=name)


def spare_pandas() -> None:
    """Lets Arrow ask for pandas now, once, in vain; it remembers the answer.

    For processes in which Arrow makes no frames and reads none: the import takes a second.
    Others may import pandas as ever; where it is loaded already, nothing changes.
    """
    if _NAME in sys.modules:
        return
    absent = _Absent()
    sys.meta_path.insert(0, absent)
    try:
        pa.array(np.zeros(1))
        pa.array([0])
    finally:
        sys.meta_path.remove(absent)
