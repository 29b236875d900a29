# ruff: noqa: ARG001, D417 (numba gives more arguments than the function needs to know)
"""Asking the memory for what will be read soon, so that nobody waits for it then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.core import cgutils as _untyped
from numba.extending import intrinsic

__all__ = ["AHEAD", "expect", "expect_neighbors", "expect_row"]

_LINE = 64  # bytes, a power of two
AHEAD = 8
"""How many neighborhoods ahead their rows are asked for."""
cgutils: Any = _untyped
_emitted: Callable[[Callable[..., Any]], Callable[..., Any]] = intrinsic
_I32, _BYTES = ir.IntType(32), ir.IntType(8).as_pointer()
_READ, _KEEP, _DATA = _I32(0), _I32(3), _I32(1)


@_emitted
def expect(typing: Any, values: Any, place: Any) -> Any:
    """Asks for the part of an array around a number; says nothing about results.

    Args:
        values: a contiguous array of any shape and type.
        place: of the number in the flat array, int64.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer = builder.bitcast(builder.gep(array.data, [arguments[1]]), _BYTES)
        kind = ir.FunctionType(ir.VoidType(), [_BYTES, _I32, _I32, _I32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(function, [pointer, _READ, _KEEP, _DATA])
        return context.get_dummy_value()

    return types.none(values, types.int64), generate


@_emitted
def _crosses_a_line(typing: Any, values: Any, place: Any, width: Any) -> Any:
    """Whether that many numbers from a place on lie in more than one line of the memory."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        whole = ir.IntType(64)
        first = builder.ptrtoint(builder.gep(array.data, [arguments[1]]), whole)
        after = builder.add(arguments[1], arguments[2])
        last = builder.sub(builder.ptrtoint(builder.gep(array.data, [after]), whole), whole(1))
        return builder.icmp_unsigned(">=", builder.xor(first, last), whole(_LINE))

    return types.boolean(values, types.int64, types.int64), generate


@njit(nogil=True)
def expect_row(values: Any, row: int, width: int) -> None:
    """Asks for both ends of a row, or for its one line."""
    start = np.int64(row) * width
    expect(values, start)
    if _crosses_a_line(values, start, width):
        expect(values, start + width - 1)


@njit(nogil=True)
def expect_neighbors(values: Any, width: int, starts: Any, points: Any, i: int) -> None:
    """Asks for the rows of a neighborhood that is looked at soon after the i-th.

    Args:
        values: a contiguous array of rows.
        width: of a row.
        starts: int64, shape (m + 1,): neighborhood i has the entries starts[i]:starts[i + 1].
        points: int32 or int64, shape (entries,): numbers of rows.
        i: from 0 to m - 1.
    """
    last = len(starts) - 1
    ahead = min(i + AHEAD, last)
    for point in points[starts[ahead] : starts[min(ahead + 1, last)]]:
        expect_row(values, point, width)
