"""`input.graph:` where a graph lies, and what its attributes mean."""

from __future__ import annotations

from typing import Literal

from distanon.spec.places import Place
from distanon.spec.table_input import InputSettings


class GraphInput(InputSettings):
    """An undirected simple graph: an edge list with or without a node table, or one file.

    Attributes:
        path: builtin:NAME, or one GraphML or GML file; instead of edges and nodes.
        edges: parquet, CSV or TSV, whitespace text, GraphML or GML.
        nodes: table of the nodes; absent: no attributes.
        source: column of `edges` that names one end.
        target: column of `edges` that names the other end.
        node: column of `nodes` that names the node.
        directed: ignore takes a directed file as undirected; without it such a file is refused.
        undeclared: what becomes of attributes that are not listed.
    """

    path: Place | None = None
    edges: Place | None = None
    nodes: Place | None = None
    source: str | None = None
    target: str | None = None
    node: str | None = None
    directed: Literal["ignore"] | None = None
    undeclared: Literal["refuse", "drop"] = "refuse"
