"""Generalization hierarchies of nominal attributes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from distanon.errors import InputError

Node = tuple[int, str]
"""A node of the tree: its height (0: a value) and its label, which may recur at other heights."""


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """For each value its generalizations, from the value itself to the one top.

    Attributes:
        levels: one row for each value: (value, level 1, …, top); all rows equally long.
    """

    levels: tuple[tuple[str, ...], ...]

    def __repr__(self) -> str:
        """Without the values."""
        return f"Hierarchy({len(self.levels)} values, height {self.height})"

    @staticmethod
    def from_rows(rows: Sequence[Sequence[str]], source: str) -> Hierarchy:
        """The hierarchy of a table in ARX's form, checked.

        Args:
            rows: value, level 1, …, top; no heading.
            source: what the file is called in messages.

        Raises:
            InputError: no rows, rows of unequal length or with an empty cell, a value that
                stands twice, a node with two parents, or more than one top.
        """
        levels = tuple(tuple(row) for row in rows)
        if not levels or len(levels[0]) < 2:
            raise InputError(
                f"{source}: expected rows of a value and at least one level above it, "
                f"got {'rows of one cell' if levels else 'no rows'}"
            )
        _check_cells(levels, source)
        _check_tree(levels, source)
        return Hierarchy(levels)

    @property
    def height(self) -> int:
        """Levels above a value; the top's height."""
        return len(self.levels[0]) - 1

    @property
    def values(self) -> tuple[str, ...]:
        """The values at the bottom, in the order of the file."""
        return tuple(row[0] for row in self.levels)

    def parents(self) -> dict[Node, Node]:
        """The parent of every node but the top."""
        return {
            (height, label): (height + 1, above)
            for row in self.levels
            for height, (label, above) in enumerate(pairwise(row))
        }

    def columns(self) -> Mapping[str, tuple[tuple[Node, float], ...]]:
        """The kernel columns of each value: the nodes on its way up, with their weights.

        With weight √((h(parent)² − h(v)²)/2)/H in the column of node v, the squares of the
        columns in which two values differ add up to (height of their lowest common ancestor /
        H)²: each way up to it telescopes to half of that.

        Returns:
            For each value its nodes from height 0 to H − 1 (the top is common to all).

        Source: methods.md, section D (distance).
        """
        top = self.height
        weights = [math.sqrt(((h + 1) ** 2 - h**2) / 2) / top for h in range(top)]
        return {row[0]: tuple(((h, row[h]), weights[h]) for h in range(top)) for row in self.levels}

    def ancestors(
        self, texts: Sequence[str | None], is_marker: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """For each height the number of each value's ancestor.

        Args:
            texts: V values of the hierarchy; of a marker anything.
            is_marker: bool, shape (V,): missing or suppressed; each is a node of its own at every
                height, and hangs from the top.

        Returns:
            int64, shape (H + 1, V), numbered from 0 at each height: 0 … V − 1 at the bottom, all
            0 at the top.

        Raises:
            KeyError: a value that the hierarchy lacks.
        """
        rows = {row[0]: row for row in self.levels}
        result = np.zeros((self.height + 1, len(texts)), np.int64)
        result[0] = np.arange(len(texts))
        for level in range(1, self.height):
            numbers: dict[object, int] = {}
            for place, text in enumerate(texts):
                # The place of a marker can't be mistaken for a label.
                node = place if is_marker[place] or text is None else rows[text][level]
                result[level, place] = numbers.setdefault(node, len(numbers))
        return result


def _check_cells(levels: tuple[tuple[str, ...], ...], source: str) -> None:
    seen: dict[str, int] = {}
    for number, row in enumerate(levels, start=1):
        if len(row) != len(levels[0]):
            raise InputError(
                f"{source}, row {number}: expected {len(levels[0])} cells as in row 1, "
                f"got {len(row)}"
            )
        for place, cell in enumerate(row, start=1):
            if not cell.strip():
                raise InputError(
                    f"{source}, row {number}: cell {place} is empty; every value needs a "
                    "generalization at every level"
                )
        if row[0] in seen:
            raise InputError(
                f"{source}, row {number}: this value stands in row {seen[row[0]]} already; "
                "keep one of the rows"
            )
        seen[row[0]] = number


def _check_tree(levels: tuple[tuple[str, ...], ...], source: str) -> None:
    parents: dict[Node, tuple[str, int]] = {}
    for number, row in enumerate(levels, start=1):
        for height, (label, above) in enumerate(pairwise(row)):
            known, first = parents.setdefault((height, label), (above, number))
            if known != above:
                raise InputError(
                    f"{source}, row {number}: level {height} has another generalization here "
                    f"than in row {first}; a node has one parent"
                )
        if row[-1] != levels[0][-1]:
            raise InputError(
                f"{source}, row {number}: the last level differs from row 1; "
                "all values must meet in one top"
            )
