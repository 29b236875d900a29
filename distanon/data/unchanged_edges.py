"""A graph whose edges are all the original's: whether it may be released."""

from __future__ import annotations

from typing import Literal

from distanon.errors import InfeasibleError

UnchangedEdges = Literal["refuse", "accept"]


def refuse_unchanged(edits: int, edges: int, other_way: str) -> None:
    """Refuses a release that is the original graph without its names.

    Its promises may hold, but whoever knows more of the structure than they speak of, or a few
    people by name, finds most of the others.

    Args:
        edits: edges that were removed and added, together.
        edges: of the original; a graph without edges tells nothing by them.
        other_way: what asks for edits, beside accepting that there are none.

    Raises:
        InfeasibleError: there are edges, and no edit.
    """
    if edges and not edits:
        raise InfeasibleError(
            "method.unchanged_edges: no promise needs an edited edge on this graph, so its edges "
            "would be released as they are, without names; set unchanged_edges: accept if that "
            f"is meant, or {other_way}"
        )
