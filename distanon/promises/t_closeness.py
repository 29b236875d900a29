"""t-closeness: in every class sensitive values are distributed nearly as in the whole release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import Field

from distanon.data import categories
from distanon.data.classes import are_markers, encode, is_text
from distanon.data.schema import Attribute, AttributeType
from distanon.errors import InputError
from distanon.kernels.closeness import (
    equal_distances,
    hierarchical_distances,
    ordered_distances,
)
from distanon.kernels.counts import Counts, Ratios, exact, from_triplets
from distanon.promises.sensitive import Counted, Judgement, Override, SensitivePromise, rounded
from distanon.promises.tables import original_totals

Distance = Literal["equal", "ordered", "hierarchical"]


class ColumnCloseness(Override):
    """Closeness asked of one sensitive column."""

    t: float | None = Field(default=None, ge=0, le=1)
    distance: Distance | None = None


class TCloseness(SensitivePromise):
    """The earth mover's distance between each class and the whole release is at most t.

    Values are equally far (total variation), ordered (|i − j| / (v − 1) over the v values that
    the release shows), or as far as their lowest common ancestor is high. A missing or suppressed
    cell is a value at distance 1 from all others.

    Source: Li, Li & Venkatasubramanian, ICDE 2007, sections 3 and 4.
    """

    name: ClassVar[str] = "t_closeness"

    t: float = Field(ge=0, le=1)
    distance: Distance | None = Field(
        default=None,
        description="Null: hierarchical where the column has a hierarchy, ordered for numeric and "
        "ordinal columns, else equal.",
    )
    columns: dict[str, ColumnCloseness] = Field(default_factory=dict)

    def overrides(self) -> Mapping[str, ColumnCloseness]:
        """Closeness asked of single columns."""
        return self.columns

    def distance_for(self, attribute: Attribute) -> Distance:
        """The distance between values of a column."""
        if self.distance is not None:
            return self.distance
        if attribute.hierarchy is not None:
            return "hierarchical"
        return "ordered" if _has_order(attribute) else "equal"

    def faults_of(self, attribute: Attribute) -> list[str]:
        """A distance that the column has not."""
        path = f"promises.t_closeness: column {attribute.name!r}"
        if self.distance == "ordered" and attribute.type == AttributeType.NOMINAL:
            return [f"{path} is nominal, its values have no order; use distance: equal"]
        if self.distance == "hierarchical" and attribute.hierarchy is None:
            return [f"{path} has no hierarchy; name one in input.table.columns"]
        return []

    def judge(self, counted: Counted) -> Judgement:
        """Judges one attribute."""
        attribute, distance = counted.attribute, self.distance_for(counted.attribute)
        whole = counted.counts.value_totals
        ratios = _distances(attribute, distance, counted.values, counted.counts, whole)
        floats = ratios.floats()
        measured = {
            "t": rounded(float(floats.max())) if len(floats) else None,
            "distance": distance,
        }
        return Judgement(
            ~ratios.at_most(exact(self.t)),
            f"are farther than {self.t:g} from the whole release",
            measured,
            _to_original(counted, distance),
        )


def _has_order(attribute: Attribute) -> bool:
    return attribute.type in (AttributeType.NUMERIC, AttributeType.ORDINAL)


def _distances(
    attribute: Attribute,
    distance: Distance,
    values: pa.Array,
    counts: Counts,
    reference: NDArray[np.int64],
) -> Ratios:
    """Of each class to the reference, which counts the same values."""
    if distance == "equal":
        return equal_distances(counts, reference)
    if distance == "hierarchical":
        return hierarchical_distances(counts, reference, _ancestors(attribute, values))
    order = _order(attribute, values)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    ranked = counts.renumbered(rank)
    return ordered_distances(ranked, reference[order], are_markers(values)[order])


def _order(attribute: Attribute, shown: pa.Array) -> NDArray[np.int64]:
    """The numbers of the values, lowest value first; markers last.

    Raises:
        InputError: a value that the column's `order` lacks, or that is no number.
    """
    is_marker = are_markers(shown)
    present = np.flatnonzero(~is_marker)
    values = shown.take(pa.array(present))
    if attribute.type == AttributeType.ORDINAL:
        keys = _ordinal_ranks(attribute, values)
    elif is_text(values.type):
        try:
            numbers = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            raise InputError(
                f"column {attribute.name!r}: text among the numbers; use distance: equal"
            ) from None
        # Texts of one number ("1" and "1.0") stand in the order of the texts, not of the rows.
        keys = _ranks(np.lexsort((_ranks(pc.sort_indices(values).to_numpy()), numbers)))
    else:
        if pa.types.is_boolean(values.type):
            values = values.cast(pa.int8())
        keys = _ranks(pc.sort_indices(values).to_numpy())
    return np.concatenate((present[np.argsort(keys, kind="stable")], np.flatnonzero(is_marker)))


def _ranks(order: NDArray[np.integer]) -> NDArray[np.int64]:
    """The place of each value in an order of all, int64 (n,)."""
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def _ordinal_ranks(attribute: Attribute, values: pa.Array) -> NDArray[np.int64]:
    found = categories.distinct(values)
    if attribute.order is None:
        order = categories.arranged(found, "natural")
    else:
        order = categories.given(attribute.order, values.type)
    ranks, is_strange = categories.places(values, categories.as_array(order, values.type))
    if is_strange.any():
        raise InputError(
            f"column {attribute.name!r}: {int(is_strange.sum())} values are not in its `order`"
        )
    return ranks


def _ancestors(attribute: Attribute, values: pa.Array) -> NDArray[np.int64]:
    """For each height the number of each value's ancestor; markers hang from the top.

    Raises:
        InputError: a value that the hierarchy lacks.
    """
    if attribute.hierarchy is None:
        raise InputError(f"column {attribute.name!r} has no hierarchy")
    is_marker = are_markers(values)
    rows = {row[0]: row for row in attribute.hierarchy.levels}
    texts = [text if text is None else str(text) for text in _texts(values)]
    lacking = sum(
        text not in rows for text, marker in zip(texts, is_marker, strict=True) if not marker
    )
    if lacking:
        raise InputError(f"column {attribute.name!r}: {lacking} values are not in its hierarchy")
    return attribute.hierarchy.ancestors(texts, is_marker)


def _texts(values: pa.Array) -> list[str | None]:
    texts: list[str | None] = values.cast(pa.string()).to_pylist()
    return texts


def _to_original(counted: Counted, distance: Distance) -> dict[str, Any]:
    """How far the whole release is from the original: what changed cells did. Private."""
    attribute, ours = counted.attribute, counted.values
    found = original_totals(counted.crew, counted.evidence, attribute.name)
    if found is None or len(ours) == 0 or found[0].type != ours.type:
        return {}
    theirs, totals = found
    codes = encode(pa.concat_arrays([ours, theirs]))
    # Our values are distinct, so they are numbered 0, 1, … here too.
    shown, whole = np.arange(len(ours)), counted.counts.value_totals
    released = from_triplets(np.zeros_like(shown), shown, whole, 1, len(codes.values))
    reference = np.zeros(len(codes.values), np.int64)
    reference[codes.code_of[len(ours) :]] = totals
    away = _distances(attribute, distance, codes.values, released, reference)
    return {"to_original": rounded(float(away.floats()[0]))}
