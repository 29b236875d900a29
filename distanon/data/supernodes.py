"""Clusters as supernodes, and graphs drawn from them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.classes import encode
from distanon.data.graph import Graph, GraphColumns, GraphDataset
from distanon.data.node_pairs import pairs_of
from distanon.data.schema import Attribute, Schema
from distanon.data.space import AttributeSpace
from distanon.data.supernode_evidence import BETWEEN, INNER, SIZE

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Generalized:
    """Everything that is told of the clusters, and nothing of their members.

    Attributes:
        sizes: int64, shape (c,): members of each.
        inner: int64, shape (c,): edges among them.
        ends: int64, shape (p, 2): pairs of clusters that edges join, smaller first, sorted.
        between: int64, shape (p,): how many edges.
        values: for each quasi-identifier its one value of each cluster, c rows.
        categories: for each sensitive attribute its values, V rows.
        counts: int64, shape (c, V): for each of these how often a cluster has each value.
        schema: of the quasi-identifiers and sensitive attributes, with the types of `values`.
    """

    sizes: Integers
    inner: Integers
    ends: Integers
    between: Integers
    values: tuple[pa.Array, ...]
    categories: tuple[pa.Array, ...]
    counts: tuple[Integers, ...]
    schema: Schema

    def tables(self, columns: GraphColumns) -> tuple[pa.Table, pa.Table]:
        """Supernodes and superedges; sensitive counts as JSON, the largest first."""
        nodes = {SIZE: pa.array(self.sizes), INNER: pa.array(self.inner)}
        quasi = self.schema.quasi_identifiers
        nodes |= {one.name: column for one, column in zip(quasi, self.values, strict=True)}
        for attribute, kinds, counts in zip(
            self.schema.sensitive, self.categories, self.counts, strict=True
        ):
            nodes[attribute.name] = pa.array([_told(kinds, row) for row in counts], pa.string())
        edges = pa.table(
            {
                columns.source: self.ends[:, 0],
                columns.target: self.ends[:, 1],
                BETWEEN: self.between,
            }
        )
        return pa.table(nodes), edges


def supernodes(
    dataset: GraphDataset,
    table: pa.Table | None,
    labels: Integers,
    space: AttributeSpace | None,
    agreed: Floats,
) -> Generalized:
    """The clusters of a data set as supernodes.

    Args:
        dataset: original.
        table: its nodes with their released sensitive values; None: nodes have no attributes.
        labels: int64, shape (n,): clusters from 0 without gaps.
        space: of the quasi-identifiers; None: none.
        agreed: as for `generalized`.
    """
    sensitive = []
    for attribute in dataset.schema.sensitive:
        codes = encode(table.column(attribute.name) if table is not None else pa.array([]))
        plain = replace(attribute, arrow_type=codes.values.type)
        sensitive.append((plain, codes.values, codes.code_of))
    told = generalized(dataset.graph, labels, space, agreed, sensitive)
    if space is None or dataset.nodes is None:
        return told
    originals = {
        one.name: dataset.nodes.column(one.name).combine_chunks()
        for one in space.attributes
        if one.hierarchy is not None
    }
    return with_ancestors(told, labels, originals)


def generalized(
    graph: Graph,
    labels: Integers,
    space: AttributeSpace | None,
    agreed: Floats,
    sensitive: Sequence[tuple[Attribute, pa.Array, Integers]],
) -> Generalized:
    """The clusters as supernodes.

    Args:
        graph: original.
        labels: int64, shape (n,): clusters from 0 without gaps.
        space: of the quasi-identifiers; None: none.
        agreed: float64, shape (c, q): one value a cluster, in codes; where an attribute has a
            hierarchy, the lowest node above all members stands instead. Never a least or
            greatest value.
        sensitive: each attribute, its values, and the number of each node's value, shape (n,).
    """
    count = int(labels.max(initial=-1)) + 1
    ends = np.sort(labels[graph.pairs()], axis=1)
    keys, times = np.unique(ends[:, 0] * np.int64(count) + ends[:, 1], return_counts=True)
    pairs = np.stack([keys // max(count, 1), keys % max(count, 1)], axis=1)
    within = pairs[:, 0] == pairs[:, 1]
    inner = np.zeros(count, np.int64)
    inner[pairs[within, 0]] = times[within]
    values = tuple(space.decode(agreed)) if space is not None else ()
    attributes = space.attributes if space is not None else ()
    matrices = []
    for _, kinds, numbers in sensitive:
        matrix = np.zeros((count, len(kinds)), np.int64)
        np.add.at(matrix, (labels, numbers), 1)
        matrices.append(matrix)
    return Generalized(
        np.bincount(labels, minlength=count).astype(np.int64),
        inner,
        pairs[~within],
        times[~within].astype(np.int64),
        values,
        tuple(kinds for _, kinds, _ in sensitive),
        tuple(matrices),
        Schema((*attributes, *(attribute for attribute, _, _ in sensitive))),
    )


def with_ancestors(
    told: Generalized, labels: Integers, originals: dict[str, pa.Array]
) -> Generalized:
    """The same, with attributes that have a hierarchy at the lowest node above all members.

    Args:
        told: with one member's value for these.
        labels: int64, shape (n,).
        originals: n values by name, of the quasi-identifiers.
    """
    values, attributes = list(told.values), list(told.schema.attributes)
    for place, attribute in enumerate(told.schema.quasi_identifiers):
        if attribute.hierarchy is None:
            continue
        rows = {row[0]: row for row in attribute.hierarchy.levels}
        texts = originals[attribute.name].cast(pa.string()).to_pylist()
        paths: list[set[str | None]] = [set() for _ in told.sizes]
        for label, text in zip(labels.tolist(), texts, strict=True):
            paths[label].add(text)
        values[place] = pa.array([_lowest(rows, members) for members in paths], pa.string())
        attributes[place] = replace(attribute, arrow_type=pa.string())
    return replace(told, values=tuple(values), schema=Schema(tuple(attributes)))


def sample(told: Generalized, generator: np.random.Generator) -> tuple[Graph, pa.Table, Integers]:
    """A graph drawn from what is told of the clusters and fresh randomness, nothing else.

    Edges are uniform among the graphs with these counts within and between clusters; sensitive
    values are dealt at random within a cluster.

    Returns:
        The graph; the attributes of its nodes; int64, shape (n,): the cluster of each node.
    """
    firsts = np.cumsum(told.sizes) - told.sizes
    parts = [
        _inside(int(size), int(edges), generator) + first
        for size, edges, first in zip(told.sizes, told.inner, firsts, strict=True)
    ]
    for (one, other), edges in zip(told.ends.tolist(), told.between.tolist(), strict=True):
        size = int(told.sizes[other])
        drawn = generator.choice(int(told.sizes[one]) * size, edges, replace=False)
        parts.append(np.stack([firsts[one] + drawn // size, firsts[other] + drawn % size], axis=1))
    clusters = np.repeat(np.arange(len(told.sizes)), told.sizes)
    pairs = np.concatenate([np.empty((0, 2), np.int64), *parts])
    graph = Graph.from_pairs(len(clusters), pairs)
    columns = {
        attribute.name: column.take(pa.array(clusters))
        for attribute, column in zip(told.schema.quasi_identifiers, told.values, strict=True)
    }
    for attribute, kinds, counts in zip(
        told.schema.sensitive, told.categories, told.counts, strict=True
    ):
        dealt = [generator.permutation(np.repeat(np.arange(len(kinds)), row)) for row in counts]
        numbers = np.concatenate([np.empty(0, np.int64), *dealt])
        columns[attribute.name] = kinds.take(pa.array(numbers))
    return graph, pa.table(columns), clusters


def _inside(size: int, edges: int, generator: np.random.Generator) -> Integers:
    """So many different pairs of 0 … size − 1, uniform."""
    if not edges:
        return np.empty((0, 2), np.int64)
    return pairs_of(generator.choice(size * (size - 1) // 2, edges, replace=False))


def _told(kinds: pa.Array, counts: Integers) -> str:
    texts = kinds.cast(pa.string()).to_pylist()
    order = sorted(np.flatnonzero(counts).tolist(), key=lambda one: (-counts[one], str(texts[one])))
    told = [[texts[one], int(counts[one])] for one in order]
    return json.dumps(told, ensure_ascii=False)


def _lowest(rows: dict[str, tuple[str, ...]], members: set[str | None]) -> str | None:
    """The lowest node above all members; a missing one beside values leads to the top."""
    if members == {None}:
        return None
    known = [rows[member] for member in members if member is not None]
    if None in members:
        return known[0][-1]
    for level in range(len(known[0])):
        if len({row[level] for row in known}) == 1:
            return known[0][level]
    return known[0][-1]
