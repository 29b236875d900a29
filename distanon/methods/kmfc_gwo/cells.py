"""Sensitive cells: what each class must keep, and the changes that a solution makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.classes import encode
from distanon.data.domain import Domain
from distanon.data.graph import GraphDataset
from distanon.data.schema import Attribute, AttributeType
from distanon.data.space import AttributeSpace
from distanon.data.streams import Streams
from distanon.kernels import cell_repair
from distanon.kernels.cell_repair import Rules
from distanon.methods.base import BLOCK
from distanon.methods.kmfc_gwo.objective import distances
from distanon.promises.base import Promise
from distanon.promises.l_diversity import LDiversity
from distanon.promises.t_closeness import TCloseness

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_ROUNDS = 6  # changes move the whole distribution, which other classes are measured by
_KINDS = {
    "distinct": cell_repair.DISTINCT,
    "entropy": cell_repair.ENTROPY,
    "recursive": cell_repair.RECURSIVE,
}
_DISTANCES = {
    "equal": cell_repair.EQUAL,
    "ordered": cell_repair.ORDERED,
    "hierarchical": cell_repair.HIERARCHICAL,
}


@dataclass(frozen=True, slots=True, eq=False)
class SensitiveColumn:
    """One sensitive attribute.

    Attributes:
        name: of the column.
        original: int64, shape (n,): the number of each node's value.
        suggested: int64, shape (n,): the value that a genome's bit stands for: drawn from what
            the node's cluster has too little of.
        space: of the attribute.
        coded: float64, shape (V, 1): the values in codes of the space.
        rules: what its classes must keep.
    """

    name: str
    original: Integers
    suggested: Integers
    space: AttributeSpace
    coded: Floats
    rules: Rules

    @property
    def n_values(self) -> int:
        """V."""
        return len(self.coded)

    @property
    def is_bound(self) -> bool:
        """Whether anything is asked of it."""
        return self.rules.diversity != cell_repair.NONE or self.rules.distance != cell_repair.NONE


@dataclass(frozen=True, slots=True, eq=False)
class CellChanges:
    """Changed cells of one attribute.

    Attributes:
        nodes: int64, shape (p,), ascending.
        values: int64, shape (p,): the numbers of the new values.
        loss: the distances that cells moved, together.
        failing: classes that keep the rules with no change that was found.
        decoys: how many of the changes no class needed.
    """

    nodes: Integers
    values: Integers
    loss: float
    failing: int
    decoys: int


def sensitive_columns(
    dataset: GraphDataset,
    domain: Domain,
    promises: Mapping[str, Promise],
    labels: Integers,
    margin: int,
    streams: Streams,
) -> tuple[SensitiveColumn, ...]:
    """The sensitive attributes with what is promised of each.

    Args:
        dataset: with a node table.
        domain: of the node table.
        promises: l_diversity and t_closeness count.
        labels: int64, shape (n,): clusters.
        margin: cells that an added value gets in a class at least.
        streams: for the suggested values.
    """
    if dataset.nodes is None:
        return ()
    result = []
    for place, attribute in enumerate(dataset.schema.sensitive):
        codes = encode(dataset.nodes.column(attribute.name))
        space = AttributeSpace.of([attribute], domain)
        table = pa.table([codes.values], names=[attribute.name])
        coded = space.encode(table)
        many = len(coded)
        rules = _rules(attribute, promises, codes.is_marker, coded[:, 0], table, margin)
        generator = streams.generator("kmfc suggested cells", place)
        suggested = _suggested(codes.code_of, labels, many, generator)
        result.append(
            SensitiveColumn(attribute.name, codes.code_of, suggested, space, coded, rules)
        )
    return tuple(result)


def changes(
    column: SensitiveColumn,
    classes: tuple[Integers, Integers],
    bits: NDArray[np.uint8],
    seed: int,
    *,
    with_decoys: bool,
) -> CellChanges:
    """The changes that keep every class within the rules.

    Args:
        column: an attribute.
        classes: starts, shape (classes + 1,), and the members, class by class, shape (n,).
        bits: uint8, shape (n,): suggestions that are taken first.
        seed: of the draws, below 2⁶³.
        with_decoys: whether as many cells are changed in classes that needed none.
    """
    n, many = len(column.original), column.n_values
    tally = np.bincount(column.original, minlength=many)
    values, failing, extra = column.original, np.zeros(1, np.bool_), 0
    for turn in range(_ROUNDS):
        whole = tally / max(n, 1)
        values, failing = cell_repair.repair_cells(
            column.rules, whole, *classes, column.original, column.suggested, bits, seed
        )
        needed = int(np.count_nonzero(values != column.original))
        extra = 0
        if with_decoys and needed:
            extra = cell_repair.decoys(
                column.rules, whole, *classes, column.original, values, needed, seed + 1
            )
        after = np.bincount(values, minlength=many)
        if (after == tally).all() or (turn and not _broken(column, classes, values, after)):
            break
        tally = after
    failing_now = _broken(column, classes, values, np.bincount(values, minlength=many))
    moved = np.flatnonzero(values != column.original)
    old, new = column.coded[column.original[moved]], column.coded[values[moved]]
    loss = float(distances(column.space, old, new).sum())
    return CellChanges(moved, values[moved], loss, max(int(failing.sum()), failing_now), extra)


def grouped(class_of: Integers) -> tuple[Integers, Integers]:
    """The starts of classes and their members, class by class."""
    members = np.argsort(class_of, kind="stable").astype(np.int64)
    sizes = np.bincount(class_of)
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes[sizes > 0]))), members


def _broken(
    column: SensitiveColumn, classes: tuple[Integers, Integers], values: Integers, tally: Integers
) -> int:
    """How many classes break the rules against the distribution that is released."""
    whole = tally / max(int(tally.sum()), 1)
    return int(cell_repair.failing_classes(column.rules, whole, *classes, values))


def _suggested(
    codes: Integers, labels: Integers, many: int, generator: np.random.Generator
) -> Integers:
    """For each node a value drawn from its cluster's deficit against the whole."""
    n_clusters = int(labels.max(initial=-1)) + 1
    counts = np.zeros((n_clusters, many), np.int64)
    np.add.at(counts, (labels, codes), 1)
    whole = np.bincount(codes, minlength=many) / max(len(codes), 1)
    deficits = np.maximum(whole - counts / np.maximum(counts.sum(1, keepdims=True), 1), 0.0)
    deficits[deficits.sum(axis=1) <= 0] = whole
    upto = np.cumsum(deficits, axis=1)
    aims = generator.random(len(codes)) * upto[labels, -1]
    found = np.empty(len(codes), np.int64)
    for start in range(0, len(codes), BLOCK):
        block = slice(start, start + BLOCK)
        found[block] = (upto[labels[block]] <= aims[block, None]).sum(axis=1)
    return found.clip(max=many - 1)


