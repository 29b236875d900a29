"""Minimality: rare values that a method put into a class because a promise needed them.

A method that changes no more cells than it must betrays them: where a class of ten needs a second
value, the lone dissenter is likely false. The intruder takes each class's least frequent values
for false.

Source: Wong et al., VLDB 2007 (minimality attack), for cells that are changed instead of
    generalized.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.attacks.intervals import wilson
from distanon.data.common_codes import common_codes
from distanon.data.evidence import Evidence
from distanon.data.measurement import Measurement
from distanon.data.streams import Streams
from distanon.kernels.counts import Counts
from distanon.runtime.crew import Crew

Integers = NDArray[np.int64]


def measure(
    evidence: Evidence, *, crew: Crew | None = None, streams: Streams | None = None
) -> list[Measurement]:
    """How many of each class's least frequent sensitive values are true.

    Args:
        evidence: with the original and the source of each row; of tables and of graphs.
        crew: not used: this is one pass over the records.
        streams: not used.

    Returns:
        For each sensitive attribute of which cells were changed: the share of true values among
        the records with a least frequent value of their class (classes of one value apart), with
        Wilson's 95 % interval, and the share of true values among all records. The nearer the two
        are, the less the intruder learns.
    """
    del crew, streams
    sources = evidence.sources
    is_unknown = evidence.original is None or sources is None
    if is_unknown or not len(evidence.release) or evidence.classes_from == "asserted":
        return []
    result = []
    for attribute in evidence.release.schema.sensitive:
        truth = evidence.original_table.column(attribute.name).take(pa.array(sources))
        shown = evidence.release_table.column(attribute.name)
        codes = common_codes(truth, shown)
        true, released = codes.columns
        is_true = true == released
        if is_true.all():
            continue
        rare = least_frequent(evidence.classes.class_of, released, codes.says)
        note = "of the values that are least frequent in their class"
        if rare.any():
            result.append(_share(f"minimality.rare.{attribute.name}", is_true[rare], note))
        result.append(_share(f"minimality.all.{attribute.name}", is_true, "of all released values"))
    return result


def least_frequent(
    class_of: Integers, value_of: Integers, says: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which records have a value that no other value of their class is rarer than.

    Args:
        class_of: int64, shape (n,).
        value_of: int64, shape (n,).
        says: bool, by number of the value: markers are no values.

    Returns:
        bool, shape (n,); False throughout a class of one value.
    """
    count = int(class_of.max(initial=-1)) + 1
    told = says[value_of]
    counts = Counts.of(class_of[told], value_of[told], count, len(says))
    least = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(least, counts.classes, counts.counts)
    values = np.diff(counts.starts)
    leads = (counts.counts == least[counts.classes]) & (values[counts.classes] > 1)
    # Where all values are equally frequent none is rare.
    most = np.zeros(count, np.int64)
    np.maximum.at(most, counts.classes, counts.counts)
    leads &= counts.counts < most[counts.classes]
    keys = counts.classes[leads] * len(says) + counts.values[leads]
    rare: NDArray[np.bool_] = told & np.isin(class_of * len(says) + value_of, keys)
    return rare


def _share(name: str, is_true: NDArray[np.bool_], note: str) -> Measurement:
    hits, n = int(is_true.sum()), len(is_true)
    low, high = wilson(hits, n)
    return Measurement(name, hits / n, low, high, goal="higher", n=n, note=note)
