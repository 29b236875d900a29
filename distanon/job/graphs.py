"""What a run does otherwise when it anonymizes a graph: opening, and evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

from distanon.data.domain import scan
from distanon.data.evidence import Evidence
from distanon.data.graph import GraphDataset
from distanon.data.graph_release import GraphRelease, PublishedGraph, publishable_tables
from distanon.data.graph_tables import GraphTables, remarks
from distanon.data.missing import refuse_missing
from distanon.data.release import Release
from distanon.data.streams import Streams
from distanon.data.table import Dataset
from distanon.data.uniqueness import refuse_unique
from distanon.job.hierarchies import hierarchies_of
from distanon.methods.base import Context, Method
from distanon.methods.graphs_in_memory import evidence_of
from distanon.promises.base import Promise
from distanon.spec import JobSpec
from distanon.storage.graphs import open_graph
from distanon.storage.publishing import Attempt

Data: TypeAlias = Dataset | GraphDataset
Made: TypeAlias = Release | GraphRelease

_STAGED = "the staged release"


def check(method: Method, dataset: Data, promises: Mapping[str, Promise]) -> None:
    """`Method.check` on a data set of the method's kind: the spec has seen to it."""
    cast("Any", method).check(dataset, promises)


def make(method: Method, dataset: Data, promises: Mapping[str, Promise], context: Context) -> Made:
    """`Method.release` likewise."""
    made: Made = cast("Any", method).release(dataset, promises, context)
    return made


def open_graph_dataset(spec: JobSpec) -> tuple[GraphDataset, tuple[str, ...], str]:
    """Reads the graph of a job.

    Returns:
        The graph; what was detected and put right, for the user to see; and the fingerprint of
        the files, which is private.

    Raises:
        SpecError: columns and settings don't fit the files.
        InputError: the files can't be used.
        AccessError: they can't be read.
    """
    wanted = spec.graph
    opened = open_graph(wanted.graph_source, spec.storage)
    hierarchies = hierarchies_of(
        wanted, opened.arrow_schema.names, opened.tables.node_partitions, wanted.place, spec.storage
    )
    dataset = opened.dataset(wanted.schema_for(opened, hierarchies))
    nodes = dataset.node_dataset()
    locate = _locate(opened.tables)
    scan(nodes, locate)  # so that a value that can't be read is named by the file of the nodes
    if wanted.missing == "error":
        refuse_missing(nodes, locate, "input.graph.missing")
    refuse_unique(nodes, wanted.confirm_unique, "input.graph.confirm_unique")
    return dataset, (*opened.notes, *remarks(dataset)), opened.fingerprint


def _locate(tables: GraphTables) -> Callable[[int], tuple[str, int]]:
    """The file and the row, or line, of a node."""

    def locate(node: int) -> tuple[str, int]:
        where, _, number = tables.node_place(node).rpartition(" ")
        return where.rpartition(", ")[0], int(number)

    return locate


def published_form(release: Made, dataset: Data, streams: Streams) -> Release | PublishedGraph:
    """What is staged: a table's release as it is, a graph's under fresh node ids."""
    if isinstance(release, GraphRelease) and isinstance(dataset, GraphDataset):
        return publishable_tables(release, dataset.columns, streams)
    return cast("Release", release)


def staged_evidence(attempt: Attempt, dataset: GraphDataset, method: Method) -> Evidence:
    """The staged files, read back, beside the original graph."""
    staged = attempt.read_back_graph(dataset.schema)
    shown = PublishedGraph(
        staged.tables, staged.columns, staged.schema, staged.sources, staged.classes
    )
    return evidence_of(shown, dataset, method, graph=staged.graph, source=_STAGED)


def evidence_in_memory(
    release: GraphRelease, dataset: GraphDataset, method: Method, streams: Streams
) -> Evidence:
    """The same for a release that is not written, in the form in which it would be published."""
    published = publishable_tables(release, dataset.columns, streams)
    return evidence_of(published, dataset, method)
