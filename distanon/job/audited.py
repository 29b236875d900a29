"""The tables that an audit reads: a release of any origin, and what stands beside it."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from distanon.data.classes import is_text
from distanon.data.domain import check_types
from distanon.data.evidence import Evidence
from distanon.data.frames import read_frame
from distanon.data.schema import AttributeType, Role, Schema, infer_type
from distanon.data.table import Dataset, MemoryPartition
from distanon.errors import InputError, SpecError
from distanon.job.hierarchies import as_released
from distanon.job.inputs import place_of, schema_of
from distanon.job.roles import named_roles
from distanon.job.stated import stated_by
from distanon.promises.base import Promise
from distanon.spec import JobSpec
from distanon.spec.table_input import Column
from distanon.storage.releases import open_release
from distanon.storage.store import StorageSettings
from distanon.storage.tables import OpenedTable


def read_table(
    release: Any,
    spec: JobSpec | None,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    storage: StorageSettings,
) -> tuple[OpenedTable, Schema, dict[str, Promise | None]]:
    """A table with its roles and the promises that are stated of it, by the spec or itself.

    Raises:
        SpecError: nobody says what an intruder may know.
        InputError: a column lacks, or holds what can't be compared, such as lists.
    """
    released, schema, promises = _read(release, spec, quasi_identifiers, sensitive, storage)
    check_types(schema, released.path)
    return released, schema, promises


def _read(
    release: Any,
    spec: JobSpec | None,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    storage: StorageSettings,
) -> tuple[OpenedTable, Schema, dict[str, Promise | None]]:
    if spec is not None:
        released = _opened(release, storage)
        known = _stated_types(release, storage)
        return released, _specified(spec, released, known), dict(spec.effective_promises()[0])
    if quasi_identifiers:
        released = _opened(release, storage)
        columns = released.arrow_schema
        return released, named_roles(columns, released.path, quasi_identifiers, sensitive), {}
    stated = None if sensitive else stated_by(release, storage)
    if stated is None:
        raise SpecError("quasi_identifiers: name at least one column that an intruder may know")
    released = _opened(release, storage)
    return released, stated.schema(released.arrow_schema), dict(stated.promises)


def _stated_types(release: Any, storage: StorageSettings) -> dict[str, AttributeType]:
    """The types of the original's columns, where release.json states them."""
    try:
        stated = stated_by(release, storage)
    except InputError:  # the spec says all that has to be known
        stated = None
    return {} if stated is None else {name: kind for name, (_, kind) in stated.columns.items()}


def declared_columns(spec: JobSpec) -> set[str]:
    """The columns whose type the spec says."""
    columns = spec.table.columns.items()
    return {name for name, column in columns if as_released(column).declared_type is not None}


def _specified(spec: JobSpec, released: OpenedTable, known: Mapping[str, AttributeType]) -> Schema:
    """Roles by the job's spec, for the columns that its release has; types that are known."""
    there = set(released.arrow_schema.names)
    role = spec.table.default_role
    written: Mapping[str, Column] = spec.table.columns
    if role is not None:
        written = {name: Column(role=role) for name in released.arrow_schema.names} | {**written}
    columns = {
        name: as_released(column, known.get(name))
        for name, column in written.items()
        if name in there
    }
    lacking = [
        name
        for name, column in spec.table.columns.items()
        if name not in there and column.role not in (Role.IDENTIFIER, Role.SUBJECT)
    ]
    if lacking:
        raise InputError(f"{released.path}: no column {', '.join(map(repr, lacking))}")
    confirmed = tuple(name for name in spec.table.confirm_unique if name in there)
    update = {"columns": columns, "path": released.path, "confirm_unique": confirmed}
    return schema_of(spec.table.model_copy(update=update), released, spec.storage)


def _opened(table: Any, storage: StorageSettings) -> OpenedTable:
    """A release by its path, or a table in memory, as an opened table."""
    if isinstance(table, str | os.PathLike):
        return open_release(place_of(os.fspath(table)), settings=storage)
    table = read_frame(table)
    if not table.num_rows:
        raise InputError("the table holds no rows; expected at least one")
    partition = MemoryPartition(table)
    return OpenedTable("the table", table.schema, (partition,), table.num_rows, (), (), "")


def alike(
    table: Any,
    evidence: Evidence,
    storage: StorageSettings,
    declared: Collection[str] | None = None,
) -> Dataset:
    """A table beside the release that is judged, its columns in the same roles.

    Args:
        table: by its path or in memory.
        evidence: of the release.
        storage: how files are reached.
        declared: columns whose type was declared. That of others was only inferred; from text,
            which may be generalized numbers, it is the table's own. None: all were.
    """
    opened = _opened(table, storage)
    known = evidence.release.schema
    attributes = Schema(
        tuple(
            replace(
                known[field.name],
                arrow_type=field.type,
                type=infer_type(field.type)
                if declared is not None
                and field.name not in declared
                and known[field.name].type is AttributeType.NOMINAL
                and is_text(known[field.name].arrow_type)
                else known[field.name].type,
            )
            for field in opened.arrow_schema
            if field.name in known
        )
    )
    refuse_lacking(known, attributes, opened.path)
    check_types(attributes, opened.path)
    return Dataset(attributes, opened.partitions, opened.path)


def refuse_lacking(released: Schema, original: Schema, source: str) -> None:
    """Refuses an original without one of the release's quasi-identifiers."""
    lacking = [one.name for one in released.quasi_identifiers if one.name not in original]
    if lacking:
        raise InputError(f"{source}: no column {', '.join(map(repr, sorted(lacking)))}")
