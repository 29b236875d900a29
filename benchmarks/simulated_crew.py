"""A crew at work in a simulation: a driver that sends and takes in, workers, the cores they share.

What happens follows `runtime.pool`: a worker has one call, or two where calls are short; a map has
four calls for each worker under way at most, finished ones that wait for their turn included.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Action = Callable[[], None]

_SHORT_S = 0.25
_WINDOW = 4


@dataclass(frozen=True, slots=True)
class Leg:
    """One call, in seconds of each part.

    Attributes:
        send: of the driver, before anybody else can go on.
        go: until it is at its worker; where there is a call before it, meanwhile.
        begin: of the worker, before it works: kept results that it needs.
        work: of the worker.
        end: of the worker, after it: the result on its way.
        take: of the driver, until the result is with its caller.
        beside: of CPUs, for what nobody waits for.
    """

    send: float
    go: float
    begin: float
    work: float
    end: float
    take: float
    beside: float


@dataclass
class Cores:
    """CPUs that all share, first come first served; time goes on in its `run`.

    Attributes:
        count: how many; None: everybody has one.
        slower: times as long as everything takes on them, for what idle processes use.
    """

    count: int | None
    slower: float = 1.0
    now: float = 0.0
    _used: int = 0
    _waiting: deque[tuple[float, Action]] = field(default_factory=deque)
    _events: list[tuple[float, int, Action]] = field(default_factory=list)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)

    def after(self, seconds: float, then: Action) -> None:
        """Something happens later; it needs no CPU until then."""
        heapq.heappush(self._events, (self.now + seconds, next(self._numbers), then))

    def busy(self, seconds: float, then: Action) -> None:
        """Something happens when a CPU has worked for it."""
        if self.count is None:
            self.after(seconds, then)
        elif self._used == self.count:
            self._waiting.append((seconds, then))
        else:
            self._used += 1
            self.after(seconds * self.slower, lambda: self._freed(then))

    def run(self, *, until: Callable[[], bool]) -> None:
        """Until something is so; what has not happened by then stays to happen."""
        while self._events and not until():
            self.now, _, then = heapq.heappop(self._events)
            then()

    def alone(self, seconds: float) -> None:
        """One process works for so long, and nothing new begins meanwhile."""
        ended = list[bool]()
        self.busy(seconds, lambda: ended.append(True))
        self.run(until=lambda: bool(ended))

    def _freed(self, then: Action) -> None:
        self._used -= 1
        if self._waiting:
            self.busy(*self._waiting.popleft())
        then()


class Map:
    """One map of a crew, from its first call to its last result.

    Args:
        legs: its calls.
        workers: how many.
        cores: whose.
    """

    def __init__(self, legs: Sequence[Leg], workers: int, cores: Cores) -> None:
        self._legs, self._cores, self._window = legs, cores, _WINDOW * workers
        self._depth = 2 if max(leg.work for leg in legs) < _SHORT_S else 1
        # (calls, number) of those who have room, others' entries are out of date
        self._room = [(0, worker) for worker in range(workers)]
        self._calls = [0] * workers
        self._there = [deque[int]() for _ in range(workers)]
        self._works = [False] * workers
        self._arrived: deque[tuple[int, int]] = deque()
        self._taken = [False] * len(legs)
        self._next = self._first = 0
        self._driving = False

    def run(self) -> None:
        """To its last result."""
        self._drive()
        self._cores.run(until=lambda: self._first == len(self._legs))

    def _drive(self) -> None:
        """The driver does what is next to be done, if it has nothing in hand."""
        if self._driving:
            return
        worker = self._free()
        if worker is not None:
            place, self._next = self._next, self._next + 1
            self._calls[worker] += 1
            self._offer(worker)
            self._drives(self._legs[place].send, lambda: self._sent(worker, place))
        elif self._arrived:
            who, which = self._arrived.popleft()
            self._drives(self._legs[which].take, lambda: self._took(which))
            self._calls[who] -= 1
            self._offer(who)

    def _drives(self, seconds: float, then: Action) -> None:
        self._driving = True

        def done() -> None:
            self._driving = False
            then()
            self._drive()

        self._cores.busy(seconds, done)

    def _free(self) -> int | None:
        """A worker for the next call, if it may be sent."""
        if self._next == len(self._legs) or self._next >= self._first + self._window:
            return None
        while self._room:
            calls, worker = self._room[0]
            if self._calls[worker] == calls:
                return worker
            heapq.heappop(self._room)
        return None

    def _offer(self, worker: int) -> None:
        if self._calls[worker] < self._depth:
            heapq.heappush(self._room, (self._calls[worker], worker))

    def _sent(self, worker: int, place: int) -> None:
        def there() -> None:
            self._there[worker].append(place)
            self._work(worker)

        self._cores.busy(self._legs[place].go, there)

    def _work(self, worker: int) -> None:
        if self._works[worker] or not self._there[worker]:
            return
        self._works[worker] = True
        place = self._there[worker].popleft()
        leg, cores = self._legs[place], self._cores

        def ended() -> None:
            self._works[worker] = False
            self._arrived.append((worker, place))
            if leg.beside:
                cores.busy(leg.beside, lambda: None)
            self._work(worker)
            self._drive()

        def worked() -> None:
            cores.busy(leg.end, ended)

        def begun() -> None:
            cores.after(leg.work, worked)

        cores.busy(leg.begin, begun)

    def _took(self, place: int) -> None:
        self._taken[place] = True
        while self._first < len(self._taken) and self._taken[self._first]:
            self._first += 1
