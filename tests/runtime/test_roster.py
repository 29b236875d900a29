"""Who is given back and who stays, without Ray."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from distanon.data.ports import Silent
from distanon.runtime import roster as roster_module
from distanon.runtime.crew import Losses
from distanon.runtime.roster import IDLE_S, Member, Roster
from distanon.runtime.settings import RuntimeSettings


class FixedRoom:
    """Room for ten workers."""

    is_elastic = True
    check_refusal = staticmethod(lambda: None)
    workers = 10

    def __init__(self, *_, **__):
        pass

    def wanted(self, backlog):
        return min(self.workers, backlog) if self.is_elastic else self.workers


@pytest.fixture
def ended(monkeypatch):
    """Members that were ended."""
    found = []
    actor = SimpleNamespace(greet=SimpleNamespace(remote=object))
    monkeypatch.setattr(roster_module, "Room", FixedRoom)
    monkeypatch.setattr(
        roster_module, "_actor_class", lambda *_, **__: SimpleNamespace(remote=lambda: actor)
    )
    monkeypatch.setattr(roster_module, "_end", found.append)
    return found


@pytest.fixture
def roster(ended):
    return Roster(RuntimeSettings(), Silent(), Losses(), own=False)


def member(node="", *, idle=2 * IDLE_S, calls=0):
    made = Member(None, None, node, ready=bool(node))
    made.calls = dict.fromkeys(range(calls))
    made.idle_since = time.monotonic() - idle
    return made


def test_no_more_workers_are_started_than_there_are_items(roster):
    roster.recruit(3)
    assert len(roster.members) == 3
    roster.recruit(50)
    assert len(roster.members) == 10


def test_idle_workers_go_when_nothing_is_left_to_do(roster, ended):
    roster.members = [member("a"), member("b"), member("c", idle=0.0)]
    fresh = roster.members[2]
    roster.give_back(0)
    assert roster.members == [fresh]
    assert len(ended) == 2


def test_workers_with_calls_stay_and_as_many_as_there_are_items(roster, ended):
    roster.members = [member("a", calls=1), member("b"), member("b"), member("c"), member("")]
    busy, first, second, lonely, waiting = roster.members
    roster.give_back(3)
    assert ended == [waiting, lonely]  # who has no node yet, and who holds a node alone
    assert roster.members == [busy, first, second]


def test_nobody_is_given_back_where_no_node_would_go(roster, ended, monkeypatch):
    monkeypatch.setattr(FixedRoom, "is_elastic", False)
    roster.members = [member("a"), member("b")]
    roster.give_back(0)
    assert not ended


def test_without_work_nobody_is_missed(roster, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(roster_module.time, "monotonic", lambda: clock[0])
    for backlog in (0, 1):
        roster.check_alone(backlog)
        clock[0] += 10_000.0
        roster.check_alone(0)


@pytest.mark.parametrize(("elastic", "choosy"), [(True, False), (False, True)])
def test_the_market_of_nodes_is_chosen_by_workers_only_where_no_autoscaler_does(
    monkeypatch, elastic, choosy
):
    asked = []
    monkeypatch.setattr(FixedRoom, "is_elastic", elastic)
    monkeypatch.setattr(roster_module, "Room", FixedRoom)
    monkeypatch.setattr(roster_module, "_actor_class", lambda *_, **how: asked.append(how))
    Roster(RuntimeSettings(), Silent(), Losses(), own=False)
    assert asked == [{"pinned": False, "choosy": choosy}]
