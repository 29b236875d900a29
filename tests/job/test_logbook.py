"""The logbook passes progress on and remembers it."""

from __future__ import annotations

from distanon.data.ports import WORK, observe
from distanon.job.logbook import Logbook


class Watcher:
    def __init__(self):
        self.seen = []

    def start(self, phase, total):
        self.seen.append(("start", phase, total))

    def advance(self, items=1):
        self.seen.append(("advance", items))

    def note(self, message):
        self.seen.append(("note", message))


def test_everything_is_shown_and_a_note_once():
    watcher = Watcher()
    book = Logbook(watcher)
    book.start("a", 2)
    book.advance()
    book.note("hello")
    book.note("hello")
    assert watcher.seen == [("start", "a", 2), ("advance", 1), ("note", "hello")]
    assert book.notes == ["hello"]


def test_seconds_are_summed_by_phase(monkeypatch):
    times = iter([0.0, 1.0, 3.0, 3.5, 10.0])
    monkeypatch.setattr("distanon.job.logbook.time.monotonic", lambda: next(times))
    book = Logbook(Watcher())
    book.start("a", 1)  # at 1
    book.start("b", 1)  # at 3
    book.start("a", 1)  # at 3.5
    book.end()  # at 10
    assert book.seconds == {"a": 8.5, "b": 0.5}


def test_work_of_workers_is_summed_by_phase_and_passed_on():
    watcher = Watcher()
    watcher.observe = lambda name, value: watcher.seen.append((name, value))
    book = Logbook(watcher)
    observe(book, WORK, 1.0)  # of no phase
    for phase, spent in (("a", 0.5), ("b", 2.0), ("a", 0.25)):
        book.start(phase, 1)
        observe(book, WORK, spent)
    assert book.work == {"a": 0.75, "b": 2.0}
    assert watcher.seen[-1] == (WORK, 0.25)
