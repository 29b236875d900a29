"""The space that a table's attributes span: their values as numbers, and records as points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data import categories
from distanon.data.domain import AttributeDomain, Domain
from distanon.data.schema import Attribute, AttributeType
from distanon.data.values import decode_column, encode_column

Scale = Literal["range", "none", "zscore"]

_HALF = math.sqrt(0.5)
"""Weight of a column of which exactly two differ by one when two categories differ."""


@dataclass(frozen=True, slots=True, repr=False)
class AttributeSpace:
    """The space of some attributes under the whole data set's domain. Picklable.

    A record has *values* (one number an attribute, `encode` and `decode`) and is a *point*
    (kernel columns, `embed`), so that the Euclidean distance of two points is the distance of
    the records; a missing number or rank is NaN, at distance 1 to a value and 0 to NaN.

    Attributes:
        attributes: q attributes, in the order of the values' columns.
        domains: of each.
        scale: how numbers and ranks are made comparable.
        centers: of each, subtracted before scaling: the minimum (0 with scale none, and for
            ranks). It changes no distance, but keeps the digits of large numbers.
        spreads: of each, divided by: the range (ranks: their number − 1), 1, or the standard
            deviation. 0: constant, every present value is at 0. 1 for nominal and binary.

    Source: Wang et al. 2010; DPTPE, Definition 1; methods.md, section D.
    """

    attributes: tuple[Attribute, ...]
    domains: tuple[AttributeDomain, ...]
    scale: Scale
    centers: tuple[float, ...]
    spreads: tuple[float, ...]

    @staticmethod
    def of(
        attributes: Sequence[Attribute],
        domain: Domain,
        scale: Scale = "range",
        spreads: Sequence[float] | NDArray[np.float64] | None = None,
    ) -> AttributeSpace:
        """The space of attributes that `domain` describes.

        Args:
            attributes: quasi-identifiers or sensitive attributes.
            domain: of the whole data set.
            scale: range: by the range; none: as they are; zscore: by `spreads`.
            spreads: (q,), with zscore: what `zscore_spreads` returns; ignored for nominal ones.

        Raises:
            ValueError: zscore without spreads, or as many as there are no attributes.
        """
        domains = tuple(domain[attribute.name] for attribute in attributes)
        given: Sequence[float] = [1.0] * len(domains)
        if scale == "zscore":
            if spreads is None or len(spreads) != len(domains):
                raise ValueError("scale zscore needs one spread for each attribute")
            given = [float(spread) for spread in spreads]
        placed = [
            _placed(attribute, its, scale, spread)
            for attribute, its, spread in zip(attributes, domains, given, strict=True)
        ]
        centers, found = tuple(c for c, _ in placed), tuple(s for _, s in placed)
        return AttributeSpace(tuple(attributes), domains, scale, centers, found)

    @property
    def names(self) -> tuple[str, ...]:
        """Column names."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def numeric(self) -> NDArray[np.bool_]:
        """Which attributes are numeric, bool (q,)."""
        return self._of_type(AttributeType.NUMERIC)

    @property
    def ordinal(self) -> NDArray[np.bool_]:
        """Which attributes are ordinal, bool (q,)."""
        return self._of_type(AttributeType.ORDINAL)

    @property
    def nominal(self) -> NDArray[np.bool_]:
        """Which attributes are nominal or binary, bool (q,)."""
        return self._of_type(AttributeType.NOMINAL, AttributeType.BINARY)

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Which attributes have one present value at most, bool (q,)."""
        return np.array(
            [
                its.minimum == its.maximum
                if attribute.type == AttributeType.NUMERIC
                else len(its.categories) < 2
                for attribute, its in zip(self.attributes, self.domains, strict=True)
            ],
            dtype=np.bool_,
        )

    @property
    def decimals(self) -> NDArray[np.int64]:
        """Digits after the point of each attribute's values on its grid, int64 (q,)."""
        return np.array([its.decimals for its in self.domains], dtype=np.int64)

    @property
    def slices(self) -> tuple[slice, ...]:
        """Which columns of `embed` each attribute has (numeric and ordinal: one)."""
        widths = [len(weights) for _, weights in self._layouts()]
        stops = np.cumsum(widths, dtype=np.int64).tolist()
        return tuple(slice(b - w, b) for b, w in zip(stops, widths, strict=True))

    def encode(self, table: pa.Table) -> NDArray[np.float64]:
        """The values of a table's records.

        Args:
            table: holds the attributes' columns, by name; their arrow types may differ from the
                attributes' as long as the values can be read as these (a column of integers that
                a method turned into floats).

        Returns:
            float64 (n, q), in column-major order. Numeric: the code of `AttributeDomain.coding`
            (the number itself unless that is too large for float64; dates and times count their
            step), NaN missing. Ordinal: the rank from 0, NaN missing. Nominal and binary: the
            category's number, missing as `len(categories)`.

        Raises:
            InputError: text that is no number, or values outside the domain's categories.
        """
        values = np.empty((table.num_rows, len(self.attributes)), order="F")
        for place, (attribute, its) in enumerate(zip(self.attributes, self.domains, strict=True)):
            values[:, place] = encode_column(table.column(attribute.name), attribute, its)
        return values

    def decode(self, values: NDArray[np.float64], *, widen: bool = False) -> list[pa.Array]:
        """Values as columns of the attributes' arrow types; `encode` of them gives them back.

        Args:
            values: (n, q), numeric ones on a grid that the column's type can hold: whole numbers
                for integers, dates and times.
            widen: integers and decimals become float64, for values off that grid; dates and
                times are rounded.

        Returns:
            One array an attribute, missing as null. Numeric text is written anew ("7", "0.25").
            Columns of float64 may be the values themselves: write to these no more.

        Raises:
            ValueError: a value that the column's type can't hold; names the column.
        """
        return [
            decode_column(values[:, place], attribute, its, widen=widen)
            for place, (attribute, its) in enumerate(
                zip(self.attributes, self.domains, strict=True)
            )
        ]

    def embed(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Records as points.

        Args:
            values: (n, q), as `encode` returns them.

        Returns:
            float64 (n, D), row-major. Numeric and ordinal: one column, (value − center) / spread.
            Nominal and binary: one a category and one for missing, 1/√2 where it applies. With a
            hierarchy: one a node of the tree below the top that a category lies under, and one
            for missing (`Hierarchy.columns`). NaN only where a number or rank is missing; no −0.0.
        """
        layouts = self._layouts()
        points = np.zeros((len(values), sum(len(weights) for _, weights in layouts)))
        for place, (columns, (rows, weights)) in enumerate(zip(self.slices, layouts, strict=True)):
            column = values[:, place]
            if rows is not None:
                places = np.where(np.isnan(column), len(rows) - 1, column).astype(np.int64)
                points[:, columns] = (rows * weights)[places]
            elif self.spreads[place] == 0:
                points[:, columns.start] = np.where(np.isnan(column), np.nan, 0.0)
            else:
                points[:, columns.start] = (column - self.centers[place]) / self.spreads[place]
        points += 0.0
        return points

    def _of_type(self, *types: AttributeType) -> NDArray[np.bool_]:
        return np.array([attribute.type in types for attribute in self.attributes], dtype=np.bool_)

    def _layouts(self) -> list[tuple[NDArray[np.bool_] | None, NDArray[np.float64]]]:
        """For each attribute the columns of its categories, and the columns' weights.

        Returns:
            bool (m + 1, w), None where the attribute is not nominal; and float64 (w,).
        """
        return [
            _layout(attribute, its) if is_nominal else (None, np.ones(1))
            for attribute, its, is_nominal in zip(
                self.attributes, self.domains, self.nominal, strict=True
            )
        ]


def zscore_spreads(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The standard deviation of each column, for `AttributeSpace.of(…, scale="zscore")`.

    Args:
        values: (n, q), of the whole data set; NaN is left out.

    Returns:
        float64 (q,), population standard deviation, 0 for constant columns. Sums are exact before
        they are rounded, so neither the records' order nor how they were cut matters.
    """
    return np.array([_deviation(column) for column in values.T], dtype=np.float64)


def _deviation(column: NDArray[np.float64]) -> float:
    present = column[~np.isnan(column)]
    if not len(present) or present.min() == present.max():
        return 0.0
    size = float(np.abs(present).max())
    scaled = present / size  # so that neither sum nor squares overflow
    mean = math.fsum(scaled.tolist()) / len(scaled)
    return size * math.sqrt(math.fsum(((scaled - mean) ** 2).tolist()) / len(scaled))


def _placed(
    attribute: Attribute, domain: AttributeDomain, scale: Scale, spread: float
) -> tuple[float, float]:
    """Center and spread of one attribute."""
    if attribute.type in (AttributeType.NOMINAL, AttributeType.BINARY):
        return 0.0, 1.0
    is_numeric = attribute.type == AttributeType.NUMERIC
    low = domain.minimum if is_numeric else 0.0
    high = domain.maximum if is_numeric else max(0.0, len(domain.categories) - 1.0)
    if low is None or high is None or low == high:
        return low or 0.0, 0.0
    if scale == "none":
        return 0.0, 1.0
    return low, high - low if scale == "range" else spread


def _layout(
    attribute: Attribute, domain: AttributeDomain
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    count = len(domain.categories)
    if attribute.hierarchy is None:
        return np.eye(count + 1, dtype=np.bool_), np.full(count + 1, _HALF)
    ways = attribute.hierarchy.columns()
    texts = categories.texts(domain.categories, attribute.arrow_type)
    nodes = dict(sorted({step for text in texts for step in ways[text]}))
    number = {node: column for column, node in enumerate(nodes)}
    rows = np.zeros((count + 1, len(nodes) + 1), dtype=np.bool_)
    for place, text in enumerate(texts):
        rows[place, [number[node] for node, _ in ways[text]]] = True
    rows[count, len(nodes)] = True
    return rows, np.array([*nodes.values(), _HALF])
