"""In which order categories stand when they are cut, and what they weigh there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from distanon.data import categories
from distanon.data.schema import Attribute, AttributeType
from distanon.data.space import AttributeSpace
from distanon.data.table import Dataset
from distanon.data.values import encode_column
from distanon.kernels.partition import Tree

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_SHRUNK_BY = 10  # records

CategoryOrder = Literal["frequency", "label_rate", "alphabetical"]


@dataclass(frozen=True, slots=True, eq=False)
class Ordered:
    """What is cut: one column an attribute, categories as places in their order.

    Attributes:
        places: for each nominal attribute the place of each category, missing last, float64
            (m + 1,); None for the others, whose codes and ranks are cut as they are.
        widths: float64 (q,), what an extent is divided by.
        is_set: bool (q,): as wide as a group's categories are many.
        trees: hierarchies over the places.
    """

    places: tuple[Floats | None, ...]
    widths: Floats
    is_set: NDArray[np.bool_]
    trees: tuple[Tree | None, ...]

    def column(self, values: Floats, place: int) -> Floats:
        """What is cut of one attribute, float64 (n,).

        Args:
            values: float64, shape (n,), codes, ranks or category numbers.
            place: of the attribute.
        """
        order = self.places[place]
        return values if order is None else order[values.astype(np.int64)]


def ordered(
    space: AttributeSpace, values: Floats, kind: CategoryOrder, labels: Floats | None
) -> Ordered:
    """The order and widths of all attributes.

    Args:
        space: of q attributes.
        values: float64, shape (n, q).
        kind: by how many records have them, most first; by the rate of a label; by their texts.
        labels: float64, shape (n,), in [0, 1] or numbers, for `label_rate`; None: by frequency.
    """
    places: list[Floats | None] = []
    trees: list[Tree | None] = []
    widths = np.zeros(values.shape[1])
    for place, (attribute, its) in enumerate(zip(space.attributes, space.domains, strict=True)):
        if not space.nominal[place]:
            low, high = its.span or (0.0, max(0.0, len(its.categories) - 1.0))
            widths[place] = high - low
            places.append(None)
            trees.append(None)
            continue
        many = len(its.categories) + 1
        codes = values[:, place].astype(np.int64)
        counts = np.bincount(codes, minlength=many)
        widths[place] = max(0, int(np.count_nonzero(counts)) - 1)
        if attribute.hierarchy is not None:
            order, tree = _in_branches(attribute, its.categories)
            trees.append(tree)
            widths[place] = many - 1
        else:
            keys = _keys(codes, counts, kind, labels)
            order = np.argsort(keys, kind="stable")
            trees.append(None)
        number = np.empty(many)
        number[order] = np.arange(many)
        places.append(number)
    is_set = space.nominal & np.array([tree is None for tree in trees], np.bool_)
    return Ordered(tuple(places), widths, is_set, tuple(trees))


def label_of(dataset: Dataset, space: AttributeSpace) -> Floats:
    """The label that categories are ordered by: of the first sensitive attribute.

    Args:
        dataset: with a sensitive attribute.
        space: of the sensitive attributes.

    Returns:
        float64, shape (n,): of a number its value (missing: the mean); else whether it is the
        most frequent value, the first of these by its text.
    """
    attribute, domain = space.attributes[0], space.domains[0]
    column = dataset.read([attribute.name]).column(attribute.name)
    values = encode_column(column, attribute, domain)
    if attribute.type is AttributeType.NUMERIC:
        present = ~np.isnan(values)
        if not present.any():
            return np.zeros(len(values))
        low, high = domain.span or (0.0, 0.0)
        scaled = (values - low) / (high - low) if high > low else values * 0.0
        scaled[~present] = scaled[present].mean()
        return np.asarray(scaled, np.float64)
    codes = np.where(np.isnan(values), len(domain.categories), values).astype(np.int64)
    return np.asarray(codes == int(np.argmax(np.bincount(codes))), np.float64)


def _keys(
    codes: Integers, counts: Integers, kind: CategoryOrder, labels: Floats | None
) -> NDArray[np.float64]:
    """By what categories are sorted, ascending; ties by their texts."""
    if kind == "alphabetical":
        return np.zeros(len(counts))
    if kind == "frequency" or labels is None:
        return -counts.astype(np.float64)
    return shrunk_rates(codes, counts, labels, _SHRUNK_BY)


def shrunk_rates(codes: Integers, counts: Integers, labels: Floats, k: int) -> Floats:
    """The rate of a label in each category, so shrunk that no single record shows in it.

    (hits + k·global) / (count + k), and the global rate below k records.

    Args:
        codes: int64, shape (n,).
        counts: int64, shape (m,): records of each category.
        labels: float64, shape (n,).
        k: at least 1.
    """
    overall = float(labels.sum() / max(len(labels), 1))
    hits = np.bincount(codes, weights=labels, minlength=len(counts))
    rates = (hits + k * overall) / (counts + k)
    return np.where(counts >= k, rates, overall).astype(np.float64)


def _in_branches(attribute: Attribute, values: Sequence[object]) -> tuple[Integers, Tree]:
    """Categories in the order of their hierarchy, branch by branch, and its nodes above them.

    Missing is a branch of its own below the top, the last one.
    """
    rows = {row[0]: row for row in attribute.hierarchy.levels} if attribute.hierarchy else {}
    texts = categories.texts(list(values), attribute.arrow_type)
    ways = [rows[text] for text in texts]
    first = {
        (height, label): at
        for at, row in reversed(list(enumerate(rows.values())))
        for height, label in enumerate(row)
    }
    height = len(ways[0]) - 1 if ways else 1
    keys = [[first[at, way[at]] for at in range(height, -1, -1)] for way in ways]
    order = sorted(range(len(ways)), key=lambda place: keys[place])
    tree = np.zeros((height + 1, len(ways) + 1), np.int64)
    for place, one in enumerate(order):
        tree[:, place] = keys[one][::-1]
    tree[:height, len(ways)] = len(rows)
    return np.array([*order, len(ways)], np.int64), tree
