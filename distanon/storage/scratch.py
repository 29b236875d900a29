"""Named tables that outlive a crash, as parquet files below `private/checkpoint/`."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Self

import pyarrow as pa
import pyarrow.parquet as pq

from distanon.data.ports import Partition
from distanon.errors import ResumeError
from distanon.storage.partitions import ParquetPartition, ParquetRange
from distanon.storage.store import Store

CHECKPOINT = "checkpoint"
HEADER = "HEADER.json"

_TYPES = b"distanon.types"
_UNSAFE = re.compile(r"[^A-Za-z0-9._=-]+")


@dataclass(frozen=True, slots=True)
class StoreScratch:
    """Scratch (data.ports) in a store; a value that workers may carry.

    Attributes:
        folder: `private/checkpoint`.
    """

    folder: Store

    @classmethod
    def open(cls, private: Store, digests: Mapping[str, str]) -> Self:
        """The checkpoint of a run, new or left by an earlier attempt.

        Args:
            private: the run's private prefix.
            digests: what the tables depend on, by a name that a user understands:
                {"spec": …, "input": …, "version": …, "lock": …}.

        Raises:
            ResumeError: the checkpoint was made from something else; says from what.
        """
        folder = private.child(CHECKPOINT)
        known = _header(folder)
        if known is not None:
            differing = sorted(
                name for name in {*known, *digests} if known.get(name) != digests.get(name)
            )
            if differing:
                raise ResumeError(
                    f"{private.url}: the checkpoint belongs to another {', '.join(differing)}; "
                    "run with what it was begun with, or choose another private prefix, or remove "
                    "it with `distanon clean`"
                )
        else:
            # Whose the tables are that may lie there is unknown: made again, they cost time alone.
            cls.discard(private)
            folder.write(HEADER, json.dumps(dict(digests), indent=2, sort_keys=True).encode())
        return cls(folder.while_running())

    @staticmethod
    def discard(private: Store) -> int:
        """Deletes the checkpoint of a run.

        What says whose the tables are goes last: without it others would take them for theirs.

        Returns:
            How many files there were.
        """
        folder = private.child(CHECKPOINT)
        names = [entry.name for entry in folder.list(leftovers=True)]
        for name in sorted(names, key=lambda name: name == HEADER):
            folder.delete(name)
        private.delete_all(CHECKPOINT)
        return len(names)

    def find(self, name: str) -> Partition | None:
        """The table of this name, if an earlier attempt or another worker finished it."""
        file = self.folder.child(_file_name(name))
        entry = file.find()
        if entry is None or entry.is_folder:
            return None
        with file.open() as stream:
            try:
                source = pq.ParquetFile(stream)
            except pa.ArrowInvalid:
                return None  # damaged: made again, it costs time alone
            types = source.metadata.metadata[_TYPES]
            return _partition(file, _schema(types), source.metadata.num_rows)

    def write(self, name: str, table: pa.Table) -> Partition:
        """Writes at once or not at all; an equal name is replaced."""
        name = _file_name(name)
        schema = pa.schema([pa.field(field.name, field.type) for field in table.schema])
        # Parquet changes some types (seconds become milliseconds): the true ones stand beside.
        types = base64.b64encode(schema.serialize().to_pybytes())
        typed = table.replace_schema_metadata({_TYPES: types})
        self.folder.write_with(name, lambda out: _put(typed, out))
        return _partition(self.folder.child(name), schema, table.num_rows)


def _put(table: pa.Table, stream: BinaryIO) -> None:
    """Numbers as they are: most differ, and to look for equal ones takes as long as the rest."""
    repeating = [
        field.name
        for field in table.schema
        if not (pa.types.is_floating(field.type) or pa.types.is_integer(field.type))
    ]
    pq.write_table(
        table,
        stream,
        compression="lz4",
        use_dictionary=repeating or False,
        write_statistics=False,
    )


def _header(folder: Store) -> dict[str, Any] | None:
    """What the tables of a checkpoint were made from; None where it is missing or damaged."""
    try:
        known = json.loads(folder.peek(HEADER) or b"")
    except ValueError:
        return None
    return known if isinstance(known, dict) else None


def _partition(file: Store, schema: pa.Schema, rows: int) -> ParquetPartition:
    return ParquetPartition((ParquetRange(file, 0, rows),), schema)


def _schema(types: bytes) -> pa.Schema:
    return pa.ipc.read_schema(pa.BufferReader(base64.b64decode(types)))


def _file_name(name: str) -> str:
    """A name that any file system takes, different for different names."""
    digest = hashlib.sha256(name.encode()).hexdigest()[:16]
    return f"{_UNSAFE.sub('-', name)[:80]}-{digest}.parquet"
