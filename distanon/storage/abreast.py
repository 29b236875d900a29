"""Several files at a time: reading, hashing, writing and the network leave the interpreter free."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeVar

_AT_ONCE = 4
"""Files at a time: hides most of the waiting, and memory and disk bear four files of a release."""

P = TypeVar("P")
T = TypeVar("T")


def abreast(work: Callable[[P], T], files: Sequence[P]) -> list[T]:
    """What comes of each file, in their order.

    Once one has failed, or the caller is interrupted, no more are begun, and those under way are
    waited for. `work` is called in threads, unless there is one file only.

    Raises:
        BaseException: what `work` raised, of the first file in order that failed.
    """
    if len(files) == 1:
        return [work(files[0])]
    pool = ThreadPoolExecutor(_AT_ONCE)
    try:
        asked = [pool.submit(work, file) for file in files]
        wait(asked, return_when=FIRST_EXCEPTION)
    finally:
        pool.shutdown(cancel_futures=True)
    return [one.result() for one in asked]  # in order: what was not begun comes after what failed
