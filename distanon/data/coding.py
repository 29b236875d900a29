"""How the integers behind a column become float64 codes, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_EXACT = 2**53
_EXACT_SCALED = 2**50  # dividing by 10^scale and multiplying again costs up to three bits
_SIGN = 2**63
_WORD = 2**64

Integers = NDArray[np.int64] | NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Coding:
    """How the integers behind a column become float64 codes, exactly.

    A code is (integer − origin) / step / 10^scale.

    Attributes:
        origin: 0, or the column's minimum where float64 can't hold the integers themselves.
        step: the coarsest of day, hour, minute, second, … that divides every instant of a
            column of dates or times, so that whole days stay whole days; 1 elsewhere.
        scale: digits after the point in a column of decimals; 0 elsewhere.
    """

    origin: int = 0
    step: int = 1
    scale: int = 0

    @staticmethod
    def fitting(low: int, high: int, step: int = 1, scale: int = 0) -> Coding | None:
        """The coding of integers in [low, high]; None where their range exceeds float64's."""
        exact = _EXACT_SCALED if scale else _EXACT
        if max(abs(low), abs(high)) // step <= exact:
            return Coding(0, step, scale)
        if (high - low) // step <= exact and high - low < _SIGN:
            return Coding(low, step, scale)
        return None

    def encode(self, integers: Integers) -> NDArray[np.float64]:
        """The codes of integers (exact inside the range that the coding was made for)."""
        if self.origin:
            words = integers.view(np.uint64) - np.uint64(self.origin % _WORD)
            integers = words.view(np.int64)
        if self.step > 1:
            whole, rest = np.divmod(integers, integers.dtype.type(self.step))
            codes = whole.astype(np.float64) + rest.astype(np.float64) / self.step
        else:
            codes = integers.astype(np.float64)
        return self._divided(codes)

    def decode(self, codes: NDArray[np.float64], *, unsigned: bool = False) -> Integers:
        """The integers of codes that lie on whole numbers (of the last digit, where scaled).

        Raises:
            ValueError: a code lies between two integers, or beyond 64 bits.
        """
        exact = codes * 10.0**self.scale if self.scale >= 0 else codes / 10.0**-self.scale
        whole = np.rint(exact)
        if (np.abs(whole - exact) > 1e-3 + np.abs(exact) * 2.0**-51).any():
            raise ValueError("a value between two whole numbers; round it first")
        if (np.abs(whole) * self.step >= _SIGN).any() and not unsigned:
            raise ValueError("a value beyond 64 bits")
        if unsigned and not self.origin:
            if (whole < 0).any() or (whole >= _WORD).any():
                raise ValueError("a value beyond the column's type")
            return whole.astype(np.uint64)
        words = (whole.astype(np.int64) * np.int64(self.step)).view(np.uint64)
        words = words + np.uint64(self.origin % _WORD)
        return words if unsigned else words.view(np.int64)

    def code(self, number: Any) -> Any:
        """The code of a number (or an array of them) in the column's own unit, as `top_code`."""
        return (number - self.origin / 10.0**self.scale) / self.step

    def number(self, codes: Any) -> Any:
        """Codes (a float or an array) in the column's own unit, rounded to float64."""
        return codes * self.step + self.origin / 10.0**self.scale

    def integer(self, code: float) -> int:
        """The exact integer behind one code."""
        return self.origin + round(code * 10.0**self.scale) * self.step

    def code_of(self, integer: int) -> float:
        """The code of one integer that the coding holds exactly."""
        whole = (integer - self.origin) // self.step
        return float(whole / 10**self.scale if self.scale > 0 else whole * 10**-self.scale)

    def _divided(self, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.scale == 0:
            return codes
        return codes / 10.0**self.scale if self.scale > 0 else codes * 10.0**-self.scale
