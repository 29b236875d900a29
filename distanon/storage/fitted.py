"""The fitted transformation of a run, in its private prefix; no clean-up takes it away."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import PurePosixPath

import pyarrow as pa

from distanon.errors import InputError
from distanon.storage.store import Store

FITTED = "fitted"
_SUFFIX = ".arrow"


def write_fitted(private: Store, tables: Mapping[str, pa.Table]) -> None:
    """Keeps the tables below `fitted/`, in place of those of an earlier run.

    Arrow's own format: it gives back every type as it was.

    Raises:
        StorageError: the storage failed.
    """
    forget_fitted(private)
    for name, table in tables.items():
        whole = table.unify_dictionaries()  # the format holds one dictionary a column
        content = io.BytesIO()
        with pa.ipc.new_file(content, whole.schema) as writer:
            writer.write_table(whole)
        private.write(f"{FITTED}/{name}{_SUFFIX}", content.getvalue())


def forget_fitted(private: Store) -> None:
    """Deletes what an earlier run with this prefix has fitted."""
    private.delete_all(FITTED)


def read_fitted(private: Store) -> dict[str, pa.Table]:
    """The tables by name; empty where the run has none.

    Raises:
        InputError: a file is damaged.
    """
    found = {}
    for entry in private.list(FITTED):
        path = PurePosixPath(entry.name)
        if path.suffix != _SUFFIX:
            continue
        try:
            found[path.stem] = pa.ipc.open_file(
                pa.BufferReader(private.read(entry.name))
            ).read_all()
        except pa.ArrowException:
            raise InputError(f"{private.place(entry.name)}: damaged; run the job again") from None
    return found
