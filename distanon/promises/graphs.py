"""What the promises about graphs share."""

from __future__ import annotations

from distanon.data.evidence import Evidence
from distanon.data.graph_evidence import GraphEvidence
from distanon.errors import SpecError
from distanon.promises.base import Promise


def graph_evidence(promise: Promise, evidence: Evidence) -> GraphEvidence:
    """The evidence, which must be that of a graph.

    Raises:
        SpecError: it is that of a table.
    """
    if not isinstance(evidence, GraphEvidence):
        raise SpecError(f"promises.{promise.name}: a promise about graphs, asked of a table")
    return evidence
