"""A release of a graph in memory: what `GraphMethod.anonymize` does around `release`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from distanon.data.domain import scan
from distanon.data.evidence import Evidence
from distanon.data.graph import Graph, GraphDataset
from distanon.data.graph_evidence import GraphEvidence, Knowledge
from distanon.data.graph_frames import read_graph, write_graph
from distanon.data.graph_release import GraphRelease, PublishedGraph, publishable_tables
from distanon.data.graph_tables import GraphTables, assemble, check_usable, remarks
from distanon.data.schema import Schema
from distanon.data.streams import Streams
from distanon.data.supernode_evidence import SupernodeEvidence
from distanon.data.table import MemoryScratch
from distanon.data.uniqueness import refuse_unique
from distanon.methods.base import BLOCKS_PER_WORKER, Context, GraphMethod
from distanon.methods.in_memory import (
    Request,
    Warnings,
    check_promises,
    crew_of,
    promises_of,
    schema_of,
    seed_of,
    verify_release,
    workers_of,
)

_SOURCE = "the release"


@dataclass(frozen=True, slots=True)
class GraphNames:
    """The arguments of `GraphMethod.anonymize` that say how the graph is read."""

    source: str | None = None
    target: str | None = None
    node: str | None = None
    directed: Literal["ignore"] | None = None
    undeclared: Literal["refuse", "drop"] = "refuse"


def anonymize(method: GraphMethod, data: Any, names: GraphNames, request: Request) -> GraphRelease:
    """As `GraphMethod.anonymize`."""
    tables = read_graph(data, source=names.source, target=names.target, node=names.node)
    check_usable(tables, directed=names.directed == "ignore", undeclared=names.undeclared)
    workers = workers_of(request.workers)
    streams = Streams(seed_of(request.seed))
    promises = promises_of(method, request.promises)
    dataset = assemble(tables, _schema(tables, request), undeclared=names.undeclared)
    if dataset.nodes is not None:
        whole = dataset.node_dataset()
        refuse_unique(replace(whole, domain=scan(whole)), request.confirm_unique, "confirm_unique")
    check_promises(method, promises, dataset.schema)
    method.check(dataset, promises)
    progress = Warnings()
    for remark in remarks(dataset)[1:]:  # the first tells the size
        progress.note(remark)
    with crew_of(workers, progress, method.loads()) as crew:
        blocks = workers * BLOCKS_PER_WORKER
        context = Context(crew, MemoryScratch(), streams, progress, blocks)
        release = method.release(dataset, promises, context)
        published = publishable_tables(release, dataset.columns, streams)
        verify_release(promises, evidence_of(published, dataset, method), crew)
    return replace(
        release,
        sources=published.sources,
        classes=published.classes,
        data=write_graph(published, data),
    )


def evidence_of(
    published: PublishedGraph,
    dataset: GraphDataset,
    method: Any,
    *,
    graph: Graph | None = None,
    source: str = _SOURCE,
) -> Evidence:
    """A release in its published form, written or not, as evidence.

    Args:
        published: the release.
        dataset: what it was made from.
        method: that made it.
        graph: of its edges, where it is known already.
        source: what it is called in messages.

    Returns:
        Evidence on a graph, or on supernodes, which are judged as the people they stand for.
    """
    if "supernodes" in published.tables:
        return _of_supernodes(published, dataset, source)
    nodes, edges = published.tables["nodes"], published.tables["edges"]
    if graph is None:
        names = (published.columns.source, published.columns.target)
        ends = [edges.column(name).to_numpy() for name in names]
        graph = Graph.from_pairs(nodes.num_rows, np.stack(ends, axis=1))
    attributes = nodes.drop_columns([published.columns.node])
    has_attributes = attributes.num_columns > 0
    whole = GraphDataset(
        graph,
        attributes if has_attributes else None,
        published.schema if has_attributes else Schema(()),
        published.columns,
        pa.array(np.arange(graph.nodes)),
        source,
    )
    return GraphEvidence.of(
        whole.node_dataset(),
        graph,
        knowledge_of(method),
        original=dataset,
        sources=published.sources,
        clusters=published.classes,
    )


def _of_supernodes(
    published: PublishedGraph, dataset: GraphDataset, source: str
) -> SupernodeEvidence:
    labels = None
    if published.sources is not None and published.classes is not None:
        labels = np.empty(len(dataset), np.int64)
        labels[published.sources] = published.classes
    return SupernodeEvidence.of(
        published.tables["supernodes"],
        published.tables["superedges"],
        published.columns,
        dataset.schema,
        source=source,
        origin=dataset,
        labels=labels,
    )


def knowledge_of(method: Any) -> Knowledge:
    """Against whom a method promises k."""
    if getattr(method, "publish", "perturb") == "sample":
        return "cluster"  # it is drawn from what is told of the clusters, and promises that
    known: Knowledge = getattr(method, "knowledge", "attributes+degree")
    return known


def _schema(tables: GraphTables, request: Request) -> Schema:
    table = pa.table({}) if tables.attributes is None else tables.attributes
    return schema_of(table, request, "the nodes")
