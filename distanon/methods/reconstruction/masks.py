"""Masked records: numbers of a group become its mean, categories change places within it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from distanon.data.space import AttributeSpace
from distanon.data.streams import Streams
from distanon.kernels.representatives import Average, group_tuples
from distanon.methods.reconstruction.settings import NumericMask

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def averages(space: AttributeSpace, numeric: NumericMask) -> tuple[Average, ...]:
    """How each attribute is averaged: ranks by the median, categories by the mode."""
    kinds = zip(space.numeric, space.ordinal, strict=True)
    return tuple(
        numeric if is_number else "median" if is_rank else "mode" for is_number, is_rank in kinds
    )


def masked(
    space: AttributeSpace,
    values: Floats,
    groups: Integers,
    numeric: NumericMask,
    streams: Streams,
) -> Floats:
    """The records masked within their groups.

    Args:
        space: q attributes.
        values: float64, shape (n, q), in codes; NaN is missing.
        groups: int64, shape (n,), from 0 without gaps.
        numeric: what numbers become; missing where more than half of the group's are.
        streams: of the permutations, each nominal attribute's by itself, so that values that
            belong together part; missing is a category like any other.

    Returns:
        float64, shape (n, q), unrounded.

    Source: Zhu, Li & Wu 2009: masks by aggregation (numbers) and swapping (categories).
    """
    tuples = group_tuples(values, groups, int(groups.max(initial=-1)) + 1, averages(space, numeric))
    result = tuples[groups]
    order = np.argsort(groups, kind="stable")
    # A constant column takes no draws, so that it changes nothing of the others.
    varying = np.flatnonzero(space.nominal & ~_constant(values)).tolist()
    for number, place in enumerate(varying):
        draws = streams.uniforms(f"reconstruction swaps {number}", 0, len(values), 1)[:, 0]
        result[order, place] = values[np.lexsort((draws, groups)), place]
    return result


def _constant(values: Floats) -> NDArray[np.bool_]:
    """Which columns hold one value alone, missing included."""
    first = values[:1]
    same = (values == first) | (np.isnan(values) & np.isnan(first))
    constant: NDArray[np.bool_] = same.all(axis=0)
    return constant
