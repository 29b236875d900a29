"""Known seed: an intruder who knows method, parameters and seed takes the perturbation back.

He runs the method on the released rows themselves. What it does to them is about what it did to
the originals, since directions and lengths of random moves are drawn by seed and record number;
he subtracts it. Additive noise comes off exactly; a mean of neighbors does not.

Source: Kargupta et al., ICDM 2003 (randomization whose randomness is known), one step.
Deviation: the intruder also knows whose row is whose, so that rows can be numbered as the records
were: the strongest of his kind.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from distanon.attacks.identity import TARGETS
from distanon.attacks.intervals import wilson
from distanon.attacks.nearest_record import Setting, release_to_original
from distanon.data.evidence import Evidence
from distanon.data.measurement import Measurement
from distanon.data.streams import Streams
from distanon.runtime.crew import Crew
from distanon.sharded.indexes import original_index

TOLERANCE = 0.01
"""A value comes back when it is this near, in units of its column's range."""

Floats = NDArray[np.float64]


def measure(
    evidence: Evidence, again: Floats, *, crew: Crew, streams: Streams, blocks: int = 8
) -> list[Measurement]:
    """How many records come back: every number within 1 % of its column's range, or linked.

    Args:
        evidence: with the original, and one row for each record.
        again: float64, shape (n, q): the release of the release with the same seed, by record
            number, in the scale of the evidence.
        crew: the workers.
        streams: draws the rows that are linked where there are many.
        blocks: items of work.

    Returns:
        The share with Wilson's 95 % interval, and the share that is as near as released; the share
        of rows taken back whose nearest original is their source (as released it is
        identity.release_to_original). An empty list without numeric quasi-identifiers that vary.
    """
    sources = evidence.sources
    if evidence.original is None or sources is None or evidence.is_generalized:
        return []
    if not np.array_equal(np.sort(sources), np.arange(len(evidence.original))):
        return []
    moving = np.flatnonzero(evidence.space.numeric & ~evidence.space.constant)
    if not len(moving):
        return []
    released = evidence.release_values[np.argsort(sources)][:, moving]
    spreads = np.array(evidence.space.spreads)[moving]
    truth = evidence.original_values[:, moving]
    back = taken_back(released, again[:, moving])
    values = evidence.release_values[np.argsort(sources)].copy()
    values[:, moving] = back
    records = np.arange(len(truth))
    rows = streams.sample(records, TARGETS, "known seed rows")
    setting = Setting(crew, blocks, records, rows, records)
    linked = release_to_original(setting, original_index(evidence), evidence.space.embed(values))
    hits = float(linked.sum())
    low, high = wilson(hits, len(rows))
    return [
        _share("inversion.known_seed", _is_near(back, truth, spreads), "knows the seed"),
        _share(
            "inversion.known_seed_as_released",
            _is_near(released, truth, spreads),
            "without any attack",
        ),
        Measurement(
            "inversion.known_seed_linked",
            hits / len(rows),
            low,
            high,
            goal="lower",
            n=len(rows),
            note="rows taken back whose nearest original is their source",
        ),
    ]


def taken_back(released: Floats, again: Floats) -> Floats:
    """What stood before the release, if the method moves the released rows as it moved these.

    Args:
        released: float64, shape (n, d).
        again: float64, shape (n, d): what the method makes of them.
    """
    return released - (again - released)


def _is_near(values: Floats, truth: Floats, spreads: Floats) -> NDArray[np.bool_]:
    """Which records have all numbers near the true ones; missing ones must be missing."""
    missing = np.isnan(values) & np.isnan(truth)
    with np.errstate(invalid="ignore"):
        near = np.abs(values - truth) <= TOLERANCE * (1.0 + 1e-9) * spreads
    found: NDArray[np.bool_] = np.all(near | missing, axis=1)
    return found


def _share(name: str, hits: NDArray[np.bool_], who: str) -> Measurement:
    count, n = int(hits.sum()), len(hits)
    low, high = wilson(count, n)
    note = f"records with all numbers within 1 % of the range: {who}"
    return Measurement(name, count / n, low, high, goal="lower", n=n, note=note)
