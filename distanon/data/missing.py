"""Records that lack a value, where the user does not take that for a value."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow.compute as pc

from distanon.data.domain import scan
from distanon.data.table import Dataset
from distanon.errors import InputError


def refuse_missing(
    dataset: Dataset, locate: Callable[[int], tuple[str, int]], setting: str
) -> None:
    """Refuses missing values in quasi-identifiers and sensitive columns.

    Args:
        dataset: the records.
        locate: file and row, from 1, of a record number.
        setting: what allows them, for the message: "input.table.missing".

    Raises:
        InputError: naming each such column, with its first row.
    """
    domain = scan(dataset)
    faults = []
    for name, one in domain.attributes.items():
        if one.missing:
            file, row = locate(_first_missing(dataset, name))
            faults.append(
                f"{file}: column {name!r}: {one.missing} missing values, the first in row {row}"
            )
    if faults:
        raise InputError("\n".join([*faults, f"fill them, or set {setting}: own_category"]))


def _first_missing(dataset: Dataset, name: str) -> int:
    for partition in dataset.partitions:
        column = partition.read([name]).column(name)
        rows = np.flatnonzero(pc.is_null(column, nan_is_null=True).to_numpy(zero_copy_only=False))
        if len(rows):
            return partition.start + int(rows[0])
    return 0
