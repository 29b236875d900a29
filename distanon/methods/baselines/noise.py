"""Additive Gaussian noise: the control that shows what a method's cleverness is worth."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from distanon.data.finishing import Decimals, DomainRule, Finishing, finishing
from distanon.data.release import Release
from distanon.data.schema import AttributeType
from distanon.data.streams import Streams
from distanon.data.table import Dataset
from distanon.errors import InfeasibleError, SpecError
from distanon.kernels.neighbors import NeighborIndex, Ties, distinct
from distanon.methods.base import Context, Method
from distanon.methods.baselines.whole_table import WholeTable
from distanon.promises.base import Promise
from distanon.utility.neighborhoods import stability

_DOUBLINGS = 40
_STEPS = 40
_NEAR = 1e-4
"""By how much more than was asked for the noise may displace records, where it can be met."""
_STABILITY_STEPS = 16
_STABILITY_SAMPLE = 4_000


class Noise(Method):
    """Independent Gaussian noise on every numeric and ordinal quasi-identifier.

    All attributes get the same spread in the scaled space (by ranges); ordinal ones move on their
    ranks; nominal ones are released as they are.
    """

    summary: ClassVar[str] = "adds Gaussian noise of a given size, or of a given loss"
    limits: ClassVar[str] = (
        "noise that keeps neighborhoods leaves most records nearest to their own; nominal "
        "attributes are released unchanged"
    )
    keeps: ClassVar[frozenset[str]] = frozenset({"unchanged", "linkage"})

    name: Literal["noise"] = "noise"
    rms: Annotated[float, Field(gt=0.0, allow_inf_nan=False)] | Literal["match"] = Field(
        "match",
        description="root mean square displacement of a released record over the scaled "
        "attributes, after domain and rounding; match: that of the release it is compared with",
    )
    stability: float | None = Field(
        None,
        gt=0.0,
        lt=1.0,
        description="instead of a size: neighborhood stability to be reached, in the owner's scale",
    )
    k: int = Field(
        10, ge=1, description="neighborhood of `stability`; the domain's bounds are k-th extremes"
    )
    ties: Ties = Field("include", description="all records tied at the k-th distance, or k exactly")
    domain: DomainRule = Field(
        "clip", description="numbers beyond `domain_bounds` or the k-th extremes: clip or reflect"
    )
    decimals: Decimals = Field(
        "grid", description="digits of changed numbers: the column's own, or all (experiments)"
    )

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if self.rms != "match" and self.stability is not None:
            raise ValueError("give rms or stability, not both")
        return self

    def matched(self, rms: float) -> Noise:
        """The same noise at a size that was measured on another release."""
        return self.model_copy(update={"rms": rms, "stability": None})

    def check(self, dataset: Dataset, promises: Mapping[str, Promise]) -> None:
        """Refuses tables without numbers or ranks to move, and a size that is not known."""
        del promises
        if self.rms == "match" and self.stability is None:
            raise SpecError(
                "method.rms: noise needs its size: set rms: 0.1 (shares of the columns' ranges), "
                "or set stability: 0.9 (what must be kept of each neighborhood); `match`, the "
                "default, takes the size of the release it is compared with, under `compare:`"
            )
        ordered = (AttributeType.NUMERIC, AttributeType.ORDINAL)
        if not any(a.type in ordered for a in dataset.schema.quasi_identifiers):
            raise SpecError(
                f"method.name: noise moves numeric and ordinal quasi-identifiers, and "
                f"{dataset.source} has none"
            )
        if self.stability is not None and len(dataset) < self.k + 2:
            raise InfeasibleError(
                f"noise: stability with k = {self.k} needs {self.k + 2} records, "
                f"{dataset.source} has {len(dataset)}; the largest k that works is "
                f"{max(0, len(dataset) - 2)}"
            )

    def release(
        self, dataset: Dataset, promises: Mapping[str, Promise], context: Context
    ) -> Release:
        """Adds noise to all records."""
        self.check(dataset, promises)
        table = WholeTable.read(dataset)
        if not table.ordered.any():
            raise InfeasibleError(
                f"noise: every numeric and ordinal quasi-identifier of {dataset.source} has one "
                "value; there is nothing to scale noise by"
            )
        space = table.space
        ends = finishing(
            space.attributes, space.domains, table.values, self.k, self.domain, self.decimals
        )
        noise = directions(table, context.streams)

        def perturbed(size: float) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
            return _finished(table, noise, size, ends)

        if self.stability is not None:
            size = self._size_for_stability(table, perturbed, context)
        else:
            size = _size_for_rms(table, perturbed, float(self.rms))
        released, outside = perturbed(size)
        return table.write(
            released,
            context,
            self.name,
            rule=self.domain,
            decimals=self.decimals,
            counts={
                "out_of_domain": int(outside.sum()),
                "columns_kept": int((~table.ordered).sum()),
            },
            private={"size": size, "rms": displacement(table, released)},
        )

    def _size_for_stability(
        self,
        table: WholeTable,
        perturbed: Callable[[float], tuple[NDArray[np.float64], NDArray[np.bool_]]],
        context: Context,
    ) -> float:
        """The size of noise at which so much of the neighborhoods is kept, by bisection."""
        target = float(self.stability or 0.0)
        before = NeighborIndex.build(distinct(table.space.embed(table.values)))
        records = np.arange(len(table.values), dtype=np.int64)

        def kept(size: float) -> float:
            return stability(
                before,
                table.space.embed(perturbed(size)[0]),
                records,
                crew=context.crew,
                streams=context.streams,
                k=self.k,
                ties=self.ties,
                sample=_STABILITY_SAMPLE,
                blocks=context.blocks,
            ).value

        low, high = 0.0, 0.01
        for _ in range(_STABILITY_STEPS):
            if kept(high) <= target:
                break
            low, high = high, 2.0 * high
        else:
            raise InfeasibleError(
                f"noise: no noise brings stability down to {target}; the lowest reached is "
                f"{math.ceil(1000 * kept(low)) / 1000}"
            )
        for _ in range(_STABILITY_STEPS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if kept(middle) > target else (low, middle)
        return 0.5 * (low + high)


def directions(table: WholeTable, streams: Streams) -> NDArray[np.float64]:
    """Standard normal numbers for each record, scaled to a mean square length of 1.

    Returns:
        float64, shape (n, q): 0 where nothing moves, in units of each attribute's spread.
    """
    from scipy.special import ndtri

    records, columns = table.values.shape
    normals: NDArray[np.float64] = ndtri(streams.uniforms("noise", 0, records, columns))
    moving = int(table.ordered.sum())
    return np.where(table.ordered, normals / math.sqrt(moving), 0.0)


def displacement(table: WholeTable, released: NDArray[np.float64]) -> float:
    """Root mean square displacement of a record over the scaled numeric and ordinal attributes."""
    spreads = np.asarray(table.space.spreads)[table.ordered]
    away = (released - table.values)[:, table.ordered] / spreads
    return math.sqrt(float(np.square(np.nan_to_num(away)).sum(axis=1).mean()))


def _finished(
    table: WholeTable, noise: NDArray[np.float64], size: float, ends: Finishing
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The values under noise of one size, in their domain and on their grid."""
    spreads = np.asarray(table.space.spreads)
    return ends.finish(table.values, table.values + noise * spreads * size)


