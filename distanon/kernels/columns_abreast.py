# ruff: noqa: ARG001, D417 (numba gives more arguments than the function needs to know)
"""Four or eight columns of some rows, added up side by side in the lanes of the processor.

A compiler does not reorder a column's sum, so it adds number by number; side by side the sums of
all columns take the time of one, each in its own order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils as _untyped
from numba.extending import intrinsic

__all__ = ["ABOVE", "LEAST", "MOST", "ROOM", "SINGLE", "TOTAL", "sums_of_4", "sums_of_8"]

LEAST, MOST, TOTAL, SINGLE, ABOVE = 0, 1, 2, 3, 4
"""What is found of each column, in the rows of a result of shape `ROOM`."""
ROOM = (5, 8)

cgutils: Any = _untyped
_emitted: Callable[[Callable[..., Any]], Callable[..., Any]] = intrinsic
_I32, _I64, _F64 = ir.IntType(32), ir.IntType(64), ir.DoubleType()


class _Rows:
    """Emits loops over the rows of some points, so many columns abreast."""

    def __init__(
        self, lanes: int, context: Any, builder: Any, signature: Any, arguments: Any
    ) -> None:
        self.builder, self.lanes = builder, lanes
        self.vector = ir.VectorType(_F64, lanes)
        values, points, weights = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args[:3], arguments[:3], strict=True)
        )
        self.values, self.points, self.weights = values.data, points.data, weights.data
        self.width = cgutils.unpack_tuple(builder, values.shape)[1]
        self.begin, self.end, self.column = arguments[3:6]
        out = context.make_array(signature.args[6])(context, builder, arguments[6])
        self.out = out.data

    def each(self, step: Callable[[Any, Any, Any], None]) -> None:
        """Calls `step` with the numbers of a row, its weight, and that in all lanes."""
        builder = self.builder
        with cgutils.for_range_slice(builder, self.begin, self.end, _I64(1)) as (entry, _):
            point = self._whole(builder.gep(self.points, [entry]))
            at = builder.add(builder.mul(point, self.width), self.column)
            weight = self._whole(builder.gep(self.weights, [entry]))
            alone = builder.insert_element(
                ir.Constant(self.vector, ir.Undefined), builder.sitofp(weight, _F64), _I32(0)
            )
            zeros = ir.Constant(ir.VectorType(_I32, self.lanes), [_I32(0)] * self.lanes)
            factor = builder.shuffle_vector(alone, ir.Constant(self.vector, ir.Undefined), zeros)
            step(self.load(self.values, at), weight, factor)

    def _whole(self, pointer: Any) -> Any:
        """An int32 or int64 as an int64."""
        number = self.builder.load(pointer)
        return number if number.type == _I64 else self.builder.sext(number, _I64)

    def load(self, pointer: Any, at: Any) -> Any:
        place = self.builder.bitcast(self.builder.gep(pointer, [at]), self.vector.as_pointer())
        return self.builder.load(place, align=8)

    def store(self, value: Any, row: int) -> None:
        place = self.builder.gep(self.out, [_I64(row * ROOM[1])])
        self.builder.store(value, self.builder.bitcast(place, self.vector.as_pointer()), align=8)

    def variable(self, start: float) -> Any:
        found = cgutils.alloca_once(self.builder, self.vector)
        self.builder.store(self.all(start), found)
        return found

    def select(self, sign: str, one: Any, other: Any) -> Any:
        """The lesser (<) or the greater (>) in each lane."""
        return self.builder.select(self.builder.fcmp_ordered(sign, one, other), one, other)

    def magnitude(self, numbers: Any) -> Any:
        kind = ir.FunctionType(self.vector, [self.vector])
        name = f"llvm.fabs.v{self.lanes}f64"
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, [numbers])

    def all(self, value: float) -> Any:
        """The number in each lane."""
        return ir.Constant(self.vector, [ir.Constant(_F64, value)] * self.lanes)


def _sums(rows: _Rows) -> None:
    """Emits two loops: extremes and magnitudes, then what numbers are above the least."""
    builder = rows.builder
    starts = (float("inf"), float("-inf"), 0.0, 0.0, 0.0)
    least, most, total, single, above = found = [rows.variable(start) for start in starts]

    def step(numbers: Any, weight: Any, factor: Any) -> None:
        builder.store(rows.select("<", numbers, builder.load(least)), least)
        builder.store(rows.select(">", numbers, builder.load(most)), most)
        size = rows.magnitude(numbers)
        added = builder.fadd(builder.load(total), builder.fmul(factor, size))
        builder.store(added, total)
        alone = builder.select(builder.icmp_signed("==", weight, _I64(1)), size, rows.all(0.0))
        builder.store(rows.select(">", alone, builder.load(single)), single)

    def climb(numbers: Any, weight: Any, factor: Any) -> None:
        high = builder.fmul(factor, builder.fsub(numbers, builder.load(least)))
        builder.store(builder.fadd(builder.load(above), high), above)

    rows.each(step)
    rows.each(climb)
    for row, variable in enumerate(found):
        rows.store(builder.load(variable), row)


@_emitted
def sums_of_4(
    typing: Any, values: Any, points: Any, weights: Any, begin: Any, end: Any, column: Any, out: Any
) -> Any:
    """Extremes and sums of four columns.

    Args:
        values: float64, shape (u, q), row-major; q is at least `column` + 4.
        points: int32 or int64, shape (entries,): rows of `values`.
        weights: int32 or int64, shape (entries,).
        begin, end: which entries.
        column: the first of the four.
        out: float64, shape `ROOM`, gets in its rows LEAST and MOST; TOTAL, the sum of the
            magnitudes times their weights, in the order of the entries; SINGLE, the greatest
            magnitude of weight 1; and ABOVE, the sum of what numbers are above the least, times
            their weights. Where a number is NaN, TOTAL is; the rest says nothing then.
    """
    return _signature(values, points, weights, out), _generator(4)


@_emitted
def sums_of_8(
    typing: Any, values: Any, points: Any, weights: Any, begin: Any, end: Any, column: Any, out: Any
) -> Any:
    """As `sums_of_4`, of eight columns."""
    return _signature(values, points, weights, out), _generator(8)


def _signature(values: Any, points: Any, weights: Any, out: Any) -> Any:
    return types.none(values, points, weights, types.int64, types.int64, types.int64, out)


def _generator(lanes: int) -> Callable[[Any, Any, Any, Any], Any]:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _sums(_Rows(lanes, context, builder, signature, arguments))
        return context.get_dummy_value()

    return generate
