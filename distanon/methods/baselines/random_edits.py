"""Random edits of a graph: the control that shows what a method's cleverness is worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from distanon.data.graph import Graph, GraphDataset
from distanon.data.graph_release import GraphRelease
from distanon.data.node_pairs import others
from distanon.errors import InfeasibleError, SpecError
from distanon.methods.base import Context, GraphMethod
from distanon.promises.base import Promise

Share = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


class RandomEdits(GraphMethod):
    """Removes edges and adds others, all equally likely. Attributes are released as they are.

    Source: Hay et al., Anonymizing social networks, 2007 (random perturbation: edges deleted,
        then as many that were none added).
    """

    summary: ClassVar[str] = "removes a share of the edges and adds as many random ones"
    limits: ClassVar[str] = (
        "added edges stand out, who knows some people finds others by them, and the attributes of "
        "nodes are released unchanged"
    )
    keeps: ClassVar[frozenset[str]] = frozenset()

    name: Literal["random_edits"] = "random_edits"
    remove: Annotated[float, Field(ge=0.0, le=1.0)] | None = Field(
        None, description="edges that are removed, as a share of all"
    )
    add: Share | None = Field(
        None, description="pairs that are joined, as a share of the number of edges"
    )
    loss: Share | Literal["match"] = Field(
        "match",
        description="instead: edges removed and added together, by the number of edges, half of "
        "them each; match: as many as in the release it is compared with",
    )

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if self.loss != "match" and self._has_shares:
            raise ValueError("give loss, or remove and add, not both")
        return self

    @property
    def matches(self) -> bool:
        """Whether its size is that of another release."""
        return self.loss == "match" and not self._has_shares

    def matched(self, loss: float) -> RandomEdits:
        """The same at a loss that was measured on another release."""
        return self.model_copy(update={"remove": None, "add": None, "loss": loss})

    def check(  # type: ignore[override]
        self, dataset: GraphDataset, promises: Mapping[str, Promise]
    ) -> None:
        """Refuses a size that is not known, and more edits than there are pairs of nodes.

        Raises:
            SpecError: the size is to match a release, and there is none.
            InfeasibleError: too many edits.
        """
        del promises
        if self.matches:
            raise SpecError(
                "method.loss: random_edits needs its size: set remove: 0.1 and add: 0.1 (shares "
                "of the edges), or loss: 0.2 (both together); `match`, the default, takes the size "
                "of the release it is compared with, under `compare:`"
            )
        self.edits(dataset.graph)

    def edits(self, graph: Graph) -> tuple[int, int]:
        """How many edges are removed, and how many are added.

        Raises:
            InfeasibleError: fewer pairs of nodes are not joined.
        """
        edges = graph.edges
        free = graph.nodes * (graph.nodes - 1) // 2 - edges
        unit = max(1, edges)
        if self.loss == "match" or self._has_shares:
            removed = round((self.remove or 0.0) * edges)
            added = round((self.add or 0.0) * unit)
            if added > free:
                raise InfeasibleError(
                    f"method.add {self.add}: {added} edges to be added, and {free} pairs of nodes "
                    f"are not joined; the largest share that works is {_below(free / unit)}"
                )
            return removed, added
        total = round(float(self.loss) * unit)
        if total > edges + free:
            raise InfeasibleError(
                f"method.loss {self.loss}: {total} edits, and there are {edges + free} pairs of "
                f"nodes; the largest loss that works is {_below((edges + free) / unit)}"
            )
        removed = min(edges, max(total // 2, total - free))
        return removed, total - removed

    def release(  # type: ignore[override]
        self, dataset: GraphDataset, promises: Mapping[str, Promise], context: Context
    ) -> GraphRelease:
        """Draws the edits; a removed edge is never added again, so that all of them count.

        Raises:
            SpecError, InfeasibleError: as `check`.
        """
        self.check(dataset, promises)
        graph = dataset.graph
        removed, added = self.edits(graph)
        pairs = graph.pairs()
        generator = context.streams.generator("random edits")
        gone = pairs[generator.choice(len(pairs), removed, replace=False)] if removed else pairs[:0]
        free = graph.nodes * (graph.nodes - 1) // 2 - len(pairs)
        ranks = generator.choice(free, added, replace=False) if added else np.empty(0, np.int64)
        return GraphRelease(
            graph.edited(gone, others(pairs, ranks)),
            dataset.nodes,
            dataset.schema,
            np.arange(len(dataset)),
            counts={"edges_removed": removed, "edges_added": added},
            private={"IL_G": (removed + added) / max(1, len(pairs))},
        )

    @property
    def _has_shares(self) -> bool:
        return self.remove is not None or self.add is not None


def _below(share: float) -> float:
    """Rounded down to three digits, so that what is named works."""
    return int(1000 * share) / 1000
