"""The audit of a graph's release, from its files, whoever made them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.builtin import graph_paths_of
from distanon.data.graph import GraphDataset
from distanon.data.graph_evidence import GraphEvidence, Knowledge
from distanon.data.graph_frames import is_graph, read_graph
from distanon.data.graph_tables import GraphTables, assemble, remarks
from distanon.data.ports import Progress
from distanon.data.schema import Role, Schema
from distanon.errors import InputError, SpecError
from distanon.job.hierarchies import as_released, hierarchies_of
from distanon.job.roles import named_roles
from distanon.job.stated import stated_by
from distanon.methods.graphs_in_memory import knowledge_of
from distanon.promises.base import Promise
from distanon.spec import JobSpec
from distanon.spec.places import BUILTIN
from distanon.storage.graphs import ONE_FILE, GraphSource, ending, open_graph
from distanon.storage.releases import find_edges, open_any_graph
from distanon.storage.store import StorageSettings, Store

_USUAL: Knowledge = "attributes+degree"


@dataclass(frozen=True, slots=True)
class GraphQuestion:
    """What is to be known of a graph's release.

    Attributes:
        spec: of the job that made it: roles, promises, knowledge; None: the names count, or
            what the release states where there are none.
        quasi_identifiers: attributes that an intruder may know.
        sensitive: attributes that he wants.
        knowledge: what he knows of a person; None: as the method has it, else all of it.
        storage: of the files.
    """

    spec: JobSpec | None
    quasi_identifiers: Sequence[str]
    sensitive: Sequence[str]
    knowledge: Knowledge | None
    storage: StorageSettings


def shows_graph(release: Any, storage: StorageSettings) -> bool:
    """Whether something is a graph in memory or a place of graph files.

    Raises:
        SpecError: it holds supernodes.
    """
    if not isinstance(release, str | os.PathLike):
        return is_graph(release)
    path = os.fspath(release)
    if "*" in path or path.startswith(BUILTIN):
        return False
    if ending(path) in ONE_FILE:
        return True
    place = Store(path, storage)
    if place.find("supernodes") is not None:
        raise SpecError(
            f"{path}: supernodes, which only the run that makes them judges; audit takes tables, "
            "and graphs of nodes and edges"
        )
    return find_edges(place) is not None


def graph_evidence(
    release: Any,
    question: GraphQuestion,
    progress: Progress,
    original: Any = None,
    run: tuple[GraphDataset | None, NDArray[np.int64]] | None = None,
) -> tuple[GraphEvidence, dict[str, Promise | None]]:
    """What a graph's files show, and the promises that are stated of them.

    Args:
        release: the path of a release, of a folder with edges, or of one file; or a graph in
            memory, as `read_graph` takes it.
        question: roles and knowledge.
        progress: is told what of the files is not judged.
        original: the graph that it was made from, likewise, or `builtin:NAME`.
        run: what the run was given (None: it is `original`), and int64, the original node of
            each released one.

    Raises:
        SpecError: the release is no graph that can be read again.
        InputError: its files lack a column, or do not fit together.
    """
    tables = _read(release, question.storage)
    schema, knowledge, promises = _meaning(tables, release, question)
    dataset = assemble(tables, schema, undeclared="drop")
    _tell(tables, dataset, progress)
    known, sources = (None, None) if run is None else run
    if original is not None:
        known = _original(_read(original, question.storage), schema)
    if sources is not None and len(sources) != len(dataset):
        raise InputError(
            f"{tables.source}: {len(dataset)} nodes, but the run's mapping is of {len(sources)}; "
            "these are not the nodes of its run"
        )
    if known is not None and sources is not None and sources.max(initial=-1) >= len(known):
        raise InputError(
            f"{known.source}: fewer nodes than the run released; this is not its input"
        )
    evidence = GraphEvidence.of(
        dataset.node_dataset(), dataset.graph, knowledge, original=known, sources=sources
    )
    return evidence, promises


def _read(graph: Any, storage: StorageSettings) -> GraphTables:
    if not isinstance(graph, str | os.PathLike):
        if not is_graph(graph):
            raise SpecError("audit: expected the path of a graph, or a graph in memory")
        return read_graph(graph)
    path = os.fspath(graph)
    if path.startswith(BUILTIN):
        edges, nodes = map(str, graph_paths_of(path.removeprefix(BUILTIN)))
        return open_graph(GraphSource(edges, nodes, name=path), storage).tables
    opened = open_any_graph(path, settings=storage)
    if opened is None:
        raise SpecError(
            f"{path}: no nodes and edges here; audit takes graphs and tables, and supernodes are "
            "judged by the run alone"
        )
    return opened.tables


def _meaning(
    tables: GraphTables, release: Any, question: GraphQuestion
) -> tuple[Schema, Knowledge, dict[str, Promise | None]]:
    """Roles, knowledge and stated promises, from the spec, the names, or the release itself."""
    spec, wanted = question.spec, question.knowledge
    if spec is not None:
        schema = _specified(spec, tables, question.storage)
        return schema, wanted or knowledge_of(spec.method), dict(spec.effective_promises()[0])
    if not question.quasi_identifiers and not question.sensitive and wanted is None:
        stated = stated_by(release, question.storage)
        if stated is not None and stated.knowledge is not None:
            schema = stated.schema(tables.arrow_schema)
            return schema, stated.knowledge, dict(stated.promises)
    schema = named_roles(
        tables.arrow_schema,
        f"{tables.source}, the nodes",
        question.quasi_identifiers,
        question.sensitive,
    )
    return schema, wanted or _USUAL, {}


def _specified(spec: JobSpec, tables: GraphTables, storage: StorageSettings) -> Schema:
    """Roles by the job's spec, for the attributes that its release has."""
    there = set(tables.arrow_schema.names)
    named = spec.graph.columns
    lacking = [
        one
        for one, column in named.items()
        if column.role not in (Role.IDENTIFIER, Role.SUBJECT) and one not in there
    ]
    if lacking:
        raise InputError(f"{tables.source}: no column {', '.join(map(repr, lacking))} of the nodes")
    columns = {name: as_released(column) for name, column in named.items() if name in there}
    wanted = spec.graph.model_copy(update={"columns": columns, "confirm_unique": ()})
    hierarchies = hierarchies_of(wanted, there, tables.node_partitions, tables.source, storage)
    return wanted.schema_of(tables, hierarchies)


def _original(tables: GraphTables, released: Schema) -> GraphDataset:
    """A graph beside the release, its attributes in the same roles."""
    types: pa.Schema = tables.arrow_schema
    lacking = [one.name for one in released.quasi_identifiers if one.name not in types.names]
    if lacking:
        raise InputError(f"{tables.source}: no column {', '.join(map(repr, lacking))} of the nodes")
    shared = tuple(
        replace(one, arrow_type=types.field(one.name).type)
        for one in released
        if one.name in types.names
    )
    return assemble(tables, Schema(shared), undeclared="drop")


def _tell(tables: GraphTables, dataset: GraphDataset, progress: Progress) -> None:
    """Says what the files hold and the audit does not judge."""
    for remark in remarks(dataset)[1:]:  # the first tells the size
        progress.note(remark)
    if tables.is_directed:
        progress.note(f"{tables.source}: the edges have a direction, which is not judged")
