"""A space in which the labels of hierarchies are categories too, and what clusters agree on in it.

The lowest node above two values is as far from each of them as they are from one another: at
h/H, its height through the hierarchy's. With a label as one more leaf that hangs below its node,
the distance of the space says so, and all that works on codes works on labels unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data import categories, codes
from distanon.data.agreement import agreed_values
from distanon.data.attribute_domain import AttributeDomain
from distanon.data.classes import SUPPRESSED
from distanon.data.generalization import set_texts
from distanon.data.hierarchy import Hierarchy
from distanon.data.hierarchy_labels import Labels
from distanon.data.schema import Attribute
from distanon.data.space import AttributeSpace

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CoarseSpace:
    """A space with labels beside the values of attributes that have a hierarchy.

    Attributes:
        space: where these attributes' categories are the values as they were, then the labels;
            they are text, as `data.generalization` writes it.
        ladders: of each attribute; None: without hierarchy.
    """

    space: AttributeSpace
    ladders: tuple[Ladder | None, ...]

    @staticmethod
    def of(space: AttributeSpace) -> CoarseSpace:
        """The labels above all values that the space knows."""
        ladders = tuple(
            None if attribute.hierarchy is None else Ladder.of(attribute, attribute.hierarchy, its)
            for attribute, its in zip(space.attributes, space.domains, strict=True)
        )
        attributes, domains = list(space.attributes), list(space.domains)
        for place, ladder in enumerate(ladders):
            if ladder is not None:
                attributes[place], domains[place] = ladder.extended(
                    attributes[place], domains[place]
                )
        whole = replace(space, attributes=tuple(attributes), domains=tuple(domains))
        return CoarseSpace(whole, ladders)

    def recoded(self, values: Floats) -> Floats:
        """Values of the plain space in codes of this one: only a missing category's differs.

        Args:
            values: float64, shape (n, q).
        """
        result = values.copy(order="K")
        for place, ladder in enumerate(self.ladders):
            if ladder is not None:
                result[values[:, place] == ladder.values, place] = ladder.missing
        return result

    def are_labels(self, values: Floats) -> NDArray[np.bool_]:
        """Which cells hold a label, bool, shape (n, q).

        Args:
            values: float64, shape (n, q), in codes of this space.
        """
        found = np.zeros(values.shape, np.bool_)
        for place, ladder in enumerate(self.ladders):
            if ladder is not None:
                own = values[:, place]
                found[:, place] = (own >= ladder.values) & (own < ladder.missing)
        return found

    def agreed(self, labels: Integers, values: Floats) -> Floats:
        """What all members of a cluster get.

        Args:
            labels: int64, shape (n,): clusters, numbered from 0 without gaps.
            values: float64, shape (n, q), in codes of this space.

        Returns:
            float64, shape (clusters, q): where there is a hierarchy the lowest node above all
            members that a reader can tell, a value where all have it; else as `agreed_values`.

        Source: methods.md, C2 (hierarchy level).
        """
        result = agreed_values(labels, values, self.space)
        for place, ladder in enumerate(self.ladders):
            if ladder is not None:
                result[:, place] = ladder.lowest(labels, values[:, place])
        return result


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ladder:
    """The labels above the values of one column.

    Attributes:
        values: m, how many values the column has: the number of missing in the plain space.
        texts: of the values, then of the labels, each once.
        rows: of the hierarchy, and of each label as one more leaf that hangs below its node.
        nodes: int64, shape (H + 1, m + 1): the node above each value at each height, missing
            last; that is a node of its own below the top.
        codes: int64, shape (H + 1, m + 1): the category of that node; −1: it can't be told, or
            a lower one stands for the same values.
    """

    values: int
    texts: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    nodes: Integers
    codes: Integers

    @property
    def missing(self) -> int:
        """The number of missing beside values and labels."""
        return len(self.texts)

    @staticmethod
    def of(attribute: Attribute, hierarchy: Hierarchy, domain: AttributeDomain) -> Ladder:
        """The labels above two values or more, lowest first.

        A label that stands for two sets of values tells neither. The top is told in any case,
        by its values if need be; with the missing it is a category of its own.
        """
        values = categories.texts(domain.categories, attribute.arrow_type)
        many, top = len(values), hierarchy.height
        nodes = hierarchy.ancestors([*values, None], np.arange(many + 1) == many)
        found = np.full((top + 1, many + 1), -1, np.int64)
        number = {text: place for place, text in enumerate(values)}
        rows = list(hierarchy.levels)
        labels, way_of = Labels.of(attribute, values), {row[0]: row for row in rows}
        sets = [(h, one) for h in range(1, top + 1) for one in _sets(nodes[h, :many])]
        if many and domain.missing:
            sets.append((top, np.arange(many + 1)))
        for (height, members), text in zip(sets, _told(sets, attribute, domain), strict=True):
            way = way_of[values[members[0]]]
            is_known = labels is not None and way[height] in labels.leaves
            if height < top and (text == SUPPRESSED or not is_known):
                continue  # the marker says anything, as the top alone does
            if text not in number:
                number[text] = len(number)
                # A name for the nodes below that no label has.
                rows.append((text, *[f"{text}\0"] * (height - 1), *way[height:]))
            elif members[-1] < many:
                continue
            found[height, members[-1] if members[-1] == many else members] = number[text]
        found[0] = np.arange(many + 1)
        found[0, many] = len(number)
        return Ladder(many, tuple(number), tuple(rows), nodes, found)

    def extended(
        self, attribute: Attribute, domain: AttributeDomain
    ) -> tuple[Attribute, AttributeDomain]:
        """The column with labels among its categories; text, whatever it was."""
        kind = attribute.arrow_type
        if not codes.is_text(codes.value_type(kind)):
            kind = pa.string()
        attribute = replace(attribute, arrow_type=kind, hierarchy=Hierarchy(self.rows))
        return attribute, replace(domain, categories=self.texts)

    def lowest(self, labels: Integers, column: Floats) -> Floats:
        """The category of the lowest node above all members of each cluster.

        Args:
            labels: int64, shape (n,): clusters, numbered from 0 without gaps.
            column: float64, shape (n,): values of the members, missing as `missing`.

        Returns:
            float64, shape (clusters,).
        """
        count = int(labels.max(initial=-1)) + 1
        value = np.where(column == self.missing, self.values, column).astype(np.int64)
        result = np.full(count, -1, np.int64)
        for nodes, own in zip(self.nodes, self.codes, strict=True):
            least = np.full(count, len(nodes), np.int64)
            most, code = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
            np.minimum.at(least, labels, nodes[value])
            np.maximum.at(most, labels, nodes[value])
            np.maximum.at(code, labels, own[value])
            result = np.where((result < 0) & (least == most), code, result)
        return result.astype(np.float64)


def _sets(nodes: Integers) -> list[Integers]:
    """The values below each node that has two or more, ascending; nodes in the order of these."""
    order = np.argsort(nodes, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(nodes[order])) + 1)
    return sorted((part for part in parts if len(part) > 1), key=lambda part: int(part[0]))


def _told(
    sets: Sequence[tuple[int, Integers]], attribute: Attribute, domain: AttributeDomain
) -> list[str]:
    """How the sets are written."""
    none = np.zeros(0, np.int64)
    starts = np.cumsum([0, *(len(members) for _, members in sets)])
    members = np.concatenate([none, *(members for _, members in sets)])
    told: list[str] = set_texts(starts, members, attribute, domain).to_pylist()
    return told
