"""From a perturbed value to one that may be released: inside the domain, on the column's grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data import codes
from distanon.data.domain import AttributeDomain
from distanon.data.schema import Attribute, AttributeType
from distanon.errors import SpecError

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
DomainRule = Literal["clip", "reflect", "free"]
Decimals = Literal["grid", "full"]

_DIGITS = 2  # significant digits of a bound that is taken from the data
MOST_DECIMALS = 300  # rounding multiplies by a power of ten, which float64 holds up to 10^308


@dataclass(frozen=True, slots=True, repr=False)
class Finishing:
    """What becomes of perturbed values, attribute by attribute (q of them, in codes).

    Attributes:
        numeric: bool (q,).
        ordinal: bool (q,).
        lower: float64 (q,): least value of a numeric attribute, minus infinity where free.
        upper: float64 (q,): greatest.
        domain: float64 (2, q): least and greatest value of what counts as the domain: the
            bounds or, where these are free, `domain_bounds` or the data's own extremes.
        decimals: int64 (q,): digits after the point; -1: as computed.
        is_declared: bool (q,): the spec names the digits, so that unmoved numbers get them too.
        highest_rank: float64 (q,), of ordinal attributes.
        storage: q float types that the columns are stored in.
        reflects: whether a value beyond a bound is mirrored at it, rather than set to it.
    """

    numeric: Booleans
    ordinal: Booleans
    lower: Floats
    upper: Floats
    domain: Floats
    decimals: NDArray[np.int64]
    is_declared: Booleans
    highest_rank: Floats
    storage: tuple[type[np.floating], ...]
    reflects: bool

    def finish(self, original: Floats, perturbed: Floats) -> tuple[Floats, Booleans]:
        """Perturbed values as they may be released.

        Ordinals go to the nearest rank; numbers into their bounds, then, where they differ from
        the original, onto the grid. Halves go to the even neighbor: towards the original would
        undo moves, away from it would lengthen them, and either would shift a column's mean.

        Args:
            original: float64, shape (m, q).
            perturbed: float64, shape (m, q); NaN is missing.

        Returns:
            The finished values, and bool, shape (m,): which records had a number outside the
            domain.
        """
        values = perturbed.copy()
        ranks = np.clip(np.rint(values[:, self.ordinal]), 0.0, self.highest_rank[self.ordinal])
        values[:, self.ordinal] = ranks
        if self.reflects:
            below, above = values < self.lower, values > self.upper
            np.subtract(2.0 * self.lower, values, out=values, where=below)
            np.subtract(2.0 * self.upper, values, out=values, where=above)
        values = np.clip(values, self.lower, self.upper)
        for column in np.flatnonzero(self.numeric).tolist():
            self._store(values[:, column], original[:, column], column)
        beyond = (perturbed < self.domain[0]) | (perturbed > self.domain[1])
        outside: Booleans = np.any(beyond & self.numeric, axis=1)
        return values + 0.0, outside

    def _store(self, values: Floats, original: Floats, column: int) -> None:
        """Rounds one numeric column in place, as its grid and its type in the file ask."""
        digits = int(self.decimals[column])
        if digits >= 0:
            with np.errstate(over="ignore"):  # of numbers that are kept as they are
                rounded = np.round(values, digits)
            if self.is_declared[column]:
                values[:] = rounded
            else:
                np.copyto(values, rounded, where=values != original)
        if self.storage[column] is not np.float64:
            values[:] = values.astype(self.storage[column])


def finishing(
    attributes: Sequence[Attribute],
    domains: Sequence[AttributeDomain],
    values: Floats,
    k: int,
    rule: DomainRule,
    decimals: Decimals,
) -> Finishing:
    """How the attributes of a table are finished.

    Args:
        attributes: the q quasi-identifiers.
        domains: of the whole data set.
        values: float64, shape (n, q), all original values, in codes.
        k: bounds that the spec leaves open are the k-th smallest and largest value (of fewer
            than 4k values the quartiles), rounded outwards to 2 significant digits.
        rule: clip, reflect, or free (no bounds but the type's own).
        decimals: grid, or full.

    Raises:
        SpecError: no number of the column's grid lies inside its `domain_bounds`; or a column
            would become floats that can't tell its values apart.
    """
    _refuse_lossy(attributes, domains, rule, decimals)
    numeric = np.array([a.type == AttributeType.NUMERIC for a in attributes], dtype=np.bool_)
    ordinal = np.array([a.type == AttributeType.ORDINAL for a in attributes], dtype=np.bool_)
    digits = [
        _decimals(attribute, domain, decimals, rule)
        for attribute, domain in zip(attributes, domains, strict=True)
    ]
    bounds = [
        _bounds(attribute, domain, values[:, place], k, rule, digits[place])
        for place, (attribute, domain) in enumerate(zip(attributes, domains, strict=True))
    ]
    return Finishing(
        numeric,
        ordinal,
        np.array([low for low, _ in bounds]),
        np.array([high for _, high in bounds]),
        _domain(attributes, domains, np.array(bounds).reshape(-1, 2).T, rule),
        np.array(digits, dtype=np.int64),
        np.array([a.decimals is not None for a in attributes], dtype=np.bool_),
        np.array([float(max(0, len(d.categories) - 1)) for d in domains]),
        tuple(_storage(attribute.arrow_type) for attribute in attributes),
        rule == "reflect",
    )


def released_type(attribute: Attribute, rule: DomainRule, decimals: Decimals) -> pa.DataType:
    """The arrow type of a quasi-identifier's column in the release.

    Full decimals and free domains do not fit into integers and decimals: float64 takes them.
    Dates and times stay what they are, on whole units.
    """
    kind = codes.value_type(attribute.arrow_type)
    is_open = decimals == "full" or rule == "free"
    is_narrow = pa.types.is_integer(kind) or pa.types.is_decimal(kind)
    if attribute.type == AttributeType.NUMERIC and is_open and is_narrow:
        return pa.float64()
    return attribute.arrow_type


def _refuse_lossy(
    attributes: Sequence[Attribute],
    domains: Sequence[AttributeDomain],
    rule: DomainRule,
    decimals: Decimals,
) -> None:
    """Refuses to turn integers beyond 2^53 into floats: neighbors would become one value."""
    for attribute, domain in zip(attributes, domains, strict=True):
        is_widened = released_type(attribute, rule, decimals) != attribute.arrow_type
        if is_widened and domain.coding.origin:
            raise SpecError(
                f"column {attribute.name!r} holds numbers of more than 15 digits, and "
                "`decimals: full` or `domain: free` would release them as floats, which can't "
                "tell them apart; use `decimals: grid` with `domain: clip` or `reflect`"
            )


def is_unchanged(original: Floats, released: Floats) -> Booleans:
    """Which records have all their values still; missing equals missing."""
    same = (original == released) | (np.isnan(original) & np.isnan(released))
    unchanged: Booleans = same.all(axis=1)
    return unchanged


def outwards(value: float, *, up: bool) -> float:
    """A bound rounded away from the data to 2 significant digits: it is nobody's own value."""
    exact = Decimal(repr(float(value)))
    if exact == 0:
        return 0.0
    unit = Decimal((0, (1,), exact.adjusted() - _DIGITS + 1))
    return float(exact.quantize(unit, rounding=ROUND_CEILING if up else ROUND_FLOOR))


def _decimals(
    attribute: Attribute, domain: AttributeDomain, decimals: Decimals, rule: DomainRule
) -> int:
    """Digits after the point of an attribute's released codes; -1: all that were computed."""
    if attribute.type != AttributeType.NUMERIC:
        return -1
    if domain.decimals > MOST_DECIMALS:
        return -1
    if decimals == "grid" or attribute.decimals is not None:
        return domain.decimals
    kind = codes.value_type(released_type(attribute, rule, decimals))
    return domain.decimals if codes.is_whole(kind) else -1


def _domain(
    attributes: Sequence[Attribute],
    domains: Sequence[AttributeDomain],
    bounds: Floats,
    rule: DomainRule,
) -> Floats:
    """What counts as inside: the bounds, or with free bounds what they would be by the data."""
    result = bounds.copy()
    if rule != "free":
        return result
    for place, (attribute, domain) in enumerate(zip(attributes, domains, strict=True)):
        if attribute.type != AttributeType.NUMERIC or domain.minimum is None:
            continue
        given = attribute.domain_bounds
        if given is not None:
            result[:, place] = [domain.coding.code(bound) for bound in given]
        else:
            result[:, place] = domain.minimum, domain.maximum
    return result


def _bounds(
    attribute: Attribute,
    domain: AttributeDomain,
    column: Floats,
    k: int,
    rule: DomainRule,
    digits: int,
) -> tuple[float, float]:
    """The least and the greatest number that an attribute's release may hold, in codes."""
    if attribute.type != AttributeType.NUMERIC or domain.minimum is None:
        return -np.inf, np.inf
    low, high = _type_limits(attribute, domain, digits, is_free=rule == "free")
    low, high = _on_grid(low, digits, np.ceil), _on_grid(high, digits, np.floor)
    if attribute.top_code is not None:
        high = min(high, _on_grid(domain.coding.code(attribute.top_code), digits, np.floor))
    if rule == "free":
        return low, high
    if attribute.domain_bounds is not None:
        bottom, top = (domain.coding.code(bound) for bound in attribute.domain_bounds)
        bottom, top = _on_grid(bottom, digits, np.ceil), _on_grid(top, digits, np.floor)
        if bottom > top:
            raise SpecError(
                f"input.table.columns.{attribute.name}.domain_bounds: no number with {digits} "
                "digits after the point lies between them; widen them or give more `decimals`"
            )
    else:
        bottom, top = _kth_extremes(column, k)
        bottom, top = _on_grid(bottom, digits, np.floor), _on_grid(top, digits, np.ceil)
    low = max(low, bottom)
    return low, max(low, min(high, top))


def _on_grid(value: float, digits: int, rounding: np.ufunc) -> float:
    """A bound on the grid, so that rounding never crosses it."""
    if digits < 0 or not np.isfinite(value):
        return value
    power = 10.0**digits
    if not np.isfinite(value * power):  # far beyond the grid's digits: on every grid
        return value
    nearest = float(np.round(value, digits))
    return (
        nearest if abs(nearest - value) * power < 1e-9 else float(rounding(value * power)) / power
    )


def _kth_extremes(column: Floats, k: int) -> tuple[float, float]:
    """The k-th smallest and largest present value, rounded outwards.

    In a table of fewer than 4k values a quarter of them on each side, or the bounds would meet.
    """
    present = np.sort(column[~np.isnan(column)])
    place = min(k, max(1, len(present) // 4)) - 1
    low, high = float(present[place]), float(present[len(present) - 1 - place])
    return outwards(low, up=False), outwards(high, up=True)


def _type_limits(
    attribute: Attribute, domain: AttributeDomain, digits: int, *, is_free: bool
) -> tuple[float, float]:
    """What the column's arrow type can hold, in codes."""
    kind = codes.value_type(attribute.arrow_type)
    coding = domain.coding
    if pa.types.is_decimal(kind) and not is_free and digits >= 0:
        most = (10.0**kind.precision - 1.0) / 10.0**kind.scale
        return -most, most
    if not codes.is_whole(kind) or (is_free and pa.types.is_integer(kind)):
        # Near the end of floats, a bound that is rounded outwards would be infinite.
        most = float(np.finfo(_storage(kind)).max)
        return (-np.inf, np.inf) if is_free else (-most, most)
    if pa.types.is_boolean(kind):
        low, high = 0, 1
    elif pa.types.is_time(kind):
        seconds = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
        low, high = 0, 86400 * seconds - 1
    else:
        unsigned = pa.types.is_unsigned_integer(kind)
        width = kind.bit_width - (0 if unsigned else 1)
        low, high = (0 if unsigned else -(2**width)), 2**width - 1
    # Truncated towards zero, so that the code of a bound never decodes beyond it.
    margin = 1.0 - 2.0**-52 if high >= 2**53 else 1.0
    return (
        float(np.ceil((low - coding.origin) / coding.step * margin)),
        float(np.floor((high - coding.origin) / coding.step * margin)),
    )


def _storage(kind: pa.DataType) -> type[np.floating]:
    """The float type that a column's values are stored in."""
    kind = codes.value_type(kind)
    if pa.types.is_float32(kind):
        return np.float32
    if pa.types.is_float16(kind):
        return np.float16
    return np.float64
