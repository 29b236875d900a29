"""Who is sent the next call, and whose a reply is."""

from __future__ import annotations

import gc
from collections import Counter, OrderedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.runtime.calls import Call
from distanon.runtime.roster import Member
from distanon.runtime.under_way import UnderWay

CALL = Call.of(max, None, 1)


def members(count):
    return [Member(None, None, str(place), ready=True) for place in range(count)]


def filled(under_way, depth):
    """Sends until nobody has room; how many each got."""
    got = Counter()
    while (member := under_way.least_busy(depth)) is not None:
        under_way.add(member, CALL, (object(), object()), [])
        got[member.node] += 1
    return got


@pytest.mark.parametrize("depth", [1, 2])
def test_each_worker_gets_as_many_calls_as_it_may_have(depth):
    under_way = UnderWay()
    for member in members(5):
        under_way.offer(member)
    assert filled(under_way, depth) == Counter({str(place): depth for place in range(5)})
    assert len(under_way) == len(under_way.replies) == 5 * depth


def test_replies_of_a_worker_stand_in_the_order_of_its_calls():
    under_way, (one,) = UnderWay(), members(1)
    under_way.add(one, CALL, ("first", None), [])
    under_way.add(one, CALL, ("second", None), [])
    assert under_way.replies == list(one.calls) == ["first", "second"]


def test_a_lost_worker_gets_nothing_and_its_replies_are_nobodys():
    under_way, (lost, other) = UnderWay(), members(2)
    for member in (lost, other):
        under_way.offer(member)
    under_way.add(lost, CALL, ("reply", None), [])
    under_way.strike(lost)
    lost.ready = False
    assert under_way.owner("reply") is None
    assert filled(under_way, 2) == Counter({other.node: 2})


def test_what_a_lost_worker_was_at_is_let_go():
    under_way, (lost,) = UnderWay(), members(1)
    under_way.offer(lost)
    under_way.add(lost, CALL, ("reply", None), [])
    under_way.strike(lost)
    assert not any(isinstance(one, UnderWay | OrderedDict) for one in gc.get_referrers(lost))


@settings(max_examples=50)
@given(st.lists(st.tuples(st.sampled_from(["send", "settle", "lose"]), st.integers(0, 9))))
def test_whoever_is_chosen_has_fewest_calls_of_all(steps):
    under_way, everyone = UnderWay(), members(4)
    for member in everyone:
        under_way.offer(member)
    for what, number in steps:
        chosen = under_way.least_busy(2)
        fewest = min((len(one.calls) for one in everyone if one.ready), default=2)
        assert (2 if chosen is None else len(chosen.calls)) == min(fewest, 2)
        if what == "send" and chosen is not None:
            under_way.add(chosen, CALL, (object(), object()), [])
        elif what == "settle" and (replies := under_way.replies):
            under_way.settle(replies[number % len(replies)])
        elif what == "lose" and number < 4 and everyone[number].ready:
            under_way.strike(everyone[number])
            everyone[number].ready = False
        assert len(under_way) == sum(len(one.calls) for one in everyone if one.ready)


def test_a_result_costs_no_look_at_every_worker():
    looks = 0

    class Watched(Member):
        def __getattribute__(self, name):
            nonlocal looks
            looks += name == "calls"
            return super().__getattribute__(name)

    under_way = UnderWay()
    for place in range(1000):
        under_way.offer(Watched(None, None, str(place), ready=True))
    filled(under_way, 2)
    looks = 0
    for reply in under_way.replies[:100]:
        under_way.settle(reply)
        under_way.add(under_way.least_busy(2), CALL, (object(), object()), [])
    assert looks < 100 * 20
