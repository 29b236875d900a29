"""Class tables of the evidence, made once for all promises."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.evidence import Evidence
from distanon.runtime.crew import Crew
from distanon.sharded.classes import ClassTables, class_tables, value_totals


def tables_over(
    crew: Crew, evidence: Evidence, columns: Sequence[str], sensitive: str | None = None
) -> ClassTables:
    """The classes of the released rows over some columns.

    Args:
        crew: who works, where nobody has asked before.
        evidence: of the release.
        columns: that make the classes. Over the quasi-identifiers all sensitive columns are
            counted at once, since promises and measures come back for them.
        sensitive: the column to count in the classes over other columns.
    """
    release, columns = evidence.release, tuple(columns)
    if columns == evidence.quasi_identifiers:
        counted = [attribute.name for attribute in release.schema.sensitive]
    else:
        counted = [] if sensitive is None else [sensitive]
    key = f"classes over {columns!r} of {counted!r}"
    if key not in evidence.made_of_release:
        found = class_tables(crew, release, columns, counted)
        evidence.made_of_release[key] = found
    made: ClassTables = evidence.made_of_release[key]
    return made


def people_over_quasi_identifiers(
    crew: Crew, evidence: Evidence, people: NDArray[np.int64]
) -> NDArray[np.int64]:
    """How many different people each class shows, int64, shape (c,).

    Args:
        crew: who works.
        evidence: of the release.
        people: int64, shape (rows,): a number for the person behind each row.
    """
    names = list(evidence.quasi_identifiers)
    found = class_tables(crew, evidence.release, names, people=people).people
    return np.zeros(0, np.int64) if found is None else found


def original_totals(
    crew: Crew, evidence: Evidence, column: str
) -> tuple[pa.Array, NDArray[np.int64]] | None:
    """The distinct values of a column of the original and their counts; None: it has none."""
    original = evidence.original
    if original is None or column not in original.schema or len(original) == 0:
        return None
    key = f"totals of {column!r}"
    if key not in evidence.made_of_original:
        evidence.made_of_original[key] = value_totals(crew, original, column)
    made: tuple[pa.Array, NDArray[np.int64]] = evidence.made_of_original[key]
    return made
