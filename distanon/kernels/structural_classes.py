"""Nodes that look alike to an intruder who knows part of the structure around them.

Each function gives every node a key, int64, shape (n,): nodes with equal keys look alike. Keys
are exact; no hash stands for what it was made of.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from distanon.kernels.triangles import triangles

Integers = NDArray[np.int64]


def by_degree(starts: Integers) -> Integers:
    """Alike: the same number of neighbors."""
    degrees: Integers = np.diff(starts)
    return degrees


def by_degree_and_triangles(starts: Integers, neighbors: NDArray[np.int32]) -> Integers:
    """Alike: the same number of neighbors and the same number of triangles."""
    degrees, corners = np.diff(starts), triangles(starts, neighbors)
    # Triangles alone may pass n², their distinct values can't: the product stays below 2⁶³.
    _, rank = np.unique(corners, return_inverse=True)
    key: Integers = degrees * np.int64(int(rank.max(initial=0)) + 1) + rank
    return key


def by_neighbor_degrees(starts: Integers, neighbors: NDArray[np.int32]) -> Integers:
    """Alike: the same degrees of neighbors, as a list that is sorted.

    Source: Hay et al., PVLDB 1 (2008) 102-114 (vertex refinement, H₂).
    """
    degrees = np.diff(starts)
    rows = np.repeat(np.arange(len(degrees)), degrees)
    theirs = degrees[neighbors]
    theirs = theirs[np.lexsort((theirs, rows))]
    number_of: dict[bytes, int] = {}
    key = np.empty(len(degrees), np.int64)
    for node in range(len(degrees)):
        seen = theirs[starts[node] : starts[node + 1]].tobytes()
        key[node] = number_of.setdefault(seen, len(number_of))
    return key
