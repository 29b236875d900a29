# ruff: noqa: ARG001 (numba gives more arguments than each function needs to know)
"""Squared distances and places as keys in short sorted lists, and masks of 32 lanes."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from distanon.kernels.lanes import I32, I64, Lanes, cgutils, emitted


@emitted
def lowest(typing: Any, mask: Any) -> Any:
    """The number of the lowest bit that is set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


@emitted
def number_of(typing: Any, mask: Any) -> Any:
    """How many bits are set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate


@emitted
def packed(typing: Any, square: Any, place: Any) -> Any:
    """A squared distance (float32, not negative) and a place in one float64, in that order.

    The bits of a float32 are the upper half of the result, so that comparing results compares
    squares first, then places.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        upper = builder.zext(builder.bitcast(arguments[0], I32), I64)
        upper = builder.shl(upper, ir.Constant(I64, 32))
        return builder.bitcast(builder.or_(upper, arguments[1]), ir.DoubleType())

    return types.float64(types.float32, types.int64), generate


@emitted
def square_of(typing: Any, key: Any) -> Any:
    """The squared distance in a key."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        bits = builder.bitcast(arguments[0], I64)
        upper = builder.trunc(builder.lshr(bits, ir.Constant(I64, 32)), I32)
        return builder.bitcast(upper, ir.FloatType())

    return types.float32(types.float64), generate


@emitted
def place_of(typing: Any, key: Any) -> Any:
    """The place in a key."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        bits = builder.bitcast(arguments[0], I64)
        return builder.and_(bits, ir.Constant(I64, 2**32 - 1))

    return types.int64(types.float64), generate


@emitted
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
            new = builder.insert_element(new, arguments[3], ir.Constant(I32, i))
        start = builder.gep(data, [arguments[1]])
        left = cgutils.alloca_once_value(builder, arguments[2])
        loop, done = builder.append_basic_block("insert"), builder.append_basic_block("inserted")
        builder.branch(loop)
        builder.position_at_end(loop)
        i = builder.sub(builder.load(left), ir.Constant(I64, 4))
        builder.store(i, left)
        here = builder.gep(start, [i])
        before = builder.gep(here, [ir.Constant(I64, -1)])
        held = builder.load(builder.bitcast(here, four.as_pointer()), align=8)
        lower = builder.load(builder.bitcast(before, four.as_pointer()), align=8)
        larger = builder.select(builder.fcmp_ordered(">", lower, new), lower, new)
        taken = builder.select(builder.fcmp_ordered("<", held, larger), held, larger)
        builder.store(taken, builder.bitcast(here, four.as_pointer()), align=8)
        builder.cbranch(builder.icmp_signed(">", i, ir.Constant(I64, 0)), loop, done)
        builder.position_at_end(done)
        return context.get_dummy_value()

    return signature, generate


@emitted
def rank(typing: Any, keys: Any, lane: Any, mask: Any) -> Any:
    """How many of those of 32 keys that a mask names come after the key of one lane."""
    signature = types.int64(keys, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder, signature.args[0])
        data = lanes.data(signature.args[0], arguments[0])
        held, key = lanes.load(data, ir.Constant(I64, 0)), lanes.splat_at(data, arguments[1])

        def bits(sign: str) -> Any:
            found = builder.bitcast(builder.fcmp_ordered(sign, held, key), I32)
            return builder.zext(found, I64)

        later = builder.shl(ir.Constant(I64, -2), arguments[1])
        after = builder.or_(bits(">"), builder.and_(bits("=="), later))
        return builder.ctpop(builder.and_(after, arguments[2]))

    return signature, generate
