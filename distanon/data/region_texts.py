"""Reading the different texts of a generalized column; `generalization` says how they look."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from distanon.data import categories, codes
from distanon.data.attribute_domain import AttributeDomain
from distanon.data.classes import SUPPRESSED
from distanon.data.hierarchy_labels import Labels
from distanon.data.regions import Regions, span_of
from distanon.data.schema import Attribute, AttributeType
from distanon.data.values import encode_column
from distanon.errors import InputError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

OR_MISSING = " or missing"
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[^,"{}\[\]]+')


@dataclass(frozen=True, slots=True)
class RegionReader:
    """Reads the different texts of one column.

    Attributes:
        attribute: of the original.
        domain: likewise.
        code_of: int64, shape (rows,): which text each row has.
    """

    attribute: Attribute
    domain: AttributeDomain
    code_of: Integers

    def ranges(self, cells: Sequence[str | None]) -> Regions:
        """Regions of a numeric or ordinal column."""
        lowest, highest = 0.0, float(len(self.domain.categories) - 1)
        if self.attribute.type == AttributeType.NUMERIC:
            lowest, highest = self.domain.span or (np.nan, np.nan)
        known: set[str] = set()
        if self.attribute.type == AttributeType.ORDINAL:
            known.update(categories.texts(self.domain.categories, self.attribute.arrow_type))
        ends: list[str | None] = []
        holds = np.zeros(len(cells), np.bool_)
        for place, cell in enumerate(cells):
            if cell is None or cell == SUPPRESSED:
                holds[place] = True
                ends += [None, None] if cell is None else [SUPPRESSED, SUPPRESSED]
                continue
            if cell in known:
                ends += [cell, cell]
                continue
            text = cell.removesuffix(OR_MISSING)
            holds[place] = text != cell
            ends += self._ends(text, place)
        present = [end for end in ends if end is not None and end != SUPPRESSED]
        numbers = iter(self._numbers(present, ends))
        read_ends = np.full(len(ends), np.nan)
        for place, end in enumerate(ends):
            if end == SUPPRESSED:
                read_ends[place] = highest if place % 2 else lowest
            elif end is not None:
                read_ends[place] = next(numbers)
        low, high = read_ends[0::2].copy(), read_ends[1::2].copy()
        if (low > high).any():
            raise self._fault(int(np.argmax(low > high)), "a range whose ends are out of order")
        none, starts = np.zeros(0, np.int64), np.zeros(len(cells) + 1, np.int64)
        span = span_of(self.attribute, self.domain)
        return Regions(self.code_of, low, high, starts, none, holds, -1, span)

    def sets(self, cells: Sequence[str | None]) -> Regions:
        """Regions of a nominal or binary column."""
        texts = categories.texts(self.domain.categories, self.attribute.arrow_type)
        number = {text: place for place, text in enumerate(texts)}
        labels = Labels.of(self.attribute, texts)
        missing = len(texts)
        found: list[list[int]] = []
        for place, cell in enumerate(cells):
            if cell is None:
                found.append([missing])
            elif cell == SUPPRESSED:
                found.append(list(range(missing + 1)))
            elif cell in number:
                found.append([number[cell]])
            else:
                text = cell.removesuffix(OR_MISSING)
                members = {missing} if text != cell else set()
                for one in self._members(text, place):
                    members |= self._below(one, number, labels, place)
                found.append(sorted(members))
        sizes = np.array([len(one) for one in found], np.int64)
        members_flat = np.array([one for group in found for one in group], np.int64)
        unknown = np.full(len(cells), np.nan)
        return Regions(
            self.code_of,
            unknown,
            unknown,
            np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes))),
            members_flat,
            np.array([missing in group for group in found], np.bool_),
            missing,
            span_of(self.attribute, self.domain),
        )

    def _below(
        self, text: str, number: dict[str, int], labels: Labels | None, place: int
    ) -> set[int]:
        if text in number:
            return {number[text]}
        if labels is not None and text in labels.leaves:
            return {number[leaf] for leaf in labels.leaves[text]}
        raise self._fault(place, "no value of the original, nor a set or label of such")

    def _ends(self, text: str, place: int) -> list[str | None]:
        """Lower and upper end of a range; of a value twice the same."""
        if text[:1] == "[" and text[-1:] == "]":
            tokens = self._tokens(text[1:-1], place)
            if len(tokens) == 2:
                return list(tokens)
            raise self._fault(place, "a range of other than two ends")
        if text[:1] == "{" and text[-1:] == "}":
            tokens = self._tokens(text[1:-1], place)
            if len(tokens) == 1:
                return [tokens[0], tokens[0]]
            raise self._fault(place, "a set, expected a value or a range")
        return [text, text]

    def _members(self, text: str, place: int) -> list[str]:
        if text[:1] == "{" and text[-1:] == "}":
            return self._tokens(text[1:-1], place)
        return [text]

    def _tokens(self, inner: str, place: int) -> list[str]:
        """The parts of a list: JSON strings as they are meant, all else as it stands."""
        tokens, at = [], 0
        while True:
            match = _TOKEN.match(inner, at)
            if match is None:
                raise self._fault(place, "a list that can't be read")
            token, at = match.group(), match.end()
            tokens.append(json.loads(token) if token[0] == '"' else token)
            if at == len(inner):
                return tokens
            if not inner.startswith(", ", at):
                raise self._fault(place, "a list that can't be read")
            at += 2

    def _numbers(self, texts: list[str], ends: Sequence[str | None]) -> Floats:
        """Codes or ranks of values in the column's notation."""
        column = pa.array(texts, pa.large_string())
        try:
            return encode_column(
                pa.chunked_array([_typed(column, self.attribute)]), self.attribute, self.domain
            )
        except (pa.ArrowException, ValueError, InputError):
            pass
        for place, end in enumerate(ends):  # which one?
            if end is None or end == SUPPRESSED:
                continue
            try:
                one = _typed(pa.array([end], pa.large_string()), self.attribute)
                encode_column(pa.chunked_array([one]), self.attribute, self.domain)
            except (pa.ArrowException, ValueError, InputError):
                kind = self.attribute.arrow_type
                raise self._fault(place // 2, f"text, expected {kind} or a range of it") from None
        raise InputError(f"column {self.attribute.name!r}: ranges that can't be read together")

    def _fault(self, cell: int, what: str) -> InputError:
        row = int(np.argmax(self.code_of == cell)) + 1
        return InputError(f"column {self.attribute.name!r}, row {row}: {what}")


def _typed(texts: pa.Array, attribute: Attribute) -> pa.Array:
    """Values in the column's notation as values of its type; the inverse of `codes.as_text`."""
    kind = codes.value_type(attribute.arrow_type)
    if codes.is_text(kind):
        values = texts
    elif pa.types.is_float16(kind):
        values = texts.cast(pa.float32())
    elif pa.types.is_duration(kind):
        values = texts.cast(pa.int64()).view(kind)
    elif pa.types.is_timestamp(kind) and kind.tz is not None:
        values = texts.cast(pa.timestamp(kind.unit)).view(kind)
    elif pa.types.is_time(kind):  # Arrow reads no times of day: take them of the first day
        since = joined("1970-01-01 ", texts).cast(pa.timestamp(kind.unit)).view(pa.int64())
        values = since.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).view(kind)
    elif pa.types.is_date64(kind):
        values = texts.cast(pa.date32()).cast(kind)
    else:
        values = texts.cast(kind)
    return values


def joined(*parts: pa.Array | str) -> pa.Array:
    """Texts side by side, null where one is."""
    wide = [large(part) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*wide, large(""))


def large(text: str) -> pa.Scalar:
    """One text of the large type, which Arrow joins with no other."""
    return pa.scalar(text, pa.large_string())
