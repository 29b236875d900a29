"""Kept columns that name people: nearly every row has a value of its own."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
import pyarrow.compute as pc

from distanon.data import codes
from distanon.data.schema import Role
from distanon.data.table import Dataset
from distanon.errors import InputError

MOST_UNIQUE = 0.05
"""A kept column that is unique for more of the rows than this names people."""


def refuse_unique(dataset: Dataset, confirmed: Collection[str], setting: str) -> None:
    """Refuses kept columns that name people, unless the user says that it is known.

    Args:
        dataset: the records to release.
        confirmed: columns that may be unique.
        setting: where they are listed, for the message: "input.table.confirm_unique".

    Raises:
        InputError: naming each such column.
    """
    kept = [
        attribute.name
        for attribute in dataset.schema.with_role(Role.INSENSITIVE)
        if attribute.name not in confirmed
    ]
    shares = {name: unique_share(dataset, name) for name in kept}
    faults = [
        f"{dataset.source}: insensitive column {name!r} is unique for {share:.0%} of the rows, so "
        f"it names people. Make it a quasi_identifier or an identifier, or list it in {setting}"
        for name, share in shares.items()
        if share > MOST_UNIQUE
    ]
    if faults:
        raise InputError("\n".join(faults))


def unique_share(dataset: Dataset, name: str) -> float:
    """The share of the records whose value of a column no other record has."""
    column = pa.chunked_array(
        [
            chunk
            for partition in dataset.partitions
            for chunk in partition.read([name]).column(name).chunks
        ],
        type=dataset.schema[name].arrow_type,
    )
    counts = pc.value_counts(codes.plain(column)).field("counts")
    singles = pc.sum(pc.equal(counts, 1)).as_py() or 0
    return float(singles) / max(1, len(column))
