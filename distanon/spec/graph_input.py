"""`input.graph:` where a graph lies, and what its attributes mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import model_validator

from distanon.data.builtin import GRAPHS, graph_paths_of
from distanon.data.graph_tables import GraphTables
from distanon.data.hierarchy import Hierarchy
from distanon.data.schema import Role, Schema
from distanon.data.setting_faults import refused, unknown
from distanon.errors import SpecError
from distanon.spec.places import BUILTIN, Place
from distanon.spec.roles import assign_roles
from distanon.spec.table_input import InputSettings
from distanon.storage.graphs import ONE_FILE, GraphSource, OpenedGraph, ending

_PART = "input.graph"


class GraphInput(InputSettings):
    """An undirected simple graph: an edge list with or without a node table, or one file.

    Attributes:
        path: builtin:NAME, or one GraphML, GML or nauty file; instead of edges and nodes.
        edges: parquet, CSV or TSV, whitespace text, or parts of one of these in a folder or by a
            glob; GraphML, GML or nauty.
        nodes: table of the nodes; absent: no attributes.
        source: column of `edges` that names one end; found where it is absent.
        target: column of `edges` that names the other end; found where it is absent.
        node: column of `nodes` that names the node; found where it is absent.
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

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.path is None and self.edges is None:
            raise refused(
                "missing: edges, with the path of an edge list (or path, of a GraphML or GML file)"
            )
        if self.path is not None and (self.edges is not None or self.nodes is not None):
            raise refused("path holds nodes and edges; expected path, or edges with nodes")
        self._check_path()
        if self.source is not None and self.source == self.target:
            raise refused(f"source and target are both {self.source!r}; expected two columns")
        if (self.source is None) != (self.target is None):
            raise refused("source and target come together, one for each end of an edge")
        return self

    def _check_path(self) -> None:
        for name, value in (("edges", self.edges), ("nodes", self.nodes)):
            if value is not None and value.startswith(BUILTIN):
                raise refused(f"{name}: {BUILTIN}NAME is a whole graph; give it as path")
        if self.path is None:
            return
        name = self.path.removeprefix(BUILTIN)
        if self.is_builtin:
            if name not in GRAPHS:
                raise refused(f"path: {unknown(name, 'built-in graph', GRAPHS)}")
        elif ending(self.path) not in ONE_FILE:
            raise refused(
                f"path: expected {BUILTIN}NAME or a name that ends in {', '.join(ONE_FILE)}; "
                "an edge list is given as edges"
            )

    @property
    def is_builtin(self) -> bool:
        """Whether the package ships the data."""
        return self.path is not None and self.path.startswith(BUILTIN)

    @property
    def place(self) -> str:
        """What the graph is called in messages: the path of its edges."""
        return self.path or self.edges or ""

    @property
    def files(self) -> tuple[str, ...]:
        """The paths that the spec names, hierarchies left out."""
        return tuple(path for path in (self.path, self.edges, self.nodes) if path is not None)

    @property
    def graph_source(self) -> GraphSource:
        """What `storage.graphs.open_graph` needs."""
        edges, nodes = self.place, self.nodes
        if self.is_builtin:
            edges, nodes = map(str, graph_paths_of(edges.removeprefix(BUILTIN)))
        return GraphSource(
            edges,
            nodes,
            self.source,
            self.target,
            self.node,
            self.directed == "ignore",
            self.undeclared,
            self.csv,
            self.place,
        )

    def schema_for(
        self, opened: OpenedGraph, hierarchies: Mapping[str, Hierarchy] | None = None
    ) -> Schema:
        """The schema of the nodes' attributes of a graph that was opened.

        Args:
            opened: what `open_graph` made of `graph_source`.
            hierarchies: by column, read from the files or built by the rules.

        Raises:
            SpecError: all columns that the nodes lack, have no role, or have settings that their
                type can't have; the node ids have a role other than identifier.
            InputError: the files name a column twice, or as distanon's own.
        """
        return self.schema_of(opened.tables, hierarchies)

    def schema_of(
        self, tables: GraphTables, hierarchies: Mapping[str, Hierarchy] | None = None
    ) -> Schema:
        """The same for a graph that was read from anywhere."""
        node = tables.columns.node
        named = self.columns.get(node)
        settings: InputSettings = self
        if named is not None and node not in tables.arrow_schema.names:
            if named.role is not Role.IDENTIFIER or named.keep is not None:
                raise SpecError(
                    f"{_PART}.columns.{node}: the ids of the nodes, which never leave: the "
                    "release has fresh ones; leave the column out, or make it an identifier"
                )
            columns = {name: one for name, one in self.columns.items() if name != node}
            settings = self.model_copy(update={"columns": columns})
        return assign_roles(
            settings,
            tables.arrow_schema,
            tables.source,
            hierarchies or {},
            _PART,
            drop=self.undeclared == "drop",
        )
