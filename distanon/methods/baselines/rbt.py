"""Rotation-based transformation: pairs of numeric attributes turned by secret angles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from distanon.data.finishing import Decimals, finishing
from distanon.data.release import Release
from distanon.data.schema import AttributeType
from distanon.data.table import Dataset
from distanon.errors import InfeasibleError, SpecError
from distanon.methods.base import Context, Method
from distanon.methods.baselines.rotation import (
    Rotation,
    covariance,
    largest_threshold,
    normalise,
    plan,
    rotate,
)
from distanon.methods.baselines.whole_table import WholeTable
from distanon.promises.base import Promise

Threshold: TypeAlias = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]


class RBT(Method):
    """Rotation-based transformation of the numeric quasi-identifiers.

    Source: Oliveira & Zaïane, Achieving privacy preservation when sharing data for clustering,
        2004.
    Deviation: the range is the default scale, that of the distance by which releases are compared;
        thresholds are in units of each attribute's variance, which after z-score normalisation is
        1; the order of pairs is drawn; values are mapped back to the columns' units; nominal and
        ordinal attributes are released as they are.
    """

    summary: ClassVar[str] = "rotates pairs of numeric attributes; distances stay as they are"
    limits: ClassVar[str] = (
        "whoever knows d + 1 records and their released rows inverts it exactly; nominal and "
        "ordinal attributes are released unchanged"
    )
    keeps: ClassVar[frozenset[str]] = frozenset({"unchanged", "linkage"})
    keeps_bounds: ClassVar[bool] = False  # a rotation leaves them; clipped, it keeps no distance

    name: Literal["rbt"] = "rbt"
    threshold: Threshold | tuple[Threshold, Threshold] = Field(
        0.3,
        description="least variance of A − A′ (and of B − B′, where two are given) for each "
        "rotated pair, in units of the attributes' own variances",
    )
    scale: Literal["range", "zscore"] = Field(
        "range", description="how attributes are made comparable; distances in it are kept"
    )
    decimals: Decimals = Field(
        "grid", description="digits of rotated numbers: the column's own, or all (exact distances)"
    )

    def check(self, dataset: Dataset, promises: Mapping[str, Promise]) -> None:
        """Refuses fewer than 2 numeric quasi-identifiers or 2 records."""
        del promises
        attributes = dataset.schema.quasi_identifiers
        numeric = [a.name for a in attributes if a.type == AttributeType.NUMERIC]
        if len(numeric) < 2:
            raise SpecError(
                f"method.name: rbt rotates pairs of numeric quasi-identifiers; {dataset.source} "
                f"has {len(numeric)}, expected at least 2"
            )
        if len(dataset) < 2:
            raise InfeasibleError(
                f"rbt: {dataset.source} has {len(dataset)} records, expected at least 2"
            )

    def release(
        self, dataset: Dataset, promises: Mapping[str, Promise], context: Context
    ) -> Release:
        """Rotates all records by the same secret angles."""
        self.check(dataset, promises)
        context.progress.start("Rotation", 1)
        table = WholeTable.read(dataset)
        numeric = table.space.numeric
        moved = np.flatnonzero(numeric & table.ordered)
        if len(moved) < 2:
            raise InfeasibleError(
                f"rbt: {len(moved)} of the numeric quasi-identifiers have more than one value, "
                "expected at least 2 to rotate"
            )
        centers, spreads = normalise(table.values[:, moved], self.scale)
        scaled = (table.values[:, moved] - centers) / spreads
        names = [table.space.names[column] for column in moved]
        rotations = self._rotations(scaled, names, context)
        perturbed = table.values.copy()
        perturbed[:, moved] = rotate(scaled, rotations) * spreads + centers
        space = table.space
        ends = finishing(space.attributes, space.domains, table.values, 1, "free", self.decimals)
        released, _ = ends.finish(table.values, perturbed)
        context.progress.advance()
        return table.write(
            released,
            context,
            self.name,
            rule="free",
            decimals=self.decimals,
            counts={"rotated_columns": len(moved), "kept_columns": len(numeric) - len(moved)},
            private={
                "rotations": [
                    {"columns": [names[r.first], names[r.second]], "angle": r.angle}
                    for r in rotations
                ]
            },
        )

    def _rotations(
        self, scaled: NDArray[np.float64], names: list[str], context: Context
    ) -> list[Rotation]:
        pair = self.threshold if isinstance(self.threshold, tuple) else (self.threshold,) * 2
        covariances = covariance(scaled)
        order = context.streams.generator("rbt pairs").permutation(len(names))
        uniforms = context.streams.generator("rbt angles").random((len(names) + 1) // 2)
        rotations = plan(covariances, order, pair, uniforms)
        if rotations is None:
            works = largest_threshold(covariances, order, pair, uniforms)
            fits = works[0] if works[0] == works[1] else list(works)
            raise InfeasibleError(
                f"rbt: no angle moves every pair of attributes by threshold {self.threshold}; "
                f"with this seed the largest that works is {fits}"
            )
        return rotations
