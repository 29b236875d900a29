"""Roles of a table's columns, by the names that an auditor gives."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from distanon.data.schema import Attribute, Role, Schema, infer_type
from distanon.errors import InputError


def named_roles(
    columns: pa.Schema, place: str, quasi_identifiers: Sequence[str], sensitive: Sequence[str]
) -> Schema:
    """The columns in these roles; every other one is kept and known to nobody.

    Args:
        columns: of the release.
        place: what it is called in messages.
        quasi_identifiers: names.
        sensitive: names.

    Raises:
        InputError: there is no such column, or one has both roles.
    """
    roles = dict.fromkeys(sensitive, Role.SENSITIVE)
    roles |= dict.fromkeys(quasi_identifiers, Role.QUASI_IDENTIFIER)
    unknown = [name for name in roles if name not in columns.names]
    if unknown:
        has = ", ".join(map(repr, columns.names)) or "none"
        raise InputError(f"{place}: no column {', '.join(map(repr, unknown))}; it has {has}")
    both = sorted(set(quasi_identifiers) & set(sensitive))
    if both:
        raise InputError(f"quasi-identifier and sensitive at once: {', '.join(map(repr, both))}")
    return Schema(
        tuple(
            Attribute(
                field.name,
                roles.get(field.name, Role.INSENSITIVE),
                infer_type(field.type),
                field.type,
            )
            for field in columns
        )
    )
