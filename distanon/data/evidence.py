"""What a release is judged on: its files read back and, where the judge has them, the originals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data import generalization
from distanon.data.classes import Classes, equivalence_classes
from distanon.data.domain import scan
from distanon.data.generalization import Regions
from distanon.data.region_points import region_points, region_values
from distanon.data.schema import Attribute, Schema
from distanon.data.space import AttributeSpace
from distanon.data.table import Dataset
from distanon.errors import InputError

_OF_THE_ORIGINAL = ("original_table", "original_values", "original_points", "made_of_original")
"""Cached properties that do not depend on the release."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """The released files and what is known of their origin.

    Whole tables are read when they are first asked for, and kept.

    Attributes:
        release: the files read back, rows in their order, with the roles of the columns.
        original: the records that the method was given, in record order.
        sources: int64, shape (len(release),): record number of the original of each release row.
        control: records that were held out before the method started.
        replicates: whether one original may stand behind several rows.
        population: a table of all people among whom those of the original are, for k-map.

    Raises:
        ValueError: sources of another length, outside the original, or repeated where the
            method does not replicate.
    """

    release: Dataset
    original: Dataset | None = None
    sources: NDArray[np.int64] | None = None
    control: Dataset | None = None
    replicates: bool = False
    population: Dataset | None = None

    def __repr__(self) -> str:
        """Without values of the data, nor whose record a row is."""
        return f"{type(self).__name__}({self.release!r}, of {self.original!r})"

    def __post_init__(self) -> None:
        if self.sources is None:
            return
        sources = np.asarray(self.sources)
        rows = len(self.release)
        if sources.shape != (rows,) or not np.issubdtype(sources.dtype, np.integer):
            raise ValueError(
                f"expected one source record number for each of {rows} release rows, "
                f"got {sources.dtype} of shape {sources.shape}"
            )
        sources = sources.astype(np.int64, copy=False)
        object.__setattr__(self, "sources", sources)
        if rows == 0:
            return
        limit = None if self.original is None else len(self.original)
        if sources.min() < 0 or (limit is not None and sources.max() >= limit):
            raise ValueError(f"source record numbers must lie in 0 … {limit}, the last excluded")
        if not self.replicates and _repeats(sources):
            raise ValueError("a source record number stands for more than one release row")

    def beside(
        self, release: Dataset, sources: NDArray[np.int64] | None, *, replicates: bool = False
    ) -> Evidence:
        """The evidence on another release of the same originals, which are not read again."""
        other = replace(self, release=release, sources=sources, replicates=replicates)
        self._hand_over(other)
        return other

    def _hand_over(self, other: Evidence) -> None:
        """What was read of the original, to the evidence on another release of it."""
        known = vars(self) | {"made_of_original": self.made_of_original}
        vars(other).update({name: known[name] for name in _OF_THE_ORIGINAL if name in known})

    @property
    def classes_from(self) -> Literal["release", "release+private", "asserted"]:
        """What the classes of the release were learnt from."""
        return "release"

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers of the release, in the order of the file."""
        return tuple(attribute.name for attribute in self.release.schema.quasi_identifiers)

    @cached_property
    def release_table(self) -> pa.Table:
        """All columns of the released files, in their order."""
        return self.release.read()

    @cached_property
    def classes(self) -> Classes:
        """Equivalence classes of the release over its quasi-identifiers."""
        return equivalence_classes(self.release_table, self.quasi_identifiers)

    @cached_property
    def original_table(self) -> pa.Table:
        """All columns of the original, in record order.

        Raises:
            InputError: there is no original.
        """
        return self._original.read()

    @cached_property
    def space(self) -> AttributeSpace:
        """The quasi-identifiers in the owner's scale: by the range of the original.

        Without an original, by the range of the release itself.

        Raises:
            InputError: a quasi-identifier of the original is not in the release.
        """
        attributes = self._comparable
        if self.original is None:
            return self._analyst_space
        domain = self.original.domain or scan(_projected(self.original, attributes))
        return AttributeSpace.of(attributes, domain)

    @property
    def is_generalized(self) -> bool:
        """Whether cells hold ranges, sets, labels or the marker, not only values."""
        return self._plain_values is None

    @cached_property
    def release_regions(self) -> tuple[Regions, ...]:
        """What each released cell may stand for, by quasi-identifier, in the original's domain.

        Raises:
            InputError: a cell is neither a value nor a generalized one.
        """
        return read_regions(self._release_columns, self.space)

    @cached_property
    def release_values(self) -> NDArray[np.float64]:
        """Released quasi-identifiers in the columns' units, shape (rows, q); NaN: missing.

        Of a generalized cell the middle of its range; NaN for a set of several categories.
        """
        if self._plain_values is None:
            return region_values(self.space, self.release_regions)
        return self._plain_values

    @cached_property
    def original_values(self) -> NDArray[np.float64]:
        """All originals in record order, in the columns' units, shape (n, q); NaN: missing."""
        return self.space.encode(self.original_table.select(self._names))

    @cached_property
    def release_points(self) -> NDArray[np.float64]:
        """Release rows as points in the owner's scale, shape (rows, D).

        Of a set of categories the mean of their points.
        """
        if self.is_generalized:
            return region_points(self.space, self.release_regions)
        return self.space.embed(self.release_values)

    @cached_property
    def original_points(self) -> NDArray[np.float64]:
        """All originals in record order as points in the owner's scale, shape (n, D)."""
        return self.space.embed(self.original_values)

    @cached_property
    def analyst_points(self) -> NDArray[np.float64]:
        """Release rows as points in the analyst's scale: by the release's own ranges."""
        if self.original is not None and self.is_generalized:
            ranged = _ranged(self.space, self.release_values)
            return region_points(ranged, self.release_regions)
        space = self._analyst_space
        return space.embed(space.encode(self._release_columns))

    @cached_property
    def made_of_original(self) -> dict[str, Any]:
        """What parts of the house made of the original alone and keep here, by name."""
        return {}

    @cached_property
    def made_of_release(self) -> dict[str, Any]:
        """The same, made of the release and the scale of the original."""
        return {}

    @cached_property
    def _plain_values(self) -> NDArray[np.float64] | None:
        """The release's values in the original's domain; None where cells are generalized."""
        try:
            return self.space.encode(self._release_columns)
        except InputError:
            if self.original is None:
                raise
            return None

    @property
    def _original(self) -> Dataset:
        if self.original is None:
            raise InputError(f"{self.release.source}: the original is needed, and was not given")
        return self.original

    @property
    def _names(self) -> list[str]:
        return [attribute.name for attribute in self._comparable]

    @property
    def _release_columns(self) -> pa.Table:
        return self.release_table.select(self._names)

    @cached_property
    def _comparable(self) -> tuple[Attribute, ...]:
        """The quasi-identifiers, as the original has them."""
        whole = self.original if self.original is not None else self.release
        attributes = whole.schema.quasi_identifiers
        for attribute in attributes:
            name, source = attribute.name, self.release.source
            if name not in self.release.schema:
                raise InputError(f"{source}: column '{name}' of the original is not in the release")
        return attributes

    @cached_property
    def _analyst_space(self) -> AttributeSpace:
        attributes = tuple(
            replace(attribute, arrow_type=self.release.schema[attribute.name].arrow_type)
            for attribute in self._comparable
        )
        return AttributeSpace.of(attributes, scan(_projected(self.release, attributes)))


