"""How long recorded work takes on so many workers: a model with few constants, all measured.

The driver sends calls one after another and takes in results one after another; a worker does its
calls one after another; the next stage begins when the last result of this one is in. What the
driver computes itself adds to that, and so does what all workers must first be given. On one
machine all of them share its CPUs; on a cluster each has its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from replayed_work import Course, Item, Stage
from simulated_crew import Cores, Leg, Map

_LARGE = 100 * 1024
"""Bytes from which on Ray does not send something with a message, but puts it in its store."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What the crew costs.

    Attributes:
        call: seconds of the driver for a call, half to send it and half to take in its result.
        trip: seconds of a call that does nothing and is waited for, without the driver's: half
            there, half back.
        beside: CPU seconds of a call that nobody waits for, of the driver's other threads, of the
            worker's, of Ray's own processes.
        megabyte: seconds of a megabyte within messages, of the driver and of the worker.
        handled: seconds of the driver for what is too large for a message, sent or had.
        stored: seconds of who puts a large result or item in the store.
        filled: seconds of a megabyte of it.
        opened: seconds of a worker for a kept result that it is given.
        put: seconds of a megabyte that is put for all.
        cores: CPUs that the driver and all workers share; None: each has its own.
        idle: of them, what a worker uses that does nothing.
        link: bytes a second from node to node; infinite: all on one machine.
        on_node: workers on a node, which share what is put.
    """

    call: float
    trip: float
    beside: float = 0.0
    megabyte: float = 0.0
    handled: float = 0.0
    stored: float = 0.0
    filled: float = 0.0
    opened: float = 0.0
    put: float = 0.0
    cores: int | None = None
    idle: float = 0.0
    link: float = math.inf
    on_node: int = 1

    def of(self, item: Item) -> float:
        """Seconds of the driver for one item."""
        return self._sending(item) + self._taking(item)

    def leg(self, item: Item, own: float) -> Leg:
        """One item's call.

        Args:
            item: what is done.
            own: seconds of the driver with its result.
        """
        result = item.told + item.kept
        return Leg(
            send=self._sending(item),
            go=self.trip / 2 + self._within(item.sent) + (item.sent > _LARGE) * self.handled,
            begin=item.inputs * self.opened + item.given / self.link,
            work=item.seconds,
            end=self.trip / 2 + self._within(result) + self._beside(result),
            take=self._taking(item) + own,
            beside=self.beside,
        )

    def _sending(self, item: Item) -> float:
        size = item.sent
        return self.call / 2 + size / self.link + self._within(size) + self._beside(size)

    def _taking(self, item: Item) -> float:
        size = item.told
        large = (size > _LARGE) * self.handled
        return self.call / 2 + size / self.link + self._within(size) + large

    def _within(self, size: int) -> float:
        """Of something in a message."""
        return (size <= _LARGE) * size / 1e6 * self.megabyte

    def _beside(self, size: int) -> float:
        """Of something too large for one."""
        return (size > _LARGE) * (self.stored + size / 1e6 * self.filled)

    def share(self, size: int, workers: int) -> float:
        """Seconds until all workers have what is put: each node gets it from the driver's."""
        nodes = math.ceil(workers / self.on_node)
        return size / 1e6 * self.put + nodes * size / self.link

    def machine(self, workers: int) -> Cores:
        """The CPUs of so many workers and their driver."""
        if self.cores is None:
            return Cores(None)
        return Cores(self.cores, 1 / (1 - min(0.9, self.idle * workers / self.cores)))


@dataclass(frozen=True, slots=True)
class Forecast:
    """A course on so many workers.

    Attributes:
        workers: how many.
        seconds: in all.
        driver: of them the driver is busy.
        alone: seconds on one worker.
    """

    workers: int
    seconds: float
    driver: float
    alone: float

    @property
    def efficiency(self) -> float:
        """Speed-up over one worker, for each worker."""
        return self.alone / self.seconds / self.workers


def seconds_of(course: Course, costs: Costs, workers: int) -> float:
    """How long a course takes on so many workers, which were cut for."""
    return sum(seconds for _, seconds in by_phase(course, costs, workers))


def by_phase(course: Course, costs: Costs, workers: int) -> list[tuple[str, float]]:
    """How long its stages take, each after what the driver does before it; "": what remains."""
    cores, found = costs.machine(workers), list[tuple[str, float]]()

    def note(phase: str) -> None:
        found.append((phase, cores.now - sum(seconds for _, seconds in found)))

    cores.alone(costs.share(course.shared, workers))
    for stage in course.stages:
        cores.alone(stage.before)
        note("")
        if stage.items:
            own = stage.within / len(stage.items)
            Map([costs.leg(item, own) for item in stage.items], workers, cores).run()
        else:
            cores.alone(stage.within)
        note(stage.phase)
    cores.alone(course.after)
    note("")
    return found


def driver_of(course: Course, costs: Costs, workers: int) -> float:
    """How long the driver is busy."""
    calls = sum(costs.of(item) for stage in course.stages for item in stage.items)
    return costs.share(course.shared, workers) + course.driver + calls


def forecast(courses: Callable[[int], Course], costs: Costs, workers: int) -> Forecast:
    """A course on so many workers beside one.

    Args:
        courses: the work as it is cut for a number of workers.
        costs: of the crew.
        workers: how many.
    """
    course, alone = courses(workers), courses(1)
    return Forecast(
        workers,
        seconds_of(course, costs, workers),
        driver_of(course, costs, workers),
        seconds_of(alone, costs, 1),
    )


def limit(courses: Callable[[int], Course], costs: Costs, over: Sequence[int]) -> float:
    """The number of workers at which the driver is busy as long as each of them.

    From there on the driver sets the time: more workers wait for it.

    Args:
        courses: the work as it is cut for a number of workers.
        costs: of the crew.
        over: numbers of workers, ascending; between them the driver's part grows as a power of
            theirs, beyond them as if no more calls were made.
    """
    before: tuple[float, float] | None = None
    for workers in over:
        course = courses(workers)
        busy = math.log(driver_of(course, costs, workers) * workers / course.work)
        place = math.log(workers)
        if busy >= 0:
            if before is None:
                return float(workers)
            part = -before[1] / (busy - before[1])
            return math.exp(before[0] + part * (place - before[0]))
        before = (place, busy)
    return math.exp(before[0] - before[1]) if before else math.inf


def repeated(course: Course, phase: str, times: int) -> Course:
    """A course whose last iteration comes more often, as in a longer search.

    Args:
        course: of few iterations.
        phase: of an iteration's last stage.
        times: how often the last one comes.
    """
    stages = course.stages
    ends = [place + 1 for place, stage in enumerate(stages) if stage.phase == phase]
    begin = ends[-2] if len(ends) > 1 else ends[-1] - 1
    longer = stages[:begin] + stages[begin : ends[-1]] * times + stages[ends[-1] :]
    return replace(course, stages=longer)


def widened(course: Course, factor: int) -> Course:
    """A course over so many times the records, cut into so many times as many items as large."""
    stages = tuple(
        Stage(stage.phase, stage.items * factor, stage.before * factor, stage.within * factor)
        for stage in course.stages
    )
    return Course(stages, course.after * factor, course.shared * factor)
