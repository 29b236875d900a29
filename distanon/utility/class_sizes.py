"""Sizes of the equivalence classes: discernibility, average size, and how they are spread.

Source: discernibility, Bayardo & Agrawal, ICDE 2005; C_AVG, LeFevre et al., ICDE 2006.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from distanon.data.evidence import Evidence
from distanon.data.measurement import Measurement
from distanon.data.streams import Streams
from distanon.runtime.crew import Crew, SerialCrew
from distanon.sharded.large import class_sizes

EDGES = (1, 2, 5, 10, 20, 50, 100)
"""Where the bars of the histogram begin; the last has no end."""


def measure(
    evidence: Evidence, *, crew: Crew | None = None, streams: Streams | None = None
) -> list[Measurement]:
    """How coarse the classes are; of the released files alone, but for what was suppressed.

    Args:
        evidence: of a release with rows.
        crew: counts the classes of large tables.
        streams: not used.

    Returns:
        Discernibility (Σ |E|² over the classes; for the owner with n for each suppressed record),
        C_AVG by the smallest class, and, for the owner, shares of rows by the size of their class.

    Deviation: k of C_AVG is the smallest class that there is, not the one that was asked for:
        1 says that all classes are as small as the smallest.
    """
    del streams
    sizes = class_sizes(evidence, crew or SerialCrew())
    rows = int(sizes.sum())
    if not rows:
        return []
    figures = [
        Measurement(
            "class_sizes.discernibility",
            discernibility(sizes),
            goal="lower",
            unit="1",
            n=rows,
            note="sum of the squared sizes of classes",
        ),
        Measurement(
            "class_sizes.c_avg",
            rows / len(sizes) / int(sizes.min()),
            goal="lower",
            unit="1",
            n=rows,
            note="mean size of a class / size of the smallest",
        ),
    ]
    lost = _suppressed(evidence)
    if lost:
        figures.append(
            Measurement(
                "class_sizes.discernibility_with_suppressed",
                discernibility(sizes, lost, rows + lost),
                goal="lower",
                unit="1",
                n=rows + lost,
                note="and the number of all records for each suppressed one",
                is_public=False,
            )
        )
    return figures + _histogram(sizes, rows)


def discernibility(sizes: NDArray[np.int64], suppressed: int = 0, records: int = 0) -> float:
    """Σ |E|² over classes, and `records` for each suppressed record.

    Args:
        sizes: int64: records of each class.
        suppressed: records without a row.
        records: all of them.
    """
    return float(sum(int(size) ** 2 for size in sizes) + suppressed * records)


def _histogram(sizes: NDArray[np.int64], rows: int) -> list[Measurement]:
    bars = np.searchsorted(EDGES, sizes, side="right") - 1
    figures = []
    for place, low in enumerate(EDGES):
        count = int(sizes[bars == place].sum())
        name = f"{low}_or_more"
        if place + 1 < len(EDGES):
            high = EDGES[place + 1] - 1
            name = str(low) if high == low else f"{low}_to_{high}"
        figures.append(
            Measurement(
                f"class_sizes.rows_in_classes_of_{name}",
                count / rows,
                n=rows,
                is_public=False,
            )
        )
    return figures


def _suppressed(evidence: Evidence) -> int:
    if evidence.original is None or evidence.sources is None:
        return 0
    return len(evidence.original) - len(np.unique(evidence.sources))
