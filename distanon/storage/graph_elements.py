"""What a GraphML or GML file holds, collected element by element."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import pyarrow as pa

from distanon.data.graph import GraphColumns
from distanon.data.graph_tables import GraphTables
from distanon.errors import InputError

Value: TypeAlias = str | int | float | bool | None


@dataclass(slots=True)
class Elements:
    """Nodes and edges in the order of the file; lines from 1.

    Attributes:
        ids: of the nodes.
        id_lines: where each node begins.
        sources: one end of each edge.
        targets: the other end.
        edge_lines: where each edge begins.
        values: for each attribute of nodes its values, None where a node lacks it.
        edge_attributes: names; a dict for its order.
        graph_attributes: names.
        is_directed: whether any edge has a direction.
    """

    ids: list[str] = field(default_factory=list)
    id_lines: list[int] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    edge_lines: list[int] = field(default_factory=list)
    values: dict[str, list[Value]] = field(default_factory=dict)
    edge_attributes: dict[str, None] = field(default_factory=dict)
    graph_attributes: dict[str, None] = field(default_factory=dict)
    is_directed: bool = False

    def add_node(self, identifier: str, line: int, values: Mapping[str, Value]) -> None:
        """A node with its attributes."""
        for name, value in values.items():
            column = self.values.setdefault(name, [])
            column += [None] * (len(self.ids) - len(column))
            column.append(value)
        self.ids.append(identifier)
        self.id_lines.append(line)

    def add_edge(self, source: str, target: str, line: int) -> None:
        """An edge between two nodes."""
        self.sources.append(source)
        self.targets.append(target)
        self.edge_lines.append(line)

    def tables(self, path: str, node: str, types: Mapping[str, pa.DataType]) -> GraphTables:
        """All of it as tables.

        Args:
            path: of the file, for messages.
            node: what the ids are called.
            types: of the attributes whose type the file states.

        Raises:
            InputError: an attribute has the name of the ids.
        """
        if node in self.values:
            raise InputError(
                f"{path}: the nodes have an attribute {node!r}, which is the name of their ids; "
                "rename the attribute, or give the ids another name with input.graph.node"
            )
        columns = {
            name: _column([*values, *[None] * (len(self.ids) - len(values))], types.get(name))
            for name, values in self.values.items()
        }
        text = pa.large_string()
        return GraphTables(
            pa.array(self.sources, text),
            pa.array(self.targets, text),
            pa.array(self.ids, text),
            pa.table(columns) if columns else None,
            GraphColumns(node=node),
            lambda edge: f"{path}, line {self.edge_lines[edge]}",
            lambda row: f"{path}, line {self.id_lines[row]}",
            path,
            tuple(self.edge_attributes),
            tuple(self.graph_attributes),
            self.is_directed,
        )


def _column(values: list[Value], kind: pa.DataType | None) -> pa.Array:
    """Values in the stated type, or the narrowest one that holds each: int64, float64 or text."""
    if kind is not None:
        return pa.array(values, kind)
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int}:
        wide = any(isinstance(value, int) and not -(2**63) <= value < 2**63 for value in values)
        if not wide:
            return pa.array(values, pa.int64())
    elif kinds and kinds <= {int, float}:
        return pa.array([None if value is None else float(value) for value in values])
    return pa.array([None if value is None else str(value) for value in values], pa.string())
