"""What a crew costs on this machine, measured with calls that sleep and bring back nothing much."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from replayed_work import Sleepers
from rows import Row, shown
from scaling_model import Costs

from distanon.runtime import crew
from distanon.runtime.crew import Crew
from distanon.runtime.settings import RuntimeSettings

_WORKERS = 12  # on none of the numbers that the model is checked with
_NAP_S = 0.005
_CALLS = 600
_LARGER = 200
_WAITS = 60
_INPUTS = 100
_IDLE_S = 2.0
_PUT = 90
_SMALL, _LARGE, _HUGE = 0.04, 0.4, 4.0  # megabytes: within a message, beside it, much of it


class Spent(NamedTuple):
    """Seconds of each call.

    Attributes:
        wall: until the last one was back, among the calls.
        driver: CPU seconds of the driver's main thread.
        all: CPU seconds of all processes of the crew.
    """

    wall: float
    driver: float
    all: float


def sleepers(workers: int) -> RuntimeSettings:
    """So many workers on few CPUs."""
    return RuntimeSettings(workers=workers, cpus_per_worker=max(0.01, round(2 / workers, 2)))


def nothing(_shared: Any, _item: Any) -> None:
    """An item without work."""


def costs(workers: int = _WORKERS) -> Costs:
    """The constants, measured with so many workers."""
    with crew(sleepers(workers)) as opened:
        Sleepers(opened, [])  # all are there
        idle = _idle() / workers
        plain = _spent(opened, range(_CALLS))
        waits = [_timed(opened, nothing, [0]) for _ in range(_WAITS)]
        sent = _spent(opened, [(_array(_SMALL), 0) for _ in range(_LARGER)])
        told = _spent(opened, range(_LARGER), _array(_SMALL))
        items = _spent(opened, [(_array(_LARGE), 0) for _ in range(_LARGER)])
        large = _spent(opened, range(_LARGER), _array(_LARGE))
        huge = _spent(opened, range(_LARGER // 4), _array(_HUGE))
        opening = _opening(opened)
        put = _putting(opened)
    filled = max(0.0, huge.all - large.all) / (_HUGE - _LARGE)
    trip = max(0.0, statistics.median(waits) - plain.driver)
    return Costs(
        call=plain.driver,
        trip=trip,
        beside=max(0.0, plain.all - plain.driver - trip),
        megabyte=max(0.0, (sent.driver + told.driver) / 2 - plain.driver) / _SMALL,
        handled=max(0.0, large.driver - plain.driver),
        stored=max(0.0, (items.all + large.all) / 2 - plain.all - _LARGE * filled),
        filled=filled,
        opened=opening,
        put=put,
        cores=os.cpu_count(),
        idle=idle,
    )


def told(found: Costs) -> Iterator[Row]:
    """The constants as rows."""
    yield shown("model: a call, ms of the driver", 1e3 * found.call)
    yield shown("model: there and back, ms without the driver's", 1e3 * found.trip)
    yield shown("model: a call, CPU ms of all that nobody waits for", 1e3 * found.beside)
    yield shown("model: a MB within calls or results, ms", 1e3 * found.megabyte)
    yield shown("model: a large item or result, ms of the driver", 1e3 * found.handled)
    yield shown("model: a large item or result, ms to store it", 1e3 * found.stored)
    yield shown("model: a MB of it, ms", 1e3 * found.filled)
    yield shown("model: a kept result that a worker is given, ms", 1e3 * found.opened)
    yield shown("model: a MB put for all, ms", 1e3 * found.put)
    yield shown("model: CPUs that a worker uses which does nothing", found.idle)


def _spent(opened: Crew, items: Sequence[Any], result: Any = None) -> Spent:
    asleep = Sleepers(opened, [[(_NAP_S, result)] * len(items)])
    before = _clocks()
    for _ in asleep.map(nothing, items):
        pass
    after = _clocks()
    return Spent(*((end - begin) / len(items) for begin, end in zip(before, after, strict=True)))


def _opening(opened: Crew) -> float:
    """Seconds of a kept result that a worker is given, one of many."""
    asleep = Sleepers(opened, [[(_NAP_S, _array(_LARGE))] * _INPUTS, [(_NAP_S, None)]])
    kept = list(asleep.map(nothing, range(_INPUTS), keep=True))
    began = time.perf_counter()
    list(asleep.map(nothing, [tuple(kept)]))
    return (time.perf_counter() - began - _NAP_S) / _INPUTS


def _putting(opened: Crew) -> float:
    """Seconds of a megabyte that is put where nothing lay before."""
    block, held, found = _array(_PUT), [], []
    for _ in range(3):
        began = time.perf_counter()
        held.append(opened.put(block))
        found.append((time.perf_counter() - began) / _PUT)
    return statistics.median(found)


def _idle() -> float:
    """CPUs that the crew uses while nothing happens."""
    began = _clocks()
    time.sleep(_IDLE_S)
    ended = _clocks()
    return (ended[2] - began[2]) / (ended[0] - began[0])


def _timed(opened: Crew, function: Any, items: Sequence[Any]) -> float:
    began = time.perf_counter()
    for _ in opened.map(function, items):
        pass
    return time.perf_counter() - began


def _array(megabytes: float) -> Any:
    return np.zeros(round(1e6 * megabytes), np.uint8)


def _clocks() -> tuple[float, float, float]:
    """Now; CPU seconds of this thread, and of this process and all below it."""
    others = sum(_descendants())
    return time.perf_counter(), time.thread_time(), time.process_time() + others


def _descendants() -> Iterator[float]:
    """CPU seconds of the processes that this one has begun, and those that they have."""
    children: dict[int, list[tuple[int, float]]] = {}
    tick = os.sysconf("SC_CLK_TCK")
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        spent = (int(words[11]) + int(words[12])) / tick
        children.setdefault(int(words[1]), []).append((int(place.name), spent))
    todo = [os.getpid()]
    while todo:
        for child, spent in children.get(todo.pop(), []):
            todo.append(child)
            yield spent
