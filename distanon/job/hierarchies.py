"""The generalization hierarchies of a spec's columns: read from files, or built by rules."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from distanon.data.hierarchy import Hierarchy
from distanon.data.hierarchy_rules import Rule, counted_values
from distanon.data.ports import Partition
from distanon.data.schema import AttributeType, Role
from distanon.spec.table_input import Column, InputSettings
from distanon.storage.store import StorageSettings
from distanon.storage.tables import read_rows


def hierarchies_of(
    settings: InputSettings,
    columns: Collection[str],
    partitions: Sequence[Partition],
    source: str,
    storage: StorageSettings,
    beside: Sequence[Partition] = (),
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
            others = dict.fromkeys(counted_values(beside, column), 0)
            counted = others | counted_values(partitions, column)
            built = rule.hierarchy(counted, column, source)
            if built is not None:
                found[column] = built
    return found


def as_released(column: Column) -> Column:
    """Without a rule that needs the original's values, where the release may hold others."""
    if column.role is not Role.QUASI_IDENTIFIER or not isinstance(column.hierarchy, Rule):
        return column
    return column.model_copy(update={"hierarchy": None, "type": AttributeType.NOMINAL})
