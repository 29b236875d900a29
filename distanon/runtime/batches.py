"""How many items travel together: few calls, and a short wait for the last of them."""

from __future__ import annotations

from collections.abc import Iterator

_AT_ONCE = 10
"""Of so many parts of what is left, all but one are dealt out in one round."""


def factored(count: int, workers: int, *, are_short: bool = True) -> Iterator[range]:
    """Cuts items into rounds of equal batches, one for each worker, that shrink.

    Args:
        count: items, of about the same cost.
        workers: how many batches are worked on at once.
        are_short: an item takes little longer than sending it: where there are many, no batch
            has a single one. Of longer items the last ones travel alone, to whoever is free.

    Yields:
        The places of each batch, in order.

    Source: Hummel, Schonberg & Flynn, Communications of the ACM 35 (1992) 90-101 (factoring).
    Deviation: a round takes nine tenths of what is left, not half: items differ little in
        length, and every call costs milliseconds.
    """
    workers, start = max(1, workers), 0
    least = 2 if are_short and count >= 8 * workers else 1
    while start < count:
        size = max(least, (_AT_ONCE - 1) * (count - start) // (_AT_ONCE * workers))
        for _ in range(workers):
            stop = min(start + size, count)
            if stop > start:
                yield range(start, stop)
            start = stop
