"""How many items travel together: few calls, and a short wait for the last of them."""

from __future__ import annotations

from collections.abc import Iterator


def guided(count: int, workers: int) -> Iterator[range]:
    """Cuts items into batches that shrink.

    Args:
        count: items, of about the same cost.
        workers: how many batches are worked on at once.

    Yields:
        The places of each batch, in order.

    Source: Polychronopoulos and Kuck, IEEE Transactions on Computers C-36 (1987) 1425-1439
        (guided self-scheduling).
    Deviation: a batch has two thirds of a worker's share of what is left, since items differ in
        length, and where there are many, no batch has a single one: sending it costs as much.
    """
    workers, start = max(1, workers), 0
    least = 2 if count >= 8 * workers else 1
    while start < count:
        size = min(max(least, 2 * (count - start) // (3 * workers)), count - start)
        yield range(start, start + size)
        start += size
