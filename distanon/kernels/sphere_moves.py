# ruff: noqa: ARG001 (an intrinsic's arguments; published constants)
"""Random moves in uniform directions, drawn, directed and added in one pass over the records.

The draws are those of `data.streams.Streams.uniforms`, to the bit: Philox 4x64-10 is a function
of its key and a counter, which is the record's number. The normal quantile is that of Cephes.

Source: Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011 (Philox);
Moshier, Cephes Math Library, ndtri.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic

from distanon.kernels.elementary import logarithm

__all__ = ["move", "normal_quantiles", "uniforms"]

_emitted: Callable[[Callable[..., Any]], Callable[..., Any]] = intrinsic
_ROUNDS = 10
_LEAST, _MOST = 2.0**-54, 1.0 - 2.0**-53  # the normal quantile of 0 or 1 is infinite
_FAR = math.exp(-32.0)  # of a tail: another pair of polynomials is exact there
_RECORDS = 64  # that are moved together: their draws stay in the cache
_TAIL, _ROOT = 0.13533528323661269189, 2.50662827463100050242  # e^-2, square root of 2 pi
_M0, _M1 = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
_W0, _W1 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
_ONE, _ELEVEN, _ZERO = np.uint64(1), np.uint64(11), np.uint64(0)
# Coefficients, the highest power first; the denominators' is 1.
_P0 = (
    -5.99633501014107895267e1,
    9.80010754185999661536e1,
    -5.66762857469070293439e1,
    1.39312609387279679503e1,
    -1.23916583867381258016e0,
)
_Q0 = (
    1.95448858338141759834e0,
    4.67627912898881538453e0,
    8.63602421390890590575e1,
    -2.25462687854119370527e2,
    2.00260212380060660359e2,
    -8.20372256168333339912e1,
    1.59056225126211695515e1,
    -1.18331621121330003142e0,
)
_P1 = (
    4.05544892305962419923e0,
    3.15251094599893866154e1,
    5.71628192246421288162e1,
    4.40805073893200834700e1,
    1.46849561928858024014e1,
    2.18663306850790267539e0,
    -1.40256079171354495875e-1,
    -3.50424626827848203418e-2,
    -8.57456785154685413611e-4,
)
_Q1 = (
    1.57799883256466749731e1,
    4.53907635128879210584e1,
    4.13172038254672030440e1,
    1.50425385692907503408e1,
    2.50464946208309415979e0,
    -1.42182922854787788574e-1,
    -3.80806407691578277194e-2,
    -9.33259480895457427372e-4,
)
_P2 = (
    3.23774891776946035970e0,
    6.91522889068984211695e0,
    3.93881025292474443415e0,
    1.33303460815807542389e0,
    2.01485389549179081538e-1,
    1.23716634817820021358e-2,
    3.01581553508235416007e-4,
    2.65806974686737550832e-6,
    6.23974539184983293730e-9,
)
_Q2 = (
    6.02427039364742014255e0,
    3.67983563856160859403e0,
    1.37702099489081330271e0,
    2.16236993594496635890e-1,
    1.34204006088543189037e-2,
    3.28014464682127739104e-4,
    2.89247864745380683936e-6,
    6.79019408009981274425e-9,
)


@_emitted
def _product(typing: Any, one: Any, other: Any) -> Any:
    """The upper and the lower 64 bits of a product, of one multiplication."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide, half = ir.IntType(128), ir.IntType(64)
        product = builder.mul(*(builder.zext(factor, wide) for factor in arguments))
        upper = builder.trunc(builder.lshr(product, wide(64)), half)
        halves = upper, builder.trunc(product, half)
        return context.make_tuple(builder, signature.return_type, halves)

    two: Any = types.UniTuple(types.uint64, 2)  # type: ignore[no-untyped-call]
    return two(types.uint64, types.uint64), generate


@njit(cache=True, nogil=True)
def _draw(key: Any, step: Any, out: Any, at: int) -> None:
    """Four draws, uniform in (0, 1), of one step of the counter."""
    k0, k1 = key[0], key[1]
    a, b, c, d = step + _ONE, _ZERO, _ZERO, _ZERO
    for _ in range(_ROUNDS):
        high, low = _product(_M1, c)
        upper, lower = _product(_M0, a)
        a, b, c, d = high ^ b ^ k0, low, upper ^ d ^ k1, lower
        k0 += _W0
        k1 += _W1
    out[at] = (np.float64(a >> _ELEVEN) + 0.5) * 2.0**-53
    out[at + 1] = (np.float64(b >> _ELEVEN) + 0.5) * 2.0**-53
    out[at + 2] = (np.float64(c >> _ELEVEN) + 0.5) * 2.0**-53
    out[at + 3] = (np.float64(d >> _ELEVEN) + 0.5) * 2.0**-53


