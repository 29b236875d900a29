"""How a generalized cell is written, and what is read back of it.

| text | region |
|---|---|
| `[17, 25]` | numbers, dates or ranks from 17 to 25; an end `*` is withheld: the column's own |
| `{a, b}` | these categories |
| `Married` | a value; or a node of the column's hierarchy: all categories below it |
| `[17, 25] or missing`, `{a} or missing` | these, or no value |
| null | no value |
| `*` | suppressed: anything |

Ends of ranges are in the column's own notation. Members that hold a comma, a bracket, a quote or
that could be taken for anything above are JSON strings: `{"a, b", c}`.
"""

from __future__ import annotations

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from distanon.data import categories, codes
from distanon.data.attribute_domain import AttributeDomain
from distanon.data.classes import SUPPRESSED
from distanon.data.hierarchy_labels import Labels
from distanon.data.region_texts import OR_MISSING, RegionReader, joined, large
from distanon.data.regions import Regions, is_nominal, regions_of_values
from distanon.data.schema import Attribute, AttributeType
from distanon.data.values import decode_column, encode_column

__all__ = ["OR_MISSING", "Regions", "covered", "range_texts", "read", "set_texts"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

_SPECIAL = re.compile(r'[,{}\[\]"\\]|^\s|\s$|^$|^\*$|[\x00-\x1f]')


def read(
    column: pa.ChunkedArray | pa.Array, attribute: Attribute, domain: AttributeDomain
) -> Regions:
    """The regions that a released column's cells stand for.

    Args:
        column: text as above, or plain values.
        attribute: of the original.
        domain: of the original column; what an end that is withheld stands for.

    Raises:
        InputError: a cell that is none of these; names column and row.
    """
    chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    kind = codes.value_type(chunked.type)
    if not codes.is_text(kind) or pa.types.is_null(codes.value_type(attribute.arrow_type)):
        return regions_of_values(encode_column(chunked, attribute, domain), attribute, domain)
    encoded = codes.plain(chunked).dictionary_encode()
    texts: list[str] = encoded.dictionary.to_pylist()
    number = encoded.indices.to_numpy(zero_copy_only=False)
    missing = encoded.indices.is_null().to_numpy(zero_copy_only=False)
    code_of = np.where(missing, len(texts), np.nan_to_num(number)).astype(np.int64)
    cells: list[str | None] = [*texts, None] if missing.any() else list(texts)
    reader = RegionReader(attribute, domain, code_of)
    if is_nominal(attribute):
        return reader.sets(cells)
    return reader.ranges(cells)


def range_texts(
    low: Floats,
    high: Floats,
    holds_missing: Booleans,
    attribute: Attribute,
    domain: AttributeDomain,
    *,
    withheld: tuple[Booleans, Booleans] | None = None,
) -> pa.Array:
    """Ranges of numbers or ranks as text.

    Args:
        low: float64, shape (r,), codes or ranks; NaN: no value.
        high: float64, shape (r,).
        holds_missing: bool, shape (r,).
        attribute: numeric or ordinal.
        domain: of the column.
        withheld: which lower and which upper ends are not told, bool (r,) each.

    Returns:
        large_string, shape (r,).
    """
    ends = []
    for place, values in enumerate((low, high)):
        text = _value_texts(values, attribute, domain)
        if withheld is not None:
            text = pc.if_else(pa.array(withheld[place]), large(SUPPRESSED), text)
        ends.append(text)
    is_open = np.zeros(len(low), np.bool_) if withheld is None else withheld[0] | withheld[1]
    is_single = pa.array((low == high) & ~is_open)
    ranges = joined("[", ends[0], ", ", ends[1], "]")
    plain = _unmistakable(ends[0]) if attribute.type == AttributeType.ORDINAL else ends[0]
    alone = pc.if_else(is_single, plain, ranges)
    mixed = joined(pc.if_else(is_single, joined("{", ends[0], "}"), ranges), OR_MISSING)
    return pc.if_else(pa.array(holds_missing), mixed, alone)


def set_texts(
    starts: Integers, members: Integers, attribute: Attribute, domain: AttributeDomain
) -> pa.Array:
    """Sets of categories as text: under a hierarchy the label of the lowest common ancestor.

    Args:
        starts: int64, shape (r + 1,): where the members of each set start.
        members: int64: category numbers, ascending in each set; missing is their number.
        attribute: nominal or binary.
        domain: of the column.

    Returns:
        large_string, shape (r,).
    """
    texts = categories.texts(domain.categories, attribute.arrow_type)
    taken = set(texts)
    labels = Labels.of(attribute, texts)
    found = []
    for start, stop in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        own = [texts[one] for one in members[start:stop].tolist() if one < len(texts)]
        found.append(_set_text(own, taken, labels, holds_missing=stop - start > len(own)))
    return pa.array(found, pa.large_string())


def covered(
    starts: Integers, members: Integers, attribute: Attribute, domain: AttributeDomain
) -> tuple[Integers, Integers]:
    """The categories that the texts of `set_texts` stand for: all below a label.

    Args:
        starts: as in `set_texts`.
        members: likewise.
        attribute: likewise.
        domain: likewise.

    Returns:
        The same sets, widened to whole branches where there is a hierarchy.
    """
    if attribute.hierarchy is None:
        return starts, members
    column = set_texts(starts, members, attribute, domain)
    regions = read(column, attribute, domain)
    sizes = np.diff(regions.starts)[regions.code_of]
    first = np.repeat(regions.starts[regions.code_of], sizes)
    ends = np.cumsum(sizes)
    inside = np.arange(int(sizes.sum())) - np.repeat(ends - sizes, sizes)
    return np.concatenate((np.zeros(1, np.int64), ends)), regions.members[first + inside]


def _set_text(
    own: list[str], taken: set[str], labels: Labels | None, *, holds_missing: bool
) -> str | None:
    """One set of categories as text; `taken`: texts of categories, which a set must not equal."""
    if not own:
        return None
    if labels is not None and len(own) > 1:
        label = labels.common(own)
        if label == SUPPRESSED:
            return SUPPRESSED
        own = [label] if label is not None else own
    if len(own) == 1 and not holds_missing and not _is_mistakable(own[0]):
        return own[0]
    text = "{" + ", ".join(_quoted(one) for one in own) + "}"
    text += OR_MISSING if holds_missing else ""
    if text in taken:  # a category that looks like this set
        text = "{" + ", ".join(json.dumps(one, ensure_ascii=False) for one in own) + "}"
        text += OR_MISSING if holds_missing else ""
    return text


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False) if _SPECIAL.search(text) else text


def _is_mistakable(text: str) -> bool:
    """Whether a value alone would be read as a region."""
    return text[:1] in ("{", "[") or text == SUPPRESSED or text.endswith(OR_MISSING)


def _unmistakable(texts: pa.Array) -> pa.Array:
    """Texts of ordinal values that stand alone; their ends of ranges are quoted already."""
    found = [
        None
        if text is None
        else ("{" + text + "}" if text[:1] == '"' or _is_mistakable(text) else text)
        for text in texts.dictionary_encode().dictionary.to_pylist()
    ]
    encoded = texts.dictionary_encode()
    return pa.array(found, pa.large_string()).take(encoded.indices)


def _value_texts(values: Floats, attribute: Attribute, domain: AttributeDomain) -> pa.Array:
    """Codes or ranks in the column's notation; those of ordinals quoted where they need it."""
    if attribute.type == AttributeType.ORDINAL:
        texts = [_quoted(t) for t in categories.texts(domain.categories, attribute.arrow_type)]
        missing = np.isnan(values)
        places = pa.array(np.where(missing, 0, values).astype(np.int64), mask=missing)
        return pa.array(texts, pa.large_string()).take(places)
    return codes.as_text(codes.plain(decode_column(values, attribute, domain)))
