"""Generalization hierarchies that are built from a rule and a column's values.

Every rule is nested by itself (each width a multiple of the one before), so that what it builds
is a tree. Intervals and cuts are exact decimals: no value falls beside its interval by rounding.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, Self

import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from distanon.data import codes
from distanon.data.classes import SUPPRESSED
from distanon.data.hierarchy import Hierarchy
from distanon.data.ports import Partition
from distanon.data.setting_faults import called, refused
from distanon.errors import InputError, SpecError

RARE = "(rare)"
"""Label of the values that too few records have."""

_MOST_DIGITS = 15  # before the point; with the least width they stay within a Decimal's 28
_LEAST_WIDTH = 1e-9
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?!\d)")
_CALENDAR = ("month", "quarter", "year", "decade")

Labels = Callable[[str], Sequence[str]]
"""The labels above a value, the top left out; ValueError: the rule can't read the value."""


class Rule(BaseModel):
    """How the levels above a column's values are made; the top, `*`, is added to them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    expects: ClassVar[str] = "text"
    """What the values have to be."""

    build: str

    def hierarchy(self, counted: Mapping[str, int], column: str, source: str) -> Hierarchy | None:
        """The hierarchy of a column.

        Args:
            counted: the column's distinct present values, as text, with their records; those of
                no record are placed as the others make it.
            column: its name, for messages.
            source: what the data set is called in messages.

        Returns:
            The tree; None where the column has no value.

        Raises:
            InputError: values that the rule can't read.
        """
        self.refuse_unread(counted, column, source)
        if not counted:
            return None
        labels = self._labels(counted)
        rows = [(value, *labels(value), SUPPRESSED) for value in sorted(counted)]
        return Hierarchy.from_rows(rows, f"the hierarchy built for column {column!r}")

    def refuse_unread(self, counted: Mapping[str, int], column: str, source: str) -> None:
        """Refuses values that the rule can't read; the arguments as in `hierarchy`.

        Raises:
            InputError: how many records have such a value.
        """
        odd = [value for value in counted if not self._reads(value)]
        if odd:
            records = sum(counted[value] for value in odd)
            raise InputError(
                f"{source}, column {column!r}: {records} records are not {self.expects}, which "
                f"`build: {self.build}` needs; mend the cells, or give the column a hierarchy file"
            )

    def _reads(self, value: str) -> bool:
        """Whether the rule can place a value."""
        return bool(value.strip())

    @abstractmethod
    def _labels(self, counted: Mapping[str, int]) -> Labels:
        """How a value is labelled, given all of them."""


class _OfNumbers(Rule):
    expects: ClassVar[str] = "numbers"

    def _reads(self, value: str) -> bool:
        try:
            number = Decimal(value)
        except InvalidOperation:
            return False
        return number.is_finite() and number.adjusted() <= _MOST_DIGITS


_Width = Annotated[float, Field(ge=_LEAST_WIDTH, allow_inf_nan=False)]


class Intervals(_OfNumbers):
    """Half-open intervals of fixed widths: 17 lies in [15, 20), in [10, 20), in *."""

    build: Literal["intervals"]
    widths: Annotated[tuple[_Width, ...], Field(min_length=1)]
    origin: Annotated[float, Field(allow_inf_nan=False)] = 0.0

    @model_validator(mode="after")
    def _nested(self) -> Self:
        for below, above in pairwise(map(_decimal, self.widths)):
            if above <= below or above % below:
                found = f"found {above} after {below}"
                raise refused(f"widths: expected each a multiple of the one before, {found}")
        return self

    def _labels(self, counted: Mapping[str, int]) -> Labels:
        del counted
        widths, origin = [_decimal(width) for width in self.widths], _decimal(self.origin)

        def labels(value: str) -> Sequence[str]:
            lows = [_floor(Decimal(value), width, origin) for width in widths]
            return [
                f"[{_plain(low)}, {_plain(low + width)})"
                for low, width in zip(lows, widths, strict=True)
            ]

        return labels


class Quantiles(_OfNumbers):
    """Groups of about equal numbers of records, cut between distinct values.

    A cut is the shortest decimal between its two neighbors: it need be nobody's value.
    """

    build: Literal["quantiles"]
    groups: Annotated[tuple[Annotated[int, Field(ge=2)], ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _nested(self) -> Self:
        for below, above in pairwise(self.groups):
            if above >= below or below % above:
                found = f"found {above} after {below}"
                raise refused(f"groups: expected each a divisor of the one before, {found}")
        return self

    def _labels(self, counted: Mapping[str, int]) -> Labels:
        finest = self.groups[0]
        cuts = _quantile_cuts(counted, finest)
        levels = [
            sorted(set(cuts[finest // groups - 1 :: finest // groups])) for groups in self.groups
        ]
        return lambda value: [_between(Decimal(value), level) for level in levels]


class Prefixes(Rule):
    """Beginnings of a code, the rest masked: 13053 lies under 130**, then 1****."""

    build: Literal["prefixes"]
    lengths: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _nested(self) -> Self:
        for below, above in pairwise(self.lengths):
            if above >= below:
                raise refused(f"lengths: expected falling ones, found {above} after {below}")
        return self

    def _labels(self, counted: Mapping[str, int]) -> Labels:
        del counted
        return lambda value: [
            value[:length] + SUPPRESSED * (len(value) - length) for length in self.lengths
        ]


class Dates(Rule):
    """Calendar periods of ISO dates: 2020-02-28 lies in 2020-02, 2020-Q1, 2020, 2020s."""

    expects: ClassVar[str] = "dates of the form YYYY-MM-DD"

    build: Literal["dates"]
    periods: Annotated[
        tuple[Literal["month", "quarter", "year", "decade"], ...], Field(min_length=1)
    ] = ("month", "year", "decade")

    @model_validator(mode="after")
    def _nested(self) -> Self:
        places = [_CALENDAR.index(period) for period in self.periods]
        if any(above <= below for below, above in pairwise(places)):
            raise refused(f"periods: expected longer and longer ones of {', '.join(_CALENDAR)}")
        return self

    def _reads(self, value: str) -> bool:
        return _DAY.match(value) is not None

    def _labels(self, counted: Mapping[str, int]) -> Labels:
        del counted
        return lambda value: [_period(value, period) for period in self.periods]


class Frequency(Rule):
    """Values that few records have, put together: below the first number at level 1, and so on."""

    build: Literal["frequency"]
    at_least: Annotated[tuple[Annotated[int, Field(ge=2)], ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _nested(self) -> Self:
        for below, above in pairwise(self.at_least):
            if above <= below:
                raise refused(f"at_least: expected rising numbers, found {above} after {below}")
        return self

    def _reads(self, value: str) -> bool:
        return super()._reads(value) and value != RARE

    def _labels(self, counted: Mapping[str, int]) -> Labels:
        return lambda value: [
            value if counted[value] >= enough else RARE for enough in self.at_least
        ]


HierarchyRule = Annotated[
    Intervals | Quantiles | Prefixes | Dates | Frequency, Field(discriminator="build")
]
"""Every rule, by what it builds."""

HierarchyLike = Hierarchy | Sequence[Sequence[str]] | Mapping[str, Any]
"""A hierarchy, its rows, or the settings of a rule that builds one."""

_RULES: Mapping[str, type[Rule]] = {
    "intervals": Intervals,
    "quantiles": Quantiles,
    "prefixes": Prefixes,
    "dates": Dates,
    "frequency": Frequency,
}


def rule_of(settings: Mapping[str, Any], where: str) -> Rule:
    """The rule that settings such as {"build": "prefixes", "lengths": [3, 1]} describe.

    Args:
        settings: as in a spec.
        where: their path, for messages.

    Raises:
        SpecError: a rule that does not exist, or settings that it can't have.
    """
    kind = _RULES.get(str(settings.get("build")))
    if kind is None:
        raise SpecError(f"{where}.build: expected one of {', '.join(_RULES)}")
    try:
        return kind(**settings)
    except ValidationError as error:
        faults = called(kind, error, dict(settings)).args
        raise SpecError(*(f"{where}: {fault}" for fault in faults)) from None


def counted_values(partitions: Iterable[Partition], column: str) -> dict[str, int]:
    """How many records have each present value of a column, by its text, as a rule needs them."""
    counts: Counter[str] = Counter()
    for partition in partitions:
        texts = codes.as_text(codes.plain(partition.read([column]).column(column)))
        for one in pc.value_counts(pc.drop_null(texts)).to_pylist():
            counts[one["values"]] += one["counts"]
    return dict(counts)


def _decimal(number: float) -> Decimal:
    return Decimal(repr(number))


def _floor(value: Decimal, width: Decimal, origin: Decimal) -> Decimal:
    """The lower end of the interval that holds a value."""
    past = (value - origin) % width  # of the value's sign
    return value - past - (width if past < 0 else 0)


def _plain(number: Decimal) -> str:
    text = format(number.normalize(), "f")
    return "0" if text == "-0" else text


def _quantile_cuts(counted: Mapping[str, int], groups: int) -> list[Decimal]:
    """Groups − 1 cuts, rising, some equal where a value has the records of several groups."""
    sizes: dict[Decimal, int] = {}
    for value, records in counted.items():
        if records:  # others may not move a cut
            number = Decimal(value)
            sizes[number] = sizes.get(number, 0) + records
    numbers = sorted(sizes)
    total, seen = sum(sizes.values()), 0
    cuts: list[Decimal] = []
    for below, above in pairwise(numbers):
        seen += sizes[below]
        while len(cuts) < groups - 1 and seen * groups >= total * (len(cuts) + 1):
            cuts.append(_shortest_between(below, above))
    return cuts


def _shortest_between(below: Decimal, above: Decimal) -> Decimal:
    """The decimal of fewest digits in (below, above]."""
    for exponent in range(above.adjusted() + 1, -400, -1):
        step = Decimal(1).scaleb(exponent)
        cut = (below / step).to_integral_value(ROUND_CEILING) * step
        if cut == below:
            cut += step
        if cut <= above:
            return cut
    return above


def _between(value: Decimal, cuts: Sequence[Decimal]) -> str:
    """The group of a value: open where it is the first or the last."""
    low = max((cut for cut in cuts if cut <= value), default=None)
    high = min((cut for cut in cuts if cut > value), default=None)
    if high is None:
        return SUPPRESSED if low is None else f">= {_plain(low)}"
    return f"< {_plain(high)}" if low is None else f"[{_plain(low)}, {_plain(high)})"


def _period(value: str, period: str) -> str:
    year, month = value[:4], int(value[5:7])
    if period == "month":
        return value[:7]
    if period == "quarter":
        return f"{year}-Q{(month + 2) // 3}"
    return year if period == "year" else f"{year[:3]}0s"
