"""How long a fault of the storage is borne: the one place that says so.

Two loops, both with jitter, that do not multiply. One request is made at most `ATTEMPTS` times by
botocore, whose waits double up to 20 s. Around it one operation (a read, a write, a listing) is
begun again, also where an answer was cut short, which botocore leaves to its caller, but only
until so many seconds after its first failure: `PATIENCE_S` while a run is under way, `EAGER_S`
before, where a wrong endpoint should be told soon. s3fs's own loop is switched off.

So an operation whose requests are answered, refused or cut fails for good at most
`longest(running=True)` after its first failure, and one whose server keeps silent
`longest(running=True, silent=True)`.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from distanon.storage.faults import is_transient

PATIENCE_S = 60.0
EAGER_S = 5.0
ATTEMPTS = 4
CONNECT_S = 5
SILENCE_S = 30
"""Seconds without a byte after which a request is given up."""

_FIRST_S, _LONGEST_S = 0.1, 5.0
_LONGEST_RETRY_S = 20  # botocore's

_R = TypeVar("_R")


def longest(*, running: bool, silent: bool = False) -> float:
    """Seconds from the first failure of an operation to its last, at most, transfers apart."""
    waits = sum(min(1 << retry, _LONGEST_RETRY_S) for retry in range(ATTEMPTS - 1))
    patience = PATIENCE_S if running else EAGER_S
    return patience + waits + (ATTEMPTS * SILENCE_S if silent else 0)


def patiently(operation: Callable[[], _R], *, running: bool) -> _R:
    """What the operation returns; it may be done twice, and must stand that.

    Raises:
        Exception: its own, where it says that no repetition helps, or it has failed for too long.
    """
    end, number = 0.0, 0
    while True:
        try:
            return operation()
        except Exception as error:
            now, pause = time.monotonic(), wait(number)
            end = end or now + (PATIENCE_S if running else EAGER_S)
            if not is_transient(error) or now + pause > end:
                raise
        number += 1
        time.sleep(pause)


def wait(number: int) -> float:
    """Seconds before repetition `number`, from 0: drawn, so that many do not come at once."""
    return random.uniform(0, min(_LONGEST_S, _FIRST_S * (1 << min(number, 16))))
