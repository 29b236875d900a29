"""The columns of a spec set against the columns of a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from distanon.data.hierarchy import Hierarchy
from distanon.data.schema import (
    SOURCE,
    Attribute,
    AttributeType,
    Role,
    Schema,
    infer_type,
)
from distanon.data.setting_faults import near
from distanon.errors import InputError, SpecError

if TYPE_CHECKING:
    from distanon.spec.table_input import Column, InputSettings

_SHOWN = 20


def assign_roles(
    settings: InputSettings,
    arrow_schema: pa.Schema,
    source: str,
    hierarchies: Mapping[str, Hierarchy],
    part: str = "input.table",
    *,
    drop: bool = False,
) -> Schema:
    """As `TableInput.schema_for`, or for the nodes of a graph.

    Args:
        settings: roles and settings, by column.
        arrow_schema: names and types as in the files.
        source: what the table is called in messages.
        hierarchies: by column, read from the files or built by the rules.
        part: of the spec: input.table or input.graph. Nodes need no quasi-identifier, since an
            intruder may know their edges alone.
        drop: whether columns without a role are left out.

    Raises:
        SpecError: all that does not fit.
        InputError: the files name a column twice, or as distanon's own.
    """
    names = list(arrow_schema.names)
    _check_names(names, source)
    faults = _misplaced(settings, names, source, part, drop=drop)
    attributes: list[Attribute] = []
    for field in arrow_schema:
        column = settings.columns.get(field.name)
        if column is None and settings.default_role is None:
            continue
        try:
            attributes.append(_attribute(field, column, settings.default_role, hierarchies, part))
        except SpecError as error:
            faults.extend(error.faults)
    needs_one = part == "input.table" and not faults
    if needs_one and not any(each.role is Role.QUASI_IDENTIFIER for each in attributes):
        faults.append(
            f"{part}.columns: no column is a quasi_identifier, so there is nothing to anonymize"
        )
    for name in settings.confirm_unique:
        role = next((each.role for each in attributes if each.name == name), None)
        if role not in (None, Role.INSENSITIVE):
            faults.append(f"{part}.confirm_unique: {name!r} is {role}, expected insensitive")
    if faults:
        raise SpecError(*faults)
    return Schema(tuple(attributes))


def _check_names(names: Sequence[str], source: str) -> None:
    """Refuses what can't be told apart; a header may hold data, so only the spec's names show."""
    places = [str(number + 1) for number, name in enumerate(names) if Counter(names)[name] > 1]
    if places:
        raise InputError(
            f"{source}: columns {', '.join(places)} share their name with another column; "
            "expected a header with a name of its own for every column"
        )
    if SOURCE in names:
        raise InputError(f"{source}: the column name {SOURCE} is distanon's own; rename the column")
    nameless = [str(number + 1) for number, name in enumerate(names) if not name.strip()]
    if nameless:
        raise InputError(f"{source}: column {', '.join(nameless)} has no name in the header")


def _misplaced(
    settings: InputSettings, names: Sequence[str], source: str, part: str, *, drop: bool
) -> list[str]:
    """The columns of the spec that the file lacks, and the other way round."""
    listed = set(settings.columns)
    if listed and not listed & set(names):
        # The first row may be data, so its values are not quoted.
        found = f"{source} has none of these columns, but {len(names)} others"
        return [f"{part}.columns: {found}; is its first row a header?"]
    faults = [
        f"{part}.columns.{name}: {source} has no such column{near(name, names)}"
        for name in settings.columns
        if name not in names
    ]
    faults += [
        f"{part}.confirm_unique: {source} has no column {name!r}{near(name, names)}"
        for name in settings.confirm_unique
        if name not in names
    ]
    unlisted = [name for name in names if name not in listed]
    if unlisted and settings.default_role is None and not drop:
        more = f" and {len(unlisted) - _SHOWN} more" if len(unlisted) > _SHOWN else ""
        which = ", ".join(unlisted[:_SHOWN]) + more if listed else f"{len(unlisted)} columns"
        faults.append(
            f"{part}.columns: no role for {which}; list every column, or set {part}.default_role"
        )
    return faults


def _attribute(
    field: pa.Field,
    column: Column | None,
    default_role: Role | None,
    hierarchies: Mapping[str, Hierarchy],
    part: str,
) -> Attribute:
    """One column of the schema; a type that the spec leaves open is inferred."""
    where = f"{part}.columns.{field.name}"
    inferred = infer_type(field.type)
    if column is None:
        role = default_role or Role.INSENSITIVE
        return Attribute(field.name, role, inferred, field.type, declared=False)
    kind = column.declared_type or inferred
    if column.numeric_settings and kind is not AttributeType.NUMERIC:
        settings = ", ".join(column.numeric_settings)
        raise SpecError(f"{where}: {settings}: only for a numeric column, this one is {kind}")
    return Attribute(
        field.name,
        column.role,
        kind,
        field.type,
        order=column.order,
        hierarchy=hierarchies.get(field.name),
        decimals=column.decimals,
        domain_bounds=column.domain_bounds,
        top_code=column.top_code,
        pseudonym_key=column.pseudonym_key(where),
        declared=column.declared_type is not None,
    )
