"""Where a promise fails: class numbers and sizes for everybody, tuples for the owner alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.classes import Classes

NAMED = 5
"""Classes that a reason names."""
LISTED = 100
"""Classes whose tuples the private details list."""


def reason(classes: Classes, is_failing: NDArray[np.bool_], lack: str) -> str:
    """One sentence, or nothing where no class fails.

    Args:
        classes: numbered from 1 here, in the order in which the released files show them.
        is_failing: shape (c,).
        lack: what the failing ones do: "have fewer than 10 records".
    """
    failing = np.flatnonzero(is_failing)
    if len(failing) == 0:
        return ""
    named = ", ".join(
        f"class {number + 1} ({_records(int(classes.sizes[number]))})" for number in failing[:NAMED]
    )
    more = ", …" if len(failing) > NAMED else ""
    return f"{len(failing)} of {len(classes)} classes {lack}: {named}{more}"


def tuples(
    classes: Classes, is_failing: NDArray[np.bool_], table: pa.Table, columns: Sequence[str]
) -> list[dict[str, Any]]:
    """Number, size and values of the failing classes, the first `LISTED`. Private.

    Args:
        classes: of the rows of the table over the columns.
        is_failing: shape (c,).
        table: the released rows.
        columns: that make the classes.
    """
    failing = np.flatnonzero(is_failing)[:LISTED]
    rows = table.select(list(columns)).take(pa.array(classes.firsts[failing]))
    return [
        {
            "class": int(number) + 1,
            "size": int(classes.sizes[number]),
            "values": {name: _plain(rows.column(name)[place].as_py()) for name in columns},
        }
        for place, number in enumerate(failing)
    ]


def _records(count: int) -> str:
    return "1 record" if count == 1 else f"{count} records"


def _plain(value: Any) -> Any:
    """A value that JSON can hold."""
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)
    return value if value is None or isinstance(value, str | bool | int) else str(value)
