"""KMFC-GWO and its predecessor KFCFA: social graphs in classes that no intruder can tell apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from distanon.data.domain import scan
from distanon.data.graph import GraphDataset
from distanon.data.graph_release import GraphRelease
from distanon.errors import SpecError
from distanon.methods.base import Context, GraphMethod, refuse_few_nodes
from distanon.methods.kmfc_gwo import bounds, clustered, perturbed
from distanon.methods.kmfc_gwo.candidates import EdgeWeight
from distanon.methods.kmfc_gwo.cells import sensitive_columns
from distanon.methods.kmfc_gwo.features import Representation
from distanon.methods.kmfc_gwo.floor import EdgeFloor
from distanon.methods.kmfc_gwo.problem import Constraints
from distanon.methods.kmfc_gwo.search import OptimizerName
from distanon.methods.kmfc_gwo.targets import Knowledge
from distanon.optimizers.grey_wolf import Transfer
from distanon.promises.base import Promise

Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class ClusteredSearch(GraphMethod):
    """Clusters by K-member fuzzy c-means, then a search for the edits that they need.

    Source: Memarian et al., KMFC-GWO: a hybrid fuzzy-metaheuristic algorithm for privacy
    preserving in graph-based social networks, JNIC 2024, 414-416.
    Deviation: solutions are sparse, over a list of candidate edits; degrees may be grouped anew
    within a class; see the docstrings of the parts.
    """

    keeps: ClassVar[frozenset[str]] = frozenset(
        {"k_anonymity", "l_diversity", "t_closeness", "k_degree", "link_confidence"}
    )

    k: int = Field(10, ge=2, description="nodes that share what the intruder knows")
    l: float | None = Field(  # noqa: E741
        None, gt=1, description="distinct sensitive values of each class; null: not promised"
    )
    t: float | None = Field(
        None, ge=0, le=1, description="distance of each class's sensitive values to all"
    )
    publish: Literal["perturb", "generalize", "sample"] = Field(
        "perturb", description="an edited graph, supernodes, or a graph drawn from supernodes"
    )
    knowledge: Knowledge = Field(
        "attributes+degree", description="what the intruder of a perturbed graph knows of a person"
    )
    agreement: Literal["mode", "hierarchy"] = Field(
        "mode",
        description="what the members of a cluster get for a quasi-identifier with a hierarchy: "
        "their commonest value, or the lowest label above all of them",
    )
    degree_groups: Literal["classes", "clusters"] = Field(
        "classes",
        description="who gets one degree: nodes of a class, grouped by degree at the least cost, "
        "or the members of a cluster",
    )
    unchanged_edges: Literal["refuse", "accept"] = Field(
        "refuse", description="whether a graph without one edited edge may be released"
    )
    link_confidence: float | None = Field(
        None,
        gt=0,
        le=1,
        description="edges between two classes, or within one, as a share of the possible ones",
    )
    edge_floor: EdgeFloor | None = Field(None, description="edges that are moved in any case")
    edit_budget: float = Field(0.5, gt=0, description="share of the edges that may be edited")
    candidates: int | Literal["auto"] = Field(
        "auto",
        description="edits to choose from; auto: 32 for each that is needed, 1.5 million at most",
    )
    l_margin: int = Field(2, ge=1, description="cells of each value that is added to a class")
    decoys: bool = Field(True, description="change as many cells in classes that need no change")
    edge_weight: EdgeWeight = Field(
        "uniform", description="what an edit counts: 1, or by the neighbors that its ends share"
    )
    w_G: Weight = Field(1.0, description="weight of the loss of edges")  # noqa: N815
    w_A: Weight = Field(1.0, description="weight of the loss of attributes")  # noqa: N815
    w_C: Weight = Field(1.0, description="weight of the clustering error")  # noqa: N815
    optimizer: OptimizerName = Field("grey_wolf", description="what searches")
    transfer: Transfer = Field(
        "v", description="of the wolves: v sets no bit that nobody has; s is the customary one"
    )
    constraints: Constraints = Field(
        "rules", description="feasible solutions first (Deb), or violations in the objective"
    )
    wolves: int = Field(30, ge=1, description="solutions of an iteration")
    iterations: int = Field(100, ge=0, description="of the search")
    m: float = Field(1.1, gt=1, allow_inf_nan=False, description="fuzzifier")
    w_edges: Weight = Field(0.1, description="of the edges when clusters are formed")
    w_attributes: Weight = Field(5.0, description="of the attributes when clusters are formed")
    w_degree: Weight = Field(3.0, description="of ln(1 + degree) when clusters are formed")
    representation: Representation = Field("auto", description="of the edges in clustering")
    truncate: int | Literal["auto"] | None = Field(
        "auto", description="centroids that a node's memberships are computed for"
    )
    revision: Literal["split", "paper"] = Field(
        "split", description="split clusters of 2k or more, or leave them"
    )

    @property
    def tells_labels(self) -> bool:
        """Whether a perturbed graph may show labels of hierarchies."""
        return (
            self.agreement == "hierarchy"
            and self.publish == "perturb"
            and "attributes" in self.knowledge
        )

    def default_promises(self) -> Mapping[str, Promise]:
        """K on the classes of the knowledge; l and t if given; shared degrees where they count."""
        from distanon.promises.k_anonymity import KAnonymity
        from distanon.promises.k_degree import KDegree
        from distanon.promises.l_diversity import LDiversity
        from distanon.promises.link_confidence import LinkConfidence
        from distanon.promises.t_closeness import TCloseness

        found: dict[str, Promise] = {"k_anonymity": KAnonymity(k=self.k)}
        if self.publish == "perturb" and self.knowledge == "degree":
            found["k_degree"] = KDegree(k=self.k)
        if self.publish == "perturb" and self.knowledge == "attributes+degree":
            found["k_degree"] = KDegree(k=self.k, within="classes")
        if self.l is not None:
            whole = self.l == int(self.l)
            found["l_diversity"] = (
                LDiversity(l=int(self.l)) if whole else LDiversity(l=self.l, kind="entropy")
            )
        if self.link_confidence is not None and self.publish == "perturb":
            found["link_confidence"] = LinkConfidence(at_most=self.link_confidence)
        if self.t is not None:
            found["t_closeness"] = TCloseness(t=self.t)
        return found

    def check(  # type: ignore[override]
        self, dataset: GraphDataset, promises: Mapping[str, Promise]
    ) -> None:
        """Refuses what can't work, from the table and the promises.

        Raises:
            SpecError: promises that disagree with the method, or that ask nothing of the edges.
            InfeasibleError: too few nodes, too few values, or classes that can't be close enough.
        """
        least = self._workable_size(dataset, promises)
        if self.publish == "perturb" and "degree" in self.knowledge:
            bounds.refuse_degrees(dataset.graph, least, self.edit_budget)

    def release(  # type: ignore[override]
        self, dataset: GraphDataset, promises: Mapping[str, Promise], context: Context
    ) -> GraphRelease:
        """Clusters the nodes and publishes them as asked.

        Raises:
            SpecError, InfeasibleError: as `check`, but for the degrees, whose bound within the
                classes comes with the clusters; no solution within the budget was found.
        """
        least = self._workable_size(dataset, promises)
        work = clustered.form_clusters(self, dataset, promises, least, context)
        if self.publish == "perturb":
            return perturbed.perturb(self, work, promises, context)
        return clustered.publish_clusters(self, work, context)

    def _workable_size(self, dataset: GraphDataset, promises: Mapping[str, Promise]) -> int:
        """`least_size`, where settings, promises and the table go together."""
        faults = self._faults(promises) + self._agreement_faults(dataset)
        if faults:
            raise SpecError(*faults)
        refuse_few_nodes(dataset, self.k)
        return self.least_size(dataset, promises)

    def least_size(self, dataset: GraphDataset, promises: Mapping[str, Promise]) -> int:
        """The size that classes need: k, or more where L and T ask for it."""
        import numpy as np

        if dataset.nodes is None or not dataset.schema.sensitive:
            return self.k
        from distanon.data.streams import Streams

        labels = np.zeros(len(dataset), np.int64)
        domain = scan(dataset.node_dataset())
        columns = sensitive_columns(dataset, domain, promises, labels, self.l_margin, Streams(0))
        return bounds.least_size(self.k, len(dataset), columns)

    def _faults(self, promises: Mapping[str, Promise]) -> list[str]:
        from distanon.promises.l_diversity import LDiversity

        faults = []
        for name, own in (("k_anonymity", "k"), ("k_degree", "k")):
            promise = promises.get(name)
            if promise is not None and getattr(promise, "k", self.k) > self.k:
                asked = getattr(promise, "k", None)
                faults.append(f"promises.{name}.k {asked}: above method.{own} {self.k}; they agree")
        diverse = promises.get("l_diversity")
        if isinstance(diverse, LDiversity) and diverse.others == "known":
            faults.append(
                f"promises.l_diversity.others: {self.name} can't be asked for known; use unknown"
            )
        nothing = (
            self.publish == "perturb"
            and self.knowledge in ("cluster", "attributes")
            and self.edge_floor is None
            and "link_confidence" not in promises
            and self.unchanged_edges == "refuse"
        )
        if nothing:
            faults.append(
                f"method.knowledge {self.knowledge}: no promise needs an edited edge, so the graph "
                "would be released as it is, without names; set unchanged_edges: accept, ask for "
                "edits with edge_floor, or assume an intruder who knows degrees"
            )
        return faults

    def _agreement_faults(self, dataset: GraphDataset) -> list[str]:
        if self.agreement == "mode" or self.publish != "perturb":
            return []
        what = None
        if not self.tells_labels:
            what = (
                f"knowledge {self.knowledge} leaves quasi-identifiers as they are; take one with "
                "attributes"
            )
        elif all(one.hierarchy is None for one in dataset.schema.quasi_identifiers):
            what = "no quasi-identifier has a hierarchy; give one to a nominal column"
        return [f"method.agreement hierarchy: {what}, or agreement: mode"] if what else []


class KMFCGWO(ClusteredSearch):
    """KMFC-GWO: clusters by K-member fuzzy c-means, edits by grey wolves."""

    summary: ClassVar[str] = (
        "fuzzy clusters of at least k people; grey wolves find the edits of edges and values that "
        "make classes equal in what an intruder knows, with the graph's structure kept"
    )
    limits: ClassVar[str] = (
        "k holds against the stated knowledge alone: who knows more of the neighborhood, or some "
        "people by name, may find others; edits can be told from true edges"
    )

    name: Literal["kmfc_gwo"] = "kmfc_gwo"


class KFCFA(ClusteredSearch):
    """KFCFA: the same problem, searched by fireflies.

    Source: Langari et al., Expert Systems with Applications 141 (2020) 112968.
    """

    summary: ClassVar[str] = "kmfc_gwo with fireflies instead of wolves: its direct predecessor"
    limits: ClassVar[str] = KMFCGWO.limits

    name: Literal["kfcfa"] = "kfcfa"
    optimizer: OptimizerName = Field("firefly", description="what searches")
