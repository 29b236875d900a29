"""What a release of supernodes is judged on: each is a class, whose members are told by counts.

A supernode has a size, the number of edges among its members, one value of each
quasi-identifier, and for each sensitive attribute the counts of its values, as the JSON text
`[["value", 3], [null, 1]]`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.evidence import Evidence
from distanon.data.graph import GraphColumns, GraphDataset
from distanon.data.graph_evidence import CLUSTER
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.table import Dataset, MemoryPartition
from distanon.errors import InputError

SIZE, INNER, BETWEEN = "size", "inner_edges", "edges"
"""Columns of supernodes (size, edges among the members) and of superedges (edges between)."""

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True)
class SupernodeEvidence(Evidence):
    """The members of released supernodes, a row each; made by `SupernodeEvidence.of`.

    The only quasi-identifier is the supernode: whatever an intruder knows of the structure, he
    can place a person in it at best. Sensitive values are as often in it as its counts say; which
    member has which, and which combinations there are, is not released.

    Attributes:
        inner: int64, shape (c,): edges among the members of each supernode.
        ends: int64, shape (p, 2): supernodes that superedges join.
        between: int64, shape (p,): edges between these.
        origin: the graph that they were made of; None: not known.
        labels: int64: the supernode of each of its nodes, private.
    """

    inner: Integers
    ends: Integers
    between: Integers
    origin: GraphDataset | None = None
    labels: Integers | None = None

    @property
    def sizes(self) -> Integers:
        """Members of each supernode, int64, shape (c,)."""
        members = self.release_table.column(CLUSTER).to_numpy()
        return np.bincount(members, minlength=len(self.inner)).astype(np.int64)

    @staticmethod
    def of(
        supernodes: pa.Table,
        superedges: pa.Table,
        columns: GraphColumns,
        schema: Schema,
        *,
        source: str = "the release",
        origin: GraphDataset | None = None,
        labels: Integers | None = None,
    ) -> SupernodeEvidence:
        """The evidence on supernodes that were read back.

        Args:
            supernodes: in the order of their ids, 0 … c − 1.
            superedges: ends by these ids.
            columns: names of the id columns.
            schema: of the node attributes of the input.
            source: what the release is called in messages.
            origin: the graph that they were made of, if it is known.
            labels: int64, shape (its nodes,): the supernode of each node, likewise.

        Raises:
            InputError: the files contradict themselves.
        """
        sizes = _integers(supernodes, SIZE, source)
        members = {CLUSTER: pa.array(np.repeat(np.arange(len(sizes)), sizes), pa.int64())}
        attributes = [Attribute(CLUSTER, Role.QUASI_IDENTIFIER, AttributeType.NUMERIC, pa.int64())]
        for attribute in schema.sensitive:
            members[attribute.name] = _dealt(supernodes, attribute, sizes, source)
            attributes.append(attribute)
        ends = [_integers(superedges, name, source) for name in (columns.source, columns.target)]
        if any(len(end) and (end.min() < 0 or end.max() >= len(sizes)) for end in ends):
            raise InputError(f"{source}: a superedge names a supernode that is not there")
        inner, between = (
            _integers(supernodes, INNER, source),
            _integers(superedges, BETWEEN, source),
        )
        crowded = (inner > sizes * (sizes - 1) // 2).any()
        if crowded or (between > sizes[ends[0]] * sizes[ends[1]]).any():
            raise InputError(f"{source}: a supernode has more edges than its members allow")
        release = Dataset(Schema(tuple(attributes)), (MemoryPartition(pa.table(members)),), source)
        return SupernodeEvidence(
            release,
            inner=inner,
            ends=np.sort(np.stack(ends, axis=1), axis=1),
            between=between,
            origin=origin,
            labels=labels,
        )


def _integers(table: pa.Table, name: str, source: str) -> Integers:
    if name not in table.column_names:
        raise InputError(f"{source}: column '{name}' is missing")
    column = table.column(name)
    if not pa.types.is_integer(column.type) or column.null_count:
        raise InputError(f"{source}: column '{name}' must hold whole numbers")
    numbers: Integers = column.to_numpy().astype(np.int64, copy=False)
    if len(numbers) and numbers.min() < 0:
        raise InputError(f"{source}: column '{name}' holds a number below 0")
    return numbers


def _dealt(supernodes: pa.Table, attribute: Attribute, sizes: Integers, source: str) -> pa.Array:
    """A sensitive attribute of all members, supernode by supernode."""
    name = attribute.name
    if name not in supernodes.column_names:
        raise InputError(f"{source}: column '{name}' is missing")
    texts: list[str | None] = []
    told = supernodes.column(name).to_pylist()
    for row, (text, size) in enumerate(zip(told, sizes.tolist(), strict=True), 1):
        counts = _counts(text)
        if counts is None or sum(count for _, count in counts) != size:
            raise InputError(
                f"{source}, column '{name}', row {row}: expected counts of values that add up "
                "to the supernode's size"
            )
        for value, count in counts:
            texts += [value] * count
    kind = attribute.arrow_type
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    try:
        return pa.array(texts, pa.string()).cast(plain).cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        message = f"{source}, column '{name}': a text is no value of type {plain}"
    raise InputError(message)


def _counts(text: Any) -> list[tuple[str | None, int]] | None:
    """What the JSON text tells; None: it is no list of values and counts."""
    try:
        told = json.loads(text)
        counts = [(value, int(count)) for value, count in told]
    except (TypeError, ValueError):
        return None
    fits = all(isinstance(value, str | None) and count > 0 for value, count in counts)
    return counts if fits else None
