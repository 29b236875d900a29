"""Homogeneity and similarity: classes whose members have one sensitive value, or nearly one.

Source: methods.md, section D (homogeneity, similarity).
"""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.attacks.intervals import wilson
from distanon.data.classes import Classes, Codes, encode, is_text
from distanon.data.domain import scan
from distanon.data.evidence import Evidence
from distanon.data.measurement import Measurement
from distanon.data.schema import Attribute, AttributeType, Schema
from distanon.data.space import AttributeSpace
from distanon.data.streams import Streams
from distanon.data.table import Dataset
from distanon.kernels.counts import Counts
from distanon.runtime.crew import Crew

_DEALS = 10
WIDTH = 0.05
"""Numeric values this near to one another, by the released range, are nearly one value."""

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def measure(evidence: Evidence, *, crew: Crew | None = None, streams: Streams) -> list[Measurement]:
    """Shares of records whose class tells their sensitive value, or nearly.

    A class tells a value where all its records have it; a missing or suppressed one tells
    nothing. Nearly: all within one subtree below the top of the hierarchy, or within 5 % of the
    released range.

    Args:
        evidence: of classes that are in the files, or are known.
        crew: not used: this is one pass over the records.
        streams: deal values at random.

    Returns:
        For each sensitive attribute the shares with Wilson's 95 % intervals, and what the same
        classes would show if the values were dealt to records at random.
    """
    del crew
    if not len(evidence.release) or evidence.classes_from == "asserted":
        return []
    result = []
    for attribute in evidence.release.schema.sensitive:
        codes = encode(evidence.release_table.column(attribute.name))
        name = f"homogeneity.{attribute.name}"
        note = "records in classes of one value"
        result += _told(name, note, evidence.classes, codes.code_of, codes.is_marker)
        result += _similarity(attribute, evidence, codes, streams)
    return result


def _similarity(
    attribute: Attribute, evidence: Evidence, codes: Codes, streams: Streams
) -> list[Measurement]:
    name, classes = f"similarity.{attribute.name}", evidence.classes
    if attribute.type == AttributeType.NUMERIC and not is_text(codes.values.type):
        alone = Dataset(Schema((attribute,)), evidence.release.partitions, evidence.release.source)
        space = AttributeSpace.of((attribute,), scan(alone))
        values = space.encode(evidence.release_table.select([attribute.name]))[:, 0]
        return _near(name, classes, values, streams.generator(f"dealt {attribute.name}"))
    if attribute.hierarchy is None:
        return []
    # A value's place below the top; what the hierarchy lacks is a place of its own.
    below = {row[0]: row[-2] for row in attribute.hierarchy.levels}
    texts = codes.values.cast(pa.string()).to_pylist()
    places = encode(pa.array([below.get(text, text) for text in texts], pa.string()))
    note = "records in classes within one subtree below the top"
    marker = np.zeros(len(places.values), np.bool_)
    marker[places.code_of[codes.is_marker]] = True
    return _told(name, note, classes, places.code_of[codes.code_of], marker)


def _told(
    name: str, note: str, classes: Classes, value_of: Integers, is_marker: NDArray[np.bool_]
) -> list[Measurement]:
    """Share of records in classes of one value, and what chance would give."""
    counts = Counts.of(classes.class_of, value_of, len(classes), len(is_marker))
    single = np.diff(counts.starts) == 1
    tells = single & ~is_marker[counts.values[counts.starts[:-1]]]
    told = int(classes.sizes[tells].sum())
    shares = np.bincount(value_of, minlength=len(is_marker)) / len(value_of)
    sizes, classes_of_size = np.unique(classes.sizes, return_counts=True)
    expected = [
        int(size * many) * math.fsum((shares[~is_marker] ** size).tolist())
        for size, many in zip(sizes, classes_of_size, strict=True)
    ]
    return _both(name, note, told, math.fsum(expected), len(value_of))


def _near(
    name: str, classes: Classes, values: Floats, generator: np.random.Generator
) -> list[Measurement]:
    """Share of records in classes whose values lie within 5 % of the range."""
    present = values[~np.isnan(values)]
    if not len(present):
        return []
    width = WIDTH * float(present.max() - present.min()) * (1.0 + 1e-9)
    dealt = [_within(classes, generator.permutation(values), width) for _ in range(_DEALS)]
    note = f"records in classes within {WIDTH:.0%} of the range"
    told = _within(classes, values, width)
    return _both(name, note, told, sum(dealt) / _DEALS, len(values))


def _within(classes: Classes, values: Floats, width: float) -> int:
    """How many records are in classes of which no value is missing and none is far from others."""
    low = np.full(len(classes), np.inf)
    high = np.full(len(classes), -np.inf)
    # NaN stays: a class in which a value is missing is within nothing.
    with np.errstate(invalid="ignore"):
        np.minimum.at(low, classes.class_of, values)
        np.maximum.at(high, classes.class_of, values)
    return int(classes.sizes[high - low <= width].sum())


def _both(name: str, note: str, told: int, expected: float, n: int) -> list[Measurement]:
    low, high = wilson(told, n)
    return [
        Measurement(name, told / n, low, high, goal="lower", n=n, note=note),
        Measurement(
            f"{name}.blind_guess",
            min(1.0, expected / n),
            n=n,
            note="in classes of these sizes, with values dealt at random",
        ),
    ]
