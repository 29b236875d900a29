"""What was guessed of a table and may be wrong, so that the user sees it."""

from __future__ import annotations

import pyarrow as pa

from distanon.data import codes
from distanon.data.attribute_domain import AttributeDomain
from distanon.data.schema import Attribute, AttributeType, Role
from distanon.data.table import Dataset

NEARLY_ALL = 0.5
"""A nominal column of which more of the present values are distinct than this names people."""
_FEWEST = 10  # records of which it can be said


def risky_guesses(dataset: Dataset) -> list[str]:
    """One line for each guess, with what to declare instead; no value of the data.

    Args:
        dataset: its domain is known.
    """
    lines = []
    for attribute in dataset.schema.published:
        domain = None if dataset.domain is None else dataset.domain.attributes.get(attribute.name)
        told = _told(attribute, domain)
        if told:
            lines.append(f"column {attribute.name!r} {told}")
    return lines


def _told(attribute: Attribute, domain: AttributeDomain | None) -> str:
    if pa.types.is_null(codes.value_type(attribute.arrow_type)) or (domain and not domain.present):
        return "has no value in any row"
    if domain is None:
        return ""
    if domain.ordering == "natural":
        numbers = not codes.is_text(codes.value_type(attribute.arrow_type)) or _are_numbers(domain)
        how = "by size" if numbers else "by the alphabet"
        return f"is ordinal without an order: its values are ranked {how}; state `order` if not so"
    is_text = attribute.type is AttributeType.NOMINAL and attribute.hierarchy is None
    is_known = attribute.role is Role.QUASI_IDENTIFIER
    distinct = domain.distinct or 0
    if is_text and is_known and _FEWEST <= domain.present < distinct / NEARLY_ALL:
        return (
            f"is nominal and has {distinct} different values in {domain.present} rows, so it "
            "names people and compares nobody: make it an identifier, declare another type, or "
            "give it a hierarchy"
        )
    return ""


def _are_numbers(domain: AttributeDomain) -> bool:
    return bool(codes.numeric_text(pa.array(domain.categories, pa.large_string())).all())