def _rules(
    attribute: Attribute,
    promises: Mapping[str, Promise],
    is_marker: NDArray[np.bool_],
    coded: Floats,
    table: pa.Table,
    margin: int,
) -> Rules:
    diversity, least, c = cell_repair.NONE, 1.0, 1.0
    asked = promises.get("l_diversity")
    if isinstance(asked, LDiversity):
        own = asked.settings_for(attribute.name)
        diversity, least, c = _KINDS[own.kind], float(own.l), float(own.c or 1.0)
    kind, t = cell_repair.NONE, 1.0
    near = promises.get("t_closeness")
    if isinstance(near, TCloseness):
        closeness = near.settings_for(attribute.name)
        kind, t = _DISTANCES[closeness.distance_for(attribute)], float(closeness.t)
    present = np.flatnonzero(~is_marker)
    order = present[np.argsort(coded[present], kind="stable")]
    ancestors = np.zeros((1, len(coded)), np.int64)
    if kind == cell_repair.HIERARCHICAL and attribute.hierarchy is not None:
        texts = table.column(0).cast(pa.string()).to_pylist()
        ancestors = attribute.hierarchy.ancestors(texts, is_marker)
    if kind == cell_repair.ORDERED and attribute.type == AttributeType.BINARY:
        kind = cell_repair.EQUAL
    return Rules(diversity, least, c, kind, t, margin, is_marker, order, ancestors)
