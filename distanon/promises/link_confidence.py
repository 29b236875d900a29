"""link_confidence: how sure an intruder can be that two people are joined, from their classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from distanon.data.evidence import Evidence
from distanon.data.supernode_evidence import SupernodeEvidence
from distanon.kernels.counts import at_most, exact
from distanon.promises.base import Promise, Verdict, unverified
from distanon.promises.graphs import graph_evidence
from distanon.promises.sensitive import rounded

_NAMED = 5


@dataclass(frozen=True, slots=True)
class ClassPairs:
    """The pairs of classes (a class with itself included) that are joined by an edge.

    Attributes:
        classes: int64, shape (p, 2), the lower first, sorted.
        edges: int64, shape (p,), at least 1.
        possible: int64, shape (p,): pairs of nodes; n (n − 1) / 2 within a class.
        total: how many pairs of classes have a pair of nodes at all, joined or not.
    """

    classes: NDArray[np.int64]
    edges: NDArray[np.int64]
    possible: NDArray[np.int64]
    total: int


class LinkConfidence(Promise):
    """Of the pairs of nodes between two classes, or within one, at most this share is joined.

    Who knows the classes of two people then knows no better whether they are joined. Deleting an
    edge does not hide it from other attacks, and two classes without any edge between them tell
    that their members are not joined: the share of such pairs of classes is measured too.

    Source: methods.md, section C2; after Zheleva & Getoor, PinKDD 2007.
    """

    name: ClassVar[str] = "link_confidence"

    at_most: float = Field(gt=0, le=1, description="Share of the possible pairs: λ.")

    def verify(self, evidence: Evidence) -> Verdict:
        """Counts the released edges between and within classes, exactly.

        Raises:
            SpecError: the release is no graph.
        """
        if evidence.classes_from == "asserted":
            return unverified(self, "the classes, which are private")
        found = self._joined(evidence)
        is_failing = ~at_most(found.edges, found.possible, exact(self.at_most))
        shares = found.edges / found.possible
        absent = found.total - len(found.edges)
        return Verdict(
            promise=self.name,
            asked=self.asked(),
            measured={
                "confidence": rounded(float(shares.max(initial=0.0))),
                "class_pairs": found.total,
                "without_edges": rounded(absent / found.total) if found.total else None,
            },
            kept=not is_failing.any(),
            verified_from=evidence.classes_from,
            reason=self._reason(found, is_failing),
        )

    def _joined(self, evidence: Evidence) -> ClassPairs:
        sizes = evidence.classes.sizes
        if isinstance(evidence, SupernodeEvidence):
            joined = np.flatnonzero(evidence.inner)
            classes = np.vstack([np.stack([joined, joined], axis=1), evidence.ends])
            edges = np.concatenate([evidence.inner[joined], evidence.between])
            return _possible(classes, edges, sizes)
        graph = graph_evidence(self, evidence)
        return class_pairs(graph.graph.pairs(), graph.classes.class_of, sizes)

    def _reason(self, found: ClassPairs, is_failing: NDArray[np.bool_]) -> str:
        failing = np.flatnonzero(is_failing)
        if not len(failing):
            return ""
        named = ", ".join(_told(found, int(place)) for place in failing[:_NAMED])
        more = ", …" if len(failing) > _NAMED else ""
        return (
            f"{len(failing)} of {found.total} pairs of classes have more than {self.at_most:g} "
            f"of their possible edges: {named}{more}"
        )


def class_pairs(
    pairs: NDArray[np.int64], class_of: NDArray[np.int64], sizes: NDArray[np.int64]
) -> ClassPairs:
    """Counts the edges of each pair of classes, in O(edges · log edges), not O(classes²).

    Args:
        pairs: int64, shape (m, 2): edges.
        class_of: int64, shape (n,).
        sizes: int64, shape (c,).
    """
    ends = np.sort(class_of[pairs], axis=1)
    keys, edges = np.unique(ends[:, 0] * len(sizes) + ends[:, 1], return_counts=True)
    classes = np.stack([keys // max(len(sizes), 1), keys % max(len(sizes), 1)], axis=1)
    return _possible(classes, edges.astype(np.int64), sizes)


def _possible(
    classes: NDArray[np.int64], edges: NDArray[np.int64], sizes: NDArray[np.int64]
) -> ClassPairs:
    """Edges beside how many there could be."""
    low, high = sizes[classes[:, 0]], sizes[classes[:, 1]]
    within = classes[:, 0] == classes[:, 1]
    possible = np.where(within, low * (low - 1) // 2, low * high)
    total = len(sizes) * (len(sizes) - 1) // 2 + int((sizes > 1).sum())
    return ClassPairs(classes, edges, possible, total)


def _told(found: ClassPairs, place: int) -> str:
    one, other = (int(number) + 1 for number in found.classes[place])
    where = f"within class {one}" if one == other else f"class {one} with class {other}"
    return f"{where} ({found.edges[place]} of {found.possible[place]})"
