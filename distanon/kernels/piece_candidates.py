"""Candidates of queries from several pieces, put together query by query."""

from __future__ import annotations

from typing import Any

from numba import njit

__all__ = ["add_candidates"]


@njit(cache=True, nogil=True)
def add_candidates(some: Any, place: Any, following: Any, candidates: Any) -> None:
    """Writes what a piece has for some queries behind what is there already.

    Args:
        some: queries, int64, shape (a,): their numbers among the m that are asked; starts, int64,
            shape (a + 1,); and for each of them points.
        place: int64: the place of each point among those of all pieces.
        following: int64, shape (m,): where the next candidate of each query goes; moved on.
        candidates: int64: of all queries, those of each one after the other; filled.
    """
    queries, starts, points = some
    for i in range(len(queries)):
        to = following[queries[i]]
        for j in range(starts[i], starts[i + 1]):
            candidates[to] = place[points[j]]
            to += 1
        following[queries[i]] = to
