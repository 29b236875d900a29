"""What the members of groups span: the range of their numbers, the set of their categories."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Groups = NDArray[np.int32]
Words = NDArray[np.uint64]

_WORD = 64
_BITS = 2**26  # unpacked at once


def spans(values: Floats, group_of: Groups, groups: int) -> tuple[Floats, Floats, Booleans]:
    """Least and greatest value of each group, and whether it has a missing one.

    Args:
        values: float64, shape (n,); NaN is missing.
        group_of: int32, shape (n,); −1: in no group.
        groups: c.

    Returns:
        float64 (c,), float64 (c,), NaN where a group has no value; bool (c,).
    """
    low, high = np.full(groups, np.inf), np.full(groups, -np.inf)
    missing = np.zeros(groups, np.bool_)
    _span(values, group_of, low, high, missing)
    is_empty = low > high
    low[is_empty], high[is_empty] = np.nan, np.nan
    return low, high, missing


def member_sets(
    codes: NDArray[np.int32], group_of: Groups, groups: int, many: int
) -> tuple[Integers, Integers, Integers]:
    """The different sets of categories that groups have.

    Args:
        codes: int32, shape (n,), each in 0 … many − 1.
        group_of: int32, shape (n,); −1: in no group.
        groups: c; none of them empty.
        many: how many categories there are.

    Returns:
        int64 (c,): the set of each group; int64 (s + 1,): where the members of each set start;
        int64: the members, ascending in each set.
    """
    set_of, count = np.zeros(groups, np.int64), min(groups, 1)
    masks: list[Words] = []
    for first in range(0, many, _WORD):
        word = np.zeros(groups, np.uint64)
        _mark(codes, group_of, first, word)
        # Sets so far, told further apart by this word.
        kinds, kind_of = np.unique(word, return_inverse=True)
        pairs, places, joined = np.unique(
            set_of * len(kinds) + kind_of, return_index=True, return_inverse=True
        )
        masks = [mask[pairs // len(kinds)] for mask in masks]
        masks.append(word[places])
        set_of, count = joined.astype(np.int64), len(pairs)
    sizes, members = [], []
    block = max(1, _BITS // (len(masks) * _WORD + 1))
    for first in range(0, count, block):
        words = np.stack([mask[first : first + block] for mask in masks], axis=1)
        octets: NDArray[np.uint8] = words.astype("<u8").view(np.uint8)
        bits = np.unpackbits(octets, axis=1, bitorder="little")
        sizes.append(bits.sum(axis=1, dtype=np.int64))
        members.append(np.nonzero(bits)[1].astype(np.int64))
    none = np.zeros(0, np.int64)
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.concatenate([none, *sizes]))))
    return set_of, starts, np.concatenate([none, *members])


@njit(cache=True, nogil=True)
def _span(values: Floats, group_of: Groups, low: Floats, high: Floats, missing: Booleans) -> None:
    for row in range(len(values)):
        group, value = group_of[row], values[row]
        if group < 0:
            continue
        if np.isnan(value):
            missing[group] = True
        else:
            low[group] = min(low[group], value)
            high[group] = max(high[group], value)


@njit(cache=True, nogil=True)
def _mark(codes: NDArray[np.int32], group_of: Groups, first: int, word: Words) -> None:
    for row in range(len(codes)):
        place = codes[row] - first
        if group_of[row] >= 0 and 0 <= place < 64:
            word[group_of[row]] |= np.uint64(1) << np.uint64(place)
