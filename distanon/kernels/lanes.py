# ruff: noqa: ARG001, D417 (numba gives more arguments than each function needs to know)
"""One query against 32 points, in the lanes of the processor.

LLVM's vectors of 32 numbers become whatever registers a processor has. A loop over the lanes
would leave its sums in memory; here they stay in registers, and each answer is a mask: bit j is
set where lane j is within its bound.

Squares are summed column by column with `fmuladd`, which rounds once where the processor can,
twice where it can't. All functions on lanes do the same, and rounding is monotone: a bound of a
box is therefore never above the sum of a point inside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils as _untyped
from numba.extending import intrinsic

LANES = 32
cgutils: Any = _untyped
_CHECKED = 8  # columns between two looks whether any lane is still within its bound
I32, I64 = ir.IntType(32), ir.IntType(64)
emitted: Callable[[Callable[..., Any]], Callable[..., Any]] = intrinsic


class Lanes:
    """What the functions below emit, for one type of number."""

    def __init__(self, context: Any, builder: Any, array: Any) -> None:
        self.context, self.builder = context, builder
        self.number = context.get_value_type(array.dtype)
        self.vector = ir.VectorType(self.number, LANES)
        self.align = 4 if self.number == ir.FloatType() else 8

    def constant(self, value: float) -> Any:
        """The same number in all lanes."""
        return ir.Constant(self.vector, [ir.Constant(self.number, value)] * LANES)

    def data(self, kind: Any, value: Any) -> Any:
        """The pointer to an array's first number."""
        return self.context.make_array(kind)(self.context, self.builder, value).data

    def load(self, pointer: Any, at: Any) -> Any:
        """32 numbers from place `at` on."""
        place = self.builder.gep(pointer, [at])
        place = self.builder.bitcast(place, self.vector.as_pointer())
        return self.builder.load(place, align=self.align)

    def store(self, value: Any, pointer: Any) -> None:
        """32 numbers, from the place of the pointer on."""
        place = self.builder.bitcast(pointer, self.vector.as_pointer())
        self.builder.store(value, place, align=self.align)

    def splat(self, value: Any) -> Any:
        """One number in all lanes."""
        alone = self.builder.insert_element(
            ir.Constant(self.vector, ir.Undefined), value, ir.Constant(I32, 0)
        )
        zeros = ir.Constant(ir.VectorType(I32, LANES), [ir.Constant(I32, 0)] * LANES)
        return self.builder.shuffle_vector(alone, ir.Constant(self.vector, ir.Undefined), zeros)

    def splat_at(self, pointer: Any, at: Any) -> Any:
        """The number at one place in all lanes."""
        return self.splat(self.builder.load(self.builder.gep(pointer, [at])))

    def larger(self, one: Any, other: Any) -> Any:
        """The larger of two numbers in each lane."""
        return self.builder.select(self.builder.fcmp_ordered(">", one, other), one, other)

    def smaller(self, one: Any, other: Any) -> Any:
        """The smaller of two numbers in each lane; `other` where one is missing."""
        return self.builder.select(self.builder.fcmp_ordered("<", one, other), one, other)

    def away(self, below: Any, above: Any) -> Any:
        """How far outside of its bounds something is in each lane, not negative.

        Args:
            below: by how much it is below them, negative above.
            above: the reverse.
        """
        return self.larger(self.larger(below, above), self.constant(0.0))

    def add_square(self, total: Any, away: Any) -> Any:
        """The totals with a square added to each."""
        kind = ir.FunctionType(self.vector, [self.vector] * 3)
        name = f"llvm.fmuladd.v{LANES}{'f32' if self.align == 4 else 'f64'}"
        fused = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(fused, [away, away, total])

    def missing(self, value: Any) -> Any:
        """Which lanes hold NaN."""
        return self.builder.fcmp_unordered("uno", value, value)

    def within(self, total: Any, bounds: Any) -> Any:
        """The mask of lanes whose total is at most their bound, as i64."""
        bits = self.builder.fcmp_ordered("<=", total, bounds)
        return self.builder.zext(self.builder.bitcast(bits, I32), I64)

    def summed(self, width: Any, bounds: Any, term: Callable[[Any, Any], Any]) -> Any:
        """The mask of sums over the columns, and the sums; stops where no lane is within.

        Args:
            width: how many columns.
            bounds: one for each lane.
            term: from a column's number and the sums so far the sums with that column.
        """
        builder = self.builder
        totals = cgutils.alloca_once(builder, self.vector)
        column = cgutils.alloca_once_value(builder, ir.Constant(I64, 0))
        mask = cgutils.alloca_once_value(builder, ir.Constant(I64, -1))
        builder.store(self.constant(0.0), totals)
        look, stretch, inside, seen, done = (
            builder.append_basic_block(name)
            for name in ("look", "stretch", "inside", "seen", "done")
        )
        builder.branch(look)
        builder.position_at_end(look)
        start = builder.load(column)
        more = builder.icmp_signed("<", start, width)
        any_left = builder.icmp_signed("!=", builder.load(mask), ir.Constant(I64, 0))
        stop = builder.add(start, ir.Constant(I64, _CHECKED))
        stop = builder.select(builder.icmp_signed("<", stop, width), stop, width)
        builder.cbranch(builder.and_(more, any_left), stretch, done)
        builder.position_at_end(stretch)
        builder.branch(inside)
        builder.position_at_end(inside)
        c = builder.load(column)
        builder.store(term(c, builder.load(totals)), totals)
        following = builder.add(c, ir.Constant(I64, 1))
        builder.store(following, column)
        builder.cbranch(builder.icmp_signed("<", following, stop), inside, seen)
        builder.position_at_end(seen)
        builder.store(self.within(builder.load(totals), bounds), mask)
        builder.branch(look)
        builder.position_at_end(done)
        return builder.load(mask), builder.load(totals)


