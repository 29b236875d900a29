"""What the queue of calls does with those of lost workers; test_ray_crew has it at work."""

import time
from collections import deque
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from distanon.runtime.calls import Call
from distanon.runtime.crew import Losses
from distanon.runtime.pool import Pool


@pytest.fixture
def pool():
    """One without Ray, that bears one failure of an item."""
    pool = Pool.__new__(Pool)
    pool.losses, pool._queue, pool._blocked = Losses(), deque(), []
    pool._max_failures, pool.failed = 1, 0
    pool._progress = SimpleNamespace(advance=lambda: None)
    pool.roster = SimpleNamespace(lose=lambda member, _kind: member)
    return pool


def losses_until_given_up(pool, kind, most=30):
    """How often a worker is lost with a call before the call fails."""
    call = Call.of(max, None, 1)
    for count in range(1, most + 1):
        pool._lose([SimpleNamespace(call=call)], kind)
        if call.error is not None:
            return count
        assert pool._queue.popleft() is call
    return None


@pytest.mark.parametrize("kind", ["worker died", "out of memory"])
def test_an_item_that_takes_workers_down_is_given_up(pool, kind):
    assert losses_until_given_up(pool, kind) == 2


@pytest.mark.parametrize("kind", ["node lost", "worker out of reach"])
def test_an_item_is_not_blamed_for_nodes_that_go(pool, kind):
    assert losses_until_given_up(pool, kind) is None


@pytest.mark.parametrize(("under_way", "done"), [(1, "step"), (1_000_000, "send")])
def test_looks_for_results_are_further_apart_the_more_are_awaited(pool, under_way, done):
    seen = []
    pool._members, pool._under_way = nullcontext(), range(under_way)
    pool.step, pool._send = lambda _: seen.append("step"), lambda: seen.append("send")
    pool._looked_at = time.monotonic() - 1.0
    pool.look()
    assert seen == [done]
