"""Those who watch the cluster learn of changes, not of each result."""

from __future__ import annotations

import pytest

from distanon.runtime import gauges as gauges_module
from distanon.runtime.crew import Losses
from distanon.runtime.gauges import Gauges
from distanon.runtime.roster import Member


class Watcher:
    """Progress that remembers what it was told."""

    def __init__(self):
        self.seen = []

    def observe(self, name, value):
        self.seen.append((name, value))


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass when the test says so."""
    now = [100.0]
    monkeypatch.setattr(gauges_module.time, "monotonic", lambda: now[0])
    return now


MEMBERS = [Member(None, None, "a", ready=True), Member(None, None)]


def told_backlogs(watcher):
    return [value for name, value in watcher.seen if name == "backlog"]


def test_many_results_at_once_are_told_once_and_the_last_one_always(clock):
    watcher = Watcher()
    gauges = Gauges(watcher)
    for backlog in range(50, -1, -1):
        gauges.tell(backlog, MEMBERS, Losses())
    assert told_backlogs(watcher) == [50, 0]


def test_what_goes_on_is_told_again_some_time_later(clock):
    watcher = Watcher()
    gauges = Gauges(watcher)
    for backlog in (9, 8, 7):
        gauges.tell(backlog, MEMBERS, Losses())
        clock[0] += 1.0
    assert told_backlogs(watcher) == [9, 8, 7]


def test_only_what_has_changed_is_told(clock):
    watcher = Watcher()
    gauges = Gauges(watcher)
    gauges.tell(0, MEMBERS, Losses())
    assert ("workers", 1) in watcher.seen
    assert ("workers_starting", 1) in watcher.seen
    watcher.seen.clear()
    gauges.tell(0, MEMBERS, Losses(workers_lost=1))
    assert watcher.seen == [("workers_lost", 1)]
