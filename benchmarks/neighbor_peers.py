"""Other exact engines, each with the defaults of its project and one thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Query = Callable[[Floats, int], Floats]  # (queries, k) -> distances, nearest first


def _scipy(matrix: Floats) -> Query:
    from scipy.spatial import cKDTree

    tree = cKDTree(matrix)
    return lambda queries, k: np.asarray(tree.query(queries, k)[0])


def _pykdtree(matrix: Floats) -> Query:
    from pykdtree.kdtree import KDTree

    tree = KDTree(matrix)
    return lambda queries, k: np.asarray(tree.query(queries, k)[0])


def _napf(matrix: Floats) -> Query:
    import napf

    tree = napf.KDT(matrix, metric=2, nthread=1)
    return lambda queries, k: np.sqrt(tree.knn_search(queries, k, 1)[0])


def _knncolle(parameters: str, matrix: Floats) -> Query:
    import knncolle

    index = knncolle.build_index(getattr(knncolle, parameters)(), matrix)

    def query(queries: Floats, k: int) -> Floats:
        found: Any = knncolle.query_knn(index, queries, num_neighbors=k, num_threads=1)
        return np.asarray(found.distance)

    return query


def _sklearn(matrix: Floats) -> Query:
    from sklearn.neighbors import KDTree

    tree = KDTree(matrix)
    return lambda queries, k: np.asarray(tree.query(queries, k)[0])


PEERS: dict[str, Callable[[Floats], Query]] = {
    "scipy cKDTree": _scipy,
    "pykdtree": _pykdtree,
    "napf": _napf,
    "knncolle vptree": lambda matrix: _knncolle("VptreeParameters", matrix),
    "knncolle kmknn": lambda matrix: _knncolle("KmknnParameters", matrix),
    "scikit-learn KDTree": _sklearn,
}


TOO_LARGE = {"knncolle kmknn": 300_000}  # records above which building alone takes minutes


def rate(peer: str, matrix: Floats, k: int, expected: Floats, seconds: float) -> float | None:
    """Queries per CPU second, the building of the index shared out over all records.

    Args:
        peer: one of PEERS.
        matrix: shape (n, D).
        k: how many others; the query itself is found too.
        expected: shape (n,): the k-th distance of each record.
        seconds: how long the sample takes at least, unless it is the whole.

    Returns:
        None where the engine can't do this, or is wrong.
    """
    if len(matrix) > TOO_LARGE.get(peer, len(matrix)):
        return None
    started = time.process_time()
    try:
        query = PEERS[peer](matrix)
        query(matrix[:8], k + 1)
    except (ImportError, AttributeError, TypeError, ValueError, RuntimeError):
        return None
    built = time.process_time() - started
    sequence = np.random.default_rng(5).permutation(len(matrix))
    asked, spent = 0, 0.0
    size = 256
    while spent < seconds and asked < len(matrix):
        sample = sequence[asked : asked + size]
        queries = np.ascontiguousarray(matrix[sample])
        started = time.process_time()
        distances = query(queries, k + 1)
        spent += time.process_time() - started
        if not np.allclose(distances[:, k], expected[sample], rtol=1e-6, atol=1e-9):
            return None
        asked += len(sample)
        size *= 2 if spent < seconds / 4 else 1
    return 1.0 / (built / len(matrix) + spent / asked)
