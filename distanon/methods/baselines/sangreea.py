"""SaNGreeA: greedy clusters of nodes with like attributes and like neighbors, as supernodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from distanon.data.agreement import agreed_values
from distanon.data.domain import scan
from distanon.data.graph import Graph, GraphDataset
from distanon.data.graph_release import GraphRelease
from distanon.data.hierarchy import Hierarchy
from distanon.data.schema import Schema
from distanon.data.space import AttributeSpace
from distanon.data.supernodes import supernodes
from distanon.errors import SpecError
from distanon.methods.base import Context, GraphMethod, refuse_few_nodes
from distanon.methods.baselines.sensitive_classes import SensitiveClasses
from distanon.methods.limits import sensitive_promises
from distanon.promises.base import Promise

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class SaNGreeA(GraphMethod):
    """Clusters of at least k nodes, each published as one supernode.

    Source: Campan and Truta 2008, Data and structural k-anonymity in social networks.
    Deviation: a numeric attribute is published as the lower median of the members and not as
        their least and greatest value, which are somebody's; sensitive values as their counts.
        Where l or t are promised, clusters that do not keep them are joined with near ones.
    """

    summary: ClassVar[str] = (
        "greedy clusters of at least k people with like attributes and neighbors, as supernodes"
    )
    limits: ClassVar[str] = (
        "without l or t the members of a cluster may all have one sensitive value; nothing but "
        "counts of edges is left of the structure within and between clusters"
    )
    keeps: ClassVar[frozenset[str]] = frozenset({"k_anonymity", "l_diversity", "t_closeness"})
    knowledge: ClassVar[Literal["cluster"]] = "cluster"
    """Against whom k is promised: any knowledge of the structure leads to a supernode at best."""

    name: Literal["sangreea"] = "sangreea"
    k: int = Field(10, ge=2, description="nodes of a cluster, at least")
    l: float | None = Field(  # noqa: E741
        None, gt=1, description="distinct sensitive values of each cluster; null: not promised"
    )
    t: float | None = Field(
        None, ge=0, le=1, description="distance of each cluster's sensitive values to all"
    )
    alpha: Weight = Field(0.5, description="weight of the generalization of attributes (NGIL)")
    beta: Weight = Field(0.5, description="weight of the distance in the neighbors that are known")

    @model_validator(mode="after")
    def _weighs_something(self) -> Self:
        if not self.alpha and not self.beta:
            raise ValueError("alpha and beta are both 0: one of them must count")
        return self

    def default_promises(self) -> Mapping[str, Promise]:
        """K members of each supernode; l and t if given."""
        from distanon.promises.k_anonymity import KAnonymity

        return {"k_anonymity": KAnonymity(k=self.k)} | sensitive_promises(self.l, self.t)

    def check(  # type: ignore[override]
        self, dataset: GraphDataset, promises: Mapping[str, Promise]
    ) -> None:
        """Refuses too few nodes, and a promise of more.

        Raises:
            SpecError: a promise asks for more than k.
            InfeasibleError: fewer nodes than k, or an l that not even all nodes together have.
        """
        asked = getattr(promises.get("k_anonymity"), "k", self.k)
        if asked > self.k:
            raise SpecError(f"promises.k_anonymity.k {asked}: above method.k {self.k}; they agree")
        refuse_few_nodes(dataset, self.k)
        SensitiveClasses.of(dataset, promises)

    def release(  # type: ignore[override]
        self, dataset: GraphDataset, promises: Mapping[str, Promise], context: Context
    ) -> GraphRelease:
        """Finds the clusters and publishes them. Nothing in it is random.

        Raises:
            SpecError, InfeasibleError: as `check`.
        """
        from distanon.kernels.structural_loss import normalized_structural_loss

        self.check(dataset, promises)
        graph = dataset.graph
        space, values = None, np.empty((len(dataset), 0))
        if dataset.nodes is not None and dataset.schema.quasi_identifiers:
            domain = scan(dataset.node_dataset())
            space = AttributeSpace.of(dataset.schema.quasi_identifiers, domain)
            values = space.encode(dataset.nodes)
        wanted = SensitiveClasses.of(dataset, promises)
        labels, joins = self._clusters(graph, qualities(space, values), wanted)
        if joins:
            context.progress.note(
                f"{joins + int(labels.max()) + 1} clusters were joined to {int(labels.max()) + 1}, "
                "since the sensitive values of fewer nodes do not keep l and t"
            )
        agreed = np.empty((int(labels.max()) + 1, 0))
        if space is not None:
            agreed = agreed_values(labels, values, space)
        told = supernodes(dataset, dataset.nodes, labels, space, agreed)
        nodes, edges = told.tables(dataset.columns)
        return GraphRelease(
            None,
            None,
            Schema(()),
            np.arange(len(dataset)),
            labels,
            nodes,
            edges,
            {"clusters": len(told.sizes), "clusters_joined": joins},
            {
                "cluster_sizes": told.sizes,
                "nsil": normalized_structural_loss(graph.starts, graph.neighbors, labels),
            },
        )

    def _clusters(
        self, graph: Graph, parts: tuple[Floats, Integers, Integers], wanted: SensitiveClasses
    ) -> tuple[Integers, int]:
        """The cluster of each node, int64, shape (n,), and how many joins that took."""
        from distanon.kernels.cluster_joins import JoinCosts, joined
        from distanon.kernels.greedy_clusters import Qualities, greedy_clusters

        of_nodes, starts, neighbors = Qualities(*parts), graph.starts, graph.neighbors
        labels = greedy_clusters(starts, neighbors, of_nodes, self.k, self.alpha, self.beta)
        if not wanted.limits:
            return labels, 0

        def costs(partition: Integers) -> JoinCosts:
            return JoinCosts(starts, neighbors, of_nodes, partition, self.alpha, self.beta)

        found = joined(labels, wanted.failing_unions, costs)
        return found, int(labels.max() - found.max())


def qualities(space: AttributeSpace | None, values: Floats) -> tuple[Floats, Integers, Integers]:
    """The attributes as lines and trees, as `kernels.greedy_clusters` takes them.

    Args:
        space: of the quasi-identifiers; None: none.
        values: float64, shape (n, q), in codes of the space.

    Returns:
        Numbers and ranks by their ranges, float64, shape (n, a), NaN missing; the tree nodes on
        the way up from each nominal value, int64, shape (n, b, h + 1); the trees' heights, (b,).
    """
    n = len(values)
    if space is None:
        return np.empty((n, 0)), np.empty((n, 0, 1), np.int64), np.empty(0, np.int64)
    points = space.embed(values)
    lines = [
        points[:, part]
        for part, is_nominal in zip(space.slices, space.nominal, strict=True)
        if not is_nominal
    ]
    ways = [
        _ways(attribute.hierarchy, its.categories)[values[:, place].astype(np.int64)]
        for place, (attribute, its) in enumerate(zip(space.attributes, space.domains, strict=True))
        if space.nominal[place]
    ]
    heights = np.array([way.shape[1] - 1 for way in ways], np.int64)
    most = int(heights.max(initial=0))
    trees = np.empty((n, len(ways), most + 1), np.int64)
    for place, way in enumerate(ways):
        trees[:, place] = np.pad(way, ((0, 0), (0, most + 1 - way.shape[1])), mode="edge")
    together = np.concatenate([np.empty((n, 0)), *lines], axis=1)
    return np.ascontiguousarray(together), trees, heights


def _ways(hierarchy: Hierarchy | None, categories: tuple[object, ...]) -> Integers:
    """For each category, and for a missing value, the numbers of the tree nodes up to the top."""
    numbers: dict[tuple[int, str], int] = {}
    missing = len(categories)
    if hierarchy is None:
        codes = np.arange(missing + 1, dtype=np.int64)
        return np.stack([codes, np.full_like(codes, missing + 1)], axis=1)
    rows = {row[0]: row for row in hierarchy.levels}
    ways = [
        [numbers.setdefault(node, len(numbers)) for node in enumerate(rows[str(category)])]
        for category in categories
    ]
    top = numbers.setdefault((hierarchy.height, hierarchy.levels[0][-1]), len(numbers))
    ways.append([-1] * hierarchy.height + [top])
    return np.array(ways, np.int64)
