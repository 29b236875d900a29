"""How well a clustering of the release agrees with the same clustering of the original.

F = Σ_i |C_i|/n · max_j 2PR/(P + R) over clusters C_i of the original and C′_j of the release.

Source: Fung et al. 2009 (F-measure of a release); parameters fixed on the original.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from distanon.data.evidence import Evidence
from distanon.data.measurement import Measurement
from distanon.data.streams import Streams
from distanon.kernels.neighbors import NeighborIndex, distinct
from distanon.runtime.crew import Crew, Shared
from distanon.sharded.neighbors import neighborhoods

KMEANS_RECORDS = 200_000
"""Records that are clustered by k-means where there are more: a seeded sample."""
DBSCAN_RECORDS = 5_000
"""The same for DBSCAN, which may hold all pairs of records at a time."""
FLOOR_SEEDS = (1, 2, 3)
"""Seeds of k-means with which the original is compared with itself (seed 0)."""
EPS_QUANTILE = 0.5
"""Share of the original's records that are to have `min_samples` records within eps."""

Labels: TypeAlias = NDArray[np.int64]
_Table: TypeAlias = Literal["original", "owner", "analyst"]


def measure(
    evidence: Evidence,
    *,
    crew: Crew,
    streams: Streams,
    k: int = 10,
    clusters: int = 5,
    kmeans_records: int = KMEANS_RECORDS,
    dbscan_records: int = DBSCAN_RECORDS,
    blocks: int = 8,
) -> list[Measurement]:
    """F-measure of k-means and DBSCAN, in the owner's scale and in the analyst's.

    Args:
        evidence: with the original and the source of each released row; without them, the list
            is empty.
        crew: the workers: each clusters one table.
        streams: draws the samples, where there are any.
        k: `min_samples` of DBSCAN.
        clusters: of k-means.
        kmeans_records: how many are clustered at most.
        dbscan_records: the same for DBSCAN.
        blocks: items of work in the search for DBSCAN's eps.

    Returns:
        With `clustering.kmeans_floor`: what the original reaches against itself from other seeds
        of k-means, on average. An F near it says that nothing was lost, however low it is.
    """
    if evidence.original is None or evidence.sources is None or not len(evidence.release):
        return []
    return [
        *_kmeans(evidence, crew, streams, clusters, kmeans_records),
        *_dbscan(evidence, crew, streams, k, dbscan_records, blocks),
    ]


def f_measure(original: Labels, release: Labels) -> float:
    """Agreement of two clusterings of the same records; 1 when they are the same.

    Args:
        original: cluster of each record, any integers, shape (n,), n ≥ 1.
        release: the same in the release.

    Returns:
        In (0, 1]; not symmetric.
    """
    _, before = np.unique(original, return_inverse=True)
    _, after = np.unique(release, return_inverse=True)
    width = int(after.max()) + 1
    common = np.bincount(before * width + after).astype(np.float64)
    common = np.pad(common, (0, (int(before.max()) + 1) * width - len(common))).reshape(-1, width)
    sizes = common.sum(axis=1)
    # With P = c/|C′| and R = c/|C|, 2PR/(P + R) is 2c/(|C| + |C′|).
    scores = 2.0 * common / (sizes[:, None] + common.sum(axis=0)[None, :])
    return float((sizes * scores.max(axis=1)).sum() / len(original))


def _kmeans(
    evidence: Evidence, crew: Crew, streams: Streams, clusters: int, limit: int
) -> list[Measurement]:
    tables = _tables(evidence, streams, limit)
    n = len(tables["original"])
    names = ["clustering.kmeans_f", "clustering.kmeans_f_analyst", "clustering.kmeans_floor"]
    if len(np.unique(tables["original"], axis=0)) < clusters:
        reason = f"{clusters} clusters need as many different records"
        return [Measurement(name, math.nan, goal="none", note=reason) for name in names]
    items: list[tuple[_Table, int, int]] = [
        ("original", clusters, 0),
        ("owner", clusters, 0),
        ("analyst", clusters, 0),
        *(("original", clusters, seed) for seed in FLOOR_SEEDS),
    ]
    labels = list(crew.map(_kmeans_labels, items, shared=crew.put(tables), phase="k-means"))
    scores = [f_measure(labels[0], other) for other in labels[1:]]
    figures = [*scores[:2], math.fsum(scores[2:]) / len(FLOOR_SEEDS)]
    notes = ["owner's scale", "analyst's scale", f"the original, {len(FLOOR_SEEDS)} other seeds"]
    sampled = _sampled(n, evidence)
    return [
        Measurement(
            name,
            figure,
            goal="none" if name.endswith("floor") else "higher",
            unit="1",
            n=n,
            note=f"k-means with {clusters} clusters, {note}{sampled}",
        )
        for name, figure, note in zip(names, figures, notes, strict=True)
    ]