@njit(cache=True, nogil=True)
def uniforms(key: Any, start: int, stop: int, width: int) -> Any:
    """What `Streams.uniforms` draws under a key, float64, shape (stop - start, width)."""
    steps = -(-width // 4)
    row, found = np.empty(4 * steps), np.empty((stop - start, width))
    for i in range(stop - start):
        for s in range(steps):
            _draw(key, np.uint64((start + i) * steps + s), row, 4 * s)
        found[i] = row[:width]
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def _ratio(z: float, above: Any, below: Any) -> Any:
    """A ratio of polynomials in z, times z, in the sequence of operations of Cephes."""
    top, bottom = above[0], z + below[0]
    for factor in above[1:]:
        top = top * z + factor
    for factor in below[1:]:
        bottom = bottom * z + factor
    return z * top / bottom


@njit(cache=True, nogil=True, error_model="numpy")
def normal_quantiles(shares: Any, found: Any, count: int) -> None:
    """What a standard normal draw is below with some probabilities, in (0, 1).

    Args:
        shares: float64, the probabilities.
        found: float64, gets the quantiles.
        count: how many.
    """
    numbers, lows, tails = np.empty(count, np.int64), np.empty(count), 0
    for i in range(count):  # without branches, so that many are computed at a time
        y = shares[i] - 0.5
        found[i] = (y + y * _ratio(y * y, _P0, _Q0)) * _ROOT
    for i in range(count):
        low = min(shares[i], 1.0 - shares[i])
        numbers[tails], lows[tails] = i, low
        tails += low <= _TAIL
    for tail in range(tails):
        x = math.sqrt(-2.0 * logarithm(lows[tail]))
        lows[tail] = (x - logarithm(x) / x) - _ratio(1.0 / x, _P1, _Q1)
    for tail in range(tails):
        share = shares[numbers[tail]]
        if min(share, 1.0 - share) < _FAR:
            x = math.sqrt(-2.0 * logarithm(min(share, 1.0 - share)))
            lows[tail] = (x - logarithm(x) / x) - _ratio(1.0 / x, _P2, _Q2)
        found[numbers[tail]] = lows[tail] if share > 0.5 else -lows[tail]


@njit(cache=True, nogil=True, error_model="numpy")
def move(
    perturbed: Any,
    original: Any,
    stays: Any,
    limits: Any,
    keys: Any,
    start: int,
    columns: Any,
    spreads: Any,
) -> None:
    """Writes records after their random moves, in some columns.

    The same as `methods.dptpe.perturbation.moves` draws with `sphere`, times the spreads, added
    to the records.

    Args:
        perturbed: float64, shape (m, q); rows that do not stay are set in these columns.
        original: float64, shape (m, q); NaN is missing and does not move.
        stays: bool, shape (m,): rows that are left as they are.
        limits: float64, shape (2, m): least and greatest length of each move, scaled.
        keys: uint64, shape (2, 2): of the streams of lengths and of directions.
        start: number of the first record.
        columns: int64, shape (d,): which may move.
        spreads: float64, shape (d,): one scaled unit of each.
    """
    d = len(columns)
    steps = -(-d // 4)
    moving = np.flatnonzero(~stays)
    amount, row = np.empty(4), np.empty(4 * steps)
    draws, normal = np.empty(_RECORDS * d), np.empty(_RECORDS * d)
    for begin in range(0, len(moving) if d else 0, _RECORDS):
        some = moving[begin : begin + _RECORDS]
        for place, i in enumerate(some):
            for s in range(steps):
                _draw(keys[1], np.uint64((start + i) * steps + s), row, 4 * s)
            for j in range(d):
                draws[place * d + j] = min(max(row[j], _LEAST), _MOST)
        normal_quantiles(draws, normal, len(some) * d)
        for place, i in enumerate(some):
            _draw(keys[0], np.uint64(start + i), amount, 0)
            length = limits[0, i] + (limits[1, i] - limits[0, i]) * amount[0]
            _add_move(perturbed[i], original[i], normal[place * d :], length, columns, spreads)


@njit(nogil=True, error_model="numpy")
def _add_move(moved: Any, own: Any, normal: Any, length: float, columns: Any, spreads: Any) -> None:
    """A record after a move of some length, in the direction of as many normal draws."""
    squares = 0.0
    for j in range(len(columns)):
        if np.isnan(own[columns[j]]):
            normal[j] = 0.0
        squares += normal[j] * normal[j]
    norm = math.sqrt(squares)
    for j in range(len(columns)):
        direction = normal[j] / norm if norm > 0.0 else 0.0
        moved[columns[j]] = own[columns[j]] + direction * length * spreads[j]
