"""What nodes are to look like: one tuple of quasi-identifiers a cluster, one degree a group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from distanon.kernels.degree_groups import evened, grouped_by_degree

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Knowledge = Literal["cluster", "attributes", "degree", "attributes+degree"]

PERCENTILES = (50, 60, 67, 75, 40, 33, 85, 25)
"""Where in a group its degree may be taken: by the three bits that a genome has for it."""
CHOICE_BITS = 3


@dataclass(frozen=True, slots=True)
class DegreeGroups:
    """Groups of nodes that are to have one degree each.

    Attributes:
        group_of: int64, shape (n,).
        options: int64, shape (g, 8): the degrees a group may get: the one to start with, then
            percentiles.
        sizes: int64, shape (g,).
    """

    group_of: Integers
    options: Integers
    sizes: Integers

    @staticmethod
    def of(degrees: Integers, group_of: Integers, first: Integers | None = None) -> DegreeGroups:
        """The options of each group: percentiles of its members' degrees, all of them seen.

        Args:
            degrees: int64, shape (n,).
            group_of: int64, shape (n,).
            first: int64, shape (g,): the degrees to start with, in place of the last percentile;
                None: the medians.
        """
        order = np.lexsort((degrees, group_of))
        sizes = np.bincount(group_of).astype(np.int64)
        starts = np.cumsum(sizes) - sizes
        places = [(sizes - 1) * share // 100 for share in PERCENTILES]
        options = np.stack([degrees[order][starts + place] for place in places], axis=1)
        if first is not None:
            options = np.concatenate([first[:, None], options[:, :-1]], axis=1)
        return DegreeGroups(group_of, options, sizes)

    def chosen(self, choices: Integers, degrees: Integers) -> Integers:
        """The degree of each group, their sum over all nodes even.

        Args:
            choices: int64, shape (g,), each 0 … 7: the genome's bits.
            degrees: int64, shape (n,), of the unedited graph.

        Returns:
            int64, shape (g,). Where the sum over all nodes would be odd, the group of odd size
            in which that costs least gets one more or one less.
        """
        level: Integers = self.options[np.arange(len(self.sizes)), choices]
        return evened(level, self.group_of, degrees)


def classes_of(values: Floats) -> Integers:
    """Nodes with equal tuples: int64, shape (n,), numbered by the sorted tuples."""
    if not values.shape[1]:
        return np.zeros(len(values), np.int64)
    known = np.where(np.isnan(values), -1.0, values)
    return np.unique(known, axis=0, return_inverse=True)[1].ravel().astype(np.int64)


def degree_groups(
    degrees: Integers,
    labels: Integers,
    class_of: Integers,
    least: int,
    rule: Literal["classes", "clusters"],
) -> DegreeGroups:
    """The groups that get one degree each: the clusters, or classes cut anew by degree."""
    if rule == "classes":
        return DegreeGroups.of(degrees, grouped_by_degree(degrees, class_of, least))
    return DegreeGroups.of(degrees, labels)


def level_starts(class_of: Integers, options: Integers, group_of: Integers) -> Integers:
    """Where each class begins in a table of its degrees; int64, shape (classes + 1,).

    A class has an entry for each degree up to one more than the largest that it may get.
    """
    most = np.zeros(int(class_of.max(initial=-1)) + 1, np.int64)
    np.maximum.at(most, class_of, options.max(axis=1)[group_of])
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(most + 2)))
