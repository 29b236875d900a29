"""A method's work on its own, recorded item by item, and done again by workers who only sleep.

What the driver does is the same each time: the same code, the same messages. So many more workers
than this machine has CPUs show what a driver can keep busy. Recorded seconds are CPU seconds of one
thread: those that the work takes where nobody disturbs it. The driver's between two stages are wall
seconds: it uses threads there, and writes files. What a thread of it does beside the workers counts
only where it is waited for.
"""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from distanon.runtime.crew import Crew, Kept, Losses, SerialCrew, Shared

Function = Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True)
class Item:
    """One item as it was done.

    Attributes:
        seconds: that the function took.
        sent: bytes of the item as it travels.
        told: bytes of the result that the driver gets.
        kept: bytes of the result where it stays with the workers.
        inputs: kept results, and values put for some, that it is given.
        given: bytes of those.
    """

    seconds: float
    sent: int
    told: int
    kept: int = 0
    inputs: int = 0
    given: int = 0


@dataclass(frozen=True, slots=True)
class Stage:
    """One map over items, after which the driver goes on.

    Attributes:
        phase: what the display calls it.
        items: in their order.
        before: seconds that the driver took since the stage before.
        within: seconds that it took between results.
    """

    phase: str
    items: tuple[Item, ...]
    before: float
    within: float


@dataclass(frozen=True, slots=True)
class Course:
    """A method's work from its first stage to its last.

    Attributes:
        stages: one after another.
        after: seconds of the driver after the last one.
        shared: bytes of what is put for all workers.
    """

    stages: tuple[Stage, ...]
    after: float
    shared: int

    @property
    def work(self) -> float:
        """Seconds of all items."""
        return sum(item.seconds for stage in self.stages for item in stage.items)

    @property
    def driver(self) -> float:
        """Seconds that the driver computes."""
        return self.after + sum(stage.before + stage.within for stage in self.stages)

    def quieter(self, other: Course) -> Course:
        """The same work, where what the driver does took the shorter of two times."""
        stages = tuple(
            replace(one, before=min(one.before, two.before))
            for one, two in zip(self.stages, other.stages, strict=True)
        )
        return replace(self, stages=stages, after=min(self.after, other.after))

    @property
    def calls(self) -> int:
        """Items of all stages."""
        return sum(len(stage.items) for stage in self.stages)


@dataclass
class Recorder(SerialCrew):
    """One process that claims to be many workers, so that work is cut as for them.

    Attributes:
        claimed: how many.
        results: of each stage, of each item: how long it took, and its result.
    """

    claimed: int
    results: list[list[tuple[float, Any]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._stages: list[tuple[str, list[Any], float, float, bool]] = []
        self._put: list[Any] = []
        self._idle_since = time.perf_counter()
        self._after = 0.0

    @property
    def workers(self) -> int:
        """As many as it claims."""
        return self.claimed

    def put(self, value: Any) -> Shared:
        """Remembers the value for its size."""
        self._put.append(value)
        return super().put(value)

    def map(
        self,
        function: Function,
        items: Iterable[Any],
        *,
        shared: Shared | None = None,
        keep: bool = False,
        phase: str = "",
    ) -> Iterator[Any]:
        """As `SerialCrew.map`, with each item timed."""
        before = time.perf_counter() - self._idle_since
        began = time.thread_time()
        todo, done = list(items), list[tuple[float, Any]]()

        def timed(value: Any, item: Any) -> Any:
            started = time.thread_time()
            result = function(value, item)
            done.append((time.thread_time() - started, result))
            return result

        try:
            yield from super().map(timed, todo, shared=shared, keep=keep, phase=phase)
        finally:
            within = time.thread_time() - began - sum(seconds for seconds, _ in done)
            self._idle_since = time.perf_counter()
            self.results.append(done)
            self._stages.append((phase, todo[: len(done)], before, max(0.0, within), keep))

    def end(self) -> None:
        """The method has ended: what this process does from now on is not its work."""
        self._after = time.perf_counter() - self._idle_since

    def course(self) -> Course:
        """What was recorded."""
        stages = []
        for (phase, todo, before, within, keep), done in zip(
            self._stages, self.results, strict=True
        ):
            items = tuple(
                _item(item, *found, keep=keep) for item, found in zip(todo, done, strict=True)
            )
            stages.append(Stage(phase, items, before, within))
        return Course(tuple(stages), self._after, sum(map(size_of, self._put)))


class Sleepers:
    """A crew whose workers sleep as long as each item took, and return what it gave.

    Args:
        crew: the real one: its driver's side, its messages and workers are used as they are.
        results: as recorded by a process that claimed as many workers.
    """

    def __init__(self, crew: Crew, results: Sequence[Sequence[tuple[float, Any]]]) -> None:
        self._crew = crew
        self._results = crew.put(results)
        self._stage = 0
        slow = [(place, -1, -1) for place in range(2 * crew.workers)]
        awake = set[int]()
        while len(awake) < crew.workers:  # a crew begins with its first; each opens the results
            awake.update(crew.map(nap, slow, shared=self._results))

    @property
    def workers(self) -> int:
        """As many as there are."""
        return self._crew.workers

    @property
    def losses(self) -> Losses:
        """Those of the crew."""
        return self._crew.losses

    def put(self, value: Any) -> Shared:
        """As the crew does."""
        return self._crew.put(value)

    def map(
        self,
        function: Function,
        items: Iterable[Any],
        *,
        shared: Shared | None = None,
        keep: bool = False,
        phase: str = "",
    ) -> Iterator[Any]:
        """As the crew does, with a nap in the place of the function."""
        del function, shared
        number, self._stage = self._stage, self._stage + 1
        asleep = [
            (*item, number, place) if type(item) is tuple else (item, number, place)
            for place, item in enumerate(items)
        ]
        yield from self._crew.map(nap, asleep, shared=self._results, keep=keep, phase=phase)

    def fetch(self, kept: Kept) -> Any:
        """As the crew does."""
        return self._crew.fetch(kept)


_OPENING_S = 0.2


def nap(results: Sequence[Sequence[tuple[float, Any]]], item: tuple[Any, ...]) -> Any:
    """Sleeps in the place of an item's work; its last two parts say whose, or ask who is there."""
    number, place = item[-2:]
    if number < 0:
        time.sleep(_OPENING_S)
        return os.getpid()
    seconds, result = results[number][place]
    time.sleep(seconds)
    return result


def size_of(value: Any) -> int:
    """Bytes of a value as it travels, arrays beside it included."""
    beside: list[pickle.PickleBuffer] = []
    text = pickle.dumps(value, protocol=5, buffer_callback=beside.append)
    return len(text) + sum(buffer.raw().nbytes for buffer in beside)


def _item(item: Any, seconds: float, result: Any, *, keep: bool) -> Item:
    size, inputs = size_of(result), list(_held_by(item))
    return Item(
        seconds,
        size_of(_as_sent(item)),
        0 if keep else size,
        size if keep else 0,
        len(inputs),
        sum(size_of(one.reference) for one in inputs),
    )


def _held_by(item: Any) -> Iterator[Kept | Shared]:
    if isinstance(item, (Kept, Shared)):
        yield item
    elif isinstance(item, tuple):
        for part in item:
            yield from _held_by(part)


def _as_sent(item: Any) -> Any:
    """An item without what is kept or shared in it, of which only references travel."""
    if isinstance(item, (Kept, Shared)):
        return None
    if isinstance(item, tuple):
        return tuple(_as_sent(part) for part in item)
    return item
