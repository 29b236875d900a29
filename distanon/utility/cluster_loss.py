"""What clusters lose when their members are told apart no more: NGIL and NSIL.

Source: Campan & Truta 2008, Data and structural k-anonymity in social networks (SaNGreeA),
Definitions of generalization and structural information loss, both normalized.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from distanon.data.domain import scan
from distanon.data.graph_evidence import DEGREE, GraphEvidence
from distanon.data.measurement import Measurement
from distanon.data.space import AttributeSpace
from distanon.data.supernode_evidence import SupernodeEvidence
from distanon.errors import InputError
from distanon.kernels.structural_loss import (
    loss_of_counts,
    normalized,
    normalized_structural_loss,
)

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def cluster_losses(evidence: GraphEvidence) -> list[Measurement]:
    """Both losses of the private clusters on the original graph.

    Args:
        evidence: with the original, the sources and the clusters; without them the list is empty.

    Returns:
        Shares, 0: nothing is lost. NGIL is left out where there are no quasi-identifiers.
    """
    clusters, graph, sources = evidence.clusters, evidence.original_graph, evidence.sources
    if clusters is None or graph is None or sources is None or len(sources) != graph.nodes:
        return []
    labels = np.empty(graph.nodes, np.int64)
    labels[sources] = np.unique(clusters, return_inverse=True)[1]
    structural = normalized_structural_loss(graph.starts, graph.neighbors, labels)
    n = graph.nodes
    result = [Measurement("topology.nsil", structural, goal="lower", n=n)]
    if not evidence.attributes:
        return result
    try:
        loss = generalization_loss(evidence.space, evidence.original_values, labels)
    except InputError as error:
        note = str(error)
        missing = Measurement("topology.ngil", math.nan, note=note, is_public=False)
        return [*result, missing]
    return [*result, Measurement("topology.ngil", loss, goal="lower", n=n)]


def supernode_losses(evidence: SupernodeEvidence) -> list[Measurement]:
    """Both losses of released supernodes: NSIL by their counts, NGIL of the original's values.

    Args:
        evidence: without the original and the supernode of each node NGIL is left out.
    """
    sizes, inner = evidence.sizes, evidence.inner
    n, own = int(sizes.sum()), np.arange(len(inner))
    ends = np.concatenate([np.stack([own, own], axis=1), evidence.ends])
    losses = loss_of_counts(sizes, ends, np.concatenate([inner, evidence.between]))
    result = [Measurement("topology.nsil", normalized(losses, n), goal="lower", n=n)]
    origin, labels = evidence.origin, evidence.labels
    if origin is None or labels is None or origin.nodes is None:
        return result
    attributes = origin.schema.quasi_identifiers
    if not attributes:
        return result
    space = AttributeSpace.of(attributes, scan(origin.node_dataset()))
    loss = generalization_loss(space, space.encode(origin.nodes), labels)
    return [*result, Measurement("topology.ngil", loss, goal="lower", n=n)]


def generalization_loss(space: AttributeSpace, values: Floats, labels: Integers) -> float:
    """NGIL: mean over nodes and attributes of how much a cluster's common value covers.

    Numeric and ordinal: the cluster's extent by the range. Nominal: the height of the lowest
    common ancestor by the height of the hierarchy; without one, 1 unless all are equal. A cluster
    of values and missing ones covers everything.

    Args:
        space: the quasi-identifiers; a degree among them is left out.
        values: float64, shape (n, q), as `space.encode` gives them.
        labels: int64, shape (n,): clusters from 0, none empty.

    Returns:
        In [0, 1].
    """
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    losses = [
        _covered(_alone(space, place), values[order, place : place + 1], starts, sizes)
        for place, name in enumerate(space.names)
        if name != DEGREE
    ]
    covered = math.fsum((sizes * np.sum(losses, axis=0)).tolist())
    return covered / (len(labels) * len(losses))


def _alone(space: AttributeSpace, place: int) -> AttributeSpace:
    from distanon.data.domain import Domain

    attribute, domain = space.attributes[place], space.domains[place]
    records = domain.present + domain.missing
    return AttributeSpace.of((attribute,), Domain({attribute.name: domain}, records))


def _covered(space: AttributeSpace, values: Floats, starts: Integers, sizes: Integers) -> Floats:
    """What each cluster covers of one attribute, shape (clusters,), in [0, 1].

    In a tree the distance of the first member to the farthest one is the height of all members'
    common ancestor; on a line it is not, so there the extent is taken.
    """
    points = space.embed(values)
    missing = np.isnan(values[:, 0])
    if bool(space.nominal[0]):
        away = points - np.repeat(points[starts], sizes, axis=0)
        distance = np.sqrt(np.square(away).sum(axis=1))
        return np.minimum(1.0, np.maximum.reduceat(distance, starts))
    low = np.minimum.reduceat(np.where(missing, np.inf, points[:, 0]), starts)
    high = np.maximum.reduceat(np.where(missing, -np.inf, points[:, 0]), starts)
    lacking = np.add.reduceat(missing.astype(np.int64), starts)
    extent = np.where(lacking == sizes, 0.0, high - low)
    return np.where((lacking > 0) & (lacking < sizes), 1.0, extent)
