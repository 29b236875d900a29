# ruff: noqa: ARG001 (numba gives more arguments than the function needs to know)
"""The exponential and the logarithm in operations that every processor rounds alike.

Libraries of elementary functions choose by the processor how they compute, and differ in the last
bit; these give the same bits on all workers of a cluster. They have no branches, so that loops
over arrays compute several at a time.

Source: Cody and Waite, Software Manual for the Elementary Functions, 1980 (reduction of the
argument); Sun Microsystems, fdlibm, e_log.c (logarithm).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic

__all__ = ["LEAST_EXPONENT", "exponential", "logarithm"]

LEAST_EXPONENT = -708.0
"""The least number that `exponential` takes."""
_emitted: Callable[[Callable[..., Any]], Callable[..., Any]] = intrinsic
_SHIFT = 1.5 * 2.0**52  # added and taken away again it rounds to an integer
_PER_LN2, _LN2_HIGH, _LN2_LOW = 1.4426950408889634, 6.93145751953125e-1, 1.4286068203094172e-6
_BIAS, _FRACTION_BITS = 1023, 52
_FRACTION = (1 << _FRACTION_BITS) - 1
_ROOT_HALF = 0x3FE6A09E667F3BCD  # the bits of the square root of 1/2
_LOG_LN2_HIGH, _LOG_LN2_LOW = 6.93147180369123816490e-1, 1.90821492927058770002e-10
_L1, _L2, _L3, _L4, _L5, _L6, _L7 = (
    6.666666666666735130e-1,
    3.999999999940941908e-1,
    2.857142874366239149e-1,
    2.222219843214978396e-1,
    1.818357216161805012e-1,
    1.531383769920937332e-1,
    1.479819860511658591e-1,
)


@_emitted
def _bits_of(typing: Any, number: Any) -> Any:
    """The bits of a float64 as an int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@_emitted
def _of_bits(typing: Any, bits: Any) -> Any:
    """The float64 of some bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@njit(cache=True, inline="always", error_model="numpy")
def exponential(x: Any) -> Any:
    """The power x of e, x being from -708 to 709, within one unit in the last place; e^0 is 1."""
    shifted = x * _PER_LN2 + _SHIFT
    twos = shifted - _SHIFT
    r = (x - twos * _LN2_HIGH) - twos * _LN2_LOW
    z = r * r
    # Taylor's series: |r| is at most 0.347, its 14th power over 14! less than 2^-57.
    first = (1.0 / 6.0 + r * (1.0 / 24.0)) + z * (1.0 / 120.0 + r * (1.0 / 720.0))
    second = (1.0 / 5040.0 + r * (1.0 / 40320.0)) + z * (1.0 / 362880.0 + r * (1.0 / 3628800.0))
    third = (1.0 / 39916800.0 + r * (1.0 / 479001600.0)) + z * (1.0 / 6227020800.0)
    fourth = z * z
    series = 1.0 + (r + (0.5 * z + z * r * (first + fourth * (second + fourth * third))))
    return series * _of_bits((_bits_of(shifted) + _BIAS) << _FRACTION_BITS)


@njit(cache=True, inline="always", error_model="numpy")
def logarithm(x: Any) -> Any:
    """The natural logarithm of a normal number above 0, within one unit in the last place."""
    shifted = _bits_of(x) + ((_BIAS << _FRACTION_BITS) - _ROOT_HALF)
    twos = float((shifted >> _FRACTION_BITS) - _BIAS)
    f = _of_bits((shifted & _FRACTION) + _ROOT_HALF) - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (_L2 + w * (_L4 + w * _L6))
    odd = z * (_L1 + w * (_L3 + w * (_L5 + w * _L7)))
    half = 0.5 * f * f
    low = s * (half + (even + odd)) + twos * _LOG_LN2_LOW
    return twos * _LOG_LN2_HIGH - ((half - low) - f)
