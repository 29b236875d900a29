"""Settings of one column as Python callers write them; the spec has them under the same names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any

from distanon.data.schema import Attribute, AttributeType, Role
from distanon.errors import SpecError

_MOST_DECIMALS = 15
_NUMERIC = ("decimals", "domain_bounds", "top_code")


@dataclass(frozen=True, slots=True)
class ColumnSettings:
    """How the values of one column are compared and released.

    Attributes:
        order: all values of an ordinal column, lowest first.
        decimals: digits after the point in the release, of a numeric quasi-identifier.
        domain_bounds: lowest and highest value of the release, of a numeric quasi-identifier.
        top_code: values above it are released as this value, of a numeric column.
    """

    order: tuple[Any, ...] | None = None
    decimals: int | None = None
    domain_bounds: tuple[float, float] | None = None
    top_code: float | None = None

    @staticmethod
    def read(name: str, given: Mapping[str, Any]) -> ColumnSettings:
        """The settings of a column.

        Args:
            name: the column's, for messages.
            given: settings by name.

        Raises:
            SpecError: a setting that does not exist, or a value that it can't have.
        """
        known = [field.name for field in fields(ColumnSettings)]
        for setting in given:
            if setting not in known:
                close = get_close_matches(str(setting), known, 1)
                hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"
                raise SpecError(f"columns[{name!r}]: no setting {setting!r}; {hint}")
        values = dict(given)
        for setting in ("order", "domain_bounds"):
            if isinstance(values.get(setting), list):
                values[setting] = tuple(values[setting])
        settings = ColumnSettings(**values)
        fault = settings._fault()
        if fault:
            raise SpecError(f"columns[{name!r}].{fault}")
        return settings

    def applied(self, attribute: Attribute) -> Attribute:
        """The attribute with these settings.

        Raises:
            SpecError: its type or role can't have one of them.
        """
        where = f"columns[{attribute.name!r}]"
        if self.order is not None and attribute.type is not AttributeType.ORDINAL:
            raise SpecError(f"{where}.order: for an ordinal column, this one is {attribute.type}")
        in_use = [name for name in _NUMERIC if getattr(self, name) is not None]
        bounded = [name for name in in_use if name != "top_code"]
        if in_use and attribute.type is not AttributeType.NUMERIC:
            raise SpecError(
                f"{where}.{in_use[0]}: for a numeric column, this one is {attribute.type}"
            )
        if bounded and attribute.role is not Role.QUASI_IDENTIFIER:
            raise SpecError(
                f"{where}.{bounded[0]}: for a quasi-identifier, which a method changes; this one "
                f"is {attribute.role} and released as it is (top_code works for every role)"
            )
        return replace(
            attribute,
            order=attribute.order if self.order is None else self.order,
            decimals=self.decimals,
            domain_bounds=self.domain_bounds,
            top_code=self.top_code,
        )

    def _fault(self) -> str:
        """The first setting that has a value of the wrong kind, and what was expected."""
        if self.order is not None:
            values = self.order
            if not isinstance(values, tuple) or len(values) < 2 or len(set(values)) < len(values):
                return "order: expected all values, lowest first, two or more, each once"
        if self.decimals is not None and not (
            _is_whole(self.decimals) and 0 <= self.decimals <= _MOST_DECIMALS
        ):
            return f"decimals: expected a whole number from 0 to {_MOST_DECIMALS}"
        if self.domain_bounds is not None:
            bounds = self.domain_bounds
            is_pair = isinstance(bounds, tuple) and len(bounds) == 2
            if not is_pair or not all(map(_is_finite, bounds)) or bounds[0] >= bounds[1]:
                return "domain_bounds: expected (lowest, highest), two finite numbers"
        if self.top_code is not None and not _is_finite(self.top_code):
            return "top_code: expected a finite number"
        return ""


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