def _size_for_rms(
    table: WholeTable,
    perturbed: Callable[[float], tuple[NDArray[np.float64], NDArray[np.bool_]]],
    target: float,
) -> float:
    """The size at which the released records are displaced by `target` or hardly more.

    Rounding swallows small noise and bounds cut large noise, so that the size drawn is not the
    size released.
    """
    low, at_low, high, at_high = 0.0, 0.0, target, 0.0
    for _ in range(_DOUBLINGS):
        at_high = displacement(table, perturbed(high)[0])
        if at_high >= target:
            break
        low, at_low, high = high, at_high, 2.0 * high
    else:
        raise InfeasibleError(
            f"noise: within the domain no noise displaces records by rms {target}; the largest "
            f"that works is {math.floor(1000 * at_high) / 1000}"
        )
    for step in range(_STEPS):
        if at_high <= target * (1.0 + _NEAR):
            break
        # The displacement is nearly linear in the size but for rounding: the chord, aimed a
        # little high so that the upper end comes down, and a halving now and then.
        share = (target * (1.0 + 0.5 * _NEAR) - at_low) / (at_high - at_low)
        middle = low + (high - low) * (0.5 if step % 4 == 3 else min(share, 0.999))
        at_middle = displacement(table, perturbed(middle)[0])
        if at_middle < target:
            low, at_low = middle, at_middle
        else:
            high, at_high = middle, at_middle
    return high
