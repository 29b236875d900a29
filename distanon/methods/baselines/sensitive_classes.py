"""Classes that show sensitive values as they are: which are diverse and close enough.

A method that changes no sensitive value keeps l and t by joining classes: joined classes are as
diverse and as close as the parts at least (each distance is convex, each diversity monotone), and
all nodes together are at distance 0 from the whole. So one class of all is the last resort, and
only an l that not even this class has is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.classes import encode
from distanon.data.domain import scan
from distanon.data.graph import GraphDataset
from distanon.data.schema import Attribute, AttributeType
from distanon.data.space import AttributeSpace
from distanon.errors import InfeasibleError, SpecError
from distanon.kernels.closeness import equal_distances, hierarchical_distances, ordered_distances
from distanon.kernels.counts import Counts, exact
from distanon.kernels.distributions import (
    distinct_values,
    entropies,
    entropy_diverse,
    recursive_diverse,
)
from distanon.promises.base import Promise
from distanon.promises.l_diversity import LDiversity
from distanon.promises.t_closeness import Distance, TCloseness

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class SensitiveValues:
    """One sensitive attribute and what is promised of it.

    Attributes:
        name: of the column.
        code_of: int64, shape (n,): the number of each node's value; those that have an order are
            numbered in it.
        is_marker: bool, shape (V,): missing or suppressed.
        ancestors: int64, shape (H + 1, V), as `closeness.hierarchical_distances` takes them.
        diversity: asked of it; None: nothing.
        closeness: likewise.
        distance: of closeness.
    """

    name: str
    code_of: Integers
    is_marker: Booleans
    ancestors: Integers
    diversity: LDiversity | None
    closeness: TCloseness | None
    distance: Distance

    def failing(self, nodes: Integers, class_of: Integers, n_classes: int) -> Booleans:
        """Which classes are not diverse or not close enough, bool, shape (n_classes,).

        Args:
            nodes: int64, shape (m,): members; a node may be in several classes.
            class_of: int64, shape (m,): the class of each, 0 … n_classes − 1, none empty.
            n_classes: how many.
        """
        counts = Counts.of(class_of, self.code_of[nodes], n_classes, len(self.is_marker))
        failing = np.zeros(n_classes, np.bool_)
        if self.diversity is not None:
            failing |= ~_diverse(self.diversity, counts.without(self.is_marker))
        if self.closeness is not None:
            failing |= ~self._close(counts, self.closeness)
        return failing

    def _close(self, counts: Counts, asked: TCloseness) -> Booleans:
        whole = np.bincount(self.code_of, minlength=len(self.is_marker)).astype(np.int64)
        if self.distance == "hierarchical":
            ratios = hierarchical_distances(counts, whole, self.ancestors)
        elif self.distance == "ordered":
            ratios = ordered_distances(counts, whole, self.is_marker)
        else:
            ratios = equal_distances(counts, whole)
        return ratios.at_most(exact(asked.t))


@dataclass(frozen=True, slots=True, eq=False)
class SensitiveClasses:
    """All sensitive attributes of which something is promised.

    Attributes:
        columns: none: any class will do.
    """

    columns: tuple[SensitiveValues, ...]

    @staticmethod
    def of(dataset: GraphDataset, promises: Mapping[str, Promise]) -> SensitiveClasses:
        """What the promises ask of a graph's sensitive attributes.

        Raises:
            SpecError: diversity where the intruder knows the other sensitive values.
            InfeasibleError: all nodes together are not diverse enough; says what would be.
        """
        diverse, close = promises.get("l_diversity"), promises.get("t_closeness")
        if isinstance(diverse, LDiversity) and diverse.others == "known":
            raise SpecError(
                "promises.l_diversity.others: a method that joins classes can't be asked for "
                "known; use unknown"
            )
        if dataset.nodes is None or not (diverse or close):
            return SensitiveClasses(())
        domain = scan(dataset.node_dataset())
        columns = []
        for attribute in dataset.schema.sensitive:
            space = AttributeSpace.of([attribute], domain)
            values = _values(
                attribute,
                space,
                dataset.nodes,
                diverse if isinstance(diverse, LDiversity) else None,
                close if isinstance(close, TCloseness) else None,
            )
            _refuse_diversity(values)
            columns.append(values)
        return SensitiveClasses(tuple(columns))

    def failing(self, labels: Integers) -> Booleans:
        """Which classes break a promise.

        Args:
            labels: int64, shape (n,): from 0 without gaps.
        """
        return self.failing_unions(np.arange(len(labels)), labels, int(labels.max(initial=-1)) + 1)

    def failing_unions(self, nodes: Integers, class_of: Integers, n_classes: int) -> Booleans:
        """The same of any sets of nodes, as `SensitiveValues.failing`."""
        failing = np.zeros(n_classes, np.bool_)
        for column in self.columns:
            failing |= column.failing(nodes, class_of, n_classes)
        return failing


def sensitive_promises(l: float | None, t: float | None) -> dict[str, Promise]:  # noqa: E741
    """The promises that the parameters l and t of a method stand for; null: none."""
    found: dict[str, Promise] = {}
    if l is not None:
        is_whole = l == int(l)
        found["l_diversity"] = LDiversity(l=int(l)) if is_whole else LDiversity(l=l, kind="entropy")
    if t is not None:
        found["t_closeness"] = TCloseness(t=t)
    return found


def _values(
    attribute: Attribute,
    space: AttributeSpace,
    table: pa.Table,
    diverse: LDiversity | None,
    close: TCloseness | None,
) -> SensitiveValues:
    codes = encode(table.column(attribute.name))
    kinds = pa.table([codes.values], names=[attribute.name])
    # Numbered anew in their order, where they have one; markers come last.
    keys = np.where(codes.is_marker, np.inf, space.encode(kinds)[:, 0])
    order = np.argsort(keys, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    markers = codes.is_marker[order]
    own = None if close is None else close.settings_for(attribute.name)
    distance: Distance = "equal" if own is None else own.distance_for(attribute)
    if distance == "ordered" and attribute.type == AttributeType.BINARY:
        distance = "equal"  # the same for two values
    ancestors = np.zeros((1, len(order)), np.int64)
    if distance == "hierarchical" and attribute.hierarchy is not None:
        texts = codes.values.take(pa.array(order)).cast(pa.string()).to_pylist()
        ancestors = attribute.hierarchy.ancestors(texts, markers)
    return SensitiveValues(
        attribute.name,
        rank[codes.code_of],
        markers,
        ancestors,
        None if diverse is None else diverse.settings_for(attribute.name),
        own,
        distance,
    )


def _diverse(asked: LDiversity, counts: Counts) -> Booleans:
    if asked.kind == "distinct":
        return np.asarray(distinct_values(counts) >= asked.l)
    if asked.kind == "entropy":
        return entropy_diverse(counts, asked.l)
    return recursive_diverse(counts, exact(asked.c or 1.0), int(asked.l))


def _refuse_diversity(values: SensitiveValues) -> None:
    """Refuses an l that all nodes together do not have."""
    asked, n = values.diversity, len(values.code_of)
    if asked is None:
        return
    whole = Counts.of(np.zeros(n, np.int64), values.code_of, 1, len(values.is_marker))
    known = whole.without(values.is_marker)
    if _diverse(asked, known)[0]:
        return
    here = f"promises.l_diversity: l is {asked.l:g} ({asked.kind}), but column {values.name!r} "
    if asked.kind == "recursive":
        raise InfeasibleError(
            f"{here}as a whole is not recursive ({asked.c:g}, {asked.l:g})-diverse, and no class "
            "can be more so than the whole; raise c, or lower l"
        )
    if asked.kind == "distinct":
        most = float(distinct_values(known)[0])
        what = f"has {most:g} different value{'' if most == 1 else 's'}"
    else:
        most = np.floor(1e4 * np.exp(max(0.0, entropies(known)[0]))) / 1e4
        what = "has too little entropy as a whole, and some class has no more than the whole"
    works = f"the largest l that works is {most:g}" if most > 1 else "no l works"
    raise InfeasibleError(f"{here}{what}; {works}")
