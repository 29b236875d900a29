"""Degrees that are shared by k nodes, by as few edits of edges as are found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from distanon.data.graph import Graph, GraphDataset
from distanon.data.graph_release import GraphRelease
from distanon.data.streams import Streams
from distanon.errors import InfeasibleError, SpecError
from distanon.methods.base import Context, GraphMethod
from distanon.promises.base import Promise

Integers = NDArray[np.int64]

_SHARES = (50, 60, 67, 75, 85, 40)
"""Where in a group its degree may be taken, in percent of its members."""


class DegreeAnonymization(GraphMethod):
    """Every degree is shared by at least k nodes. Attributes are released as they are.

    Nodes are cut by degree into groups of k to 2k − 1, at the least cost by dynamic programming;
    each group gets one degree, and edges are edited until all have theirs.

    Source: Liu and Terzi, SIGMOD 2008, sections 4 to 6; Casas-Roma, Herrera-Joancomartí and
        Torra, Knowledge and Information Systems 50 (2017) 447-474 (UMGA).
    Deviation: edges are added and removed alike, so a group's degree is a percentile or the mean
        of its members' instead of their largest; several are tried, and the fewest edits kept.
    """

    summary: ClassVar[str] = "edits edges until every number of neighbors is shared by k nodes"
    limits: ClassVar[str] = (
        "k holds against an intruder who knows degrees alone; attributes are released unchanged, "
        "and who knows more of the neighborhood finds most people"
    )
    keeps: ClassVar[frozenset[str]] = frozenset({"k_degree", "k_anonymity"})
    knowledge: ClassVar[Literal["degree"]] = "degree"
    """Against whom k is promised."""

    name: Literal["degree_anonymization"] = "degree_anonymization"
    k: int = Field(10, ge=2, description="nodes that share each degree")
    attempts: int = Field(
        2, ge=1, description="searches for each rule of the groups' degrees; the best is kept"
    )

    def default_promises(self) -> Mapping[str, Promise]:
        """K nodes of each degree."""
        from distanon.promises.k_degree import KDegree

        return {"k_degree": KDegree(k=self.k)}

    def check(  # type: ignore[override]
        self, dataset: GraphDataset, promises: Mapping[str, Promise]
    ) -> None:
        """Refuses too few nodes, and promises that it is not made for.

        Raises:
            SpecError: a promise of more nodes, or of degrees within classes of attributes.
            InfeasibleError: fewer nodes than k.
        """
        faults = []
        for name, promise in promises.items():
            asked = getattr(promise, "k", self.k)
            if asked > self.k:
                faults.append(f"promises.{name}.k {asked}: above method.k {self.k}; they agree")
            if getattr(promise, "within", "graph") != "graph":
                faults.append(
                    f"promises.{name}.within: {self.name} knows no classes; use graph, or kmfc_gwo"
                )
        if faults:
            raise SpecError(*faults)
        nodes = len(dataset)
        if nodes < self.k:
            works = f"the largest k that works is {nodes}" if nodes > 1 else "no k works"
            raise InfeasibleError(
                f"method.k {self.k}: expected at least k nodes in {dataset.source}, got {nodes}; "
                f"{works}"
            )

    def release(  # type: ignore[override]
        self, dataset: GraphDataset, promises: Mapping[str, Promise], context: Context
    ) -> GraphRelease:
        """Edits the edges.

        Raises:
            SpecError, InfeasibleError: as `check`; no edits were found that share all degrees.
        """
        from distanon.kernels.degree_groups import grouped_by_degree, medians_cost

        self.check(dataset, promises)
        graph = dataset.graph
        degrees = graph.degrees()
        groups = grouped_by_degree(degrees, np.zeros(len(degrees), np.int64), self.k)
        released = self._realized(graph, groups, context.streams)
        kept = int(graph.has(released.pairs()).sum()) if released.edges else 0
        removed, added = graph.edges - kept, released.edges - kept
        return GraphRelease(
            released,
            dataset.nodes,
            dataset.schema,
            np.arange(len(dataset)),
            counts={
                "edges_removed": removed,
                "edges_added": added,
                "edit_bound": -(-medians_cost(degrees, groups) // 2),
            },
            private={"IL_G": (removed + added) / max(1, graph.edges)},
        )

    def _realized(self, graph: Graph, groups: Integers, streams: Streams) -> Graph:
        """The graph with the fewest edits of those that were found.

        One degree for all nodes is tried only where the groups' degrees can't be reached.
        """
        from distanon.kernels.degree_edits import realize

        for group_of in (groups, np.zeros_like(groups)):
            fewest, best = -1, None
            for rule, level in enumerate(_levels(graph.degrees(), group_of)):
                for attempt in range(self.attempts):
                    seed = streams.generator("degree edits", rule, attempt).integers(2**62)
                    pairs, open_ = realize(graph.starts, graph.neighbors, level, int(seed))
                    if open_.any():
                        continue
                    same = int(graph.has(pairs).sum()) if len(pairs) else 0
                    edits = graph.edges + len(pairs) - 2 * same
                    if best is None or edits < fewest:
                        fewest, best = edits, pairs
            if best is not None:
                return Graph.from_pairs(graph.nodes, best)
        raise InfeasibleError(
            f"method.k {self.k}: no edits were found after which {self.k} nodes share every "
            "degree; lower k, or raise attempts"
        )


def _levels(degrees: Integers, group_of: Integers) -> Iterator[Integers]:
    """The degree of each node by each rule, int64, shape (n,), with an even sum, each once."""
    from distanon.kernels.degree_groups import evened

    order = np.lexsort((degrees, group_of))
    sizes = np.bincount(group_of)
    starts = np.cumsum(sizes) - sizes
    sums = np.add.reduceat(degrees[order], starts)
    rules = [degrees[order][starts + (sizes - 1) * share // 100] for share in _SHARES]
    rules.append((2 * sums + sizes) // (2 * sizes))
    seen = set()
    for rule in rules:
        level = evened(rule, group_of, degrees)[group_of]
        if level.tobytes() not in seen:
            seen.add(level.tobytes())
            yield level