def _kmeans_labels(
    tables: Mapping[_Table, NDArray[np.float64]], item: tuple[_Table, int, int]
) -> Labels:
    """Labels by KMeans(clusters, n_init=4), on one thread so that sums have one order."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    table, clusters, seed = item
    with threadpool_limits(1):
        fitted = KMeans(clusters, n_init=4, random_state=seed).fit(tables[table])
    return np.asarray(fitted.labels_, dtype=np.int64)


def _dbscan(
    evidence: Evidence, crew: Crew, streams: Streams, k: int, limit: int, blocks: int
) -> list[Measurement]:
    tables = _tables(evidence, streams, limit)
    n = len(tables["original"])
    names = ["clustering.dbscan_f", "clustering.dbscan_f_analyst"]
    if n < k + 1:
        reason = f"min_samples = {k} needs at least {k + 1} records"
        return [Measurement(name, math.nan, goal="higher", note=reason) for name in names]
    eps = _eps(tables["original"], crew, k, blocks)
    shared: Shared = crew.put(tables)
    items: list[tuple[_Table, float, int]] = [
        (table, eps, k) for table in ("original", "owner", "analyst")
    ]
    labels = list(crew.map(_dbscan_labels, items, shared=shared, phase="DBSCAN"))
    sampled = _sampled(n, evidence)
    figures = [
        Measurement(
            name,
            f_measure(labels[0], other),
            goal="higher",
            unit="1",
            n=n,
            note=f"min_samples = {k}, eps from the original, noise a cluster, {scale}{sampled}",
        )
        for name, other, scale in zip(
            names, labels[1:], ("owner's scale", "analyst's scale"), strict=True
        )
    ]
    original = labels[0]
    return [
        *figures,
        Measurement(
            "clustering.dbscan_clusters", int(original.max()) + 1, unit="1", n=n, is_public=False
        ),
        Measurement("clustering.dbscan_noise", float((original < 0).mean()), n=n, is_public=False),
    ]


def _eps(points: NDArray[np.float64], crew: Crew, k: int, blocks: int) -> float:
    """The quantile of the distances to the k-th nearest record; tiny where all are 0."""
    found = distinct(points)
    index = crew.put(NeighborIndex.build(found))
    parts = neighborhoods(crew, index, len(found), k, "include", blocks, keep=False)
    radius = np.concatenate([part.radius for _, _, part in parts])
    eps = float(np.quantile(np.repeat(radius, found.counts), EPS_QUANTILE, method="higher"))
    return max(eps * (1.0 + 1e-9), 1e-12)


def _dbscan_labels(
    tables: Mapping[_Table, NDArray[np.float64]], item: tuple[_Table, float, int]
) -> Labels:
    """Labels by DBSCAN, noise −1. A record counts itself, as in the paper of the algorithm."""
    from sklearn.cluster import DBSCAN

    table, eps, min_samples = item
    fitted: Any = DBSCAN(eps=eps, min_samples=min_samples + 1).fit(tables[table])
    return np.asarray(fitted.labels_, dtype=np.int64)


def _tables(evidence: Evidence, streams: Streams, limit: int) -> dict[_Table, NDArray[np.float64]]:
    """The same records in all three forms, in the order of their sources, without gaps.

    The order of the released rows follows their values, which would steer the algorithms.
    A missing value takes its column's mean, since neither algorithm knows of missing values.
    """
    sources = np.asarray(evidence.sources)
    rows = np.argsort(sources, kind="stable")
    if len(rows) > limit:
        chosen = streams.generator("clustering sample").choice(len(rows), limit, replace=False)
        rows = rows[np.sort(chosen)]
    return {
        "original": _filled(evidence.original_points[sources[rows]]),
        "owner": _filled(evidence.release_points[rows]),
        "analyst": _filled(evidence.analyst_points[rows]),
    }


def _filled(points: NDArray[np.float64]) -> NDArray[np.float64]:
    missing = np.isnan(points)
    if not missing.any():
        return points
    present = np.maximum(1, (~missing).sum(axis=0))
    means = np.where(missing, 0.0, points).sum(axis=0) / present
    return np.where(missing, means, points)


def _sampled(n: int, evidence: Evidence) -> str:
    return "" if n == len(evidence.release) else ", a sample of the records"
