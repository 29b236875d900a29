"""Recorded work gives the same results when it is slept through."""

from __future__ import annotations

from threading import Event, Thread
from time import sleep

import numpy as np
from replayed_work import Recorder, Sleepers, size_of

from distanon.runtime.crew import SerialCrew


def doubled(shared, item):
    return shared * item[0] if isinstance(item, tuple) else shared + item


def nothing(_shared, _item):
    """An item without work."""


def pausing(_shared, seconds):
    sleep(seconds)


def work(crew):
    """Two stages, the second one on kept results."""
    shared = crew.put(2)
    kept = list(crew.map(doubled, range(3), shared=shared, keep=True, phase="first"))
    items = [(one, 1.5) for one in kept]
    found = list(crew.map(doubled, items, shared=shared, phase="second"))
    return found, [crew.fetch(one) for one in kept]


def test_sleepers_give_what_was_recorded():
    recorder = Recorder(7)
    assert recorder.workers == 7
    assert work(recorder) == work(SerialCrew())
    assert work(Sleepers(SerialCrew(), recorder.results)) == work(SerialCrew())


def test_a_course_knows_stages_items_and_what_the_driver_gets():
    recorder = Recorder(2)
    work(recorder)
    recorder.end()
    after = recorder.course().after
    sum(range(2_000_000))  # is nobody's work
    course = recorder.course()
    assert course.after == after < 0.02
    assert [(stage.phase, len(stage.items)) for stage in course.stages] == [
        ("first", 3),
        ("second", 3),
    ]
    assert course.calls == 6
    assert all(item.told == 0 for item in course.stages[0].items), "they stay with the workers"
    assert all(item.kept == size_of(0) for item in course.stages[0].items)
    assert all((item.kept, item.inputs) == (0, 1) for item in course.stages[1].items)
    assert all(item.given == size_of(0) for item in course.stages[1].items)
    assert all(item.told > 0 for item in course.stages[1].items)
    assert course.shared == size_of(2)


def test_arrays_count_in_the_size_of_a_message():
    assert 8000 <= size_of({"rows": np.zeros(1000)}) < 8500


def test_of_what_is_put_for_some_items_only_a_reference_travels_with_them():
    recorder = Recorder(2)
    value = np.zeros(100_000)
    item = (recorder.put(value), 1)
    list(recorder.map(nothing, [item], phase="search"))
    (found,) = recorder.course().stages[0].items
    assert found.sent < 100
    assert (found.inputs, found.given) == (1, size_of(value))


def test_what_another_thread_does_meanwhile_is_no_work_of_an_item():
    recorder, over = Recorder(2), Event()
    other = Thread(target=lambda: [None for _ in iter(over.is_set, True)])
    other.start()
    list(recorder.map(pausing, [0.3], phase="search"))
    over.set()
    other.join()
    assert recorder.course().work < 0.1
