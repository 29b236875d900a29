"""Evidence that no process should hold: what is known of it without its rows, and some of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from distanon.data.evidence import Evidence
from distanon.data.measurement import Measurement
from distanon.data.streams import Streams
from distanon.runtime.crew import Crew
from distanon.sharded.classes import class_tables
from distanon.sharded.pieces import pieces_for

Integers = NDArray[np.int64]

SAMPLE = 250_000
"""Released rows that stand for all in figures which need them in one process."""
_CLASSES = "class sizes"


def is_large(evidence: Evidence) -> bool:
    """Whether a process should not hold the tables."""
    rows = max(len(one) for one in (evidence.release, evidence.original) if one is not None)
    return pieces_for(rows, len(evidence.quasi_identifiers)) > 1


def class_sizes(evidence: Evidence, crew: Crew) -> Integers:
    """Rows of each class of the release, int64, by first appearance."""
    made = evidence.made_of_release
    if _CLASSES not in made:
        names = evidence.quasi_identifiers
        is_counted = names and is_large(evidence)
        made[_CLASSES] = (
            class_tables(crew, evidence.release, names).sizes
            if is_counted
            else evidence.classes.sizes
        )
    found: Integers = made[_CLASSES]
    return found


def of_some_rows(step: Callable[[], list[Measurement]]) -> Callable[[], list[Measurement]]:
    """A step on `some_rows`, whose figures say so."""
    note = f"on a seeded sample of {SAMPLE:,} rows"

    def measured() -> list[Measurement]:
        return [replace(one, note="; ".join(filter(None, (one.note, note)))) for one in step()]

    return measured


def some_rows(evidence: Evidence, streams: Streams) -> Evidence:
    """A seeded sample of the released rows, with their sources as the only originals.

    The owner's scale stays that of all originals.
    """
    rows = streams.sample(np.arange(len(evidence.release)), SAMPLE, "rows that are measured")
    original, sources = evidence.original, evidence.sources
    if original is None or sources is None:
        return replace(evidence, release=evidence.release.select(rows))
    records, places = np.unique(sources[rows], return_inverse=True)
    chosen = replace(original.select(records), domain=original.domain)
    return replace(
        evidence,
        release=evidence.release.select(rows),
        original=chosen,
        sources=places.reshape(-1).astype(np.int64),
    )