def _projected(dataset: Dataset, attributes: tuple[Attribute, ...]) -> Dataset:
    """The dataset with these attributes alone in its schema, so that no other is scanned."""
    return Dataset(Schema(attributes), dataset.partitions, dataset.source)


def read_regions(table: pa.Table, space: AttributeSpace) -> tuple[Regions, ...]:
    """What each cell may stand for, by attribute, in the categories and codes of a space.

    Raises:
        InputError: a cell is neither a value nor a generalized one.
    """
    return tuple(
        generalization.read(table.column(attribute.name), attribute, domain)
        for attribute, domain in zip(space.attributes, space.domains, strict=True)
    )


def _ranged(space: AttributeSpace, values: NDArray[np.float64]) -> AttributeSpace:
    """The space with numbers and ranks scaled by the range of these values, shape (n, q)."""
    centers, spreads = list(space.centers), list(space.spreads)
    for place in np.flatnonzero(~space.nominal):
        present = values[:, place][~np.isnan(values[:, place])]
        low, high = (float(present.min()), float(present.max())) if len(present) else (0.0, 0.0)
        centers[place], spreads[place] = low, high - low
    return replace(space, centers=tuple(centers), spreads=tuple(spreads))


def _repeats(sources: NDArray[np.int64]) -> bool:
    """Whether a number occurs twice, of at least one that are not negative.

    One look at each where they are dense, as record numbers are: `np.unique` takes seconds for
    millions.
    """
    most = int(sources.max())
    if most < 8 * len(sources):
        is_there = np.zeros(most + 1, np.bool_)
        is_there[sources] = True
        return int(np.count_nonzero(is_there)) < len(sources)
    ascending = np.sort(sources)
    return bool((ascending[1:] == ascending[:-1]).any())
