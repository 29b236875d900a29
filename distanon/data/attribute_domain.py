"""What the values of one column span, and how the parts of a column add up to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from distanon.data.categories import Ordering, arranged
from distanon.data.coding import Coding
from distanon.data.grid import grid_limit


@dataclass(frozen=True, slots=True)
class AttributeDomain:
    """What the values of one column span.

    Attributes:
        present: records with a value.
        missing: records without one.
        minimum: lowest code of a numeric column; None: not numeric, or all missing.
        maximum: highest code.
        decimals: grid of a numeric column: digits after the point of its codes. 0 for integers,
            dates and times; else the most that were seen, at most 6 significant digits of the
            largest magnitude (`grid.grid_limit`); `decimals` of the spec wins.
        categories: ordinal: all values in order; nominal and binary: the distinct present
            values, sorted (False < True, text by code point). Empty for numeric columns.
        distinct: how many values; None where counting them is not cheap.
        coding: how codes stand for the column's values.
        ordering: where the order of the categories comes from.
        is_grid_declared: whether the spec states the decimals.
    """

    present: int
    missing: int
    minimum: float | None = None
    maximum: float | None = None
    decimals: int = 0
    categories: tuple[Any, ...] = ()
    distinct: int | None = None
    coding: Coding = field(default_factory=Coding)
    ordering: Ordering = "sorted"
    is_grid_declared: bool = False

    def __repr__(self) -> str:
        """Without values of the data."""
        kinds = f", {len(self.categories)} categories" if self.categories else ""
        return f"AttributeDomain({self.present} present, {self.missing} missing{kinds})"

    @property
    def span(self) -> tuple[float, float] | None:
        """Lowest and highest code of a numeric column with present values."""
        if self.minimum is None or self.maximum is None:
            return None
        return self.minimum, self.maximum

    @property
    def is_constant(self) -> bool:
        """Whether all records agree, on a value or on having none."""
        if not self.present:
            return True
        if self.missing:
            return False
        if self.span is not None:
            return self.minimum == self.maximum
        return self.distinct == 1

    def grid_limit(self) -> int:
        """The grid's limit, by the numbers themselves: codes may have another origin."""
        low, high = self.span or (0.0, 0.0)
        return grid_limit(float(self.coding.number(low)), float(self.coding.number(high)))

    @staticmethod
    def merged(parts: Sequence[AttributeDomain]) -> AttributeDomain | None:
        """Parts of one column as one; None where float64 can't hold the integers together."""
        whole = replace(
            parts[0],
            present=sum(part.present for part in parts),
            missing=sum(part.missing for part in parts),
        )
        if whole.ordering != "given" and whole.distinct is not None:
            values = (value for part in parts for value in part.categories)
            found = arranged(values, whole.ordering)
            return replace(whole, categories=found, distinct=len(found))
        spanned = _spanned([part for part in parts if part.span], whole)
        if spanned is None or spanned.is_grid_declared or not spanned.span:
            return spanned
        most = max(part.decimals for part in parts if part.span)
        return replace(spanned, decimals=min(most, spanned.grid_limit()))


def _spanned(parts: Sequence[AttributeDomain], whole: AttributeDomain) -> AttributeDomain | None:
    """The numeric parts' common span and coding."""
    ends = [(part, end) for part in parts for end in part.span or ()]
    if not ends:
        return whole
    if all(part.coding == Coding() for part in parts):
        low, high = min(end for _, end in ends), max(end for _, end in ends)
        return replace(whole, minimum=low, maximum=high, coding=Coding())
    integers = [part.coding.integer(end) for part, end in ends]
    step = min(part.coding.step for part in parts)
    coding = Coding.fitting(min(integers), max(integers), step, parts[0].coding.scale)
    if coding is None:
        return None
    low, high = coding.code_of(min(integers)), coding.code_of(max(integers))
    return replace(whole, minimum=low, maximum=high, coding=coding)
