"""K-member fuzzy clusters of a graph's nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from distanon.data.graph import Graph, GraphDataset
from distanon.data.space import AttributeSpace
from distanon.errors import InfeasibleError, SpecError
from distanon.kernels import fuzzy
from distanon.methods.base import Context
from distanon.methods.kmfc_gwo.features import Features, Representation, Weights, features
from distanon.methods.kmfc_gwo.revision import fill, numbered, split
from distanon.sharded.fuzzy import FuzzySettings, Iterate, Truncation, fuzzy_c_means, truncation
from distanon.sharded.fuzzy_start import balanced, spread

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_FULL = 256  # clusters up to which all memberships are computed
_NEAREST = 32
_PATIENCE = 3


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """How clusters are found.

    The default weights serve knowledge of attributes and degree: clusters whose members agree on
    attributes, then on the degree, then on whom they know.

    Attributes:
        k: K, members that every cluster has at least.
        m: fuzzifier, above 1.
        w_edges: weight of the adjacency rows.
        w_attributes: weight of the attributes, each at distance 0 to 1.
        w_degree: weight of ln(1 + degree).
        representation: of the edges: exact rows, a sparse random projection, or the leading
            singular vectors; auto: exact for few nodes × clusters, else svd.
        dimensions: on how many columns edges are projected.
        start: balanced: means of equally large pieces of near nodes; spread: drawn as k-means++.
        truncate: to how many nearest centroids memberships are truncated; None: never; auto: to
            32 where there are more than 256 and rows are not sparse.
        iterations: of fuzzy c-means at most.
        tolerance: change of the objective, as a share, at which it ends.
        revision: split: clusters of 2 K or more are split; paper: they stay.
    """

    k: int
    m: float = 1.1
    w_edges: float = 0.1
    w_attributes: float = 5.0
    w_degree: float = 3.0
    representation: Representation = "auto"
    dimensions: int = 32
    start: Literal["balanced", "spread"] = "balanced"
    truncate: int | Literal["auto"] | None = "auto"
    iterations: int = 30
    tolerance: float = 1e-3
    revision: Literal["split", "paper"] = "split"

    def __post_init__(self) -> None:
        """Refuses what has no meaning.

        Raises:
            SpecError: names the settings.
        """
        faults = [
            f"{name}: expected {expected}, got {getattr(self, name)}"
            for name, expected, fits in (
                ("k", "at least 1", self.k >= 1),
                ("m", "a number above 1", 1.0 < self.m < np.inf),
                ("w_edges", "a number of at least 0", 0.0 <= self.w_edges < np.inf),
                ("w_attributes", "a number of at least 0", 0.0 <= self.w_attributes < np.inf),
                ("w_degree", "a number of at least 0", 0.0 <= self.w_degree < np.inf),
                ("dimensions", "at least 1", self.dimensions >= 1),
                ("iterations", "at least 1", self.iterations >= 1),
                ("tolerance", "a number of at least 0", 0.0 <= self.tolerance < np.inf),
                ("truncate", "at least 1", not isinstance(self.truncate, int) or self.truncate > 0),
            )
            if not fits
        ]
        if faults:
            raise SpecError(*faults)


@dataclass(frozen=True, slots=True)
class Clusters:
    """Clusters, and how they came about.

    Attributes:
        labels: int64, shape (n,): the cluster of each node, numbered by their lowest nodes.
        count: how many there are.
        sought: C, how many fuzzy c-means had.
        iterations: of fuzzy c-means.
        chosen: the iteration whose clusters, revised, were the tightest: these are they.
        settled: fuzzy c-means came to rest (else: ended for lack of tighter clusters).
        objective: J_m of the chosen iteration.
        scatter: Σ ‖x - mean of its cluster‖² of the clusters, in weighted features.
        moved: nodes that Algorithm 1 gave to another cluster.
        edges: how edges were represented.
        truncation: what truncated memberships left out; None: nothing was truncated.
        sizes: least, median and greatest size.
    """

    labels: Integers
    count: int
    sought: int
    iterations: int
    chosen: int
    settled: bool
    objective: float
    scatter: float
    moved: int
    edges: str
    truncation: Truncation | None
    sizes: tuple[int, float, int] = field(default=(0, 0.0, 0))


def cluster(
    dataset: GraphDataset,
    space: AttributeSpace | None,
    settings: ClusterSettings,
    context: Context,
) -> Integers:
    """Clusters of at least K nodes each.

    As `find_clusters`, the labels alone: int64, shape (n,).
    """
    return find_clusters(dataset, space, settings, context).labels


def find_clusters(
    dataset: GraphDataset,
    space: AttributeSpace | None,
    settings: ClusterSettings,
    context: Context,
) -> Clusters:
    """Clusters of at least K nodes each, by fuzzy c-means and Algorithm 1.

    Args:
        dataset: N ≥ K nodes.
        space: of the attributes that clusters should agree on (the quasi-identifiers); None:
            none.
        settings: how.
        context: crew and streams.

    Raises:
        InfeasibleError: fewer nodes than K.

    Source: methods.md, C1; KMFC-GWO, section on K-member fuzzy clustering.
    Deviation: of all iterations that one counts whose clusters, after the revision, are the
    tightest. Fuzzy c-means knows no sizes: as it goes on it places centroids at few, far nodes,
    and the revision then fills these clusters from afar.
    """
    nodes = len(dataset)
    if nodes < settings.k or not nodes:
        raise InfeasibleError(
            f"method.k {settings.k}: expected at least {max(1, settings.k)} nodes in "
            f"{dataset.source}, got {nodes}; "
            + (f"the largest k that works is {nodes}" if nodes else "no k works without nodes")
        )
    clusters = cluster_count(nodes, settings.k)
    weights = Weights(settings.w_edges, settings.w_attributes, settings.w_degree)
    represented = (settings.representation, settings.dimensions)
    points = _points(dataset, space)
    found = features(dataset.graph, points, weights, represented, clusters, context.streams)
    return _tightest(dataset.graph, found, clusters, settings, context)


def cluster_count(nodes: int, k: int) -> int:
    """C = max(1, ⌊0.9 N / K⌋), in integers."""
    return max(1, 9 * nodes // (10 * k))


def _points(dataset: GraphDataset, space: AttributeSpace | None) -> Floats | None:
    if space is None or not space.attributes or dataset.nodes is None:
        return None
    return space.embed(space.encode(dataset.nodes))


def _tightest(
    graph: Graph, found: Features, clusters: int, settings: ClusterSettings, context: Context
) -> Clusters:
    """Runs fuzzy c-means and keeps the iteration whose revised clusters are the tightest."""
    if settings.start == "balanced":
        first = balanced(found.rows, found.guide, clusters)
    else:
        first = spread(context.crew, found.rows, found.guide, clusters, context.streams)
    fuzzily = FuzzySettings(
        settings.m, _nearest(settings, clusters), settings.iterations, settings.tolerance
    )
    line = graph.degrees().astype(np.float64)[:, None] if settings.w_degree else found.guide
    best: tuple[float, Integers, int, Iterate] | None = None
    iterate = None
    for iterate in fuzzy_c_means(context.crew, found.rows, first, fuzzily):
        labels, moved = fill(found.rows, iterate.labels, iterate.centroids, settings.k)
        if settings.revision == "split":
            labels = split(labels, line, settings.k)
        scatter = fuzzy.scatter(found.rows, labels, int(labels.max()) + 1)
        if best is None or scatter < best[0]:
            best = (scatter, labels, moved, iterate)
        elif iterate.iteration - best[3].iteration >= _PATIENCE:
            break
    if best is None or iterate is None:  # there is one iteration at least
        raise RuntimeError("fuzzy c-means made no iteration")
    scatter, labels, moved, chosen = best
    sizes = np.bincount(labels)
    return Clusters(
        labels=numbered(labels),
        count=len(sizes),
        sought=clusters,
        iterations=iterate.iteration,
        chosen=chosen.iteration,
        settled=iterate.settled,
        objective=chosen.objective,
        scatter=scatter,
        moved=moved,
        edges=found.edges,
        truncation=truncation(found.rows, chosen, fuzzily),
        sizes=(int(sizes.min()), float(np.median(sizes)), int(sizes.max())),
    )


def _nearest(settings: ClusterSettings, clusters: int) -> int | None:
    if settings.truncate == "auto":
        return _NEAREST if clusters > _FULL else None
    return settings.truncate
