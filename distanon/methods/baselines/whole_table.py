"""What the baselines share: the table read whole, and released values written piece by piece."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.domain import scan
from distanon.data.finishing import Decimals, DomainRule, is_unchanged, released_type
from distanon.data.ports import Partition
from distanon.data.release import Release, publishable
from distanon.data.schema import SOURCE, Schema
from distanon.data.space import AttributeSpace
from distanon.data.table import Dataset
from distanon.data.values import decode_column
from distanon.methods.base import Context


@dataclass(frozen=True, slots=True)
class WholeTable:
    """A table's quasi-identifiers in memory.

    Attributes:
        dataset: what was read.
        space: of the quasi-identifiers, in the order of the file, scaled by ranges.
        values: float64, shape (n, q), in codes; NaN is missing.
    """

    dataset: Dataset
    space: AttributeSpace
    values: NDArray[np.float64]

    @staticmethod
    def read(dataset: Dataset) -> WholeTable:
        """Reads all quasi-identifiers; one process holds them."""
        attributes = dataset.schema.quasi_identifiers
        space = AttributeSpace.of(attributes, scan(dataset))
        return WholeTable(dataset, space, space.encode(dataset.read(list(space.names))))

    @property
    def ordered(self) -> NDArray[np.bool_]:
        """Which attributes have an order and more than one value, bool (q,)."""
        return ~self.space.nominal & ~self.space.constant

    @property
    def missing(self) -> int:
        """Cells without a value: baselines leave them missing."""
        codes = np.array([len(its.categories) for its in self.space.domains])
        nominal = self.space.nominal
        gaps = np.isnan(self.values).sum() + (self.values == codes)[:, nominal].sum()
        return int(gaps)

    def unchanged(self, released: NDArray[np.float64]) -> int:
        """How many records have all their quasi-identifiers still."""
        return int(is_unchanged(self.values, released).sum())

    def replaced(self, piece: pa.Table, values: NDArray[np.float64], schema: Schema) -> pa.Table:
        """Rows with other quasi-identifiers.

        Args:
            piece: m rows of the table.
            values: float64, shape (m, q), in codes.
            schema: of the release; a type other than the table's is a float64 for integers.
        """
        for place, attribute in enumerate(self.space.attributes):
            column = decode_column(
                values[:, place],
                attribute,
                self.space.domains[place],
                widen=schema[attribute.name].arrow_type != attribute.arrow_type,
            )
            at = piece.column_names.index(attribute.name)
            piece = piece.set_column(at, attribute.name, column)
        return piece

    def write(
        self,
        released: NDArray[np.float64],
        context: Context,
        name: str,
        *,
        rule: DomainRule,
        decimals: Decimals,
        counts: Mapping[str, int],
        private: Mapping[str, Any],
    ) -> Release:
        """Writes the released values beside the columns that stay, partition by partition.

        Args:
            released: float64, shape (n, q), in codes, finished.
            context: where to write.
            name: of the method, for the pieces.
            rule: how values were brought into their domain: `free` makes integers floats.
            decimals: whether they were rounded: `full` makes integers floats.
            counts: public facts; unchanged records and missing cells are added.
            private: facts that stay with the owner.
        """
        schema = _released_schema(self.dataset.schema, rule, decimals)
        pieces = [
            self._write_piece(partition, released, schema, context, name)
            for partition in self.dataset.partitions
        ]
        facts = {
            "records": len(self.dataset),
            "unchanged": self.unchanged(released),
            "missing_cells_kept": self.missing,
            **counts,
        }
        return Release(tuple(pieces), schema, facts, dict(private))

    def _write_piece(
        self,
        partition: Partition,
        released: NDArray[np.float64],
        schema: Schema,
        context: Context,
        name: str,
    ) -> Partition:
        rows = released[partition.start : partition.stop]
        piece = self.replaced(partition.read(), rows, schema)
        numbers = pa.array(np.arange(partition.start, partition.stop, dtype=np.int64))
        table = publishable(piece, schema).append_column(SOURCE, numbers)
        return context.scratch.write(f"{name}-{partition.start}-{partition.stop}", table)


def _released_schema(schema: Schema, rule: DomainRule, decimals: Decimals) -> Schema:
    """The schema with the arrow types of the released quasi-identifiers."""
    changed = {a.name: released_type(a, rule, decimals) for a in schema.quasi_identifiers}
    return Schema(tuple(replace(a, arrow_type=changed.get(a.name, a.arrow_type)) for a in schema))
