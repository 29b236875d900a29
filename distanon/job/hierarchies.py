"""The generalization hierarchies of a spec's columns: read from files, or built by rules."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from distanon.data.evidence import Evidence
from distanon.data.hierarchy import Hierarchy
from distanon.data.hierarchy_rules import Rule, counted_values
from distanon.data.ports import Partition
from distanon.data.schema import AttributeType, Role, Schema
from distanon.data.table import Dataset
from distanon.errors import InputError
from distanon.spec.table_input import Column, InputSettings
from distanon.storage.store import StorageSettings
from distanon.storage.tables import read_rows

_COUNTS = "counts-"


def hierarchies_of(
    settings: InputSettings,
    columns: Collection[str],
    partitions: Sequence[Partition],
    source: str,
    storage: StorageSettings,
    beside: Sequence[Partition] = (),
    fitted: Mapping[str, Mapping[str, int]] | None = None,
) -> dict[str, Hierarchy]:
    """The hierarchy of each column that has one.

    Args:
        settings: what the spec says of the columns.
        columns: names of those that are there; the others are left to the check of the roles.
        partitions: the data, from whose values rules build.
        source: what the data are called in messages.
        storage: how files are reached.
        beside: other records that must find their values in what rules build, such as those of
            a control file; they count for nothing in it.
        fitted: for columns with a rule, the records of each value in the table that a run fitted;
            rules build from these, and the values of the data count for nothing.

    Raises:
        InputError: a file that is no hierarchy, or values that a rule can't read.
        AccessError: a file that can't be read.
    """
    found = {
        column: Hierarchy.from_rows(read_rows(path, storage), path)
        for column, path in settings.hierarchies.items()
        if column in columns
    }
    for column, rule in settings.hierarchy_rules.items():
        if column in columns:
            counted, others = counted_values(partitions, column), counted_values(beside, column)
            rule.refuse_unread(others, column, "the records held out as control")
            if fitted is not None and column in fitted:
                rule.refuse_unread(counted, column, source)
                counted, others = dict(fitted[column]), others | counted
            built = rule.hierarchy(dict.fromkeys(others, 0) | counted, column, source)
            if built is not None:
                found[column] = built
    return found


def fitted_counts(
    settings: InputSettings, schema: Schema, partitions: Sequence[Partition]
) -> dict[str, pa.Table]:
    """What the rules of sensitive columns built from, to be kept with what a run fitted.

    Quasi-identifiers are left out: what was fitted holds their hierarchies.

    Args:
        settings: what the spec says of the columns.
        schema: of the data.
        partitions: the records from which the run's hierarchies were built.

    Returns:
        Tables for `storage.fitted`, which `counts_of_fit` reads.
    """
    found = {}
    for place, attribute in enumerate(schema.sensitive):
        if attribute.name in settings.hierarchy_rules:
            counts = counted_values(partitions, attribute.name)
            values = pa.array(counts, pa.large_string())
            records = pa.array(counts.values(), pa.int64())
            found[f"{_COUNTS}{place}"] = pa.table({attribute.name: values, "": records})
    return found


def counts_of_fit(
    settings: InputSettings, tables: Mapping[str, pa.Table], source: str
) -> dict[str, dict[str, int]]:
    """The records of each value in the table that a run fitted, by column, for `hierarchies_of`.

    Args:
        settings: what the spec says of the columns.
        tables: what the run fitted.
        source: what the run is called in messages.

    Raises:
        InputError: a sensitive column has a rule, and an older version kept no counts.
    """
    found = {}
    for name, table in tables.items():
        if name.startswith(_COUNTS):
            values, records = table.columns
            found[table.column_names[0]] = dict(
                zip(values.to_pylist(), records.to_pylist(), strict=True)
            )
    ruled = {
        name for name in settings.hierarchy_rules if settings.columns[name].role is Role.SENSITIVE
    }
    if ruled - set(found):
        raise InputError(
            f"{source}: an older version fitted it and did not keep what hierarchies were built "
            "from; run the job again"
        )
    return found


def as_released(column: Column, kind: AttributeType | None = None) -> Column:
    """How a column of a release is read, whose cells may be generalized to text.

    Args:
        column: what the spec says of it.
        kind: type of the original, where the release states it.

    Returns:
        The column without a rule that needs the original's values, with a type that is not to be
        inferred from text, and without the key of pseudonyms, which an auditor need not have.
    """
    if column.keep is not None:
        return column.model_copy(update={"keep": None, "key": None})
    if column.role is not Role.QUASI_IDENTIFIER:
        return column
    if isinstance(column.hierarchy, Rule):
        return column.model_copy(update={"hierarchy": None, "type": AttributeType.NOMINAL})
    if column.declared_type is None:
        implied = AttributeType.NUMERIC if column.numeric_settings else kind
        return column.model_copy(update={"type": implied})
    return column


def with_rules(original: Dataset, settings: InputSettings, storage: StorageSettings) -> Dataset:
    """The originals, their columns with the hierarchies that the spec's rules build from them.

    Raises:
        InputError: values that a rule can't read.
    """
    names = [one.name for one in original.schema if one.name in settings.hierarchy_rules]
    built = hierarchies_of(settings, names, original.partitions, original.source, storage)
    attributes = (replace(a, hierarchy=built.get(a.name, a.hierarchy)) for a in original.schema)
    return replace(original, schema=Schema(tuple(attributes)))


def beside_original(evidence: Evidence, original: Dataset) -> Evidence:
    """The evidence on a release beside its originals, which say what hierarchies were built."""
    known = original.schema
    schema = Schema(
        tuple(
            replace(one, hierarchy=known[one.name].hierarchy or one.hierarchy)
            if one.type is AttributeType.NOMINAL and one.name in known
            else one
            for one in evidence.release.schema
        )
    )
    return replace(evidence, release=replace(evidence.release, schema=schema), original=original)
