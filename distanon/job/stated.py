"""What a release of distanon states of itself in its release.json: roles, types and promises."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from distanon.data.graph_evidence import Knowledge
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.errors import InputError, SpecError
from distanon.methods import METHODS
from distanon.methods.graphs_in_memory import knowledge_of
from distanon.promises.asking import asked_promises
from distanon.promises.base import Promise
from distanon.storage.releases import read_document
from distanon.storage.store import StorageSettings

_DOCUMENT = "release.json"


@dataclass(frozen=True, slots=True)
class Stated:
    """Columns and promises as release.json has them.

    Attributes:
        source: the release, for messages.
        columns: role and type of each published column, by name.
        promises: by name.
        knowledge: against whom k is promised of a graph; None: it is a table.
    """

    source: str
    columns: Mapping[str, tuple[Role, AttributeType]]
    promises: Mapping[str, Promise]
    knowledge: Knowledge | None = None

    def schema(self, arrow_schema: pa.Schema) -> Schema:
        """The schema of the released table.

        Raises:
            InputError: the table has other columns than the release states.
        """
        odd = sorted(set(arrow_schema.names) ^ set(self.columns))
        if odd:
            raise InputError(
                f"{self.source}: {_DOCUMENT} and the table do not have the same columns; only one "
                f"of them has: {', '.join(odd)}"
            )
        return Schema(
            tuple(
                Attribute(field.name, *self.columns[field.name], field.type)
                for field in arrow_schema
            )
        )


def stated_by(release: Any, storage: StorageSettings) -> Stated | None:
    """What a release states; None where there is no release.json that states what can be known.

    Of a table that takes a quasi-identifier; of a graph the degrees may be all that is known.

    Raises:
        InputError: it is damaged, or states what this version does not know.
    """
    if not isinstance(release, str | os.PathLike):
        return None
    place = os.fspath(release)
    document = read_document(place, storage)
    if document is None:
        return None
    is_graph = "ids" in document.get("release", {})
    if not is_graph and not document.get("attributes"):
        return None
    try:
        columns = {
            column["name"]: (Role(column["role"]), AttributeType(column["type"]))
            for column in document.get("attributes", [])
        }
        lines = document.get("promises", [])
        found = asked_promises({line["promise"]: line["asked"] for line in lines})
        knowledge = _knowledge(document["method"]) if is_graph else None
    except (KeyError, TypeError, ValueError, SpecError):
        raise InputError(
            f"{place}: {_DOCUMENT} is not one that this version can read; name the columns with "
            "--quasi-identifiers"
        ) from None
    if not is_graph and all(role is not Role.QUASI_IDENTIFIER for role, _ in columns.values()):
        return None
    kept = {name: promise for name, promise in found.items() if promise is not None}
    return Stated(place, columns, kept, knowledge)


def _knowledge(method: Mapping[str, Any]) -> Knowledge:
    """Against whom a method with these parameters promises k."""
    parameters = {name: value for name, value in method.items() if name != "name"}
    return knowledge_of(METHODS[method["name"]](**parameters))
