"""The audit of a graph's release, from its files and the job's spec."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distanon.data.graph import GraphDataset
from distanon.data.graph_evidence import GraphEvidence
from distanon.data.hierarchy import Hierarchy
from distanon.data.schema import Role
from distanon.errors import InputError, SpecError
from distanon.methods.graphs_in_memory import knowledge_of
from distanon.spec import JobSpec
from distanon.spec.places import BUILTIN
from distanon.storage.releases import open_graph_release
from distanon.storage.store import StorageSettings, Store
from distanon.storage.tables import read_rows

_TABLES = ("edges", "supernodes")


def refuse_graph(release: Any, storage: StorageSettings) -> None:
    """Refuses a graph's release, or supernodes, where a table is expected.

    Raises:
        SpecError: it is one.
    """
    if not isinstance(release, str | os.PathLike):
        return
    if "*" in os.fspath(release) or os.fspath(release).startswith(BUILTIN):
        return
    place = Store(os.fspath(release), storage)
    if any(place.find(name) is not None for name in _TABLES):
        raise SpecError(
            f"{os.fspath(release)}: a graph's release; audit needs the --spec of its job, which "
            "says what an intruder is taken to know"
        )


def graph_evidence(
    release: Any,
    spec: JobSpec,
    original: GraphDataset | None = None,
    sources: NDArray[np.int64] | None = None,
) -> GraphEvidence:
    """What a graph's files show, beside the original where its run kept the mapping.

    Args:
        release: the path of a release.
        spec: of the job that made it: roles, and what an intruder is taken to know.
        original: what the run was given.
        sources: int64, the original node of each released one, from the run's mapping.

    Raises:
        SpecError: the release is no graph that can be read again.
        InputError: its files lack a column, or do not fit together.
    """
    if not isinstance(release, str | os.PathLike):
        raise SpecError("audit: the spec is of a graph; expected the path of its release")
    path = os.fspath(release)
    opened = open_graph_release(path, settings=spec.storage)
    if opened is None:
        raise SpecError(
            f"{path}: no nodes and edges here; audit takes graphs and tables, and supernodes are "
            "judged by the run alone"
        )
    there = set(opened.arrow_schema.names)
    named = spec.graph.columns
    lacking = [
        one
        for one, column in named.items()
        if column.role not in (Role.IDENTIFIER, Role.SUBJECT) and one not in there
    ]
    if lacking:
        raise InputError(f"{path}: no column {', '.join(map(repr, lacking))} of the nodes")
    columns = {name: column for name, column in named.items() if name in there}
    wanted = spec.graph.model_copy(update={"columns": columns, "confirm_unique": ()})
    hierarchies = {
        column: Hierarchy.from_rows(read_rows(place, spec.storage), place)
        for column, place in spec.graph.hierarchies.items()
        if column in there
    }
    dataset = opened.dataset(wanted.schema_for(opened, hierarchies))
    if sources is not None and len(sources) != len(dataset):
        raise InputError(
            f"{path}: {len(dataset)} nodes, but the run's mapping is of {len(sources)}; these are "
            "not the nodes of its run"
        )
    return GraphEvidence.of(
        dataset.node_dataset(),
        dataset.graph,
        knowledge_of(spec.method),
        original=original,
        sources=sources,
    )
