"""What one partition says of its columns: their domains, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from distanon.data import categories, codes
from distanon.data.attribute_domain import AttributeDomain
from distanon.data.categories import Ordering
from distanon.data.codes import Numbers
from distanon.data.coding import Coding
from distanon.data.faults import Fault
from distanon.data.grid import decimals_seen, grid_limit
from distanon.data.ports import Partition
from distanon.data.schema import Attribute, AttributeType, Role, Schema

_INT64_DIGITS = 18
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31, from 1970-01-01
_MARKS = ("na", "n/a", "nan", "null", "none", "nil", "missing", "unknown", "-", "--", "?", ".")
"""What cells hold that should be empty, in small letters."""
_MISSING = " (empty where a value is missing; marks such as NA: csv.missing: [NA])"
TOO_WIDE = (
    "numbers of more digits than float64 holds, even relative to the lowest; "
    "store fewer digits or declare `type: nominal`"
)


@dataclass(frozen=True, slots=True)
class Digits:
    """How far an undeclared text column reads as numbers; `other` is the first that does not.

    `marks` counts the cells that are known to mark missing values, such as "NA".
    """

    numeric: int
    present: int
    other: int | None
    marks: int = 0


@dataclass(frozen=True, slots=True)
class PartitionSummary:
    """One partition's domains by column, its faults, and its text that reads as numbers."""

    attributes: Mapping[str, AttributeDomain]
    records: int
    faults: tuple[Fault, ...]
    digits: Mapping[str, Digits]


def examined(schema: Schema) -> tuple[Attribute, ...]:
    """The columns that have a domain: quasi-identifiers and sensitive attributes."""
    roles = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
    return tuple(attribute for attribute in schema if attribute.role in roles)


def examine(partition: Partition, schema: Schema) -> PartitionSummary:
    """Reads a partition once and says all that is found."""
    attributes = examined(schema)
    table = partition.read([attribute.name for attribute in attributes])
    domains: dict[str, AttributeDomain] = {}
    faults: list[Fault] = []
    digits: dict[str, Digits] = {}
    for attribute in attributes:
        column = table.column(attribute.name)
        odd = _era_faults(column, attribute, partition.start)
        if odd:
            domains[attribute.name] = AttributeDomain(0, 0)
            faults.extend(odd)
            continue
        if attribute.type == AttributeType.NUMERIC:
            domain, found = _numeric(column, attribute, partition.start)
        else:
            values = codes.plain(column)
            domain, found = _categorical(values, attribute, partition.start)
            if _may_be_numeric(values, attribute):
                digits[attribute.name] = _digits(values, partition.start)
        domains[attribute.name] = domain
        faults.extend(found)
    return PartitionSummary(domains, partition.stop - partition.start, tuple(faults), digits)


def digit_faults(summaries: Sequence[PartitionSummary]) -> list[Fault]:
    """Inferred text of which at least nine cells in ten, but not all, are numbers.

    Marks of missing values are no cells here, however many they are.
    """
    faults = []
    for name in summaries[0].digits:
        parts = [summary.digits[name] for summary in summaries]
        numeric = sum(part.numeric for part in parts)
        present = sum(part.present for part in parts)
        marks = sum(part.marks for part in parts)
        others = [part.other for part in parts if part.other is not None]
        if others and numeric and 10 * numeric >= 9 * (present - marks):
            kind = (
                f"text where nearly all cells are numbers; mend the cells{_MISSING}, or declare "
                "`type: nominal` if they are names"
            )
            faults.append(Fault(name, kind, min(others), present - numeric))
    return faults


def _numeric(
    column: pa.ChunkedArray, attribute: Attribute, start: int
) -> tuple[AttributeDomain, list[Fault]]:
    try:
        numbers = codes.numbers(column)
    except codes.NotNumbersError as error:
        kind = f"text, expected number; mend the cell{_MISSING}, or declare `type: nominal`"
        fault = Fault(attribute.name, kind, start + error.first, error.count)
        return AttributeDomain(0, 0), [fault]
    except codes.TooWideError:
        return AttributeDomain(0, 0), [Fault(attribute.name, TOO_WIDE, None, 0)]
    present = int(numbers.present.sum())
    blank = AttributeDomain(
        present,
        len(numbers.present) - present,
        decimals=attribute.decimals or 0,
        is_grid_declared=attribute.decimals is not None,
    )
    kind = codes.value_type(column.type)
    if numbers.floats is None:
        domain = _whole_domain(numbers, blank, kind)
        return (
            (blank, [Fault(attribute.name, TOO_WIDE, None, 0)])
            if domain is None
            else (
                domain,
                [],
            )
        )
    faults = _float_faults(numbers.floats, attribute, kind, start)
    if faults or not present:
        return blank, faults
    return _float_domain(numbers.floats[numbers.present], blank, kind), []


def _float_domain(
    floats: NDArray[np.float64], blank: AttributeDomain, kind: pa.DataType
) -> AttributeDomain:
    low, high = float(floats.min()), float(floats.max())
    decimals = blank.decimals
    if not blank.is_grid_declared:
        stored = kind.to_pandas_dtype() if pa.types.is_floating(kind) else np.float64
        decimals = decimals_seen(floats, grid_limit(low, high), stored)
    return replace(blank, minimum=low, maximum=high, decimals=decimals)


