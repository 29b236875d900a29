"""Rows of a matrix that lies in blocks, in any order: each block is visited once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from distanon.kernels.prefetch import AHEAD, expect, expect_row

__all__ = ["by_block", "copy_rows"]


@njit(cache=True, nogil=True)
def by_block(places: Any, borders: Any) -> Any:
    """Which of some places are in which block.

    Args:
        places: int64, shape (m,), each from 0 to borders[b] - 1.
        borders: int64, shape (b + 1,), ascending from 0: where each block starts.

    Returns:
        int64, shape (m,): numbers of the places, those of a block together; int64, shape
        (b + 1,): where those of each block start.
    """
    block = np.empty(len(places), np.int64)
    starts = np.zeros(len(borders), np.int64)
    count, end = len(borders) - 1, borders[-1]
    for i in range(len(places)):
        at = places[i] * count // end  # right or nearly so: blocks are of nearly equal length
        while borders[at] > places[i]:
            at -= 1
        while borders[at + 1] <= places[i]:
            at += 1
        block[i] = at
        starts[at + 1] += 1
    starts = np.cumsum(starts)
    following, order = starts.copy(), np.empty(len(places), np.int64)
    for i in range(len(places)):
        order[following[block[i]]] = i
        following[block[i]] += 1
    return order, starts


@njit(cache=True, nogil=True)
def copy_rows(
    rows: Any, numbers: Any, border: int, places: Any, chosen: Any, to: Any, numbers_to: Any
) -> None:
    """Copies rows of a block, and their numbers, to where they are asked for.

    Args:
        rows: float64, shape (l, q), row-major: the block.
        numbers: float64, shape (l,).
        border: the place of its first row.
        places: int64, shape (m,), those of all that is asked for.
        chosen: int64: which of them are in this block.
        to: float64, shape (m, q), row-major.
        numbers_to: float64, shape (m,).
    """
    width = rows.shape[1]
    for j in range(len(chosen)):
        later = places[chosen[min(j + AHEAD, len(chosen) - 1)]] - border
        expect_row(rows, later, width)
        expect(numbers, later)
        i = chosen[j]
        at = places[i] - border
        numbers_to[i] = numbers[at]
        for c in range(width):
            to[i, c] = rows[at, c]
