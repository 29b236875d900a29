"""The logbook passes progress on and remembers it."""

from __future__ import annotations

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