def _whole_domain(
    numbers: Numbers, blank: AttributeDomain, kind: pa.DataType
) -> AttributeDomain | None:
    """The domain of integers, dates, times or decimals; None where float64 can't hold them."""
    integers = numbers.integers
    steps = codes.steps(kind)
    if not blank.is_grid_declared or numbers.scale <= 0:
        blank = replace(blank, decimals=min(0, blank.decimals))
    if integers is None or not blank.present:
        return replace(blank, coding=Coding(0, steps[0], numbers.scale))
    integers = integers[numbers.present]
    low, high = int(integers.min()), int(integers.max())
    step = next(step for step in steps if step == 1 or not (integers % step).any())
    coding = Coding.fitting(low, high, step, numbers.scale)
    if coding is None:
        return None
    domain = replace(
        blank, minimum=coding.code_of(low), maximum=coding.code_of(high), coding=coding
    )
    if blank.is_grid_declared or numbers.scale <= 0:
        return domain
    seen = next(
        decimals
        for decimals in range(max(0, numbers.scale - _INT64_DIGITS), numbers.scale + 1)
        if not (integers % 10 ** (numbers.scale - decimals)).any()
    )
    return replace(domain, decimals=min(seen, domain.grid_limit()))


def _float_faults(
    floats: NDArray[np.float64], attribute: Attribute, kind: pa.DataType, start: int
) -> list[Fault]:
    infinite = np.isinf(floats)
    if infinite.any():
        first = start + int(np.argmax(infinite))
        expected = "infinite, expected a finite number"
        return [Fault(attribute.name, expected, first, int(infinite.sum()))]
    if codes.is_text(kind) and (np.abs(floats) > 2.0**53).any():
        return [Fault(attribute.name, TOO_WIDE, None, 0)]
    return []


def _era_faults(column: pa.ChunkedArray, attribute: Attribute, start: int) -> list[Fault]:
    """Days that no text can hold so that it is read again: before year 1 or after 9999."""
    kind = codes.value_type(column.type)
    if not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        return []
    numbers = codes.numbers(column)
    if numbers.integers is None:
        return []
    day = codes.steps(kind)[0]
    days = numbers.integers // day
    beyond = numbers.present & ((days < _FIRST_DAY) | (days > _LAST_DAY))
    if not beyond.any():
        return []
    told = (
        "dates before year 1 or after year 9999; mend them, or leave the cell empty where the date "
        "is not known"
    )
    return [Fault(attribute.name, told, start + int(np.argmax(beyond)), int(beyond.sum()))]


def _categorical(
    values: pa.Array, attribute: Attribute, start: int
) -> tuple[AttributeDomain, list[Fault]]:
    missing = values.null_count
    present = len(values) - missing
    ordering: Ordering = "natural" if attribute.type == AttributeType.ORDINAL else "sorted"
    if pa.types.is_floating(values.type):
        faults = _float_faults(
            values.cast(pa.float64()).to_numpy(zero_copy_only=False), attribute, values.type, start
        )
        if faults:
            return AttributeDomain(present, missing), faults
    if ordering == "natural" and attribute.order is not None:
        blank = AttributeDomain(present, missing, ordering="given")
        return _given(values, attribute, blank, start)
    found = categories.arranged(categories.distinct(values), ordering)
    domain = AttributeDomain(
        present, missing, categories=found, distinct=len(found), ordering=ordering
    )
    return domain, _hierarchy_faults(values, attribute, start)


def _given(
    values: pa.Array, attribute: Attribute, blank: AttributeDomain, start: int
) -> tuple[AttributeDomain, list[Fault]]:
    try:
        order = categories.given(attribute.order or (), values.type)
    except ValueError as error:
        return blank, [Fault(attribute.name, str(error), None, 0)]
    _, strange = categories.places(values, categories.as_array(order, values.type))
    return replace(blank, categories=order), _strangers(strange, attribute, "`order`", start)


def _hierarchy_faults(values: pa.Array, attribute: Attribute, start: int) -> list[Fault]:
    if attribute.hierarchy is None:
        return []
    texts = codes.as_text(values)
    known = pa.array(attribute.hierarchy.values, pa.large_string())
    _, strange = categories.places(texts, known)
    return _strangers(strange, attribute, "the hierarchy", start)


def _strangers(
    strange: NDArray[np.bool_], attribute: Attribute, where: str, start: int
) -> list[Fault]:
    if not strange.any():
        return []
    kind = f"values that {where} lacks; add them to it"
    return [Fault(attribute.name, kind, start + int(np.argmax(strange)), int(strange.sum()))]


def _may_be_numeric(values: pa.Array, attribute: Attribute) -> bool:
    is_inferred = attribute.role == Role.QUASI_IDENTIFIER and not attribute.declared
    return is_inferred and codes.is_text(values.type)


def _digits(values: pa.Array, start: int) -> Digits:
    reads = codes.numeric_text(values)  # missing cells count as reading
    missing = values.null_count
    other = None if reads.all() else start + int(np.argmin(reads))
    texts = pc.utf8_lower(pc.utf8_trim_whitespace(values))
    marks = pc.sum(pc.is_in(texts, value_set=pa.array(_MARKS, texts.type))).as_py() or 0
    return Digits(int(reads.sum()) - missing, len(values) - missing, other, marks)
