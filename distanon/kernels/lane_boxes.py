# ruff: noqa: ARG001, D417 (numba gives more arguments than each function needs to know)
"""Boxes beside queries and beside other boxes, 32 at a time.

A bound of a box is never above the sum of a point inside (`kernels.lanes`), one of many queries
together never above that of one.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from distanon.kernels.lanes import I64, LANES, Lanes, cgutils, emitted


@emitted
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
        lanes = Lanes(context, builder, kinds[0])
        box, queries = lanes.data(kinds[0], arguments[0]), lanes.data(kinds[2], arguments[2])
        at, width = arguments[1], arguments[3]
        limits = lanes.load(lanes.data(kinds[4], arguments[4]), ir.Constant(I64, 0))

        def term(c: Any, total: Any) -> Any:
            low = builder.add(at, c)
            x = lanes.load(queries, builder.mul(c, ir.Constant(I64, LANES)))
            below = builder.fsub(lanes.splat_at(box, low), x)
            above = builder.fsub(x, lanes.splat_at(box, builder.add(low, width)))
            return lanes.add_square(total, lanes.away(below, above))

        return lanes.summed(width, limits, term)[0]

    return signature, generate


@emitted
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
        lanes = Lanes(context, builder, kinds[0])
        box, queries = lanes.data(kinds[0], arguments[0]), lanes.data(kinds[2], arguments[2])
        at, width, node = arguments[1], arguments[3], arguments[6]
        flags = lanes.data(kinds[5], arguments[5])
        zero, unit = lanes.constant(0.0), lanes.splat(arguments[7])
        limits = lanes.load(lanes.data(kinds[4], arguments[4]), ir.Constant(I64, 0))

        def term(c: Any, total: Any) -> Any:
            low = builder.add(at, c)
            x = lanes.load(queries, builder.mul(c, ir.Constant(I64, LANES)))
            flag = builder.load(builder.gep(flags, [builder.add(node, c)]))
            gap = builder.icmp_unsigned("!=", flag, ir.Constant(flag.type, 0))
            below = builder.fsub(lanes.splat_at(box, low), x)
            above = builder.fsub(x, lanes.splat_at(box, builder.add(low, width)))
            away = lanes.away(below, above)
            present = builder.select(gap, lanes.smaller(unit, away), away)
            absent = builder.select(gap, zero, unit)
            return lanes.add_square(total, builder.select(lanes.missing(x), absent, present))

        return lanes.summed(width, limits, term)[0]

    return signature, generate


@emitted
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
        lanes = Lanes(context, builder, kinds[0])
        data = [lanes.data(kinds[i], arguments[i]) for i in (0, 2, 3, 6)]
        sides = _Sides(lanes, data[:3], arguments[1], arguments[4])

        def term(c: Any, total: Any) -> Any:
            return lanes.add_square(total, sides.apart(c))

        mask, totals = lanes.summed(arguments[4], lanes.splat(arguments[5]), term)
        lanes.store(sides.keys(totals), data[3])
        return mask

    return signature, generate


@emitted
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
        lanes = Lanes(context, builder, kinds[0])
        data = [lanes.data(kinds[i], arguments[i]) for i in (0, 2, 3, 6, 7, 9)]
        sides = _Sides(lanes, data[:3], arguments[1], arguments[4])
        zero, unit, octet = lanes.constant(0.0), lanes.splat(arguments[10]), ir.IntType(8)
        flags = ir.VectorType(octet, LANES)

        def term(c: Any, total: Any) -> Any:
            place = builder.add(arguments[8], builder.mul(c, ir.Constant(I64, LANES)))
            held = builder.bitcast(builder.gep(data[4], [place]), flags.as_pointer())
            none = ir.Constant(flags, [ir.Constant(octet, 0)] * LANES)
            gap = builder.icmp_unsigned("!=", builder.load(held, align=1), none)
            flag = builder.load(builder.gep(data[5], [c]))
            asks = builder.icmp_unsigned("!=", flag, ir.Constant(flag.type, 0))
            away = sides.apart(c)
            capped = lanes.smaller(unit, away)
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

    def __init__(self, lanes: Lanes, data: list[Any], at: Any, width: Any) -> None:
        self._lanes, self._data, self._at = lanes, data, at
        self._second = lanes.builder.mul(width, ir.Constant(I64, LANES))
        self._off = cgutils.alloca_once(lanes.builder, lanes.vector)
        lanes.builder.store(lanes.constant(0.0), self._off)

    def apart(self, c: Any) -> Any:
        """The distances in a column, not negative; adds to those of the middles."""
        lanes, builder, (boxes, least, greatest) = self._lanes, self._lanes.builder, self._data
        here = builder.add(self._at, builder.mul(c, ir.Constant(I64, LANES)))
        low, high = lanes.load(boxes, here), lanes.load(boxes, builder.add(here, self._second))
        below = builder.fsub(low, lanes.splat_at(greatest, c))
        above = builder.fsub(lanes.splat_at(least, c), high)
        middles = builder.fsub(below, above)
        builder.store(lanes.add_square(builder.load(self._off), middles), self._off)
        return lanes.away(below, above)

    def keys(self, totals: Any) -> Any:
        """The squares or, where they are 0, -1 / (1 + that of the middles); -1 if that is none."""
        lanes, builder = self._lanes, self._lanes.builder
        one, off = lanes.constant(1.0), builder.load(self._off)
        off = builder.select(lanes.missing(off), lanes.constant(0.0), off)
        inside = builder.fdiv(lanes.constant(-1.0), builder.fadd(one, off))
        return builder.select(
            builder.fcmp_ordered(">", totals, lanes.constant(0.0)), totals, inside
        )
