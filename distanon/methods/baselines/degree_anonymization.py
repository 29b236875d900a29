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
from distanon.data.unchanged_edges import UnchangedEdges, refuse_unchanged
from distanon.errors import InfeasibleError, SpecError
from distanon.methods.base import Context, GraphMethod, refuse_few_nodes
from distanon.methods.baselines.sensitive_classes import SensitiveClasses
from distanon.methods.limits import sensitive_promises
from distanon.promises.base import Promise

Integers = NDArray[np.int64]

_SHARES = (50, 60, 67, 75, 85, 40)
"""Where in a group its degree may be taken, in percent of its members."""


class DegreeAnonymization(GraphMethod):
    """Every degree is shared by at least k nodes. Attributes are released as they are.

    Nodes are cut by degree into groups of k to 2k − 1, at the least cost by dynamic programming;
    each group gets one degree, and edges are edited until all have theirs. Where l or t are
    promised, groups whose sensitive values do not keep them are joined with the next ones.

    Source: Liu and Terzi, SIGMOD 2008, sections 4 to 6; Casas-Roma, Herrera-Joancomartí and
        Torra, Knowledge and Information Systems 50 (2017) 447-474 (UMGA).
    Deviation: edges are added and removed alike, so a group's degree is a percentile or the mean
        of its members' instead of their largest; several are tried, and the fewest edits kept.
        L and T are ours.
    """

    summary: ClassVar[str] = "edits edges until every number of neighbors is shared by k nodes"
    limits: ClassVar[str] = (
        "k holds against an intruder who knows degrees alone; attributes are released unchanged, "
        "and who knows more of the neighborhood finds most people"
    )
    keeps: ClassVar[frozenset[str]] = frozenset(
        {"k_degree", "k_anonymity", "l_diversity", "t_closeness"}
    )
    knowledge: ClassVar[Literal["degree"]] = "degree"
    """Against whom k is promised."""

    name: Literal["degree_anonymization"] = "degree_anonymization"
    k: int = Field(10, ge=2, description="nodes that share each degree")
    l: float | None = Field(  # noqa: E741
        None, gt=1, description="distinct sensitive values of each degree; null: not promised"
    )
    t: float | None = Field(
        None, ge=0, le=1, description="distance of each degree's sensitive values to all"
    )
    attempts: int = Field(
        2, ge=1, description="searches for each rule of the groups' degrees; the best is kept"
    )
    unchanged_edges: UnchangedEdges = Field(
        "refuse", description="whether a graph without one edited edge may be released"
    )

    def default_promises(self) -> Mapping[str, Promise]:
        """K nodes of each degree, which are the classes; l and t of them if given."""
        from distanon.promises.k_anonymity import KAnonymity
        from distanon.promises.k_degree import KDegree

        own = {"k_anonymity": KAnonymity(k=self.k), "k_degree": KDegree(k=self.k)}
        return own | sensitive_promises(self.l, self.t)

    def check(  # type: ignore[override]
        self, dataset: GraphDataset, promises: Mapping[str, Promise]
    ) -> None:
        """Refuses too few nodes, and promises that it is not made for.

        Raises:
            SpecError: a promise of more nodes, or of degrees within classes of attributes.
            InfeasibleError: fewer nodes than k, or an l that not even all nodes together have.
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
        refuse_few_nodes(dataset, self.k)
        SensitiveClasses.of(dataset, promises)

    def release(  # type: ignore[override]
        self, dataset: GraphDataset, promises: Mapping[str, Promise], context: Context
    ) -> GraphRelease:
        """Edits the edges.

        Raises:
            SpecError, InfeasibleError: as `check`; no edits were found that share all degrees.
        """
        from distanon.kernels.degree_groups import medians_cost

        self.check(dataset, promises)
        graph = dataset.graph
        degrees = graph.degrees()
        groups = self._groups(degrees, SensitiveClasses.of(dataset, promises))
        released = self._realized(graph, groups, context.streams)
        kept = int(graph.has(released.pairs()).sum()) if released.edges else 0
        removed, added = graph.edges - kept, released.edges - kept
        if self.unchanged_edges == "refuse":
            refuse_unchanged(removed + added, graph.edges, "raise k, or take random_edits")
        return GraphRelease(
            released,
            dataset.nodes,
            dataset.schema,
            np.arange(len(dataset)),
            counts={
                "edges_removed": removed,
                "edges_added": added,
                "degree_groups": int(groups.max()) + 1,
                "edit_bound": -(-medians_cost(degrees, groups) // 2),
            },
            private={"IL_G": (removed + added) / max(1, graph.edges)},
        )

    def _groups(self, degrees: Integers, wanted: SensitiveClasses) -> Integers:
        """Who gets one degree: int64, shape (n,), numbered by degree."""
        from distanon.kernels.adjacent_joins import joined_in_order, mixed_ties
        from distanon.kernels.degree_groups import grouped_by_degree

        one_class = np.zeros(len(degrees), np.int64)
        if not wanted.limits:
            return grouped_by_degree(degrees, one_class, self.k)
        order = mixed_ties(degrees, wanted.limits[0].codes)
        groups = np.empty_like(order)
        groups[order] = grouped_by_degree(degrees[order], one_class, self.k)
        return joined_in_order(degrees, groups, wanted.failing)

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