@emitted
def near(
    typing: Any, leaves: Any, at: Any, group: Any, lane: Any, width: Any, bound: Any, out: Any
) -> Any:
    """Which of a leaf's 32 points are within a squared distance of one query.

    Args:
        leaves: points, 32 to a column; a leaf starts at place `at`.
        group: queries, likewise; the query is at place `lane`.
        width: columns.
        bound: the squared distance, of the arrays' type.
        out: gets the 32 squared distances (of those within; others may be partial sums).

    Returns:
        int64: the mask.
    """
    signature = types.int64(leaves, types.int64, group, types.int64, types.int64, leaves.dtype, out)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        lanes = Lanes(context, builder, kinds[0])
        points, queries = lanes.data(kinds[0], arguments[0]), lanes.data(kinds[2], arguments[2])
        at, lane, width = arguments[1], arguments[3], arguments[4]
        step = ir.Constant(I64, LANES)

        def term(c: Any, total: Any) -> Any:
            down = builder.mul(c, step)
            x = lanes.splat_at(queries, builder.add(lane, down))
            away = builder.fsub(lanes.load(points, builder.add(at, down)), x)
            return lanes.add_square(total, away)

        mask, totals = lanes.summed(width, lanes.splat(arguments[5]), term)
        lanes.store(totals, lanes.data(kinds[6], arguments[6]))
        return mask

    return signature, generate


@emitted
def near_gapped(
    typing: Any,
    leaves: Any,
    at: Any,
    group: Any,
    lane: Any,
    width: Any,
    bound: Any,
    out: Any,
    one: Any,
) -> Any:
    """As `near`, where values may be missing (NaN).

    Args:
        one: how far a value is from a missing one; two missing ones are no way apart.
    """
    signature = types.int64(
        leaves, types.int64, group, types.int64, types.int64, leaves.dtype, out, leaves.dtype
    )

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        lanes = Lanes(context, builder, kinds[0])
        points, queries = lanes.data(kinds[0], arguments[0]), lanes.data(kinds[2], arguments[2])
        at, lane, width = arguments[1], arguments[3], arguments[4]
        step, zero, unit = ir.Constant(I64, LANES), lanes.constant(0.0), lanes.splat(arguments[7])

        def term(c: Any, total: Any) -> Any:
            down = builder.mul(c, step)
            x = lanes.splat_at(queries, builder.add(lane, down))
            v = lanes.load(points, builder.add(at, down))
            no_x, no_v = lanes.missing(x), lanes.missing(v)
            present = builder.select(no_x, unit, builder.fsub(v, x))
            away = builder.select(no_v, builder.select(no_x, zero, unit), present)
            return lanes.add_square(total, away)

        mask, totals = lanes.summed(width, lanes.splat(arguments[5]), term)
        lanes.store(totals, lanes.data(kinds[6], arguments[6]))
        return mask

    return signature, generate


@emitted
def greatest(typing: Any, values: Any) -> Any:
    """The greatest of 32 numbers, none of which is missing."""
    signature = values.dtype(values)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder, signature.args[0])
        held = lanes.load(lanes.data(signature.args[0], arguments[0]), ir.Constant(I64, 0))
        kind = ir.FunctionType(lanes.number, [lanes.vector])
        name = f"llvm.vector.reduce.fmax.v{LANES}{'f32' if lanes.align == 4 else 'f64'}"
        reduced = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(reduced, [held], fastmath=("nnan", "nsz"))

    return signature, generate


@emitted
def within(typing: Any, values: Any, at: Any, bound: Any) -> Any:
    """Which of 32 values from place `at` on are at most `bound`: an int64 mask."""
    signature = types.int64(values, types.int64, values.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder, signature.args[0])
        held = lanes.load(lanes.data(signature.args[0], arguments[0]), arguments[1])
        return lanes.within(held, lanes.splat(arguments[2]))

    return signature, generate
