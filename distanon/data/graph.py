"""Undirected simple graphs as compressed sparse rows, and graphs with attributed nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.schema import Schema
from distanon.data.table import Dataset, MemoryPartition

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

_MOST_NODES = 2**31 - 1  # a neighbor's number is an int32
_SHIFT = 32
_LOWER = 2**32 - 1


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """An undirected simple graph over the nodes 0 … n-1; arrays alone, so cheap to send.

    Attributes:
        starts: int64, shape (n + 1,): node i's neighbors are `neighbors[starts[i]:starts[i + 1]]`.
        neighbors: int32, shape (2m,), ascending within a node.
    """

    starts: Integers
    neighbors: NDArray[np.int32]

    def __repr__(self) -> str:
        """Without an edge of the data."""
        return f"Graph({self.nodes} nodes, {self.edges} edges)"

    @staticmethod
    def from_pairs(nodes: int, pairs: NDArray[np.integer]) -> Graph:
        """The graph of these pairs; loops are left out, pairs given twice count once.

        Args:
            nodes: how many there are; the pairs need not name all.
            pairs: any integer type, shape (p, 2), ends in either order.

        Raises:
            ValueError: a pair names no node, or there are too many nodes.
        """
        return _from_directed(nodes, _both_ways(_distinct(_keys(_checked(nodes, pairs)))))

    @property
    def nodes(self) -> int:
        """How many nodes."""
        return len(self.starts) - 1

    @property
    def edges(self) -> int:
        """How many edges."""
        return len(self.neighbors) // 2

    def degrees(self) -> Integers:
        """How many neighbors each node has, int64, shape (n,)."""
        return np.diff(self.starts)

    def neighbors_of(self, node: int) -> NDArray[np.int32]:
        """The neighbors of a node, ascending; a view."""
        return self.neighbors[self.starts[node] : self.starts[node + 1]]

    def pairs(self) -> Integers:
        """Each edge once, smaller node first, sorted: int64, shape (m, 2)."""
        rows = self._rows()
        once = rows < self.neighbors
        return np.stack([rows[once], self.neighbors[once].astype(np.int64)], axis=1)

    def has(self, pairs: NDArray[np.integer]) -> Booleans:
        """Which pairs are edges, bool, shape (p,); a binary search in each first node's row.

        Args:
            pairs: any integer type, shape (p, 2), ends in either order.

        Raises:
            ValueError: a pair names no node.
        """
        ends = _checked(self.nodes, pairs)
        low, high = self.starts[ends[:, 0]], self.starts[ends[:, 0] + 1]
        stop, wanted = high.copy(), ends[:, 1]
        while (open_ := low < high).any():
            middle = (low + high) >> 1
            before = np.zeros(len(ends), np.bool_)
            before[open_] = self.neighbors[middle[open_]] < wanted[open_]
            low = np.where(before, middle + 1, low)
            high = np.where(open_ & ~before, middle, high)
        found = low < stop
        found[found] = self.neighbors[low[found]] == wanted[found]
        return found

    def edited(self, removed: NDArray[np.integer], added: NDArray[np.integer]) -> Graph:
        """The graph without some edges and with others.

        Args:
            removed: edges of this graph, shape (r, 2), ends in either order.
            added: pairs that are none, shape (a, 2).

        Raises:
            ValueError: removed is no edge, added is one or a loop, or a pair stands twice.
        """
        less, more = _checked(self.nodes, removed), _checked(self.nodes, added)
        less_keys, more_keys = _keys(less), _keys(more)
        if (more[:, 0] == more[:, 1]).any():
            raise ValueError("added: a pair joins a node with itself")
        for name, keys in (("removed", less_keys), ("added", more_keys)):
            if len(_distinct(keys)) < len(keys):
                raise ValueError(f"{name}: a pair is given twice")
        if not self.has(less).all():
            raise ValueError("removed: a pair is no edge of the graph")
        if self.has(more).any():
            raise ValueError("added: a pair is an edge of the graph already")
        keys = (self._rows() << _SHIFT) | self.neighbors
        keys = np.delete(keys, np.searchsorted(keys, _both_ways(less_keys)))
        more_keys = _both_ways(more_keys)
        keys = np.insert(keys, np.searchsorted(keys, more_keys), more_keys)
        return _from_directed(self.nodes, keys)

    def components(self) -> Integers:
        """Each node's component, numbered by their lowest nodes: int64, shape (n,)."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        if not self.nodes:
            return np.zeros(0, np.int64)
        ones = np.ones(len(self.neighbors))  # the type that scipy would copy it to
        matrix = csr_array((ones, self.neighbors, self.starts), shape=(self.nodes, self.nodes))
        # The matrix is symmetric: strong components are the same and need no transposed copy.
        labels = connected_components(matrix, directed=True, connection="strong")[1]
        _, first, places = np.unique(labels, return_index=True, return_inverse=True)
        rank = np.empty(len(first), np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        numbered: Integers = rank[places]
        return numbered

    def _rows(self) -> Integers:
        """The node that each entry of `neighbors` is a neighbor of."""
        return np.repeat(np.arange(self.nodes, dtype=np.int64), self.degrees())


def _checked(nodes: int, pairs: NDArray[np.integer]) -> Integers:
    """Pairs as int64 of shape (p, 2), all inside the graph."""
    if not 0 <= nodes <= _MOST_NODES:
        raise ValueError(f"expected 0 … {_MOST_NODES} nodes, got {nodes}")
    array = np.asarray(pairs)
    if array.size == 0:
        return np.zeros((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"expected integer pairs of shape (p, 2), got {array.dtype} {array.shape}")
    if array.min() < 0 or array.max() >= nodes:
        raise ValueError(f"a pair names a node outside 0 … {nodes - 1}")
    return array.astype(np.int64, copy=False)


def _keys(pairs: Integers) -> Integers:
    """One number for each pair that is no loop: the smaller end in the upper 32 bits."""
    small, large = np.minimum(pairs[:, 0], pairs[:, 1]), np.maximum(pairs[:, 0], pairs[:, 1])
    keys: Integers = ((small << _SHIFT) | large)[small < large]
    return keys


def _distinct(keys: Integers) -> Integers:
    """Sorted, each once. Cheaper than np.unique, which hashes large integers."""
    ordered = np.sort(keys)
    if not len(ordered):
        return ordered
    first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def _both_ways(keys: Integers) -> Integers:
    """Keys and those with their ends exchanged, sorted."""
    return np.sort(np.concatenate([keys, ((keys & _LOWER) << _SHIFT) | (keys >> _SHIFT)]))


def _from_directed(nodes: int, keys: Integers) -> Graph:
    """The graph of sorted distinct keys, each edge both ways."""
    starts = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(keys >> _SHIFT, minlength=nodes), out=starts[1:])
    return Graph(starts, (keys & _LOWER).astype(np.int32))


@dataclass(frozen=True, slots=True)
class GraphColumns:
    """What the input calls the node ids and the ends of an edge; the release keeps the names."""

    node: str = "node"
    source: str = "source"
    target: str = "target"


@dataclass(frozen=True, slots=True, eq=False)
class GraphDataset:
    """A graph whose nodes may have attributes.

    Attributes:
        graph: over the nodes 0 … n-1, numbered in the order of the node table (without one:
            by their ids, ascending).
        nodes: the declared attributes, n rows in node order; None: nodes have none.
        schema: of `nodes`; empty where there are none.
        columns: names of the id columns, as in the input.
        ids: the n ids of the input, in node order. Never published.
        source: what the graph is called in messages.
        counts: what was found and put right: self_loops, duplicate_edges,
            directed_pairs_merged, isolated_nodes, components, nodes_without_attributes, …
    """

    graph: Graph
    nodes: pa.Table | None
    schema: Schema
    columns: GraphColumns
    ids: pa.Array
    source: str = "the graph"
    counts: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Without values of the data."""
        names = ", ".join(attribute.name for attribute in self.schema)
        return f"GraphDataset({self.source}: {self.graph!r}, attributes {names or 'none'})"

    def __len__(self) -> int:
        return self.graph.nodes

    def node_dataset(self) -> Dataset:
        """The attribute table as a data set, node by node; without columns where there is none."""
        if self.nodes is None:
            return Dataset(self.schema, (_Nodes(self.graph.nodes),), self.source)
        return Dataset(self.schema, (MemoryPartition(self.nodes),), self.source)


@dataclass(frozen=True, slots=True)
class _Nodes:
    """Nodes without attributes, as a partition: rows that have no column."""

    stop: int
    start: int = 0

    def read(self, columns: Any = None) -> pa.Table:
        """A table that has `stop` rows and no columns."""
        return pa.table({"": pa.nulls(self.stop)}).select(list(columns or []))


def to_networkx(nodes: pa.Table, edges: pa.Table, columns: GraphColumns) -> Any:
    """The `networkx.Graph` of two tables; a missing value is an attribute that a node lacks.

    Args:
        nodes: ids and attributes.
        edges: both ends.
        columns: names of the ids.
    """
    import networkx as nx

    graph = nx.Graph()
    ids = nodes.column(columns.node).to_pylist()
    graph.add_nodes_from(ids)
    for name in nodes.column_names:
        if name != columns.node:
            values = zip(ids, nodes.column(name).to_pylist(), strict=True)
            nx.set_node_attributes(graph, {one: v for one, v in values if v is not None}, name)
    ends = (edges.column(name).to_pylist() for name in (columns.source, columns.target))
    graph.add_edges_from(zip(*ends, strict=True))
    return graph
