"""Classes of nodes that show sensitive values as they are: which are diverse and close enough.

A method that changes no sensitive value keeps l and t by joining classes, as `methods.limits` says
of groups: one class of all is the last resort, and only an l that not even this class has is
refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distanon.data.graph import GraphDataset
from distanon.errors import SpecError
from distanon.kernels.counts import Counts
from distanon.kernels.partition import Limit
from distanon.methods.limits import limits_of, refuse_as_a_whole
from distanon.promises.base import Promise
from distanon.promises.l_diversity import LDiversity

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

_OF_VALUES = ("l_diversity", "t_closeness")


@dataclass(frozen=True, slots=True, eq=False)
class SensitiveClasses:
    """What every class of nodes must keep.

    Attributes:
        limits: none: any class will do.
    """

    limits: tuple[Limit, ...]

    @staticmethod
    def of(dataset: GraphDataset, promises: Mapping[str, Promise]) -> SensitiveClasses:
        """What the promises ask of a graph's sensitive attributes.

        Raises:
            SpecError: diversity where the intruder knows the other sensitive values.
            InfeasibleError: all nodes together are not diverse enough; says what would be.
        """
        diverse = promises.get("l_diversity")
        if isinstance(diverse, LDiversity) and diverse.others == "known":
            raise SpecError(
                "promises.l_diversity.others: a method that joins classes can't be asked for "
                "known; use unknown"
            )
        asked = {name: promises[name] for name in _OF_VALUES if name in promises}
        if dataset.nodes is None or not asked:
            return SensitiveClasses(())
        nodes = dataset.node_dataset()
        refuse_as_a_whole(nodes, asked)
        return SensitiveClasses(limits_of(nodes, asked))

    def failing(self, labels: Integers) -> Booleans:
        """Which classes break a promise.

        Args:
            labels: int64, shape (n,): from 0 without gaps.
        """
        return self.failing_unions(np.arange(len(labels)), labels, int(labels.max(initial=-1)) + 1)

    def failing_unions(self, nodes: Integers, class_of: Integers, n_classes: int) -> Booleans:
        """Which of any sets of nodes break a promise, bool, shape (n_classes,).

        Args:
            nodes: int64, shape (m,): members; a node may be in several classes.
            class_of: int64, shape (m,): the class of each, 0 … n_classes − 1, none empty.
            n_classes: how many.
        """
        failing = np.zeros(n_classes, np.bool_)
        counted: dict[int, Counts] = {}  # limits of one attribute share its codes
        for limit in self.limits:
            counts = counted.get(id(limit.codes))
            if counts is None:
                counts = Counts.of(class_of, limit.codes[nodes], n_classes, limit.n_values)
                counted[id(limit.codes)] = counts
            failing |= ~limit.holds(counts)
        return failing
