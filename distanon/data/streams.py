"""Random numbers that depend on the seed, the purpose and the record, and on nothing else.

No worker, partition, retry or resume can change a draw: generators are made anew from their key
in each call, and record streams are counter-based, keyed by the record's number.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_WORDS_PER_STEP = 4  # Philox 4x64 yields four 64-bit words for each step of its counter


@dataclass(frozen=True, slots=True)
class Streams:
    """All randomness of one run.

    Attributes:
        seed: a non-negative integer, secret; 128 bits unless the spec names one.
    """

    seed: int

    def __repr__(self) -> str:
        """Without the seed, which must never reach a log."""
        return "Streams(…)"

    def generator(self, purpose: str, *key: int) -> np.random.Generator:
        """A generator for one purpose and item, such as ("sigma sample",) or ("wolf", 3, 17)."""
        return np.random.Generator(np.random.Philox(self._sequence(purpose, *key)))

    def uniforms(self, purpose: str, start: int, stop: int, width: int) -> NDArray[np.float64]:
        """`width` draws for each record number in [start, stop).

        Returns:
            float64, shape (stop - start, width), each in the open interval (0, 1). A record's
            row is the same whatever range it is asked in (for one purpose and width).
        """
        steps = -(-width // _WORDS_PER_STEP)
        source = np.random.Philox(self._sequence(purpose, width))
        source.advance(start * steps)
        words = source.random_raw((stop - start) * steps * _WORDS_PER_STEP)
        words = words.reshape(stop - start, steps * _WORDS_PER_STEP)[:, :width]
        return ((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53

    def key(self, purpose: str, width: int) -> NDArray[np.uint64]:
        """The key of what `uniforms` draws, uint64 (2,), for compiled code; as secret as the seed.

        Record r has the steps r * s … (r + 1) * s - 1 of the counter, with s = ⌈width / 4⌉.
        """
        state = np.random.Philox(self._sequence(purpose, width)).state["state"]
        return np.array(state["key"], np.uint64)

    def sample(self, numbers: NDArray[np.int64], limit: int, purpose: str) -> NDArray[np.int64]:
        """At most `limit` of some numbers, in their order; all of them where they are no more."""
        if len(numbers) <= limit:
            return numbers
        chosen = self.generator(purpose).choice(len(numbers), limit, replace=False)
        return numbers[np.sort(chosen)]

    def _sequence(self, purpose: str, *key: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.seed, spawn_key=(zlib.crc32(purpose.encode()), *key))
