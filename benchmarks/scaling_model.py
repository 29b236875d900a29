"""How long recorded work takes on so many workers: a model with few constants, all measured.

The driver sends calls one after another and takes in results one after another; a worker does its
calls one after another; the next stage begins when the last result of this one is in. What the
driver computes itself adds to that, and so does what all workers must first be given.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from replayed_work import Course, Item, Stage

from distanon.runtime.batches import factored

_GUIDED = ("first pack", "wolves", "generations")
_SHORT_S = 0.25  # shorter calls wait in pairs at a worker, as in `runtime.pool`


@dataclass(frozen=True, slots=True)
class Costs:
    """What the crew costs the driver.

    Attributes:
        call: seconds of a call, from its sending to its result, where calls follow closely.
        wait: seconds from sending a call that does nothing to its result, where one waits for it.
        megabyte: seconds of a megabyte sent with calls or had back.
        put: seconds of a megabyte that is put for all.
        link: bytes a second from node to node; infinite: all on one machine.
        on_node: workers on a node, which share what is put.
    """

    call: float
    wait: float
    megabyte: float
    put: float
    link: float = math.inf
    on_node: int = 1

    def of(self, item: Item) -> float:
        """Seconds of the driver for one item."""
        moved = item.sent + item.told
        return self.call + moved / 1e6 * self.megabyte + moved / self.link

    def share(self, size: int, workers: int) -> float:
        """Seconds until all workers have what is put: each node gets it from the driver's."""
        nodes = math.ceil(workers / self.on_node)
        return size / 1e6 * self.put + nodes * size / self.link


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
    own = costs.share(course.shared, workers) + course.after
    return own + sum(stage.before + _stage(stage, costs, workers) for stage in course.stages)


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


def coarser(course: Course, workers: int) -> Course:
    """A course that was cut for many workers, cut for fewer: neighboring items become one.

    Iterations of a search are cut into batches that shrink, everything else into four items a
    worker, as the methods do.
    """
    stages = []
    for stage in course.stages:
        items, count = stage.items, len(stage.items)
        if stage.phase in _GUIDED:
            spans = list(factored(count, workers))
        else:
            many = min(count, 4 * workers)
            borders = [count * part // many for part in range(many + 1)] if many else []
            spans = [range(*pair) for pair in itertools.pairwise(borders)]
        joined = tuple(_joined(items[span.start : span.stop]) for span in spans)
        stages.append(replace(stage, items=joined))
    return replace(course, stages=tuple(stages))


def _joined(items: Sequence[Item]) -> Item:
    return Item(
        sum(item.seconds for item in items),
        sum(item.sent for item in items),
        sum(item.told for item in items),
    )


def widened(course: Course, factor: int) -> Course:
    """A course over so many times the records, cut into so many times as many items as large."""
    stages = tuple(
        Stage(stage.phase, stage.items * factor, stage.before * factor, stage.within * factor)
        for stage in course.stages
    )
    return Course(stages, course.after * factor, course.shared * factor)


def _stage(stage: Stage, costs: Costs, workers: int) -> float:
    """One map: the driver sends, workers work, the driver takes in."""
    if not stage.items:
        return stage.within
    own = stage.within / len(stage.items)
    short = max(item.seconds for item in stage.items) < _SHORT_S
    depth = 2 if short else 1
    free, under_way = [0.0] * workers, list[tuple[float, int, float]]()
    waiting = iter(stage.items)
    clock = 0.0

    def send(worker: int) -> None:
        nonlocal clock
        item = next(waiting, None)
        if item is None:
            return
        busy = costs.of(item)
        clock += busy / 2
        free[worker] = max(free[worker], clock + costs.wait / 2) + item.seconds
        heapq.heappush(under_way, (free[worker] + costs.wait / 2, worker, busy / 2 + own))

    for place in range(min(len(stage.items), depth * workers)):
        send(place % workers)
    while under_way:
        finished, worker, busy = heapq.heappop(under_way)
        clock = max(clock, finished) + busy
        send(worker)
    return clock
