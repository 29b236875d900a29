"""The role, type and settings of every column of a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pyarrow as pa

from distanon.data.hierarchy import Hierarchy

SOURCE = "__source__"
"""Reserved column of a release's pieces: the source record's number, int64. Never published."""


class Role(StrEnum):
    """What a column means to an intruder."""

    IDENTIFIER = "identifier"
    SUBJECT = "subject"
    QUASI_IDENTIFIER = "quasi_identifier"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"


class AttributeType(StrEnum):
    """How the values of a column are compared (methods.md, section D)."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"
    BINARY = "binary"


def infer_type(arrow_type: pa.DataType) -> AttributeType:
    """How a column's values are compared where nothing is declared.

    Numbers, dates and times are numeric, booleans binary, dictionaries with an order ordinal, all
    else nominal: text, and dictionaries of numbers too, whose numbers are codes.
    """
    if pa.types.is_boolean(arrow_type):
        return AttributeType.BINARY
    if pa.types.is_dictionary(arrow_type):
        return AttributeType.ORDINAL if arrow_type.ordered else AttributeType.NOMINAL
    is_number = (
        pa.types.is_integer(arrow_type)
        or pa.types.is_floating(arrow_type)
        or pa.types.is_decimal(arrow_type)
        or pa.types.is_temporal(arrow_type)
    )
    return AttributeType.NUMERIC if is_number else AttributeType.NOMINAL


@dataclass(frozen=True, slots=True)
class Attribute:
    """One column.

    Attributes:
        name: as in the file.
        role: what it means to an intruder.
        type: how its values are compared.
        arrow_type: its type in the file, kept in the release.
        order: all values of an ordinal column, lowest first; None: their natural order.
        hierarchy: generalization hierarchy of a nominal column.
        decimals: digits after the point in the release; None: as seen in the data.
        domain_bounds: lowest and highest value that a release may hold, in the column's unit.
        top_code: values above it are released as this value.
        pseudonym_key: for an identifier that is kept as a keyed pseudonym, the key. Secret.
        declared: whether the spec states the type; False: it was inferred.
    """

    name: str
    role: Role
    type: AttributeType
    arrow_type: pa.DataType
    order: tuple[Any, ...] | None = None
    hierarchy: Hierarchy | None = None
    decimals: int | None = None
    domain_bounds: tuple[float, float] | None = None
    top_code: float | None = None
    pseudonym_key: bytes | None = None
    declared: bool = True

    @property
    def is_published(self) -> bool:
        """Whether the column leaves at all: identifiers and subjects do not."""
        if self.role in (Role.IDENTIFIER, Role.SUBJECT):
            return self.pseudonym_key is not None
        return True

    def __repr__(self) -> str:
        """Without the key, which must never reach a log."""
        return f"Attribute({self.name!r}, {self.role}, {self.type}, {self.arrow_type})"


@dataclass(frozen=True, slots=True)
class Schema:
    """All columns of a table, in the order of the file."""

    attributes: tuple[Attribute, ...]

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes)

    def __getitem__(self, name: str) -> Attribute:
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return any(attribute.name == name for attribute in self.attributes)

    def with_role(self, role: Role) -> tuple[Attribute, ...]:
        """The attributes of one role, in the order of the file."""
        return tuple(attribute for attribute in self.attributes if attribute.role == role)

    @property
    def quasi_identifiers(self) -> tuple[Attribute, ...]:
        """What an intruder may know."""
        return self.with_role(Role.QUASI_IDENTIFIER)

    @property
    def sensitive(self) -> tuple[Attribute, ...]:
        """What an intruder wants to learn."""
        return self.with_role(Role.SENSITIVE)

    @property
    def published(self) -> tuple[Attribute, ...]:
        """The columns of the release, in the order of the file."""
        return tuple(attribute for attribute in self.attributes if attribute.is_published)
