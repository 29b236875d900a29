"""Where fuzzy c-means starts: centroids of balanced pieces, or nodes far from one another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from distanon.data.streams import Streams
from distanon.kernels import fuzzy
from distanon.kernels.fuzzy import Rows
from distanon.runtime.crew import Crew

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_PIECE = 8192  # nodes among which first centroids are spread: N · C distances would be too many


def balanced(rows: Rows, guide: Floats, clusters: int) -> Floats:
    """The means of as many pieces as there are clusters, equal in size to within one node.

    Clusters that must have K members each start best from pieces that have: on a social network
    of 4,039 nodes fewer than half as many nodes have to change clusters afterwards as from
    a start that is spread out.

    Args:
        rows: of n nodes.
        guide: float64, shape (n, D): coordinates along which pieces are cut.
        clusters: C, from 1 to n.

    Returns:
        float64, shape (width + D, C).
    """
    labels = median_cuts(guide, clusters)
    return fuzzy.hard_sums(rows, labels, clusters) / np.bincount(labels, minlength=clusters)


def median_cuts(guide: Floats, pieces: int) -> Integers:
    """Nodes cut in halves along the column of the largest variance, again and again.

    Args:
        guide: float64, shape (n, D).
        pieces: from 1 to n.

    Returns:
        int64, shape (n,): the piece of each node, equal in size to within one node.
        O(n D log pieces).
    """
    labels = np.zeros(len(guide), dtype=np.int64)
    waiting = [(np.arange(len(guide)), 0, pieces)]
    while waiting:
        members, first, count = waiting.pop()
        if count == 1:
            labels[members] = first
            continue
        half = count // 2
        # Borders by the whole: pieces first … first + half of all pieces, whatever was cut before.
        cut = _border(len(guide), first + half, pieces) - _border(len(guide), first, pieces)
        order = members[np.argsort(_widest(guide[members]), kind="stable")]
        waiting.append((order[:cut], first, half))
        waiting.append((order[cut:], first + half, count - half))
    return labels


def spread(crew: Crew, rows: Rows, guide: Floats, clusters: int, streams: Streams) -> Floats:
    """Nodes that are far from one another, drawn as k-means++ draws them.

    Args:
        crew: who works.
        rows: of n nodes.
        guide: float64, shape (n, D): more nodes than can be compared with one another are cut
            along it into pieces, each of which gets its share of the centroids.
        clusters: C, from 1 to n.
        streams: for the draws.

    Returns:
        float64, shape (width + D, C).
    """
    pieces = min(clusters, -(-rows.nodes // _PIECE))
    labels = median_cuts(guide, pieces)
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])
    shares = np.diff(
        np.cumsum([len(piece) for piece in members]) * clusters // rows.nodes, prepend=0
    )
    items = [
        (piece, streams.generator("first centroids", number).random(share))
        for number, (piece, share) in enumerate(zip(members, shares.tolist(), strict=True))
    ]
    chosen = crew.map(_of_piece, items, shared=crew.put(rows), phase="first centroids")
    return fuzzy.columns_of(rows, np.concatenate(list(chosen)))


def _of_piece(rows: Rows, item: tuple[Integers, Floats]) -> Integers:
    members, uniforms = item
    return fuzzy.spread_nodes(rows, members, uniforms)


def _border(nodes: int, piece: int, pieces: int) -> int:
    return nodes * piece // pieces


def _widest(rows: Floats) -> Floats:
    """The column of the largest variance; the first of equals."""
    if not rows.shape[1]:
        return np.zeros(len(rows))
    return rows[:, int(np.argmax(rows.var(axis=0)))]
