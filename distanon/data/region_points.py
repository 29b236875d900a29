"""Generalized records as points: the middle of a range, equal shares of the members of a set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from distanon.data.generalization import Regions
from distanon.data.space import AttributeSpace

Floats = NDArray[np.float64]


def region_values(space: AttributeSpace, regions: Sequence[Regions]) -> Floats:
    """One number an attribute for each row, as far as a region has one.

    Args:
        space: of the attributes.
        regions: of each attribute.

    Returns:
        float64, shape (rows, q): of numbers and ranks the middle; of categories the only member's
        number, NaN where there are several.
    """
    columns = []
    for is_nominal, own in zip(space.nominal, regions, strict=True):
        of_region = only_members(own) if is_nominal else own.center()
        columns.append(of_region[own.code_of])
    values: Floats = np.column_stack(columns)
    return np.asfortranarray(values)


def region_points(space: AttributeSpace, regions: Sequence[Regions]) -> Floats:
    """Rows as points of the space: of a set of categories the mean over its members.

    Args:
        space: of the attributes.
        regions: of each attribute, in the categories and codes of the space.

    Returns:
        float64, shape (rows, D), as `AttributeSpace.embed`.
    """
    rows = len(regions[0].code_of)
    ordered = np.zeros((rows, len(regions)))
    for place, (is_nominal, own) in enumerate(zip(space.nominal, regions, strict=True)):
        if not is_nominal:
            ordered[:, place] = own.center()[own.code_of]
    points = space.embed(ordered)
    for place, (is_nominal, own) in enumerate(zip(space.nominal, regions, strict=True)):
        if is_nominal:
            columns = space.slices[place]
            points[:, columns] = _means(_category_points(space, place), own)[own.code_of]
    return points


def shares(regions: Regions) -> Floats:
    """How many rows each category has where a set of c categories counts 1/c for each of them.

    Args:
        regions: of a nominal attribute.

    Returns:
        float64, shape (categories + 1,), the missing last; adds up to the rows.
    """
    rows = np.bincount(regions.code_of, minlength=len(regions)).astype(np.float64)
    sizes = np.diff(regions.starts)
    weights = np.repeat(rows / np.maximum(sizes, 1), sizes)
    found = np.bincount(regions.members, weights=weights, minlength=regions.categories + 1)
    return found.astype(np.float64)


def only_members(regions: Regions) -> Floats:
    """The member of each set that has just one, else NaN; float64, shape (r,)."""
    sizes = np.diff(regions.starts)
    first = np.full(len(sizes), np.nan)
    held = sizes > 0
    first[held] = regions.members[regions.starts[:-1][held]]
    return np.where(sizes == 1, first, np.nan)


def _category_points(space: AttributeSpace, place: int) -> Floats:
    """The kernel columns of every category of one attribute, the missing last."""
    count = len(space.domains[place].categories) + 1
    values = np.zeros((count, len(space.attributes)))
    values[:, place] = np.arange(count)
    return space.embed(values)[:, space.slices[place]]


def _means(points: Floats, regions: Regions) -> Floats:
    """Mean over the members of each set, float64, shape (r, width)."""
    sizes = np.diff(regions.starts)
    totals = np.zeros((len(sizes), points.shape[1]))
    np.add.at(totals, np.repeat(np.arange(len(sizes)), sizes), points[regions.members])
    means: Floats = totals / np.maximum(sizes, 1)[:, None]
    return means
