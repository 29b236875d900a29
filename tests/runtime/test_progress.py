from __future__ import annotations

import io
import json
import time

import pytest

from distanon.runtime import progress as progress_module
from distanon.runtime.progress import Bar, Hidden, Lines, duration, shown


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def wait_for(stream, line):
    deadline = time.monotonic() + 10
    while line not in stream.getvalue() and time.monotonic() < deadline:
        time.sleep(0.005)


def test_lines_say_start_and_end_and_every_ten_seconds_how_long_it_will_take(monkeypatch):
    stream, clock = io.StringIO(), Clock()
    monkeypatch.setattr(progress_module, "_MOMENT_S", 0.02)
    with Lines(stream, clock) as progress:
        progress.start("neighborhoods", 100)
        wait_for(stream, "neighborhoods: 100 to do")
        monkeypatch.setattr(progress_module, "_MOMENT_S", 60.0)
        for _ in range(50):
            clock.now += 0.5
            progress.advance()
        progress.start("entropies", 1)
        progress.note("a word")
        progress.advance()
    assert stream.getvalue().splitlines() == [
        "neighborhoods: 100 to do",
        "neighborhoods: 20 of 100, about 40 s left",
        "neighborhoods: 40 of 100, about 30 s left",
        "neighborhoods: 50 of 100 done in 25 s",
        "a word",
        "entropies: done in 0.0 s",
    ]


def test_no_time_is_foretold_from_few_items_or_few_seconds():
    clock = Clock()
    with Lines(io.StringIO(), clock) as progress:
        progress.start("a", 100)
        clock.now += 60.0
        progress.advance(2)
        assert progress.left(clock.now) == ""
        progress.advance()
        assert progress.left(clock.now) == "about 32 min 20 s left"
        progress.start("b", 100)
        clock.now += 5.0
        progress.advance(50)
        assert progress.left(clock.now) == ""


def test_a_phase_of_a_moment_is_one_line():
    stream = io.StringIO()
    with Lines(stream) as progress:
        for phase in ("one", "two"):
            progress.start(phase, 1)
            progress.advance()
    time.sleep(0.01)
    assert [line.partition(":")[0] for line in stream.getvalue().splitlines()] == ["one", "two"]


def test_a_display_that_was_left_open_says_nothing_to_a_closed_stream(monkeypatch):
    failed = []
    monkeypatch.setattr(progress_module.threading, "excepthook", failed.append)
    monkeypatch.setattr(progress_module, "_MOMENT_S", 0.02)
    stream = io.StringIO()
    Lines(stream).start("a", 1)
    stream.close()
    time.sleep(0.1)
    assert failed == []


def test_a_phase_without_a_name_says_nothing():
    stream = io.StringIO()
    with Lines(stream) as progress:
        progress.start("", 3)
        progress.advance(3)
    assert stream.getvalue() == ""


def test_a_bar_shows_the_phase_and_leaves_one_line(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    with Bar(stream) as progress:
        progress.start("sigma [auto]", 4)
        progress.advance(3)
        progress.note("lost [a] worker")
        progress.advance()
    text = stream.getvalue()
    assert "0/4" in text
    assert "sigma [auto]" in text
    assert "lost [a] worker\n" in text
    assert "sigma [auto]: done in " in text


def test_a_bar_can_be_used_for_several_phases_and_closed_twice():
    stream = Terminal()
    with Bar(stream) as progress:
        for phase in ("one", "two"):
            progress.start(phase, 0)
        progress.close()
    assert "one: done" in stream.getvalue()
    assert "two: done" in stream.getvalue()


def test_the_stream_decides_between_bar_and_lines(capsys):
    assert isinstance(shown(stream=Terminal()), Bar)
    assert isinstance(shown(), Lines)
    with shown(quiet=True) as progress:
        progress.start("a", 1)
        progress.advance()
        progress.note("b")
    assert isinstance(progress, Hidden)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.42, "0.4 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (185, "3 min 05 s"),
        (7800, "2 h 10 min"),
    ],
)
def test_times_are_written_for_people(seconds, text):
    assert duration(seconds) == text


def test_lines_for_programs_are_one_object_each(monkeypatch):
    monkeypatch.setenv("DISTANON_LOG", "json")
    stream = io.StringIO()
    display = shown(stream=stream)
    display.start("release", 2)
    display.note('lost "a" worker\nreplacing it')
    display.advance(2)
    display.close()
    lost, end = map(json.loads, stream.getvalue().splitlines())
    assert lost["message"] == 'lost "a" worker\nreplacing it'
    assert (end["phase"], end["done"], end["total"], end["level"]) == ("release", 2, 2, "info")
    assert end["time"].endswith("+00:00")
    assert isinstance(shown(stream=stream, quiet=True), Hidden)
