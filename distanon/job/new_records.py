"""New records under a fitted transformation: whether they fit, and what of them is released."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data import codes
from distanon.data.classes import equivalence_classes
from distanon.data.domain import check_types, scan
from distanon.data.frames import read_frame
from distanon.data.missing import refuse_missing
from distanon.data.ports import Partition
from distanon.data.release import Release, publishable
from distanon.data.schema import SOURCE, AttributeType, Role, Schema
from distanon.data.table import Dataset, MemoryPartition
from distanon.data.uniqueness import refuse_unique
from distanon.errors import InfeasibleError, InputError, PromiseBrokenError
from distanon.job.hierarchies import counts_of_fit
from distanon.job.inputs import place_of, schema_of
from distanon.methods.fitted import Fitted, Located
from distanon.methods.joining import failing_groups
from distanon.methods.limits import people_of
from distanon.promises.base import Promise
from distanon.spec import JobSpec
from distanon.storage.tables import OpenedTable, open_table

OnBreach = Literal["refuse", "suppress"]
_ANOTHER_WAY = "`--on-breach suppress` (on_breach='suppress') leaves them out and counts them"


def open_new(new_data: Any, spec: JobSpec) -> OpenedTable:
    """The new records, by their path or in memory."""
    if isinstance(new_data, str | os.PathLike):
        return open_table(place_of(os.fspath(new_data)), spec.table.csv, spec.storage)
    table = read_frame(new_data)
    partition = MemoryPartition(table)
    return OpenedTable("the table", table.schema, (partition,), table.num_rows, (), (), "")


def fitting(
    spec: JobSpec, tables: Mapping[str, pa.Table], opened: OpenedTable
) -> tuple[Dataset, Fitted]:
    """The new records with their roles, and the transformation, once it is clear that they fit.

    Raises:
        InputError: other columns or types, no records, or values that can't be used.
    """
    wanted = spec.table
    _check_columns(tables.get("columns"), opened)
    # The fit has its own hierarchies; those that are built from the data would differ here.
    columns = {
        name: column.model_copy(update={"hierarchy": None})
        if column.role is Role.QUASI_IDENTIFIER
        else column
        for name, column in wanted.columns.items()
    }
    table = wanted.model_copy(update={"path": opened.path, "columns": columns})
    counts = counts_of_fit(table, tables, "the fitted transformation")
    schema = schema_of(table, opened, spec.storage, fitted=counts)
    fitted = Fitted.of(tables, schema)
    known = {one.name: one.type for one in fitted.space.attributes}
    schema = Schema(tuple(replace(one, type=known.get(one.name, one.type)) for one in schema))
    dataset = Dataset(schema, opened.partitions, opened.path)
    check_types(schema, opened.path)
    if not len(dataset):
        raise InputError(f"{opened.path}: holds no records; expected at least one")
    numbers = [one for one in schema.quasi_identifiers if one.type is AttributeType.NUMERIC]
    if numbers:  # infinities, and text in place of numbers, by file and row
        part = Dataset(Schema(tuple(numbers)), opened.partitions, opened.path)
        scan(part, opened.locate if len(opened.parts) > 1 else None)
    if wanted.missing == "error":
        refuse_missing(dataset, opened.locate, "input.table.missing")
    refuse_unique(dataset, wanted.confirm_unique, "input.table.confirm_unique")
    return dataset, fitted


def _check_columns(fitted: pa.Table | None, opened: OpenedTable) -> None:
    """Refuses columns that the fit did not have, that lack, or whose types don't compare.

    Raises:
        InputError: naming all of them.
    """
    if fitted is None:
        return
    ours, theirs = opened.arrow_schema, fitted.schema
    faults = [f"no column {name!r}" for name in theirs.names if name not in ours.names]
    faults += [
        f"column {name!r}: the fitted table had none of this name"
        for name in ours.names
        if name not in theirs.names
    ]
    for name in theirs.names:
        if name in ours.names and not types_compare(ours.field(name).type, theirs.field(name).type):
            faults.append(
                f"column {name!r} is {ours.field(name).type}, in the fitted table "
                f"{theirs.field(name).type}"
            )
    if faults:
        raise InputError("\n".join(f"{opened.path}: {fault}" for fault in faults))


def types_compare(ours: pa.DataType, theirs: pa.DataType) -> bool:
    """Whether values of two types can be compared: equal kinds, numbers, or nothing at all."""
    one, other = codes.value_type(ours), codes.value_type(theirs)
    if one == other or pa.types.is_null(one):
        return True
    return all(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        for kind in (one, other)
    ) or (pa.types.is_temporal(one) and pa.types.is_temporal(other) and one.id == other.id)


def released(spec: JobSpec, dataset: Dataset, fitted: Fitted, on_breach: OnBreach) -> Release:
    """The new records under the cells of their groups, those that can't be released left out.

    Args:
        spec: of the run that was fitted: what was promised, and how groups are published.
        dataset: n new records.
        fitted: what masks them.
        on_breach: what becomes of records that can't be released.

    Raises:
        InputError: values that the fit has never seen, and they are not to be suppressed.
        PromiseBrokenError: some records would break a promise, and are not to be suppressed.
        InfeasibleError: no record is left.
    """
    promises = spec.effective_promises()[0]
    quasi = [one.name for one in dataset.schema.quasi_identifiers]
    found = fitted.locate(dataset.read(quasi))
    unseen = found.groups < 0
    if unseen.any() and on_breach == "refuse":
        raise InputError(_unseen(dataset.source, found))
    kept = ~unseen
    kept[kept] = fitted.kept[found.groups[kept]]
    class_of = equivalence_classes(fitted.cells, list(fitted.space.names)).class_of
    kept = _promised(promises, dataset, class_of[found.groups], kept)
    broken = int((~kept & ~unseen).sum())
    if broken and on_breach == "refuse":
        asked = ", ".join(promises)
        raise PromiseBrokenError(
            f"{dataset.source}: nothing was published: {broken} of {len(dataset)} records can't "
            f"be released with these groups: too few of the new records share theirs, so that "
            f"they would break {asked}. {_ANOTHER_WAY}; more new records at once help, too"
        )
    if not kept.any():
        raise InfeasibleError(
            f"{dataset.source}: not one of {len(dataset)} records can be released with the groups "
            f"of this run: {int(unseen.sum())} hold values that the fitted table does not have, "
            f"{broken} would break a promise; apply it to more records at once, or run the job on "
            "them"
        )
    counts = {
        "records": int(kept.sum()),
        "suppressed": int((~kept).sum()),
        "unseen_values": int(unseen.sum()),
    }
    if getattr(spec.method, "recoding", "value") == "range":
        counts["outside_region"] = int((fitted.outside(found) & kept).sum())
    return _written(dataset, fitted, found.groups, kept, counts)


def _unseen(source: str, found: Located) -> str:
    listed = "; ".join(
        f"column {name!r}: {count} value{'' if count == 1 else 's'}"
        for name, count in found.strange.items()
    )
    return f"{source}: values that the fitted table does not have: {listed}. {_ANOTHER_WAY}"


def _promised(
    promises: Mapping[str, Promise],
    dataset: Dataset,
    class_of: NDArray[np.int64],
    kept: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """The records that are left once classes that break a promise are gone, bool (n,).

    What goes changes the whole that t is measured against, so this is repeated.
    """
    shown = (Role.SENSITIVE, Role.SUBJECT)
    schema = Schema(tuple(one for one in dataset.schema if one.role in shown))
    part = Dataset(schema, dataset.partitions, dataset.source)
    people, k = people_of(part, promises), getattr(promises.get("k_anonymity"), "k", 1)
    kept = kept.copy()
    while kept.any():
        labels = np.unique(class_of[kept], return_inverse=True)[1].astype(np.int64)
        fails = failing_groups(part, promises, k, people, kept)(labels, int(labels.max()) + 1)
        if not fails.any():
            break
        kept[kept] = ~fails[labels]
    return kept


def _written(
    dataset: Dataset,
    fitted: Fitted,
    groups: NDArray[np.int64],
    kept: NDArray[np.bool_],
    counts: Mapping[str, int],
) -> Release:
    """The release, partition by partition."""
    cells = fitted.cells.schema
    schema = Schema(
        tuple(
            replace(one, arrow_type=cells.field(one.name).type)
            if one.role is Role.QUASI_IDENTIFIER
            else one
            for one in dataset.schema
        )
    )
    pieces: list[Partition] = []
    for partition in dataset.partitions:
        rows = np.flatnonzero(kept[partition.start : partition.stop])
        piece = partition.read().take(pa.array(rows, pa.int64()))
        own = fitted.cells.take(pa.array(groups[partition.start + rows], pa.int64()))
        for name in own.column_names:
            piece = piece.set_column(piece.column_names.index(name), name, own.column(name))
        table = publishable(piece, schema)
        table = table.append_column(SOURCE, pa.array(partition.start + rows, pa.int64()))
        pieces.append(MemoryPartition(table))
    return Release(tuple(pieces), schema, counts)
