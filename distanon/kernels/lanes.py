# ruff: noqa: ARG001, D417 (numba gives more arguments than each function needs to know)
"""One query against 32 points, or 32 queries against one box, in the lanes of the processor.

LLVM's vectors of 32 numbers become whatever registers a processor has. A loop over the lanes
would leave its sums in memory; here they stay in registers, and each answer is a mask: bit j is
set where lane j is within its bound.

Squares are summed column by column with `fmuladd`, which rounds once where the processor can,
twice where it can't. All functions here do the same, and rounding is monotone: a bound of a box
is therefore never above the sum of a point inside.
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
_I32, _I64 = ir.IntType(32), ir.IntType(64)
_emitted: Callable[[Callable[..., Any]], Callable[..., Any]] = intrinsic


class _Lanes:
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
        place = self.builder.bitcast(pointer, self.vector.as_pointer())
        self.builder.store(value, place, align=self.align)

    def splat(self, value: Any) -> Any:
        """One number in all lanes."""
        alone = self.builder.insert_element(
            ir.Constant(self.vector, ir.Undefined), value, ir.Constant(_I32, 0)
        )
        zeros = ir.Constant(ir.VectorType(_I32, LANES), [ir.Constant(_I32, 0)] * LANES)
        return self.builder.shuffle_vector(alone, ir.Constant(self.vector, ir.Undefined), zeros)

    def splat_at(self, pointer: Any, at: Any) -> Any:
        """The number at one place in all lanes."""
        return self.splat(self.builder.load(self.builder.gep(pointer, [at])))

    def larger(self, one: Any, other: Any) -> Any:
        return self.builder.select(self.builder.fcmp_ordered(">", one, other), one, other)

    def add_square(self, total: Any, away: Any) -> Any:
        kind = ir.FunctionType(self.vector, [self.vector] * 3)
        name = f"llvm.fmuladd.v{LANES}{'f32' if self.align == 4 else 'f64'}"
        fused = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(fused, [away, away, total])

    def missing(self, value: Any) -> Any:
        return self.builder.fcmp_unordered("uno", value, value)

    def within(self, total: Any, bounds: Any) -> Any:
        """The mask of lanes whose total is at most their bound, as i64."""
        bits = self.builder.fcmp_ordered("<=", total, bounds)
        return self.builder.zext(self.builder.bitcast(bits, _I32), _I64)

    def summed(self, width: Any, bounds: Any, term: Callable[[Any, Any], Any]) -> Any:
        """The mask of sums over the columns, and the sums; stops where no lane is within.

        Args:
            width: how many columns.
            bounds: one for each lane.
            term: from a column's number and the sums so far the sums with that column.
        """
        builder = self.builder
        totals = cgutils.alloca_once(builder, self.vector)
        column = cgutils.alloca_once_value(builder, ir.Constant(_I64, 0))
        mask = cgutils.alloca_once_value(builder, ir.Constant(_I64, -1))
        builder.store(self.constant(0.0), totals)
        look, stretch, inside, seen, done = (
            builder.append_basic_block(name)
            for name in ("look", "stretch", "inside", "seen", "done")
        )
        builder.branch(look)
        builder.position_at_end(look)
        start = builder.load(column)
        more = builder.icmp_signed("<", start, width)
        any_left = builder.icmp_signed("!=", builder.load(mask), ir.Constant(_I64, 0))
        stop = builder.add(start, ir.Constant(_I64, _CHECKED))
        stop = builder.select(builder.icmp_signed("<", stop, width), stop, width)
        builder.cbranch(builder.and_(more, any_left), stretch, done)
        builder.position_at_end(stretch)
        builder.branch(inside)
        builder.position_at_end(inside)
        c = builder.load(column)
        builder.store(term(c, builder.load(totals)), totals)
        following = builder.add(c, ir.Constant(_I64, 1))
        builder.store(following, column)
        builder.cbranch(builder.icmp_signed("<", following, stop), inside, seen)
        builder.position_at_end(seen)
        builder.store(self.within(builder.load(totals), bounds), mask)
        builder.branch(look)
        builder.position_at_end(done)
        return builder.load(mask), builder.load(totals)


@_emitted
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
        lanes = _Lanes(context, builder, kinds[0])
        points, queries = lanes.data(kinds[0], arguments[0]), lanes.data(kinds[2], arguments[2])
        at, lane, width = arguments[1], arguments[3], arguments[4]
        step = ir.Constant(_I64, LANES)

        def term(c: Any, total: Any) -> Any:
            down = builder.mul(c, step)
            x = lanes.splat_at(queries, builder.add(lane, down))
            away = builder.fsub(lanes.load(points, builder.add(at, down)), x)
            return lanes.add_square(total, away)

        mask, totals = lanes.summed(width, lanes.splat(arguments[5]), term)
        lanes.store(totals, lanes.data(kinds[6], arguments[6]))
        return mask

    return signature, generate


@_emitted
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
        lanes = _Lanes(context, builder, kinds[0])
        points, queries = lanes.data(kinds[0], arguments[0]), lanes.data(kinds[2], arguments[2])
        at, lane, width = arguments[1], arguments[3], arguments[4]
        step, zero, unit = ir.Constant(_I64, LANES), lanes.constant(0.0), lanes.splat(arguments[7])

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


@_emitted
def near_box(typing: Any, boxes: Any, at: Any, group: Any, width: Any, bounds: Any) -> Any:
    """Which of a group's 32 queries are within their bounds of a box.

    Args:
        boxes: least values, then greatest ones, of each column, from place `at` on.
        group: queries, 32 to a column.
        width: columns.
        bounds: the squared distance of each query.

    Returns:
        int64: the mask.
    """
    signature = types.int64(boxes, types.int64, group, types.int64, bounds)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        lanes = _Lanes(context, builder, kinds[0])
        box, queries = lanes.data(kinds[0], arguments[0]), lanes.data(kinds[2], arguments[2])
        at, width = arguments[1], arguments[3]
        zero = lanes.constant(0.0)
        limits = lanes.load(lanes.data(kinds[4], arguments[4]), ir.Constant(_I64, 0))

        def term(c: Any, total: Any) -> Any:
            low = builder.add(at, c)
            x = lanes.load(queries, builder.mul(c, ir.Constant(_I64, LANES)))
            below = builder.fsub(lanes.splat_at(box, low), x)
            above = builder.fsub(x, lanes.splat_at(box, builder.add(low, width)))
            return lanes.add_square(total, lanes.larger(lanes.larger(below, above), zero))

        return lanes.summed(width, limits, term)[0]

    return signature, generate


@_emitted
def near_box_gapped(
    typing: Any,
    boxes: Any,
    at: Any,
    group: Any,
    width: Any,
    bounds: Any,
    gaps: Any,
    node: Any,
    one: Any,
) -> Any:
    """As `near_box`, where values may be missing (NaN).

    Args:
        gaps: for each column whether the box has missing values, from place `node` on.
        one: how far a value is from a missing one.
    """
    signature = types.int64(
        boxes, types.int64, group, types.int64, bounds, gaps, types.int64, boxes.dtype
    )

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        lanes = _Lanes(context, builder, kinds[0])
        box, queries = lanes.data(kinds[0], arguments[0]), lanes.data(kinds[2], arguments[2])
        at, width, node = arguments[1], arguments[3], arguments[6]
        flags = lanes.data(kinds[5], arguments[5])
        zero, unit = lanes.constant(0.0), lanes.splat(arguments[7])
        limits = lanes.load(lanes.data(kinds[4], arguments[4]), ir.Constant(_I64, 0))

        def term(c: Any, total: Any) -> Any:
            low = builder.add(at, c)
            x = lanes.load(queries, builder.mul(c, ir.Constant(_I64, LANES)))
            flag = builder.load(builder.gep(flags, [builder.add(node, c)]))
            gap = builder.icmp_unsigned("!=", flag, ir.Constant(flag.type, 0))
            below = builder.fsub(lanes.splat_at(box, low), x)
            above = builder.fsub(x, lanes.splat_at(box, builder.add(low, width)))
            away = lanes.larger(lanes.larger(below, above), zero)
            capped = builder.select(builder.fcmp_ordered("<", unit, away), unit, away)
            present = builder.select(gap, capped, away)
            absent = builder.select(gap, zero, unit)
            return lanes.add_square(total, builder.select(lanes.missing(x), absent, present))

        return lanes.summed(width, limits, term)[0]

    return signature, generate


@_emitted
def near_boxes(
    typing: Any, boxes: Any, at: Any, low: Any, high: Any, width: Any, top: Any, keys: Any
) -> Any:
    """Which of 32 boxes are within a squared distance of one box.

    Args:
        boxes: least values, 32 to a column, then greatest ones, from place `at` on.
        low: the other box's least values.
        high: its greatest values.
        width: columns.
        top: the squared distance, of the arrays' type.
        keys: get for each box its squared distance; where that is 0, a negative number, less
            the closer its middle is to that of the other box.

    Returns:
        int64: the mask.
    """
    signature = types.int64(boxes, types.int64, low, high, types.int64, boxes.dtype, keys)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        lanes = _Lanes(context, builder, kinds[0])
        data = [lanes.data(kinds[i], arguments[i]) for i in (0, 2, 3, 6)]
        sides = _Sides(lanes, data[:3], arguments[1], arguments[4])

        def term(c: Any, total: Any) -> Any:
            return lanes.add_square(total, sides.apart(c))

        mask, totals = lanes.summed(arguments[4], lanes.splat(arguments[5]), term)
        lanes.store(sides.keys(totals), data[3])
        return mask

    return signature, generate


@_emitted
def near_boxes_gapped(
    typing: Any,
    boxes: Any,
    at: Any,
    low: Any,
    high: Any,
    width: Any,
    top: Any,
    keys: Any,
    gaps: Any,
    flags: Any,
    missing: Any,
    one: Any,
) -> Any:
    """As `near_boxes`, where values may be missing; of a column without values low is above high.

    Args:
        gaps: bool: for each column whether each of the boxes has missing values, 32 to a column,
            from place `flags` on.
        missing: bool: for each column whether the other box has some.
        one: how far a value is from a missing one.
    """
    signature = types.int64(
        *(boxes, types.int64, low, high, types.int64, boxes.dtype, keys),
        *(gaps, types.int64, missing, boxes.dtype),
    )

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        lanes = _Lanes(context, builder, kinds[0])
        data = [lanes.data(kinds[i], arguments[i]) for i in (0, 2, 3, 6, 7, 9)]
        sides = _Sides(lanes, data[:3], arguments[1], arguments[4])
        zero, unit, octet = lanes.constant(0.0), lanes.splat(arguments[10]), ir.IntType(8)
        flags = ir.VectorType(octet, LANES)

        def term(c: Any, total: Any) -> Any:
            place = builder.add(arguments[8], builder.mul(c, ir.Constant(_I64, LANES)))
            held = builder.bitcast(builder.gep(data[4], [place]), flags.as_pointer())
            none = ir.Constant(flags, [ir.Constant(octet, 0)] * LANES)
            gap = builder.icmp_unsigned("!=", builder.load(held, align=1), none)
            flag = builder.load(builder.gep(data[5], [c]))
            asks = builder.icmp_unsigned("!=", flag, ir.Constant(flag.type, 0))
            away = sides.apart(c)
            capped = builder.select(builder.fcmp_ordered("<", unit, away), unit, away)
            both, present = builder.select(gap, zero, capped), builder.select(gap, capped, away)
            return lanes.add_square(total, builder.select(asks, both, present))

        mask, totals = lanes.summed(arguments[4], lanes.splat(arguments[5]), term)
        lanes.store(sides.keys(totals), data[3])
        return mask

    return signature, generate


class _Sides:
    """The sides of 32 boxes and of one other, and how far apart their middles are.

    Args:
        lanes: of their type.
        data: pointers to the 32 boxes, to the other's least values and to its greatest.
        at: where the 32 begin.
        width: columns.
    """

    def __init__(self, lanes: _Lanes, data: list[Any], at: Any, width: Any) -> None:
        self._lanes, self._data, self._at = lanes, data, at
        self._second = lanes.builder.mul(width, ir.Constant(_I64, LANES))
        self._off = cgutils.alloca_once(lanes.builder, lanes.vector)
        lanes.builder.store(lanes.constant(0.0), self._off)

    def apart(self, c: Any) -> Any:
        """The distances in a column, not negative; adds to those of the middles."""
        lanes, builder, (boxes, least, greatest) = self._lanes, self._lanes.builder, self._data
        here = builder.add(self._at, builder.mul(c, ir.Constant(_I64, LANES)))
        low, high = lanes.load(boxes, here), lanes.load(boxes, builder.add(here, self._second))
        below = builder.fsub(low, lanes.splat_at(greatest, c))
        above = builder.fsub(lanes.splat_at(least, c), high)
        middles = builder.fsub(below, above)
        builder.store(lanes.add_square(builder.load(self._off), middles), self._off)
        return lanes.larger(lanes.larger(below, above), lanes.constant(0.0))

    def keys(self, totals: Any) -> Any:
        """The squares or, where they are 0, -1 / (1 + that of the middles); -1 if that is none."""
        lanes, builder = self._lanes, self._lanes.builder
        one, off = lanes.constant(1.0), builder.load(self._off)
        off = builder.select(lanes.missing(off), lanes.constant(0.0), off)
        inside = builder.fdiv(lanes.constant(-1.0), builder.fadd(one, off))
        return builder.select(
            builder.fcmp_ordered(">", totals, lanes.constant(0.0)), totals, inside
        )


@_emitted
def rank(typing: Any, keys: Any, lane: Any, mask: Any) -> Any:
    """How many of those of 32 keys that a mask names come after the key of one lane."""
    signature = types.int64(keys, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = _Lanes(context, builder, signature.args[0])
        data = lanes.data(signature.args[0], arguments[0])
        held, key = lanes.load(data, ir.Constant(_I64, 0)), lanes.splat_at(data, arguments[1])

        def bits(sign: str) -> Any:
            found = builder.bitcast(builder.fcmp_ordered(sign, held, key), _I32)
            return builder.zext(found, _I64)

        later = builder.shl(ir.Constant(_I64, -2), arguments[1])
        after = builder.or_(bits(">"), builder.and_(bits("=="), later))
        return builder.ctpop(builder.and_(after, arguments[2]))

    return signature, generate


@_emitted
def number_of(typing: Any, mask: Any) -> Any:
    """How many bits are set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate


