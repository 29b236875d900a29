"""The domain of every attribute: the whole data set's, never a partition's.

Partitions are summarized by themselves and merged exactly: no figure depends on how the records
were cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from distanon.data import codes
from distanon.data.attribute_domain import AttributeDomain
from distanon.data.faults import Fault, Locate, join, refuse
from distanon.data.ports import Partition
from distanon.data.schema import AttributeType, Schema
from distanon.data.summary import TOO_WIDE, PartitionSummary, digit_faults, examine, examined
from distanon.data.table import Dataset
from distanon.errors import InputError

__all__ = ["AttributeDomain", "Domain", "check_types", "merge", "scan", "summarize"]

_READERS = 8


@dataclass(frozen=True, slots=True)
class Domain:
    """The domains of a table's quasi-identifiers and sensitive attributes.

    Attributes:
        attributes: by column name.
        records: how many the table has.
    """

    attributes: Mapping[str, AttributeDomain]
    records: int

    def __getitem__(self, name: str) -> AttributeDomain:
        return self.attributes[name]


def summarize(partition: Partition, schema: Schema, source: str) -> Domain:
    """The domain of one partition's records.

    Args:
        partition: some records, also none.
        schema: of the table.
        source: what the table is called in messages.

    Raises:
        InputError: infinite numbers, text in a numeric column, values that an `order` or a
            hierarchy lacks, a type that can't be compared, integers that float64 can't hold.
    """
    check_types(schema, source)
    return _joined([examine(partition, schema)], schema, source)


def merge(parts: Sequence[Domain]) -> Domain:
    """The domain of all records, whatever the order of the parts.

    Args:
        parts: domains of partitions under one schema; at least one.

    Raises:
        InputError: the integers of a column span more than float64 can hold.
    """
    domains: dict[str, AttributeDomain] = {}
    for name in parts[0].attributes:
        merged = AttributeDomain.merged([part.attributes[name] for part in parts])
        if merged is None:
            raise InputError(str(Fault(name, TOO_WIDE, None, 0)))
        domains[name] = merged
    return Domain(domains, sum(part.records for part in parts))


def scan(dataset: Dataset, locate: Locate | None = None) -> Domain:
    """The domain of a data set, partitions read side by side; what it knows is not read again.

    Args:
        dataset: at least one record.
        locate: for messages, where the table has several files.

    Raises:
        InputError: no records; as `summarize`, all faulty columns in one message.
    """
    if dataset.domain is not None:
        return dataset.domain
    check_types(dataset.schema, dataset.source)
    if not len(dataset):
        raise InputError(f"{dataset.source}: holds no records; expected at least one")
    partitions = dataset.partitions
    with ThreadPoolExecutor(min(_READERS, len(partitions))) as readers:
        summaries = list(readers.map(lambda part: examine(part, dataset.schema), partitions))
    return _joined(summaries, dataset.schema, dataset.source, locate)


def check_types(schema: Schema, source: str) -> None:
    """Refuses columns that can't be compared, sorted or written as one value a cell.

    Raises:
        InputError: naming each such column and its type.
    """
    faults = [
        Fault(
            attribute.name,
            f"type {attribute.arrow_type}, expected one number, text, date or time in each "
            "cell; split it into such columns, or drop it with the role identifier",
            None,
            0,
        )
        for attribute in schema
        if attribute.is_published and not codes.is_supported(attribute.arrow_type)
    ]
    refuse(faults, source)


def _joined(
    summaries: Sequence[PartitionSummary], schema: Schema, source: str, locate: Locate | None = None
) -> Domain:
    faults = join(fault for part in summaries for fault in part.faults)
    refuse(faults + digit_faults(summaries), source, locate)
    try:
        domain = merge([Domain(part.attributes, part.records) for part in summaries])
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    faults = []
    for attribute in examined(schema):
        merged = domain[attribute.name]
        if attribute.type == AttributeType.BINARY and len(merged.categories) > 2:
            kind = f"{len(merged.categories)} different values, expected 2; declare `type: nominal`"
            faults.append(Fault(attribute.name, kind, None, 0))
        low, high = merged.span or (0.0, 0.0)
        if not np.isfinite(high - low):
            kind = "a range beyond float64; divide its numbers by a constant, or mend the far ones"
            faults.append(Fault(attribute.name, kind, None, 0))
    refuse(faults, source)
    return domain
