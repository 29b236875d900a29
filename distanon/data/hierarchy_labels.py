"""Labels of a generalization hierarchy that stand for one set of values each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from distanon.data.schema import Attribute


@dataclass(frozen=True, slots=True)
class Labels:
    """The nodes of a hierarchy by their label, as far as no label stands for two sets.

    Attributes:
        leaves: the values below each label that can be told.
        ways: for each value the labels above it, lowest first.
    """

    leaves: dict[str, frozenset[str]]
    ways: dict[str, tuple[str, ...]]

    @staticmethod
    def of(attribute: Attribute, texts: Sequence[str]) -> Labels | None:
        """Of a column with a hierarchy, over the values that it has; None: without one."""
        if attribute.hierarchy is None:
            return None
        present = set(texts)
        rows = [row for row in attribute.hierarchy.levels if row[0] in present]
        below: dict[tuple[int, str], set[str]] = {}
        for row in rows:
            for height, label in enumerate(row):
                below.setdefault((height, label), set()).add(row[0])
        leaves: dict[str, frozenset[str]] = {}
        twice: set[str] = set()
        for (_, label), values in below.items():
            if leaves.setdefault(label, frozenset(values)) != values:
                twice.add(label)
        known = {label: values for label, values in leaves.items() if label not in twice}
        return Labels(known, {row[0]: row[1:] for row in rows})

    def common(self, values: Sequence[str]) -> str | None:
        """The lowest label that can be told and covers all of these values."""
        wanted = set(values)
        for label in self.ways[values[0]]:
            if label in self.leaves and wanted <= self.leaves[label]:
                return label
        return None