@_emitted
def greatest(typing: Any, values: Any) -> Any:
    """The greatest of 32 numbers, none of which is missing."""
    signature = values.dtype(values)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = _Lanes(context, builder, signature.args[0])
        held = lanes.load(lanes.data(signature.args[0], arguments[0]), ir.Constant(_I64, 0))
        kind = ir.FunctionType(lanes.number, [lanes.vector])
        name = f"llvm.vector.reduce.fmax.v{LANES}{'f32' if lanes.align == 4 else 'f64'}"
        reduced = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(reduced, [held], fastmath=("nnan", "nsz"))

    return signature, generate


@_emitted
def within(typing: Any, values: Any, at: Any, bound: Any) -> Any:
    """Which of 32 values from place `at` on are at most `bound`: an int64 mask."""
    signature = types.int64(values, types.int64, values.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = _Lanes(context, builder, signature.args[0])
        held = lanes.load(lanes.data(signature.args[0], arguments[0]), arguments[1])
        return lanes.within(held, lanes.splat(arguments[2]))

    return signature, generate


@_emitted
def lowest(typing: Any, mask: Any) -> Any:
    """The number of the lowest bit that is set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


@_emitted
def packed(typing: Any, square: Any, place: Any) -> Any:
    """A squared distance (float32, not negative) and a place in one float64, in that order.

    The bits of a float32 are the upper half of the result, so that comparing results compares
    squares first, then places.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        upper = builder.zext(builder.bitcast(arguments[0], _I32), _I64)
        upper = builder.shl(upper, ir.Constant(_I64, 32))
        return builder.bitcast(builder.or_(upper, arguments[1]), ir.DoubleType())

    return types.float64(types.float32, types.int64), generate


@_emitted
def square_of(typing: Any, key: Any) -> Any:
    """The squared distance in a key."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        bits = builder.bitcast(arguments[0], _I64)
        upper = builder.trunc(builder.lshr(bits, ir.Constant(_I64, 32)), _I32)
        return builder.bitcast(upper, ir.FloatType())

    return types.float32(types.float64), generate


@_emitted
def place_of(typing: Any, key: Any) -> Any:
    """The place in a key."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        bits = builder.bitcast(arguments[0], _I64)
        return builder.and_(bits, ir.Constant(_I64, 2**32 - 1))

    return types.int64(types.float64), generate


@_emitted
def insert(typing: Any, keys: Any, at: Any, size: Any, key: Any) -> Any:
    """Inserts a key into `size` sorted ones (a multiple of 4) from place `at` on.

    The greatest one falls off. Four at a time: each place takes the smaller of what it holds
    and the larger of the new key and its lower neighbor. keys[at - 1] must be 0.
    """
    signature = types.void(keys, types.int64, types.int64, types.float64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        data = context.make_array(kinds[0])(context, builder, arguments[0]).data
        four = ir.VectorType(ir.DoubleType(), 4)
        new = ir.Constant(four, ir.Undefined)
        for i in range(4):
            new = builder.insert_element(new, arguments[3], ir.Constant(_I32, i))
        start = builder.gep(data, [arguments[1]])
        left = cgutils.alloca_once_value(builder, arguments[2])
        loop, done = builder.append_basic_block("insert"), builder.append_basic_block("inserted")
        builder.branch(loop)
        builder.position_at_end(loop)
        i = builder.sub(builder.load(left), ir.Constant(_I64, 4))
        builder.store(i, left)
        here = builder.gep(start, [i])
        before = builder.gep(here, [ir.Constant(_I64, -1)])
        held = builder.load(builder.bitcast(here, four.as_pointer()), align=8)
        lower = builder.load(builder.bitcast(before, four.as_pointer()), align=8)
        larger = builder.select(builder.fcmp_ordered(">", lower, new), lower, new)
        taken = builder.select(builder.fcmp_ordered("<", held, larger), held, larger)
        builder.store(taken, builder.bitcast(here, four.as_pointer()), align=8)
        builder.cbranch(builder.icmp_signed(">", i, ir.Constant(_I64, 0)), loop, done)
        builder.position_at_end(done)
        return context.get_dummy_value()

    return signature, generate
