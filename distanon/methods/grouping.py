"""What the methods that release groups of equal records share: parameters and refusals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field

from distanon.data.table import Dataset
from distanon.errors import SpecError
from distanon.methods.base import Method
from distanon.methods.baselines.whole_table import WholeTable
from distanon.methods.groups import range_cells, value_cells
from distanon.methods.joining import group_averages
from distanon.methods.limits import (
    OF_GROUPS,
    default_promises,
    refuse_disagreement,
    refuse_infeasible,
)
from distanon.promises.base import Promise


class GroupMethod(Method):
    """A method that parts the records into groups of at least k and publishes each as one tuple."""

    keeps: ClassVar[frozenset[str]] = OF_GROUPS | {"linkage", "unchanged"}

    k: int = Field(10, ge=2, description="records of each group, people where they are known")
    l: int | float | None = Field(  # noqa: E741
        None, gt=1, description="different sensitive values of each group; null: not promised"
    )
    t: float | None = Field(
        None, ge=0, le=1, description="distance of each group's sensitive values to all"
    )
    recoding: Literal["range", "value"] = Field(
        "range",
        description="the region of each group as text (`[17, 25]`, `{a, b}`), or its average in "
        "the columns' types",
    )
    suppression: float = Field(
        0.0, ge=0, lt=1, description="share of the records that may be left out"
    )

    def default_promises(self) -> Mapping[str, Promise]:
        """K, and l and t if given."""
        return default_promises(self.k, self.l, self.t)

    def check(self, dataset: Dataset, promises: Mapping[str, Promise]) -> None:
        """Refuses what not even one group of all records would keep."""
        if not dataset.schema.quasi_identifiers:
            raise SpecError(f"method.name: {self.name} needs at least one quasi-identifier")
        refuse_disagreement(self.name, {"k": self.k, "l": self.l, "t": self.t}, promises)
        refuse_infeasible(dataset, self.k, self.asked(promises))

    def asked(self, promises: Mapping[str, Promise]) -> dict[str, Promise]:
        """What is promised, and what the parameters say where a default was removed."""
        return {**self.default_promises(), **promises}

    def cells_of(
        self,
        table: WholeTable,
        labels: NDArray[np.int64],
        kept: NDArray[np.bool_],
        groups: int,
        tuples: NDArray[np.float64] | None = None,
    ) -> pa.Table:
        """What is published of each group, by `recoding`, for `methods.groups.publish_cells`.

        Args:
            table: all records.
            labels: group of each, int64 (n,).
            kept: whether it is released, bool (n,).
            groups: how many groups there are.
            tuples: their averages where these are known, float64 (g, q) in codes.
        """
        if self.recoding == "range":
            return range_cells(table, labels, kept, self.k)
        if tuples is None:
            tuples = group_averages(table.space, table.values[kept], labels[kept], groups)
        return value_cells(table.space, tuples)
