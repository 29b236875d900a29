"""Parts of an array, worked off by threads: compiled code and numpy leave the interpreter free."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

P = TypeVar("P")
T = TypeVar("T")


def parts_of(length: int, size: int) -> list[slice]:
    """Parts of `size`, the last one shorter; none of nothing."""
    return [slice(at, min(at + size, length)) for at in range(0, length, size)]


def shares_of(length: int, count: int) -> list[slice]:
    """So many parts, of nearly equal length."""
    return [slice(length * at // count, length * (at + 1) // count) for at in range(count)]


def in_threads(work: Callable[[P], T], parts: Sequence[P], threads: int) -> list[T]:
    """What comes of each part, in their order."""
    if threads == 1 or len(parts) == 1:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, parts))
