"""Where a promise fails: class numbers and sizes for everybody, tuples for the owner alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data import codes
from distanon.data.table import Dataset
from distanon.sharded.classes import rows_at

NAMED = 5
"""Classes that a reason names."""
LISTED = 100
"""Classes whose tuples the private details list."""


class Numbered(Protocol):
    """Classes by number, with or without the class of each record."""

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Shape (c,): records of each class."""
        ...

    @property
    def firsts(self) -> NDArray[np.int64]:
        """Shape (c,): the first record of each class."""
        ...

    def __len__(self) -> int: ...


def reason(classes: Numbered, is_failing: NDArray[np.bool_], lack: str) -> str:
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
    classes: Numbered, is_failing: NDArray[np.bool_], release: Dataset, columns: Sequence[str]
) -> list[dict[str, Any]]:
    """Number, size and values of the failing classes, the first `LISTED`. Private.

    Args:
        classes: of the released rows over the columns.
        is_failing: shape (c,).
        release: the released rows; only partitions that hold the first row of one are read.
        columns: that make the classes.
    """
    failing = np.flatnonzero(is_failing)[:LISTED]
    rows = rows_at(release, classes.firsts[failing], list(columns))
    values = {name: _listed(rows.column(name)) for name in columns}
    return [
        {
            "class": int(number) + 1,
            "size": int(classes.sizes[number]),
            "values": {name: values[name][place] for name in columns},
        }
        for place, number in enumerate(failing)
    ]


def _records(count: int) -> str:
    return "1 record" if count == 1 else f"{count} records"


def _listed(column: pa.ChunkedArray) -> list[Any]:
    """The values of a column as JSON can hold them.

    Instants as text, which Arrow writes of all of them: Python has no day after 9999.
    """
    if pa.types.is_temporal(codes.value_type(column.type)):
        return list(codes.as_text(codes.plain(column)).to_pylist())
    return [_plain(value) for value in column.to_pylist()]


def _plain(value: Any) -> Any:
    """A value that JSON can hold."""
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)
    return value if value is None or isinstance(value, str | bool | int) else str(value)
