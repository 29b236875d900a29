"""What the cells of a released column may stand for: ranges of numbers, sets of categories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distanon.data.attribute_domain import AttributeDomain
from distanon.data.schema import Attribute, AttributeType

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Regions:
    """What the cells of one released column may stand for: r different regions.

    Attributes:
        code_of: int64, shape (rows,): the region of each row.
        low: float64, shape (r,): least code or rank; NaN without values, and of nominal columns.
        high: float64, shape (r,): greatest.
        starts: int64, shape (r + 1,): where the members of each region start; nominal alone.
        members: int64: category numbers, ascending in each region; missing is `categories`.
        holds_missing: bool, shape (r,): whether it may stand for a missing value.
        categories: how many the column has, missing left out; −1: numeric or ordinal.
        span: what an extent of 1 is: the range in codes or ranks; categories less one, missing
            counted if it occurs.
    """

    code_of: Integers
    low: Floats
    high: Floats
    starts: Integers
    members: Integers
    holds_missing: Booleans
    categories: int
    span: float

    def __len__(self) -> int:
        return len(self.holds_missing)

    def __repr__(self) -> str:
        """Without values of the data."""
        return f"Regions({len(self)} regions of {len(self.code_of)} rows)"

    @property
    def is_nominal(self) -> bool:
        """Whether regions are sets of categories."""
        return self.categories >= 0

    def contains(self, values: Floats, regions: Integers) -> Booleans:
        """Whether each value lies in a region.

        Args:
            values: float64, shape (m,), as `encode_column` makes them.
            regions: int64, shape (m,): the region that each is asked of.
        """
        if not self.is_nominal:
            inside = (values >= self.low[regions]) & (values <= self.high[regions])
            return np.where(np.isnan(values), self.holds_missing[regions], inside)
        width = self.categories + 1
        keys = np.repeat(np.arange(len(self)), np.diff(self.starts)) * width + self.members
        numbers = np.where(np.isnan(values), self.categories, values).astype(np.int64)
        wanted = regions * np.int64(width) + numbers
        place = np.searchsorted(keys, wanted)
        found = keys[np.minimum(place, max(len(keys) - 1, 0))] if len(keys) else wanted - 1
        return np.asarray(found == wanted)

    def extent(self) -> Floats:
        """How much of the column each region covers, in [0, 1], shape (r,).

        Numbers and ranks: (high − low) / range, 1 where a value and missing are one region.
        Nominal: (members − 1) / (categories − 1), missing counted as one where it occurs.

        Source: Xu et al., KDD 2006 (normalized certainty penalty).
        """
        if self.is_nominal:
            sizes = np.diff(self.starts).astype(np.float64)
            return np.clip((sizes - 1.0) / max(self.span, 1.0), 0.0, 1.0)
        covered = (self.high - self.low) / self.span if self.span > 0 else self.high - self.high
        covered = np.where(self.holds_missing & ~np.isnan(self.low), 1.0, covered)
        return np.clip(np.nan_to_num(covered, nan=0.0), 0.0, 1.0)

    def center(self) -> Floats:
        """The middle of each region in codes or ranks, shape (r,); NaN: nominal, or no value."""
        return self.low + (self.high - self.low) / 2


def is_nominal(attribute: Attribute) -> bool:
    """Whether values are compared by equality alone."""
    return attribute.type in (AttributeType.NOMINAL, AttributeType.BINARY)


def span_of(attribute: Attribute, domain: AttributeDomain) -> float:
    """What an extent of 1 is: see `Regions.span`."""
    if attribute.type == AttributeType.NUMERIC:
        low, high = domain.span or (0.0, 0.0)
        return high - low
    return float(len(domain.categories) - 1 + (is_nominal(attribute) and domain.missing > 0))


def regions_of_values(values: Floats, attribute: Attribute, domain: AttributeDomain) -> Regions:
    """Plain values: each is a region of its own."""
    distinct, code_of = np.unique(values, return_inverse=True)
    many = len(distinct)
    none = np.zeros(0, np.int64)
    if is_nominal(attribute):
        members = distinct.astype(np.int64)
        unknown = np.full(many, np.nan)
        starts, count = np.arange(many + 1), len(domain.categories)
        holds = members == count
        return Regions(
            code_of, unknown, unknown, starts, members, holds, count, span_of(attribute, domain)
        )
    holds = np.isnan(distinct)
    starts = np.zeros(many + 1, np.int64)
    return Regions(code_of, distinct, distinct, starts, none, holds, -1, span_of(attribute, domain))
