"""Calls and the pool's choices, without a cluster."""

from __future__ import annotations

import gc
from collections import deque

from distanon.runtime.calls import Call
from distanon.runtime.crew import Kept, SerialCrew, Shared
from distanon.runtime.pool import Pool
from distanon.runtime.roster import Member
from distanon.runtime.worker import Slot, filled


def function(_shared, item):
    return item


def done(reference="ref", node="a"):
    call = Call.of(function, None, 0)
    call.finish(reference, node)
    return Kept(call.take())


def test_kept_results_leave_slots_that_are_filled_again():
    one, two = done("one"), done("two")
    call = Call.of(function, None, (one, 5, (two, one), ("plain",)))
    assert call.item == (Slot(0), 5, (Slot(1), Slot(2)), ("plain",))
    assert [result.reference for result in call.inputs] == ["one", "two", "one"]
    assert filled(call.item, [1.5, 2.5, 3.5]) == (1.5, 5, (2.5, 3.5), ("plain",))


def test_a_result_made_again_is_found_by_those_who_held_the_lost_one():
    kept = done("lost")
    call = kept.reference.call
    call.state = "queued"
    assert call.standing() is None
    call.finish("new", "b")
    assert (kept.reference.reference, kept.reference.node) == ("new", "b")


def test_a_result_that_nobody_holds_is_let_go_but_its_recipe_stays():
    kept = done()
    child = Call.of(function, None, kept)
    child.finish("child", "a")
    del kept
    gc.collect()
    (source,) = child.sources
    assert source.standing() is None
    assert source.function is function


def test_a_call_is_sent_where_its_inputs_lie():
    pool = object.__new__(Pool)
    far, near, free = (
        Call.of(function, None, done(node="far")),
        Call.of(function, None, done(node="near")),
        Call.of(function, None, 1),
    )
    member = Member(None, None, node="near")
    pool._queue = deque([far, near, free])
    assert [pool._next_for(member) for _ in range(3)] == [near, free, far]


def test_what_is_shared_may_travel_in_an_item():
    call = Call.of(function, None, (done("one"), Shared("generation"), 5))
    assert filled(call.item, [1.5], {"generation": "opened"}.get) == (1.5, "opened", 5)


def test_both_crews_look_for_what_is_shared_at_the_same_depth():
    for item in [(Shared("it"),), ((Shared("it"),),), (1, (Shared("it"),)), (Shared("it"), (2,))]:
        opened = filled(Call.of(function, None, item).item, [], lambda reference: reference)
        (alone,) = SerialCrew().map(function, [item])
        assert opened == alone
